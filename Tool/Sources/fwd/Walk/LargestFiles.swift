// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps the largest files. Its function table is one for the class, and holds
/// a C function.
final class LargestFiles: DynamicProxy.Subscriber {
  struct File: Sendable {
    let path: [UInt8]
    let size: UInt64
  }

  static let functionTable = FunctionTable(for: LargestFiles.self) {
    // SAFETY: the function below has these types, and may be called on any
    // thread.
    unsafe $0.function(
      FileVisitor.visit.name, FileVisitor.visitEncoding, calling: visitLargestFiles)
  }

  let membership: Membership
  private let limit: Int
  private let state = Mutex<[File]>([])

  init(_ limit: Int, leavingAfter fileLimit: UInt64? = nil) {
    self.limit = limit
    membership = Membership(leavingAfter: fileLimit)
  }

  /// The largest first; of the same size, in the order of their paths' bytes.
  var files: [File] { state.withLock { $0 } }

  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    membership.begin(try proxy.subscribe(self))
  }

  fileprivate func add(_ file: VisitedFile) {
    guard file.isRegular else { return }
    let size = file.size
    state.withLock { files in
      // Most files are too small: these cost no copy of the path.
      if files.count == limit, let last = files.last, size < last.size { return }
      let new = File(path: file.path, size: size)
      var low = 0
      var high = files.count
      while low < high {
        let middle = (low + high) / 2
        if files[middle].precedes(new) { low = middle + 1 } else { high = middle }
      }
      files.insert(new, at: low)
      if files.count > limit { files.removeLast() }
    }
    membership.sawFile()
  }
}

extension LargestFiles.File {
  fileprivate func precedes(_ other: Self) -> Bool {
    size == other.size ? path.lexicographicallyPrecedes(other.path) : size > other.size
  }
}

/// Implements `visit:status:kind:position:`, as C would: the receiver, the
/// selector, nftw's arguments.
private let visitLargestFiles:
  @convention(c) (
    UnsafeRawPointer, OpaquePointer, UnsafePointer<CChar>, UnsafePointer<stat>, Int32, OpaquePointer
  ) -> Int32 = { receiver, _, path, status, kind, _ in
    // SAFETY: the table is only used for this class, the proxy holds the object
    // during the call, and the pointers are nftw's own.
    let largest = unsafe Unmanaged<LargestFiles>.fromOpaque(receiver).takeUnretainedValue()
    largest.add(unsafe VisitedFile(path: path, status: status, kind: kind))
    return StopReason.none.rawValue
  }
