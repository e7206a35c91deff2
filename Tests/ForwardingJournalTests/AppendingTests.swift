// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Dispatch
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Testing

  @Suite struct AppendingTests {
    /// Records of numbers, as another process sends them.
    private func bytes(_ numbers: [Int64]) throws -> [UInt8] {
      let schema = try Log.schema(Log.proxy())
      let encoder = WireEncoder(schema, producer: 9)
      var bytes = schema.bytes
      let invocation = try Invocation("number:", MethodSignature("v@q"))
      for number in numbers {
        try invocation.setArgument(number, at: 1)
        try encoder.encode(invocation, into: &bytes)
      }
      return bytes
    }

    @Test func `Records of another process and a mark are stored together`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path, durability: .everyCall)
      #expect(try journal.mark("consumer-7") == nil)
      try journal.append(bytes([1, 2]), marks: ["consumer-7": 123])
      #expect(try journal.mark("consumer-7") == 123)
      let reader = try Journal(reading: folder.path)
      #expect(try reader.mark("consumer-7") == 123)
      #expect(try reader.numbers().map(\.number) == [1, 2])
      try journal.append([], marks: ["consumer-7": -5])
      try journal.append([], marks: ["consumer-8": Int.max])
      try journal.append(bytes([3]))
      #expect(try reader.mark("consumer-7") == -5)
      #expect(try reader.mark("consumer-8") == Int.max)
      #expect(try reader.numbers().map(\.position) == [1, 2, 3])
      try journal.close()
      let again = try Journal(folder.path)
      #expect(try again.mark("consumer-7") == -5 && again.mark("none") == nil)
    }

    @Test func `Appended records stand between recorded ones, by the order of the calls`() throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      try proxy.send(Log.number, 0)
      try journal.append(bytes([1, 2]))
      try proxy.send(Log.number, 3)
      #expect(try journal.numbers().map(\.number) == [0, 1, 2, 3])
      token.cancel()
    }

    @Test func `Damaged bytes and bad names are refused, and change nothing`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path)
      var damaged = try bytes([1, 2])
      damaged[damaged.count - 1] ^= 1
      let error = journalError { try journal.append(damaged, marks: ["m": 1]) }
      #expect(error?.code == .notRecorded && error?.wireError?.code == .checksumMismatch)
      let cut = try Array(bytes([1]).dropLast(8))
      #expect(journalError { try journal.append(cut) }?.wireError?.code == .truncated)
      #expect(journalError { try journal.append([1, 2, 3]) }?.code == .notRecorded)
      for name in ["", "a\0b", String(repeating: "x", count: 1025)] {
        #expect(
          journalError { try journal.append([], marks: [name: 1]) }?.code == .invalidArgument)
      }
      #expect(try journal.mark("m") == nil)
      #expect(try journal.lastPosition == 0)
      let reader = try Journal(reading: folder.path)
      #expect(journalError { try reader.append([]) }?.code == .readOnly)
    }

    @Test func `A mark and its records are there together, whenever another process reads`() throws
    {
      let folder = try Folder()
      let journal = try Journal(folder.path, durability: .interval(.zero))
      let reader = try Journal(reading: folder.path)
      let done = Collected<Bool>()
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        if thread == 0 {
          for number in 0..<300 {
            try? journal.append(
              bytes([Int64(2 * number), Int64(2 * number + 1)]), marks: ["m": number + 1])
          }
          try? journal.flush()
          done.append(true)
        } else {
          while done.all.isEmpty {
            // The mark first: it may only be behind what is read later.
            let mark = (try? reader.mark("m")) ?? 0
            let last = (try? reader.lastPosition) ?? -1
            #expect(last >= 2 * mark && last % 2 == 0)
          }
        }
      }
      #expect(try reader.mark("m") == 300 && reader.lastPosition == 600)
    }
  }
#endif
