// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding
import Synchronization

/// Counts what is met, by kind: what `find` would list.
final class Totals: Sendable {
  struct Counts: Sendable {
    var files: UInt64 = 0
    var directories: UInt64 = 0
    var links: UInt64 = 0
    /// Sockets, pipes and devices.
    var others: UInt64 = 0
    /// Entries of directories that may be listed, but not asked.
    var unknown: UInt64 = 0
    /// Those of `directories` that may not be read.
    var unreadable: UInt64 = 0
    /// The sizes of the files.
    var bytes: UInt64 = 0

    var entries: UInt64 { files + directories + links + others + unknown }
  }

  private let state = Mutex(Counts())

  var counts: Counts { state.withLock { $0 } }

  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    try proxy.subscribe(self) {
      $0.onVisit { (self, file) in
        self.state.withLock { $0.add(file) }
        return .none
      }
    }
  }
}

extension Totals.Counts {
  fileprivate mutating func add(_ file: VisitedFile) {
    switch file.kind {
    case FILE_KIND_REGULAR:
      files += 1
      bytes.addClamping(file.size)
    case FILE_KIND_DIRECTORY: directories += 1
    case FILE_KIND_UNREADABLE_DIRECTORY:
      directories += 1
      unreadable += 1
    case FILE_KIND_LINK: links += 1
    case FILE_KIND_OTHER: others += 1
    default: unknown += 1
    }
  }
}

extension UInt64 {
  /// Adds sizes, which sparse files can make as large as they like.
  mutating func addClamping(_ other: UInt64) {
    let (sum, overflow) = addingReportingOverflow(other)
    self = overflow ? .max : sum
  }
}
