// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a hub does with the delegate that it finds in its slot.
public struct DelegateSlotOptions: Sendable, Hashable {
  /// What becomes of the delegate that the slot had, or is given afterwards.
  public enum Original: Sendable, Hashable {
    /// It is delivered to, before all subscribers.
    case adopt
    /// It is not.
    case ignore
  }

  /// What becomes of the delegate that the slot had, or is given afterwards. In
  /// any case it is put back in the end.
  public var original = Original.adopt

  /// Whether the hub keeps that delegate alive: weak for slots that are, strong
  /// for slots that keep what they hold.
  public var lifetime = DynamicProxy.Lifetime.weak

  /// Whether the slot is set to nil and to the proxy again when a method gains
  /// its first responder or loses its last, for services that ask once, when
  /// they are given a delegate, what it responds to. It is noticed when someone
  /// subscribes, leaves or is adopted through the hub; each of these is then
  /// O(*m*) in the number of methods.
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
