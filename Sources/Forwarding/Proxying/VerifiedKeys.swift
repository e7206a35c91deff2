// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

/// For each method of a proxy, the key that was last found to fit: at first the
/// one that has declared the method.
@safe internal final class VerifiedKeys: @unchecked Sendable {
  // Sendable: the words are atomic.

  /// By the shim's index of the method: a key's token, or 0.
  private let tokens: UnsafeMutablePointer<Atomic<UInt>>
  private let count: Int

  internal init(_ requirements: [ProtocolTable.Requirement]) {
    count = requirements.count
    unsafe tokens = .allocate(capacity: max(count, 1))
    for (index, requirement) in requirements.enumerated() {
      // SAFETY: the index is below the capacity.
      unsafe (tokens + index).initialize(to: Atomic(requirement.token))
    }
  }

  deinit {
    // SAFETY: allocated and initialized in `init`, freed once.
    unsafe tokens.deinitialize(count: count)
    unsafe tokens.deallocate()
  }

  /// Whether a key is the one that fits. Relaxed: nothing else is read because of
  /// the answer but what was immutable before the proxy was shared.
  @unsafe internal func holds(_ token: UInt, _ entry: UnsafePointer<fwd_proxy_method>) -> Bool {
    unsafe tokens[fwd_proxy_method_index(entry)].load(ordering: .relaxed) == token
  }

  /// Remembers a key that fits.
  @unsafe internal func remember(_ token: UInt, _ entry: UnsafePointer<fwd_proxy_method>) {
    unsafe tokens[fwd_proxy_method_index(entry)].store(token, ordering: .relaxed)
  }
}

extension ProtocolTable.Requirement {
  /// The token of the key that has declared the method, or 0.
  fileprivate var token: UInt {
    guard let key else { return 0 }
    return unsafe UInt(bitPattern: Unmanaged.passUnretained(key).toOpaque())
  }
}
