// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding

/// Counts files by extension. The observer is written in C, with a C function
/// table; this owns it.
@safe final class ExtensionCounts {
  struct Count {
    /// The bytes behind the last dot; empty for names without.
    let name: [UInt8]
    let files: UInt64
    let bytes: UInt64
  }

  private let fileLimit: UInt64?
  private let counter: OpaquePointer
  /// The counter refers to it without holding it.
  private let proxy: DynamicProxy

  init(subscribedTo proxy: DynamicProxy, leavingAfter fileLimit: UInt64? = nil) throws {
    guard let counter = unsafe extension_counter_create() else {
      throw Failure(.software, "no memory to count extensions")
    }
    self.proxy = proxy
    self.fileLimit = fileLimit
    unsafe self.counter = counter
    var error = fwd_error()
    // SAFETY: the proxy lives as long as this object, which ends the
    // subscription.
    let status = unsafe extension_counter_subscribe(
      counter, proxy.unsafeHandle, fileLimit ?? .max, &error)
    guard status == FWD_OK else {
      throw Failure(.software, unsafe String(cString: fwd_error_message()))
    }
  }

  deinit {
    // SAFETY: the reference is this object's own, and is given up once.
    unsafe extension_counter_unsubscribe(counter)
    unsafe extension_counter_release(counter)
  }

  /// After how many files it has left; nil if it has not.
  var leftAfter: UInt64? {
    unsafe extension_counter_has_left(counter) ? fileLimit : nil
  }

  /// Whether memory was too short to count all.
  var hasFailed: Bool { unsafe extension_counter_has_failed(counter) }

  /// The most frequent first; of the same count, in the order of their bytes.
  var counts: [Count] {
    let counts = (0..<(unsafe extension_counter_count(counter))).map { index in
      // SAFETY: the index is below the count, and the bytes are copied before
      // the next file.
      let count = unsafe extension_counter_at(counter, index)
      let name = unsafe UnsafeRawBufferPointer(start: count.name, count: count.length)
      return unsafe Count(name: Array(name), files: count.files, bytes: count.bytes)
    }
    return counts.sorted {
      $0.files == $1.files
        ? $0.name.lexicographicallyPrecedes($1.name) : $0.files > $1.files
    }
  }
}
