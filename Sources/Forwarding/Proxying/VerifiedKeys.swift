// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

/// For each method of a proxy, the two keys that were last found to fit: at first
/// the key that the method was declared with. Two, since a program may send a
/// method both with its result and without.
///
/// A struct, since reading through an object would count a reference in each
/// send. Its owner calls `deallocate`.
@safe internal struct VerifiedKeys: @unchecked Sendable {
  // Sendable: the entries are immutable, and the tokens atomic.

  @safe private struct Slot: ~Copyable {
    /// The shim's entry of the method. A slot without one has no tokens.
    let entry: UnsafePointer<fwd_proxy_method>?
    /// The token of a key, or 0. Relaxed suffices: nothing else is read because
    /// of it but what was immutable before the proxy was shared.
    let token: Atomic<UInt>
    /// The token of the key before that, or 0.
    let earlier = Atomic<UInt>(0)

    func holds(_ token: UInt) -> Bool {
      self.token.load(ordering: .relaxed) == token || earlier.load(ordering: .relaxed) == token
    }
  }

  /// By the shim's index of the method.
  private let slots: UnsafeMutablePointer<Slot>
  private let count: Int

  /// - Parameter method: gives the shim's entry of a method. The entries are
  ///   valid as long as this value.
  internal init(
    _ requirements: [ProtocolTable.Requirement],
    method: (MethodSelector) -> UnsafePointer<fwd_proxy_method>?
  ) {
    count = requirements.count
    unsafe slots = .allocate(capacity: max(count, 1))
    for (index, requirement) in requirements.enumerated() {
      let entry = unsafe method(requirement.selector)
      let token = unsafe entry == nil ? 0 : requirement.token
      // SAFETY: the index is below the capacity. The shim keeps the order.
      unsafe (slots + index).initialize(to: Slot(entry: entry, token: Atomic(token)))
    }
  }

  /// Frees the memory.
  ///
  /// - Precondition: no other thread uses it, and no caller will.
  @unsafe internal func deallocate() {
    // SAFETY: allocated and initialized in `init`, freed once.
    unsafe slots.deinitialize(count: count)
    unsafe slots.deallocate()
  }

  /// Whether a key is known to fit.
  @unsafe internal func holds(_ token: UInt, _ entry: UnsafePointer<fwd_proxy_method>) -> Bool {
    unsafe slots[fwd_proxy_method_index(entry)].holds(token)
  }

  /// Remembers a key that fits.
  @unsafe internal func remember(_ token: UInt, _ entry: UnsafePointer<fwd_proxy_method>) {
    let index = unsafe fwd_proxy_method_index(entry)
    // Each word always is the token of a key that fits, whatever other threads do.
    let last = unsafe slots[index].token.exchange(token, ordering: .relaxed)
    unsafe slots[index].earlier.store(last, ordering: .relaxed)
  }

  /// The entry at an index that a key has cached, or nil if the key is not
  /// known to fit that method.
  @unsafe internal func entry(at index: Int, for token: UInt) -> UnsafePointer<fwd_proxy_method>? {
    // SAFETY: the index is below the count, and a slot with a token has an entry.
    guard index < count, unsafe slots[index].holds(token) else { return nil }
    return unsafe slots[index].entry.unsafelyUnwrapped
  }
}

extension ProtocolTable.Requirement {
  /// The token of the key that has declared the method, or 0.
  fileprivate var token: UInt {
    guard let key else { return 0 }
    return unsafe UInt(bitPattern: Unmanaged.passUnretained(key).toOpaque())
  }
}
