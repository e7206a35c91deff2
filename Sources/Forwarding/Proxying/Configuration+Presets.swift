// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Options for the configurations of other systems; see the module
// ForwardingPresets.
extension DynamicProxy.Configuration {
  /// The subscriptions that ``DynamicProxy/unsubscribe(_:)`` ends.
  package enum Removal: Sendable, Hashable {
    /// All subscriptions of the object.
    case all
    /// The oldest of them.
    case first
  }

  /// The question that `responds(to:)` asks.
  package enum Responding: Sendable, Hashable {
    /// Whether some live subscriber implements the method.
    case subscribers
    /// Whether a protocol declares it.
    case declared
  }

  /// The question that `conforms(to:)` asks.
  package enum Conforming: Sendable, Hashable {
    /// Whether the proxy adopts the protocol, or one that inherits from it.
    case adopted
    /// Whether some live subscriber has all that the protocol requires.
    case subscribers
  }

  /// How many protocols a proxy must adopt. Another number is a `ForwardingError`
  /// with the code `wrongProtocolCount`.
  package enum Adoption: Sendable, Hashable {
    /// Any number, none too.
    case any
    /// At least one.
    case some
    /// Exactly one, which may inherit from others.
    case one
  }

  /// The treatment of a subscriber that is refused because it lacks a required
  /// method, is subscribed already (see ``Duplicates/fail``), or would make the
  /// proxy forward to itself.
  ///
  /// Other faults are mistakes in the program, and are always errors: types that
  /// are not the protocol's, an object of another class than the table's, one
  /// that is being deinitialised, a position that does not exist.
  package enum Refusals: Sendable, Hashable {
    /// `subscribe` throws.
    case fail
    /// Nothing: `subscribe` returns a subscription that is not live.
    case ignore
  }

  /// The treatment of a subscriber that is placed before or behind another that is not
  /// subscribed, or has died.
  package enum UnknownAnchors: Sendable, Hashable {
    /// `subscribe` throws.
    case fail
    /// Before such a one is the end, as `Position.last`; behind it is the front,
    /// as `Position.first`.
    case ends
  }

  /// The treatment of a subscriber that is placed directly before or behind itself.
  package enum OwnAnchors: Sendable, Hashable {
    /// It stays where it is.
    case stay
    /// As if it had left before it comes back: before itself is the end, behind
    /// itself the front.
    case ends
  }

  /// The responders that are called for a method with a result whose policy is
  /// `ResultPolicy.standard`.
  package enum StandardResult: Sendable, Hashable {
    /// The first responder, alone.
    case first
    /// All responders, in order; the last one's result is given.
    case last
  }
}

extension DynamicProxy.Configuration {
  /// Checks the number of the protocols that a proxy is to adopt.
  internal func check(_ protocols: [ProtocolTable]) throws(ForwardingError) {
    let expected: String
    switch adoption {
    case .some where protocols.isEmpty: expected = "at least one"
    case .one where protocols.count != 1: expected = "exactly one"
    default: return
    }
    let names = protocols.map { "\"\($0.name)\"" }.joined(separator: ", ")
    throw ForwardingError(
      .wrongProtocolCount,
      """
      the proxy adopts \(names.isEmpty ? "no protocol" : "\(protocols.count) protocols (\(names))"), \
      but its configuration asks for \(expected)
      """)
  }

  /// Throws the error with which a subscriber was refused, or returns an identifier
  /// that no subscription has.
  internal func settle(_ refusal: ForwardingError) throws(ForwardingError) -> UInt64 {
    let isIgnored =
      refusals == .ignore && [.missingMethod, .duplicate, .cycle].contains(refusal.code)
    guard isIgnored else { throw refusal }
    return 0
  }
}
