// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Dispatch
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Testing

  @Suite struct LatestTests {
    @Test func `The last call is that of the highest position, whatever schema it has`() throws {
      // Several times, since the order of a dictionary may hide a mistake.
      for _ in 0..<16 {
        let folder = try Folder()
        let journal = try Journal(folder.path)
        let (first, second) = (try Log.proxy(), try DynamicProxy { $0.optional(Log.number) })
        let tokens = [
          try journal.record(first, Log.schema(first)),
          try journal.record(second, WireSchema(of: second)),
        ]
        try first.send(Log.number, 1)
        try second.send(Log.number, 2)
        let late = Collected<Int64>()
        let token = try journal.subscribe(
          to: second, WireSchema(of: second), startingWithLast: ["number:"]
        ) { proxy in try proxy.subscribe { $0.on(Log.number) { late.append($0) } } }
        #expect(late.all == [2])
        token.cancel()
        for token in tokens { token.cancel() }
      }
    }

    @Test func `The observers of the proxy are told of its own subscriptions only`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path)
      let joined = Collected<Int64>()
      var configuration = DynamicProxy.Configuration()
      configuration.onMembershipChange = { _, change in
        joined.append(change == .joined ? 1 : -1)
      }
      configuration.onCapabilityChange = { _, responds in joined.append(responds ? 10 : -10) }
      let proxy = try DynamicProxy(configuration: configuration) { $0.optional(Log.number) }
      let recording = try journal.record(proxy, WireSchema(of: proxy))
      try proxy.send(Log.number, 1)
      let late = Collected<Int64>()
      let token = try journal.subscribe(
        to: proxy, WireSchema(of: proxy), startingWithLast: ["number:"]
      ) { proxy in try proxy.subscribe { $0.on(Log.number) { late.append($0) } } }
      #expect(late.all == [1] && joined.all.sorted() == [1, 10])
      token.cancel()
      // Until then the proxy responds, since it is recorded.
      recording.cancel()
      #expect(joined.all.reduce(0, +) == 0)
    }

    /// What a late subscriber of a proxy gets first.
    private func last(
      _ journal: Journal, _ proxy: DynamicProxy, _ producers: Set<UInt32>? = nil
    ) throws -> [Int64] {
      let late = Collected<Int64>()
      let token = try journal.subscribe(
        to: proxy, Log.schema(proxy), startingWithLast: ["number:"], producers: producers
      ) { proxy in try proxy.subscribe { $0.on(Log.number) { late.append($0) } } }
      token.cancel()
      return late.all
    }

    @Test func `The last call is one of the proxy's own producer`() throws {
      let folder = try Folder()
      let journal = try Journal(folder.path)
      let (first, second, other) = (try Log.proxy(), try Log.proxy(), try Log.proxy())
      let tokens = [
        try journal.record(first, Log.schema(first), producer: 1),
        try journal.record(second, Log.schema(second), producer: 2),
      ]
      #expect(try last(journal, first) == [])
      try second.send(Log.number, 20)
      #expect(try last(journal, first) == [] && last(journal, second) == [20])
      try first.send(Log.number, 10)
      try second.send(Log.number, 21)
      try second.send(Log.number, 22)
      #expect(try last(journal, first) == [10] && last(journal, second) == [22])
      // A journal that does not record the proxy delivers the last call of all, or of the stated ones.
      #expect(try last(journal, other) == [22])
      #expect(try last(journal, other, [1]) == [10] && last(journal, first, [1, 2]) == [22])
      #expect(try last(journal, first, [3]) == [] && last(journal, first, []) == [])
      let reader = try Journal(reading: folder.path)
      #expect(try last(reader, first) == [22] && last(reader, first, [1]) == [10])
      // A recording that has ended does not count.
      tokens[0].cancel()
      #expect(try last(journal, first) == [22])
      // Nor does one of a proxy that was at the same address.
      var ended: [DynamicProxy.Token] = []
      for number: UInt32 in 3..<40 {
        let proxy = try Log.proxy()
        let token = try journal.record(proxy, Log.schema(proxy), producer: number)
        try proxy.send(Log.number, Int64(number))
        #expect(try last(journal, proxy) == [Int64(number)])
        ended.append(token)
      }
      #expect(!ended.contains { $0.isLive })
      // The positions are kept, and go on in the next opening.
      for token in tokens { token.cancel() }
      try journal.close()
      let again = try Journal(folder.path)
      let token = try again.record(first, Log.schema(first), producer: 1)
      #expect(try last(again, first) == [10])
      try first.send(Log.number, 11)
      #expect(try last(again, first) == [11] && last(again, second, [2]) == [22])
      token.cancel()
    }

    @Test
    func `A late subscriber alone gets the last call of each chosen method, then all later ones`()
      throws
    {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let schema = try Log.schema(proxy)
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, schema)
      let early = Collected<Int64>()
      let first = try proxy.subscribe { $0.on(Log.number) { early.append($0) } }
      try proxy.send(Log.number, 1)
      try proxy.send(Log.tick, 1, 1.5, "old")
      try proxy.send(Log.number, 2)
      try proxy.send(Log.tick, 2, 2.5, "new")
      let late = Collected<String>()
      let second = try journal.subscribe(
        to: proxy, schema, startingWithLast: ["number:", "tick:price:symbol:", "none"]
      ) { proxy in
        try proxy.subscribe {
          $0.on(Log.number) { late.append("\($0)") }
          $0.on(Log.tick) { _, _, text in late.append(text ?? "") }
        }
      }
      #expect(late.all == ["2", "new"])
      try proxy.send(Log.number, 3)
      #expect(late.all == ["2", "new", "3"])
      #expect(early.all == [1, 2, 3])
      // The private proxy's calls are not recorded.
      #expect(try journal.lastPosition == 5)
      second.cancel()
      try proxy.send(Log.number, 4)
      #expect(late.all.count == 3)
      // Only the chosen methods, also from a closed journal.
      token.cancel()
      try journal.close()
      let only = Collected<Int64>()
      let third = try Journal(reading: folder.path).subscribe(
        to: proxy, schema, startingWithLast: ["number:"]
      ) { proxy in try proxy.subscribe { $0.on(Log.number) { only.append($0) } } }
      #expect(only.all == [4])
      let error = journalError {
        _ = try journal.subscribe(to: proxy, schema, startingWithLast: ["other:"]) { _ in }
      }
      #expect(error?.code == .invalidArgument)
      first.cancel()
      third.cancel()
    }

    @Test func `While another thread forwards, no call is missing and the last one comes last`()
      throws
    {
      for _ in 0..<10 {
        let folder = try Folder()
        let proxy = try Log.proxy()
        let schema = try Log.schema(proxy)
        let journal = try Journal(folder.path, durability: .interval(.milliseconds(1)))
        let token = try journal.record(proxy, schema)
        try proxy.send(Log.number, 0)
        let count: Int64 = 3000
        let late = Collected<Int64>()
        let subscriptions = Collected<DynamicProxy.Token>()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
          if thread == 0 {
            for number in 1...count { try? proxy.send(Log.number, number) }
          } else if let subscription = try? journal.subscribe(
            to: proxy, schema, startingWithLast: ["number:"],
            { proxy in try proxy.subscribe { $0.on(Log.number) { late.append($0) } } })
          {
            subscriptions.append(subscription)
          }
        }
        // From the first one on, all are there.
        let seen = Set(late.all)
        let first = try #require(seen.min())
        #expect(seen == Set(first...count))
        #expect(late.all.last == count)
        token.cancel()
        for subscription in subscriptions.all { subscription.cancel() }
      }
    }
  }
#endif
