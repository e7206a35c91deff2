// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Dispatch
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Foundation
  import Testing

  @Suite struct RecordingTests {
    @Test func `Recorded calls come back with their arguments`() throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy), producer: 7)
      try proxy.send(Log.tick, 258, 1.5, "ACME")
      try proxy.send(Log.tick, -1, .infinity, nil)
      try unsafe [1, 2, 255].map(UInt8.init).withUnsafeBytes {
        try unsafe proxy.send(Log.write, $0.baseAddress, 3)
      }
      let none = try Invocation("none", MethodSignature("v@:"))
      try proxy.forward(none)
      // Read through the journal that records: everything is written first.
      var entries = try journal.entries()
      let tick = try #require(try entries.next())
      #expect(tick.position == 1 && tick.record.producer == 7 && tick.record.sequence == 1)
      #expect(tick.description == "1 tick:price:symbol: 258, 1.5, \"ACME\"")
      #expect(
        tick.json
          == "{\"position\":1,\"method\":\"tick:price:symbol:\",\"time\":\(tick.record.time),"
          + "\"producer\":7,\"sequence\":1,\"arguments\":[258,1.5,\"ACME\"]}")
      #expect(
        try entries.next()?.description == "2 tick:price:symbol: -1, \"inf\", null")
      #expect(try entries.next()?.description == "3 write:count: \"0102ff\", 3")
      #expect(try entries.next()?.description == "4 none")
      #expect(try entries.next() == nil)
      #expect(try journal.lastPosition == 4)
      // What comes later can be read by the same entries.
      try proxy.send(Log.number, 5)
      try journal.flush()
      #expect(try entries.next()?.description == "5 number: 5")
      token.cancel()
    }

    @Test func `Positions go on when the journal is opened again, and records keep their order`()
      throws
    {
      let folder = try Folder()
      for run in 0..<3 {
        let proxy = try Log.proxy()
        let journal = try Journal(folder.path, durability: .operatingSystem)
        let token = try journal.record(proxy, Log.schema(proxy))
        for number in 0..<1000 { try proxy.send(Log.number, Int64(run * 1000 + number)) }
        token.cancel()
      }
      let numbers = try Journal(reading: folder.path).numbers()
      #expect(numbers.map(\.position) == Array(1...3000))
      #expect(numbers.map(\.number) == Array(0..<3000))
    }

    @Test(arguments: [
      Journal.Durability.operatingSystem, .interval(.milliseconds(1)), .interval(.zero), .everyCall,
    ])
    func `Records of several threads and proxies are complete, each thread's in order`(
      _ durability: Journal.Durability
    ) throws {
      let folder = try Folder()
      let journal = try Journal(folder.path, durability: durability, bufferLimit: 10_000)
      let proxies = try (0..<4).map { _ in try Log.proxy() }
      let tokens = try proxies.map { try journal.record($0, Log.schema($0)) }
      let count: Int64 = durability == .everyCall ? 100 : 5000
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<count {
          try? proxies[thread].send(Log.number, Int64(thread) << 32 | number)
        }
      }
      for token in tokens { token.cancel() }
      try journal.close()
      let numbers = try Journal(reading: folder.path).numbers()
      #expect(numbers.map(\.position) == Array(1...Int(4 * count)))
      var next: [Int64] = [0, 0, 0, 0]
      for (_, number) in numbers {
        #expect(number & 0xFFFF_FFFF == next[Int(number >> 32)])
        next[Int(number >> 32)] += 1
      }
      #expect(next == [count, count, count, count])
    }

    @Test func `With every call acknowledged, another reader has each call when it returns`() throws
    {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path, durability: .everyCall)
      let token = try journal.record(proxy, Log.schema(proxy))
      let reader = try Journal(reading: folder.path)
      for number in 0..<20 {
        try proxy.send(Log.number, Int64(number))
        #expect(try reader.lastPosition == number + 1)
      }
      token.cancel()
    }

    @Test func `Records longer than the buffer's limit, and the longest ones, are recorded`() throws
    {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path, bufferLimit: 1000)
      let token = try journal.record(proxy, Log.schema(proxy))
      let bytes = [UInt8](repeating: 7, count: WireLimits.heapSize)
      try unsafe bytes.withUnsafeBytes {
        for count in [2000, 300_000, WireLimits.heapSize, 1] {
          try unsafe proxy.send(Log.write, $0.baseAddress, Int32(count))
        }
      }
      token.cancel()
      try journal.close()
      let counts = Collected<Int32>()
      let subscription = try proxy.subscribe {
        unsafe $0.on(Log.write) { _, count in counts.append(count) }
      }
      var entries = try Journal(reading: folder.path).entries(Log.schema(proxy))
      while let entry = try entries.next() { try entry.record.forward(to: proxy) }
      #expect(counts.all == [2000, 300_000, Int32(WireLimits.heapSize), 1])
      subscription.cancel()
    }

    @Test func `A call above a limit is reported and delivered, and recording goes on`() throws {
      let folder = try Folder()
      let errors = Collected<ForwardingError>()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      let proxy = try Log.proxy(configuration)
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      let text = String(repeating: "x", count: WireLimits.stringLength)
      try proxy.send(Log.tick, 1, 2, text)
      try proxy.send(Log.number, 3)
      #expect(errors.all.map(\.code) == [.deliveryFailed])
      #expect(try journal.lastPosition == 1)
      token.cancel()
    }

    @Test func `After a journal is closed, calls are reported as not recorded`() throws {
      let folder = try Folder()
      let errors = Collected<ForwardingError>()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      let proxy = try Log.proxy(configuration)
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      try proxy.send(Log.number, 1)
      try journal.close()
      try journal.close()
      try proxy.send(Log.number, 2)
      #expect(errors.all.count == 1)
      #expect(errors.all.first?.description.contains("the journal has been closed") == true)
      #expect(journalError { try journal.flush() }?.code == .closed)
      #expect(journalError { _ = try journal.record(proxy, Log.schema(proxy)) }?.code == .closed)
      #expect(try journal.numbers().map(\.number) == [1])
      token.cancel()
    }

    #if os(Linux)
      @Test func `A process that is being started does not keep a closed journal's lock`() throws {
        let folder = try Folder()
        let journal = try Journal(folder.path)
        // A forked process shares all descriptors until its program runs.
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let lock = try #require(
          descriptors.first {
            let path = try? FileManager.default.destinationOfSymbolicLink(
              atPath: "/proc/self/fd/\($0)")
            return path?.hasSuffix("\(folder.path.suffix(20))-lock") == true
          })
        let copy = dup(Int32(lock) ?? -1)
        defer { close(copy) }
        try journal.close()
        try Journal(folder.path).close()
      }
    #endif

    @Test func `A journal that is dropped while it records writes what it has`() throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      var journal: Journal? = try Journal(folder.path, durability: .interval(.seconds(100)))
      let token = try journal?.record(proxy, Log.schema(proxy))
      for number in 0..<100 { try proxy.send(Log.number, Int64(number)) }
      journal = nil
      #expect(try Journal(reading: folder.path).numbers().map(\.number) == Array(0..<100))
      token?.cancel()
    }

    @Test func `Two writers of one file are refused, readers are not`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path)
      let error = journalError { _ = try Journal(folder.path) }
      #expect(error?.code == .inUse)
      #expect(error?.description.contains("Journal(reading:)") == true)
      let reader = try Journal(reading: folder.path)
      #expect(try reader.lastPosition == 0)
      let proxy = try Log.proxy()
      #expect(
        journalError { _ = try reader.record(proxy, Log.schema(proxy)) }?.code == .readOnly)
      try journal.close()
      _ = try Journal(folder.path)
    }

    @Test func `Two writers through a symbolic link are refused, also if it made the file`() throws
    {
      for isDangling in [true, false] {
        for linkFirst in [true, false] {
          let folder = try Folder()
          let link = folder.directory + "/link.journal"
          try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "calls.journal")
          if !isDangling { try Journal(folder.path).close() }
          let (first, second) = linkFirst ? (link, folder.path) : (folder.path, link)
          let journal = try Journal(first)
          let error = journalError { _ = try Journal(second) }
          #expect(error?.code == .inUse, "\(isDangling), \(linkFirst): \(error as Any)")
          try journal.close()
          try Journal(second).close()
        }
      }
    }

    @Test func `Two writers through a hard link are refused`() throws {
      let folder = try Folder()
      let link = folder.directory + "/link.journal"
      try Journal(folder.path).close()
      try FileManager.default.linkItem(atPath: folder.path, toPath: link)
      for (first, second) in [(folder.path, link), (link, folder.path)] {
        let journal = try Journal(first)
        #expect(journalError { _ = try Journal(second) }?.code == .inUse)
        try journal.close()
        try Journal(second).close()
      }
      // Another file of the path of a journal that is open can be recorded into.
      let journal = try Journal(folder.path)
      try FileManager.default.removeItem(atPath: folder.path)
      try FileManager.default.removeItem(atPath: link)
      try journal.close()
      try Journal(folder.path).close()
    }

    @Test func `A proxy with other arguments than the schema is refused`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path)
      let proxy = try DynamicProxy(
        adopting: ProtocolTable("Other") { $0.optional("number:", "v@:d") })
      let error = try #require(
        journalError { _ = try journal.record(proxy, Log.schema(Log.proxy())) })
      #expect(error.code == .notRecorded && error.wireError?.code == .methodMismatch)
      #expect(error.description.contains("\"v@:d\"") && error.description.contains("\"v@q\""))
    }
  }
#endif
