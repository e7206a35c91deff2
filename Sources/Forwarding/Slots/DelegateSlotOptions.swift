// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Options for the delegate that a hub finds in its slot.
public struct DelegateSlotOptions: Sendable, Hashable {
  /// How the hub treats the delegate that the slot had, or is given later.
  public enum Original: Sendable, Hashable {
    /// The delegate is called, before all subscribers.
    case adopt
    /// The delegate is not called.
    case ignore
  }

  /// How the hub treats the delegate that the slot had, or is given later.
  /// In either case the last forwarder gives the slot back to it.
  public var original = Original.adopt

  /// Whether the hub keeps that delegate alive: weak for slots that are, strong
  /// for slots that keep what they hold.
  public var lifetime = DynamicProxy.Lifetime.weak

  /// Whether the slot is set to nil and to the proxy again when a method gains
  /// its first responder or loses its last, for services that ask once, when
  /// they are given a delegate, which methods it responds to.
  ///
  /// The hub notices a change when a listener subscribes, leaves or is adopted
  /// through it, and at each look at the slot. A look also sees changes that
  /// were made elsewhere: by interceptions, forward targets, and listeners that
  /// have died. Each of these is O(*m*) in the number of methods.
  public var reassignsSlot = false

  /// Makes the default options.
  public init(
    original: Original = .adopt, lifetime: DynamicProxy.Lifetime = .weak,
    reassignsSlot: Bool = false
  ) {
    self.original = original
    self.lifetime = lifetime
    self.reassignsSlot = reassignsSlot
  }
}
