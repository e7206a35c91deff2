// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol with `@Forwarded`, without its type: its own methods, and those
  /// that it inherits.
  @_documentation(visibility: internal)
  public class ForwardedFamily: @unchecked Sendable {
    // Sendable: immutable after `init`. The one subclass adds only immutable
    // state, and state behind a lock.

    /// The methods of the protocol itself, in order.
    internal let methods: [ForwardedMethod]
    /// The table of the protocol, for untyped callers and subscribers.
    internal let table: ProtocolTable
    /// The methods of the protocol, then those of the protocols that it
    /// inherits from.
    internal let allMethods: [ForwardedMethod]
    private let bases: [(family: ForwardedFamily, base: Int)]

    internal init(_ name: String, _ methods: [ForwardedMethod], _ parents: [ForwardedFamily]) {
      self.methods = methods
      do throws(ForwardingError) {
        table = try ProtocolTable(name, inheriting: parents.map(\.table)) { builder in
          for method in methods where !method.isAsync { method.declare(in: &builder) }
        }
      } catch {
        // Cannot fail: the macro generates the names, and `ForwardedMarshal`
        // the encodings.
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

    /// Whether this is the given protocol, or inherits from it.
    internal func includes(_ family: ForwardedFamily) -> Bool {
      family === self || bases.contains { $0.family === family }
    }

    /// The index in `allMethods` of a protocol's first method.
    internal func base(of family: ForwardedFamily) -> Int {
      if family === self { return 0 }
      for entry in bases where entry.family === family { return entry.base }
      preconditionFailure("\(table.name) does not inherit from \(family.table.name)")
    }
  }

  /// A protocol that another protocol inherits from.
  @_documentation(visibility: internal)
  public struct ForwardedParent<Listener>: Sendable {
    /// Nil for `AnyObject` and `Sendable`, which have no methods.
    internal let family: ForwardedFamily?
    internal let implementations: @Sendable (Listener) -> [ForwardedImplementation]

    /// Creates a parent, with a conversion from a listener to a listener of the
    /// parent.
    public init<Parent, Conformer>(
      _ family: ForwardedProtocol<Parent, Conformer>,
      _ upcast: @escaping @Sendable (Listener) -> Parent
    ) {
      self.family = family
      implementations = { family.implementations(upcast($0)) }
    }

    /// Creates a parent without methods.
    public init<Parent>(_: ForwardedEmptyParent, _: @escaping @Sendable (Listener) -> Parent) {
      family = nil
      implementations = { _ in [] }
    }
  }

  /// An inherited protocol without methods under a name that the user has
  /// chosen, such as a type alias of `AnyObject`.
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

  /// A method that a listener implements.
  internal struct ForwardedImplementation {
    let method: ForwardedMethod
    /// The witness table of the conformance, which the method's thunks get as
    /// their context.
    let conformance: UInt
  }
#endif
