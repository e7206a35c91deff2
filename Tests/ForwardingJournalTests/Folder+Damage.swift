// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import CForwardingWire
  import CForwardingSQLite
  import Foundation

  extension Folder {
    /// Opens the file as a database, behind the journal's back.
    func withDatabase(_ body: (OpaquePointer) throws -> Void) throws {
      var database: OpaquePointer?
      guard unsafe sqlite3_open(path, &database) == SQLITE_OK, let database = unsafe database else {
        throw CocoaError(.fileReadUnknown)
      }
      defer { unsafe sqlite3_close(database) }
      try unsafe body(database)
    }

    func run(_ text: String) throws {
      try unsafe withDatabase { database in
        guard unsafe sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else {
          throw CocoaError(.fileWriteUnknown, userInfo: [NSDebugDescriptionErrorKey: text])
        }
      }
    }

    /// The records of each batch, one after the other.
    func records() throws -> [[UInt8]] {
      var batches: [[UInt8]] = []
      try unsafe withDatabase { database in
        var statement: OpaquePointer?
        unsafe sqlite3_prepare_v2(
          database, "SELECT records FROM batches ORDER BY first_position", -1, &statement, nil)
        while unsafe sqlite3_step(statement) == SQLITE_ROW {
          let blob = unsafe sqlite3_column_blob(statement, 0)
          let count = Int(unsafe sqlite3_column_bytes(statement, 0))
          unsafe batches.append(Array(UnsafeRawBufferPointer(start: blob, count: count)))
        }
        unsafe sqlite3_finalize(statement)
      }
      return batches
    }

    /// Replaces the records of a batch.
    func setRecords(_ batch: Int, _ bytes: [UInt8]) throws {
      let digits = bytes.map { String(format: "%02x", $0) }.joined()
      try run(
        """
        UPDATE batches SET records = x'\(digits)' WHERE first_position =
        (SELECT first_position FROM batches ORDER BY first_position LIMIT 1 OFFSET \(batch))
        """)
    }

    /// Changes each record, and gives it a right checksum.
    func changeRecords(_ change: (Int, UnsafeMutableRawPointer) -> Void) throws {
      var position = 0
      for (batch, bytes) in try records().enumerated() {
        var bytes = bytes
        unsafe bytes.withUnsafeMutableBytes { buffer in
          var start = 0
          while start < buffer.count {
            position += 1
            let record = unsafe buffer.baseAddress! + start
            let length = unsafe record.load(as: UInt32.self)
            unsafe change(position, record)
            let checksum = unsafe fwd_wire_checksum(length, record + 8, Int(length) - 8)
            unsafe record.storeBytes(of: checksum, toByteOffset: 4, as: UInt32.self)
            start += Int(length)
          }
        }
        try setRecords(batch, bytes)
      }
    }
  }
#endif
