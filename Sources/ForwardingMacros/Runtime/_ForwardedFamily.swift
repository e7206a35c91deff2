// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol with `@Forwarded`, without its type: its own methods, and those
  /// that it inherits. For generated code.
  @_documentation(visibility: internal)
  public class _ForwardedFamily: @unchecked Sendable {
    // Sendable: immutable after `init`. The one subclass adds only immutable
    // state, and state behind a lock.

    /// The methods of the protocol itself, in order.
    internal let methods: [ForwardedMethod]
    /// The table of the protocol, for untyped callers and subscribers.
    internal let table: ProtocolTable
    /// The methods of the protocol, then those of the protocols that it
    /// inherits from.
    internal let allMethods: [ForwardedMethod]
    /// Whether the listeners may belong to one thread or actor.
    internal let isConfined: Bool
    private let bases: [(family: _ForwardedFamily, base: Int)]

    internal init(
      _ name: String, _ methods: [ForwardedMethod], _ parents: [_ForwardedFamily],
      isConfined: Bool
    ) {
      self.methods = methods
      self.isConfined = isConfined
      do throws(ForwardingError) {
        table = try ProtocolTable(name, inheriting: parents.map(\.table)) { builder in
          for method in methods where !method.isAsync { method.declare(in: &builder) }
        }
      } catch {
        // Cannot fail: the macro generates the names, and `_ForwardedMarshal`
        // the encodings.
        preconditionFailure("the table of \(name): \(error)")
      }
      var all = methods
      var bases: [(family: _ForwardedFamily, base: Int)] = []
      for family in parents.flatMap({ [$0] + $0.bases.map(\.family) })
      where !bases.contains(where: { $0.family === family }) {
        bases.append((family, all.count))
        all += family.methods
      }
      allMethods = all
      self.bases = bases
    }

    /// Whether this is the given protocol, or inherits from it.
    internal func includes(_ family: _ForwardedFamily) -> Bool {
      family === self || bases.contains { $0.family === family }
    }

    /// The index in `allMethods` of a protocol's first method.
    internal func base(of family: _ForwardedFamily) -> Int {
      if family === self { return 0 }
      for entry in bases where entry.family === family { return entry.base }
      preconditionFailure("\(table.name) does not inherit from \(family.table.name)")
    }
  }

  /// A protocol that another protocol inherits from.
  internal struct ForwardedParent<Listener>: Sendable {
    internal let family: _ForwardedFamily
    internal let implementations: @Sendable (Listener) -> [ForwardedImplementation]
  }

  /// An inherited protocol without methods under a name that the user has
  /// chosen, such as a type alias of `AnyObject`. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedEmptyParent: Sendable {
    fileprivate init() {}
  }

  // Generated code looks a parent up by its type. Each protocol with `@Forwarded`
  // brings one more overload, so type aliases of it are found too.
  extension _ForwardedBase {
    /// Finds a parent.
    public static func _family(of _: AnyObject.Type) -> _ForwardedEmptyParent {
      _ForwardedEmptyParent()
    }
    /// Finds a parent.
    public static func _family(of _: (any Sendable).Type) -> _ForwardedEmptyParent {
      _ForwardedEmptyParent()
    }
    /// Finds a parent.
    public static func _family(of _: (any AnyObject & Sendable).Type) -> _ForwardedEmptyParent {
      _ForwardedEmptyParent()
    }
    /// Refuses other parents.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' forwards inherited requirements only of protocols that have '@Forwarded' themselves; add '@Forwarded' to the inherited protocol, or do not inherit from it"
    )
    public static func _family<Parent>(of _: Parent.Type) -> _ForwardedEmptyParent {
      _ForwardedEmptyParent()
    }
  }

  // The same for protocols of a global actor, whose listeners belong to that actor. Each
  // protocol with an actor, or with `Sendable` listeners, brings an overload.
  extension _ForwardedBase {
    /// Accepts a parent.
    public static func _confined<Home>(_: AnyObject.Type, to _: Home.Type) {}
    /// Accepts a parent.
    public static func _confined<Home>(_: (any Sendable).Type, to _: Home.Type) {}
    /// Accepts a parent.
    public static func _confined<Home>(_: (any AnyObject & Sendable).Type, to _: Home.Type) {}
    /// Refuses other parents.
    @available(
      *, unavailable,
      message:
        "'@Forwarded' on a protocol with a global actor needs inherited protocols that have the same actor, since listeners belong to it; write the actor there, or inherit this protocol from 'Sendable'"
    )
    public static func _confined<Parent, Home>(_: Parent.Type, to _: Home.Type) {}
  }

  // The same for protocols whose calls may be delivered later. Each protocol with
  // `@Forwarded(sendable: true)` brings an overload.
  extension _ForwardedBase {
    /// Accepts a parent.
    public static func _sendable(of _: AnyObject.Type) {}
    /// Accepts a parent.
    public static func _sendable(of _: (any Sendable).Type) {}
    /// Accepts a parent.
    public static func _sendable(of _: (any AnyObject & Sendable).Type) {}
    /// Refuses other parents.
    @available(
      *, unavailable,
      message:
        "'@Forwarded(sendable: true)' needs inherited protocols that have it too, since the arguments of their methods must be 'Sendable'; write it there"
    )
    public static func _sendable<Parent>(of _: Parent.Type) {}
  }

  /// A method that a listener implements.
  internal struct ForwardedImplementation {
    let method: ForwardedMethod
    /// The witness table of the conformance, which the method's thunks get as
    /// their context.
    let conformance: UInt
  }
#endif
