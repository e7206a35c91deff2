// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Questions that systems to be replaced answer in another way: see `Preset`.
extension DynamicProxy.Configuration {
  /// How many protocols a proxy must adopt. Another number is a `ForwardingError`
  /// with the code `wrongProtocolCount`.
  public enum Adoption: Sendable, Hashable {
    /// Any number, none too.
    case any
    /// At least one.
    case some
    /// Exactly one, which may inherit from others.
    case one
  }

  /// What happens to a subscriber that is refused because it lacks a required
  /// method, is subscribed already (see ``Duplicates/fail``), or would make the
  /// proxy forward to itself.
  ///
  /// Other faults are mistakes in the program, and are always errors: types that
  /// are not the protocol's, an object of another class than the table's, one
  /// that is being deinitialised, a position that does not exist.
  public enum Refusals: Sendable, Hashable {
    /// `subscribe` throws.
    case fail
    /// Nothing: `subscribe` returns a subscription that is not live.
    case ignore
  }

  /// What happens if a subscriber is placed before or behind another that is not
  /// subscribed, or has died.
  public enum UnknownAnchors: Sendable, Hashable {
    /// `subscribe` throws.
    case fail
    /// Before such a one is the end, as `Position.last`; behind it is the front,
    /// as `Position.first`.
    case ends
  }

  /// What happens if a subscriber is placed directly before or behind itself.
  public enum OwnAnchors: Sendable, Hashable {
    /// It stays where it is.
    case stay
    /// As if it had left before it comes back: before itself is the end, behind
    /// itself the front.
    case ends
  }

  /// Who is called for a method with a result whose policy is
  /// `ResultPolicy.standard`.
  public enum StandardResult: Sendable, Hashable {
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

  /// What takes the place of an error with which a subscriber was refused: an
  /// identifier that no subscription has.
  internal func settle(_ refusal: ForwardingError) throws(ForwardingError) -> UInt64 {
    let isIgnored =
      refusals == .ignore && [.missingMethod, .duplicate, .cycle].contains(refusal.code)
    guard isIgnored else { throw refusal }
    return 0
  }
}
