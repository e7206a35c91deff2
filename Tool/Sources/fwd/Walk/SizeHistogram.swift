// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Synchronization

/// Counts files by size. Its methods are typed closures, made for this one
/// object.
final class SizeHistogram: Sendable {
  /// The files from one size on, below another.
  struct Bin: Sendable {
    let from: UInt64
    let below: UInt64?
    var files: UInt64 = 0
    var bytes: UInt64 = 0
  }

  /// Empty files, then from 1 KiB on four times as much each.
  private static let bounds: [UInt64] =
    [1] + (0...10).map { 1024 << (2 * $0) }

  let membership: Membership
  private let state: Mutex<[Bin]>

  init(leavingAfter fileLimit: UInt64? = nil) {
    membership = Membership(leavingAfter: fileLimit)
    let bounds = Self.bounds
    state = Mutex(
      zip([0] + bounds, bounds.map(Optional.some) + [nil]).map { Bin(from: $0, below: $1) })
  }

  var bins: [Bin] { state.withLock { $0 } }

  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    let subscription = try proxy.subscribe(self) {
      $0.onVisit { (self, file) in
        if file.isRegular {
          self.add(file.size)
          self.membership.sawFile()
        }
        return .none
      }
    }
    membership.begin(subscription)
  }

  private func add(_ size: UInt64) {
    state.withLock { bins in
      let index = bins.firstIndex { $0.below.map { size < $0 } ?? true } ?? bins.endIndex - 1
      bins[index].files += 1
      bins[index].bytes.addClamping(size)
    }
  }
}
