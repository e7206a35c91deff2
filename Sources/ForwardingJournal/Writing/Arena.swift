// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// Memory for the records of one transaction. It belongs to one owner, which frees it.
  @safe internal struct Arena: ~Copyable {
    internal private(set) var base: UnsafeMutableRawPointer?
    internal private(set) var capacity = 0
    /// The size of the records, set when the transaction is taken.
    internal var used = 0

    internal init() {}

    deinit {
      // SAFETY: `grow` has allocated the memory, and only this arena has it.
      unsafe free(base)
    }

    /// Gets memory for so many bytes, and keeps those that it has.
    ///
    /// - Returns: false if there is no memory.
    internal mutating func reserve(_ length: Int) -> Bool { length <= capacity || grow(length) }

    private mutating func grow(_ size: Int) -> Bool {
      let size = max(size, 2 * capacity, 1 << 16)
      // SAFETY: the memory comes from here, and belongs to this arena alone.
      guard let grown = unsafe realloc(base, size) else { return false }
      unsafe base = grown
      capacity = size
      return true
    }

    /// Returns the memory for another transaction, or frees it if most of it was not needed.
    internal consuming func emptied() -> Arena {
      if capacity > 1 << 20 && used < capacity / 4 { return Arena() }
      used = 0
      return self
    }
  }
#endif
