// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// Writes the class that wraps a service.
  internal struct ForwarderWriter {
    private let source: ServiceDeclaration
    private let library = "ForwardingMacros."

    internal init(_ source: ServiceDeclaration) { self.source = source }

    private var access: String { source.access }
    private var name: String { source.name.filter { $0 != "`" } + "Forwarder" }
    /// The library's class that manages the slot. If the service is `Sendable`
    /// and has no global actor, any thread may use the slot.
    private var forwarderClass: String {
      let isShared = source.isSendable && source.isolation.isEmpty
      return library + (isShared ? "SendableDelegateForwarder" : "DelegateForwarder")
    }
    private var forwarder: String { "\(forwarderClass)<\(source.service), \(source.proxy)>" }

    private var inheritance: String {
      let types =
        (source.isProtocol ? [source.name] : []) + (source.isSendable ? ["Swift.Sendable"] : [])
      return types.isEmpty ? "" : ": " + types.joined(separator: ", ")
    }

    /// The class.
    internal var declaration: DeclSyntax {
      """
      /// Wraps a `\(raw: source.service)`, which it keeps alive, and forwards to it all that it is
      /// called for. Its delegate slot is for many listeners as long as there is
      /// such a wrapper. Made by `@ForwardingClass`.
      \(raw: source.isolation)@dynamicMemberLookup
      \(raw: access)final class \(raw: name)\(raw: inheritance) {
        /// Has the slot, and the service.
        \(raw: access)let forwarder: \(raw: forwarder)

      \(raw: initializer)

        /// Subscribes a listener; see `DelegateForwarder.subscribe(_:at:lifetime:)`.
        @discardableResult
        \(raw: access)func subscribe(
          _ listener: \(raw: source.proxy).Listener?,
          at position: \(raw: library)DynamicProxy.Position = .last,
          lifetime: \(raw: library)DynamicProxy.Lifetime = .weak
        ) throws(\(raw: library)ForwardingError) -> \(raw: library)DynamicProxy.Subscription? {
          try forwarder.subscribe(listener, at: position, lifetime: lifetime)
        }

        /// Ends the subscriptions of a listener; see `DelegateForwarder.unsubscribe(_:)`.
        @discardableResult
        \(raw: access)func unsubscribe(_ listener: \(raw: source.proxy).Listener?) -> Swift.Bool {
          forwarder.unsubscribe(listener)
        }

        /// Reads a property of the service that is declared elsewhere.
        \(raw: access)subscript<Value>(
          dynamicMember path: Swift.KeyPath<\(raw: source.service), Value>
        ) -> Value {
          forwarder.service[keyPath: path]
        }

        /// A property of the service that is declared elsewhere.
        \(raw: access)subscript<Value>(
          dynamicMember path: Swift.ReferenceWritableKeyPath<\(raw: source.service), Value>
        ) -> Value {
          get { forwarder.service[keyPath: path] }
          set { forwarder.service[keyPath: path] = newValue }
        }
      \(raw: rest)
      }
      """
    }

    private var initializer: String {
      guard let slot = source.slot, !source.isDelegateSlot else {
        return """
            /// Wraps a service, and takes its slot.
            \(access)init(_ service: \(source.service)) {
              forwarder = \(forwarderClass)(service\(source.slot.map { ", \($0)" } ?? ""))
            }
          """
      }
      let options = source.options.map { " options: \($0)," } ?? ""
      return """
          /// Wraps a service, and takes its slot.
          ///
          /// - Parameters:
          ///   - service: what is wrapped.
          ///   - proxy: makes what stands in the slot, if there is none yet.
          \(access)init(
            _ service: \(source.service),
            proxy: @autoclosure () -> \(source.proxy) = \(source.proxy)()
          ) {
            forwarder = \(forwarderClass)(
              service, \(slot),\(options) proxy: proxy())
          }
        """
    }

    private var rest: String {
      var parts: [String] = []
      if let shared = source.shared {
        parts.append(
          """
            /// The wrapper that all share.
            \(access)static let shared = \(name)(\(shared))
          """)
      }
      parts += source.types.map {
        "  \($0.access)typealias \($0.name) = \(source.service).\($0.name)"
      }
      parts += source.members.map(text)
      // The last reference may be released on any thread, but the slot must be
      // set on the actor.
      if !source.isolation.isEmpty { parts.append("  isolated deinit {}") }
      return parts.map { "\n" + $0 }.joined(separator: "\n")
    }

    private func text(_ member: ServiceMember) -> String {
      switch member {
      case .function(let head, let marks, let call):
        return """
            \(head) {
              \(marks.text)forwarder.service\(call)
            }
          """
      case .storage(let head, let marks, let call, let effects, let isSettable, let isSlot):
        let getter = "\(marks.text)forwarder.service\(call)"
        let specifier = effects.map { "get \($0)" } ?? "get"
        if !isSettable {
          return """
              \(head) {
                \(specifier) { \(getter) }
              }
            """
        }
        let unsafe = marks.isUnsafe ? "unsafe " : ""
        let setter =
          "\(unsafe)forwarder.service\(call) = newValue"
          + (isSlot ? "\n      forwarder.recheck()" : "")
        return """
            \(head) {
              \(specifier) { \(getter) }
              set {
                \(setter)
              }
            }
          """
      case .conditional(let clauses):
        let texts = clauses.map { clause in
          ([clause.directive] + clause.members.map(text)).joined(separator: "\n")
        }
        return (texts + ["#endif"]).joined(separator: "\n")
      }
    }
  }
#endif
