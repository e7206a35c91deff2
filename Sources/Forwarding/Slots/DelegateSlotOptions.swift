// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Options for the delegate that the forwarders of a slot find in it.
public struct DelegateSlotOptions: Sendable, Hashable {
  /// How the forwarders treat the delegate that the slot had, or is given later.
  public enum Original: Sendable, Hashable {
    /// The delegate is called, before all subscribers.
    case adopt
    /// The delegate is not called.
    case ignore
  }

  /// How the forwarders treat the delegate that the slot had, or is given later.
  /// In either case the last forwarder gives the slot back to it.
  public var original = Original.adopt

  /// Whether the forwarders keep that delegate alive. Use `.weak` if the slot is
  /// weak, and `.strong` if the slot keeps its delegate alive.
  public var lifetime = DynamicProxy.Lifetime.weak

  /// Whether the slot is set to nil and to the proxy again when a method gains
  /// its first responder or loses its last, for services that ask once, when
  /// they are given a delegate, which methods it responds to.
  ///
  /// A change is noticed when a listener subscribes or leaves through a forwarder,
  /// when the slot is given another delegate, and at each check of the slot. A check
  /// also notices changes by interceptions, forward targets, and the death of
  /// listeners. Each check is O(*m*) in the number of methods.
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
