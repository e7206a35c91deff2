// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import SwiftParser
  import SwiftSyntax
  import SwiftSyntaxMacroExpansion
  import SwiftSyntaxMacros
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @testable import ForwardingMacrosPlugin

  /// What `@ForwardingClass` makes, and what it says about services that it does
  /// not take.
  @Suite struct ForwardingClassMacroTests {
    private static let macros: [String: MacroSpec] = [
      "ForwardingClass": MacroSpec(type: ForwardingClassMacro.self),
      "NotForwarded": MacroSpec(type: NotForwardedMacro.self),
    ]

    private func expect(
      _ source: String, expandsTo expanded: String, diagnostics: [DiagnosticSpec] = [],
      applying fixIts: [String]? = nil, giving fixed: String? = nil,
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      expectExpansion(
        source, by: Self.macros, to: expanded, diagnostics: diagnostics, applying: fixIts,
        giving: fixed, location)
    }

    // MARK: Expansions

    @Test func `a class with members of all kinds`() {
      expect(
        """
        @ForwardingClass("delegate", for: (any DownloadDelegate).self, options: .init())
        @MainActor open class Download: NSObject {
          public enum State { case idle }
          public weak var delegate: (any DownloadDelegate)?
          private(set) var state: State = .idle
          @discardableResult
          public func start(at x: String = "", _ y: inout Int) async throws -> Self { self }
          #if DEBUG
          func check<T>(_ value: T) where T: Equatable {}
          #endif
          private func hidden() {}
          static func make() -> Download { Download() }
          @NotForwarded func variadic(_ values: Int...) {}
          subscript(index: Int) -> UnsafePointer<Int> { get { fatalError() } set {} }
          init() {}
        }
        """,
        expandsTo: Self.expansion)
    }

    private static let expansion = #"""
      @MainActor open class Download: NSObject {
        public enum State { case idle 
      }
        public weak var delegate: (any DownloadDelegate)?
        private(set) var state: State = .idle
        @discardableResult
        public func start(at x: String = "", _ y: inout Int) async throws -> Self { self }
        #if DEBUG
        func check<T>(_ value: T) where T: Equatable {}
        #endif
        private func hidden() {}
        static func make() -> Download { Download() }
        func variadic(_ values: Int...) {}
        subscript(index: Int) -> UnsafePointer<Int> { get { fatalError() } set {} }
        init() {}
      }

      /// Wraps a `Download`, which it keeps alive, and forwards to it all that it is
      /// called for. Its delegate slot is for many listeners as long as there is
      /// such a wrapper. Made by `@ForwardingClass`.
      @MainActor @dynamicMemberLookup
      public final class DownloadForwarder {
        /// Has the slot, and the service.
        public let forwarder: ForwardingMacros.DelegateForwarder<Download, DownloadDelegateProxy>

        /// Wraps a service, and takes its slot.
        ///
        /// - Parameters:
        ///   - service: what is wrapped.
        ///   - proxy: makes what stands in the slot, if there is none yet.
        public init(
          _ service: Download,
          proxy: @autoclosure () -> DownloadDelegateProxy = DownloadDelegateProxy()
        ) {
          forwarder = ForwardingMacros.DelegateForwarder(
            service, \Download.delegate, options: .init(), proxy: proxy())
        }

        /// Subscribes a listener; see `DelegateForwarder.subscribe(_:at:lifetime:)`.
        @discardableResult
        public func subscribe(
          _ listener: DownloadDelegateProxy.Listener?,
          at position: ForwardingMacros.DynamicProxy.Position = .last,
          lifetime: ForwardingMacros.DynamicProxy.Lifetime = .weak
        ) throws(ForwardingMacros.ForwardingError) -> ForwardingMacros.DynamicProxy.Subscription? {
          try forwarder.subscribe(listener, at: position, lifetime: lifetime)
        }

        /// Ends the subscriptions of a listener; see `DelegateForwarder.unsubscribe(_:)`.
        @discardableResult
        public func unsubscribe(_ listener: DownloadDelegateProxy.Listener?) -> Swift.Bool {
          forwarder.unsubscribe(listener)
        }

        /// Reads a property of the service that is declared elsewhere.
        public subscript <Value>(
          dynamicMember path: Swift.KeyPath<Download, Value>
        ) -> Value {
          forwarder.service[keyPath: path]
        }

        /// A property of the service that is declared elsewhere.
        public subscript <Value>(
          dynamicMember path: Swift.ReferenceWritableKeyPath<Download, Value>
        ) -> Value {
          get {
            forwarder.service[keyPath: path]
          }
          set {
            forwarder.service[keyPath: path] = newValue
          }
        }

        public typealias State = Download.State

        public var delegate: (any DownloadDelegate)? {
          get {
            forwarder.service.delegate
          }
          set {
            forwarder.service.delegate = newValue
            forwarder.recheck()
          }
        }

        var state: State {
          get {
            forwarder.service.state
          }
        }

        @discardableResult public func start(at _0: String = "", _ _1: inout Int) async throws -> Download {
          try await forwarder.service.start(at: _0, &_1)
        }

        #if DEBUG
          func check<T>(_ _0: T) where T: Equatable {
            forwarder.service.check(_0)
          }
        #endif

        subscript(_ _0: Int) -> UnsafePointer<Int> {
          get {
            unsafe forwarder.service[_0]
          }
          set {
            unsafe forwarder.service[_0] = newValue
          }
        }

        isolated deinit {
        }
      }
      """#

    @Test func `the ways to name a slot`() {
      for (argument, member, slot) in [
        (
          #""delegate", for: P.self"#, "weak var delegate: (any P)?",
          #"( service, \S.delegate, proxy: proxy())"#
        ),
        (
          #""delegate", for: (any P).self"#, "@DelegateSlot(PProxy()) var delegate: (any P)?",
          #"(service, \S.$delegate)"#
        ),
        ("for: (any P).self", "func f() {}", "(service)"),
      ] {
        let expanded = expansion(
          """
          @ForwardingClass(\(argument))
          final class S {
            \(member)
          }
          """)
        #expect(
          expanded.contains("DelegateForwarder<S, PProxy>\n"))
        // Where the call stands depends on its length.
        let words = expanded.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("forwarder = ForwardingMacros.DelegateForwarder\(slot) }"))
      }
    }

    @Test func `a protocol for the class of the slot`() {
      let expanded = expansion(
        #"""
        @ForwardingClass(\Other.delegate, for: (any Space.P).self)
        public protocol S: AnyObject, Sendable {
          var x: Int { get }
          func f()
        }
        """#)
      #expect(expanded.contains("public final class SForwarder: S, Swift.Sendable {"))
      #expect(
        expanded.contains(
          "let forwarder: ForwardingMacros.SendableDelegateForwarder<Other, Space.PProxy>"))
      #expect(expanded.contains("public func f() {"))
      #expect(expanded.contains("public var x: Int {\n    get {"))
    }

    @Test func `a wrapper that is shared`() {
      let expanded = expansion(
        #"""
        @ForwardingClass("delegate", for: P.self, shared: "S(1)")
        final class S: @unchecked Sendable {
          var delegate: (any P)?
        }
        """#)
      #expect(expanded.contains("static let shared = SForwarder(S(1))"))
    }

    /// The text of an expansion without faults.
    private func expansion(_ source: String) -> String {
      let file = Parser.parse(source: source)
      let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "M", fullFilePath: "M.swift")])
      let expanded = file.expand(
        macroSpecs: Self.macros,
        contextGenerator: {
          BasicMacroExpansionContext(
            sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(2))
      #expect(context.diagnostics.isEmpty)
      return expanded.description
    }

    // MARK: Diagnostics

    /// A class around one member, which stands in the third line.
    private func refuses(
      _ member: String, column: Int, _ message: String, fixIts: [FixItSpec] = [],
      giving fixed: String? = nil, inProtocol isProtocol: Bool = false, head: String = "",
      _ location: Testing.SourceLocation = #_sourceLocation
    ) {
      let declaration = "\(head)\(isProtocol ? "protocol S: AnyObject" : "final class S")"
      let attribute =
        isProtocol
        ? #"@ForwardingClass(\S.delegate, for: P.self)"#
        : #"@ForwardingClass("delegate", for: P.self)"#
      expect(
        "\(attribute)\n\(declaration) {\n  \(member)\n}",
        expandsTo: "\(declaration) {\n  \(member)\n}",
        diagnostics: [DiagnosticSpec(message: message, line: 3, column: column, fixIts: fixIts)],
        applying: fixed == nil ? nil : fixIts.map(\.message),
        giving: fixed.map { "\(attribute)\n\(declaration) {\n  \($0)\n}" }, location)
    }

    @Test func `a variadic method is left out`() {
      refuses(
        "func f(_ x: Int...) {}", column: 18,
        "Swift cannot pass on what a variadic parameter was given",
        fixIts: [FixItSpec(message: "add '@NotForwarded'")],
        giving: "@NotForwarded func f(_ x: Int...) {}")
    }

    @Test func `a property without a type is annotated, or left out`() {
      refuses(
        "var x = 3", column: 7, "a macro does not know the type of 'x': annotate it",
        fixIts: [FixItSpec(message: "add '@NotForwarded'")], giving: "@NotForwarded var x = 3")
    }

    @Test(arguments: [
      ("var (a, b) = (1, 2)", 7, "'@ForwardingClass' forwards single properties"),
      ("var forwarder: Int", 7, "the wrapper has a 'forwarder' of its own"),
      ("let shared: Int", 7, "the wrapper has a 'shared' of its own"),
      (
        "subscript(x: Int...) -> Int { 0 }", 19,
        "Swift cannot pass on what a variadic parameter was given"
      ),
    ]) func `members that are to be left out`(_ member: String, _ column: Int, _ message: String) {
      refuses(
        member, column: column, message, fixIts: [FixItSpec(message: "add '@NotForwarded'")])
    }

    @Test(arguments: [
      ("static func f()", 3, "'@ForwardingClass' wraps an object: it forwards no 'static' members"),
      ("init()", 3, "'@ForwardingClass' wraps what there is: it forwards no initializers"),
      ("associatedtype A", 3, "'@ForwardingClass' takes no associated types"),
      ("func f(_ x: Int...)", 18, "Swift cannot pass on what a variadic parameter was given"),
      ("func f() -> Self", 12, "'Self' would be the wrapper, which 'S' does not give"),
    ]) func `what a protocol cannot ask for`(_ member: String, _ column: Int, _ message: String) {
      refuses(member, column: column, message, inProtocol: true)
    }

    @Test func `what is not isolated where the slot is`() {
      refuses(
        "nonisolated func f() {}", column: 3,
        "the slot is looked at before each call, where 'S' is isolated: '@ForwardingClass' "
          + "forwards no 'nonisolated' members of it", head: "@MainActor ")
    }

    @Test(arguments: [
      (
        #"@ForwardingClass(\S.delegate, for: P.self)"#, "struct S {\n}", 1, 1,
        "'@ForwardingClass' is for classes, and for protocols that tell what a class has"
      ),
      (
        #"@ForwardingClass("delegate", for: P.self)"#, "class S<T> {\n}", 2, 8,
        "'@ForwardingClass' does not wrap generic classes"
      ),
      (
        #"@ForwardingClass(\S.delegate, for: P.self)"#, "protocol S: Other {\n}", 2, 13,
        "'@ForwardingClass' does not see what 'S' inherits from 'Other'"
      ),
      (
        #"@ForwardingClass(\.delegate, for: P.self)"#, "protocol S: AnyObject {\n}", 1, 18,
        "at a protocol the slot is a key path with its class: '\\Class.delegate'"
      ),
      (
        #"@ForwardingClass(\S.delegate, for: P.self)"#, "class S {\n}", 1, 18,
        "at a class the slot is the name of a property: '\"delegate\"'"
      ),
      (
        #"@ForwardingClass("delegate", for: type)"#, "class S {\n}", 1, 35,
        "expected a protocol with '@Forwarded', such as '(any Delegate).self'"
      ),
      (
        #"@ForwardingClass("delegate", for: P.self, shared: S())"#, "class S: Sendable {\n}", 1, 51,
        "at a class what is shared is a text: '\"S()\"'"
      ),
      (
        "@ForwardingClass(for: P.self)", "protocol S: AnyObject {\n}", 1, 1,
        "'@ForwardingClass' at a protocol needs the class's slot: '\\Class.delegate'"
      ),
      (
        #"@ForwardingClass("delegate", for: P.self, shared: "S()")"#, "class S {\n}", 1, 51,
        "what is shared is used by all threads: 'S' must be Sendable, or of a global actor"
      ),
      (
        #"@ForwardingClass(\S.$delegate, for: P.self, options: o)"#, "protocol S: AnyObject {\n}",
        1, 54,
        "the options of a 'DelegateSlot' are given at the property"
      ),
    ]) func `what the macro does not take`(
      _ attribute: String, _ declaration: String, _ line: Int, _ column: Int, _ message: String
    ) {
      expect(
        "\(attribute)\n\(declaration)", expandsTo: declaration,
        diagnostics: [DiagnosticSpec(message: message, line: line, column: column)])
    }

    @Test func `a mark that nobody reads`() {
      expect(
        "@NotForwarded func f() {}", expandsTo: "func f() {}",
        diagnostics: [
          DiagnosticSpec(
            message: "'@NotForwarded' is for members of classes with '@ForwardingClass'", line: 1,
            column: 1)
        ])
    }
  }
#endif
