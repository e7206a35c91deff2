// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Synchronization

/// Answers whether to go on: until so many files have been seen.
final class FileLimit: Sendable {
  private let limit: UInt64
  private let files = Mutex<UInt64>(0)

  init(_ limit: UInt64) {
    self.limit = limit
  }

  /// Subscribes before the listeners that count, so that they do not see the file
  /// over the limit.
  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    try proxy.subscribe(self, at: .first) {
      $0.onVisit { (self, file) in
        file.isRegular && self.isExceededByOneMore() ? .limit : .none
      }
    }
  }

  private func isExceededByOneMore() -> Bool {
    files.withLock { files in
      if files == limit { return true }
      files += 1
      return false
    }
  }
}
