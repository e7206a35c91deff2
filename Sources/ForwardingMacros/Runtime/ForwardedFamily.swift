// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol that `@Forwarded` stands at, whatever its type: its methods, and
  /// those that it inherits.
  @_documentation(visibility: internal)
  public class ForwardedFamily: @unchecked Sendable {
    // Sendable: immutable after `init`; so is what the one subclass adds, or
    // behind a lock.

    /// The methods of the protocol itself, in order.
    internal let methods: [ForwardedMethod]
    /// The protocol for untyped callers and subscribers.
    internal let table: ProtocolTable
    /// The methods of the protocol, then those of the ones it inherits from.
    internal let allMethods: [ForwardedMethod]
    private let bases: [(family: ForwardedFamily, base: Int)]

    internal init(_ name: String, _ methods: [ForwardedMethod], _ parents: [ForwardedFamily]) {
      self.methods = methods
      do throws(TableError) {
        table = try ProtocolTable(name, inheriting: parents.map(\.table)) { builder in
          for method in methods where !method.isAsync { method.declare(in: &builder) }
        }
      } catch {
        // The macro makes the names, and `ForwardedMarshal` the encodings.
        preconditionFailure("the table of \(name): \(error)")
      }
      var all = methods
      var bases: [(family: ForwardedFamily, base: Int)] = []
      for family in parents.flatMap({ [$0] + $0.bases.map(\.family) })
      where !bases.contains(where: { $0.family === family }) {
        bases.append((family, all.count))
        all += family.methods
      }
      allMethods = all
      self.bases = bases
    }

    /// Whether it is a protocol, or inherits from it.
    internal func includes(_ family: ForwardedFamily) -> Bool {
      family === self || bases.contains { $0.family === family }
    }

    /// The index of a protocol's first method among all.
    internal func base(of family: ForwardedFamily) -> Int {
      if family === self { return 0 }
      for entry in bases where entry.family === family { return entry.base }
      preconditionFailure("\(table.name) does not inherit from \(family.table.name)")
    }
  }

  /// A protocol that another one inherits from.
  @_documentation(visibility: internal)
  public struct ForwardedParent<Listener>: Sendable {
    /// Nil for `AnyObject` and `Sendable`, which have no methods.
    internal let family: ForwardedFamily?
    internal let implementations: @Sendable (Listener) -> [ForwardedImplementation]

    /// Describes how a listener is one of the parent's.
    public init<Parent, Conformer>(
      _ family: ForwardedProtocol<Parent, Conformer>,
      _ upcast: @escaping @Sendable (Listener) -> Parent
    ) {
      self.family = family
      implementations = { family.implementations(upcast($0)) }
    }

    /// Describes a parent without methods.
    public init<Parent>(_: ForwardedEmptyParent, _: @escaping @Sendable (Listener) -> Parent) {
      family = nil
      implementations = { _ in [] }
    }
  }

  /// An inherited protocol without methods that goes by a name of the user's, such as
  /// a type alias of `AnyObject`.
  @_documentation(visibility: internal)
  public struct ForwardedEmptyParent: Sendable {
    fileprivate init() {}
  }

  // Generated code looks a parent up by its type. Each protocol with `@Forwarded`
  // brings one more overload, so type aliases of it are found too.
  extension ForwardedBase {
    /// Finds a parent.
    public static func _family(of _: AnyObject.Type) -> ForwardedEmptyParent {
      ForwardedEmptyParent()
    }
    /// Finds a parent.
    public static func _family(of _: (any Sendable).Type) -> ForwardedEmptyParent {
      ForwardedEmptyParent()
    }
    /// Finds a parent.
    public static func _family(of _: (any AnyObject & Sendable).Type) -> ForwardedEmptyParent {
      ForwardedEmptyParent()
    }
    /// Refuses other parents.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' forwards inherited requirements only of protocols that have '@Forwarded' themselves; add '@Forwarded' to the inherited protocol, or do not inherit from it"
    )
    public static func _family<Parent>(of _: Parent.Type) -> ForwardedEmptyParent {
      ForwardedEmptyParent()
    }
  }

  /// A method of a listener.
  internal struct ForwardedImplementation {
    let method: ForwardedMethod
    /// The table of the conformance that the method's thunks are given.
    let conformance: UInt
  }
#endif
