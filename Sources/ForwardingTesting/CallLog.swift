// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// The calls that a spy has received, in order, in memory that does not move.
///
/// A record has the index of its method, then its arguments. Records are appended to
/// chunks, each twice as large as the one before it, so a call allocates rarely.
@safe internal struct CallLog: Sendable {
  internal static let alignment = 16
  internal static let headerSize = 8
  private static let firstChunkSize = 4096

  /// Some memory with records in its first bytes.
  @safe private struct Chunk: @unchecked Sendable {
    // Sendable: a record is not changed once it is written.
    let start: UnsafeMutableRawPointer
    let size: Int
    var used = 0
  }

  /// One call.
  @safe internal struct Record: @unchecked Sendable {
    // Sendable: as above.
    internal let start: UnsafeMutableRawPointer

    /// The index of the method.
    internal var method: Int { unsafe Int(start.load(as: UInt32.self)) }
  }

  private var chunks: [Chunk] = []
  /// The number of calls.
  internal private(set) var count = 0

  /// Appends a record with the index of its method.
  internal mutating func append(_ method: Int, size: Int) -> Record {
    if chunks.last.map({ $0.size - $0.used < size }) ?? true {
      let last = chunks.last?.size ?? Self.firstChunkSize / 2
      let size = max(min(last * 2, 1 << 20), size)
      unsafe chunks.append(
        Chunk(start: .allocate(byteCount: size, alignment: Self.alignment), size: size))
    }
    let index = chunks.count - 1
    let start = unsafe chunks[index].start + chunks[index].used
    chunks[index].used += size
    count += 1
    unsafe start.storeBytes(of: UInt32(truncatingIfNeeded: method), as: UInt32.self)
    return unsafe Record(start: start)
  }

  /// All calls, in order.
  ///
  /// - Parameter methods: the methods of their indices.
  /// - Complexity: O(*n*) in the number of calls.
  internal func records(_ methods: [RecordedMethod]) -> [Record] {
    var records: [Record] = []
    records.reserveCapacity(count)
    for chunk in chunks {
      var offset = 0
      while offset < chunk.used {
        let record = unsafe Record(start: chunk.start + offset)
        records.append(record)
        offset += methods[record.method].size
      }
    }
    return records
  }

  /// Releases all records and the memory. Nothing may use them any more.
  internal mutating func deallocate(_ methods: [RecordedMethod]) {
    for record in records(methods) { unsafe methods[record.method].destroy(record.start) }
    for chunk in chunks { unsafe chunk.start.deallocate() }
    chunks = []
    count = 0
  }
}
