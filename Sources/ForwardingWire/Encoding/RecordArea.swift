// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Memory in which records are made where they stay, instead of being copied there: the part
/// of a destination that each record reads and changes.
///
/// The writers of records reach it without a call of the destination. All of it is used under
/// the destination's lock.
@safe package struct RecordArea {
  // SAFETY: of each `unsafe` without another reason below, the lock is held.

  /// The first record, aligned to 8 bytes; nil while there is no memory.
  package var base: UnsafeMutableRawPointer?
  /// The size of the records so far.
  package var used = 0
  /// Up to this many used bytes, a record needs neither a wait nor more memory.
  package var roomEnd = 0
  /// Up to this many used bytes, the destination need not be told of a record; -1 if it is told
  /// of every one.
  package var quietEnd = 0
  /// The sequence number of the next record.
  package var next: Int

  /// How far ahead memory is fetched, in bytes. Several short records are made while a line
  /// comes from another processor.
  private static let prefetched = 512

  package init(next: Int) { self.next = next }

  /// The size of the room for the next record.
  @inline(__always)
  internal var room: Int { roomEnd &- used }

  /// Where the next record begins, if there is room. Prefetches what comes behind it.
  @inline(__always)
  @unsafe internal func nextRecord() -> UnsafeMutableRawPointer {
    // SAFETY: where there is room, there is memory.
    let end = unsafe base.unsafelyUnwrapped + used
    // The core that stores the records had these cache lines last. Without the prefetch, the next
    // lock would wait for the stores to them.
    unsafe fwd_prefetch_to_write(end + Self.prefetched)
    return unsafe end
  }

  /// Adds the record that has been made at the end.
  ///
  /// - Returns: whether the destination has to be told.
  @inline(__always)
  internal mutating func add(_ length: Int) -> Bool {
    used &+= length
    next &+= 1
    return used > quietEnd
  }
}
