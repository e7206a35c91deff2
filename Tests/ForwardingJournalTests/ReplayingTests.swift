// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import CForwardingSQLite
  import Dispatch
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Foundation
  import Testing

  @Suite struct ReplayingTests {
    /// Replays numbers, and returns what a subscriber gets.
    private func replayed(
      _ journal: Journal, _ filter: Journal.Filter = Journal.Filter(), pace: Double = .infinity
    ) async throws -> [Int64] {
      let proxy = try Log.proxy()
      let seen = Collected<Int64>()
      let token = try proxy.subscribe { $0.on(Log.number) { seen.append($0) } }
      defer { token.cancel() }
      let count = try await journal.replay(to: proxy, Log.schema(proxy), filter, pace: pace)
      #expect(count == seen.all.count)
      return seen.all
    }

    @Test func `All calls are replayed at once, in order, and parts of them by position`()
      async throws
    {
      let folder = try Folder()
      let journal = try folder.numbers(10_000)
      #expect(try await replayed(journal) == Array(0..<10_000))
      for range in [1...1, 5000...5003, 9999...20_000, 2...9999] {
        let numbers = try await replayed(journal, Journal.Filter(positions: range))
        #expect(numbers == range.clamped(to: 1...10_000).map { Int64($0 - 1) })
      }
      #expect(try await replayed(journal, Journal.Filter(positions: 20_000...30_000)) == [])
      #expect(try await replayed(journal, Journal.Filter(positions: -5...0)) == [])
      #expect(try await replayed(journal, Journal.Filter(methods: ["tick:price:symbol:"])) == [])
    }

    @Test func `A pace that is not above 0 is refused`() async throws {
      let folder = try Folder()
      let journal = try folder.numbers(1)
      for pace in [0, -1, Double.nan] {
        do {
          _ = try await replayed(journal, pace: pace)
          Issue.record("no error for \(pace)")
        } catch {
          #expect((error as? JournalError)?.code == .invalidArgument)
        }
      }
    }

    /// Records three calls with pauses of 100 and 200 milliseconds.
    private func slowly(_ folder: Folder) throws -> Journal {
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      for (number, pause) in [(0, 100_000), (1, 200_000), (2, 0)] {
        try proxy.send(Log.number, Int64(number))
        usleep(UInt32(pause))
      }
      token.cancel()
      try journal.close()
      return try Journal(reading: folder.path)
    }

    /// Replays numbers 0 to 2, and returns the milliseconds that it takes.
    private func duration(_ journal: Journal, pace: Double) async throws -> Double {
      let start = ContinuousClock.now
      #expect(try await replayed(journal, pace: pace) == [0, 1, 2])
      return (ContinuousClock.now - start) / .milliseconds(1)
    }

    @Test(arguments: [10, Double.infinity])
    func `Calls are replayed at their pace, and faster`(_ pace: Double) async throws {
      let folder = try Folder()
      let journal = try slowly(folder)
      let original = try await duration(journal, pace: 1)
      // The recorded times are those of the scheduler's tick.
      #expect(original > 270)
      // A busy machine may be late by any time, so the fastest of some replays counts.
      var fastest = Double.infinity
      for _ in 0..<10 where fastest > original / 2 {
        fastest = min(fastest, try await duration(journal, pace: pace))
      }
      #expect(fastest <= original / 2 && fastest > 270 / pace)
    }

    // An hour would be waited for if the pace followed the clock.
    @Test(.timeLimit(.minutes(45)), arguments: [-3_600_000_000_000, 3_600_000_000_000])
    func `The pace does not follow a clock that was set while calls were recorded`(
      _ step: Int64
    ) async throws {
      let folder = try Folder()
      let journal = try slowly(folder)
      // As if the clock had been set by an hour before the second call.
      try unsafe folder.changeRecords { position, record in
        guard position >= 2 else { return }
        let time = unsafe record.load(fromByteOffset: 32, as: Int64.self)
        unsafe record.storeBytes(of: time + step, toByteOffset: 32, as: Int64.self)
      }
      let duration = try await duration(journal, pace: 1)
      // There are 200 ms between the last two calls. The recorded times change with the
      // scheduler's tick, each 1 to 10 ms. A busy machine may be late by any time, but not by an hour.
      #expect(duration > 190 && duration < 1_800_000)
      // Ranges of times follow the clock that was set; positions do not.
      var entries = try journal.entries()
      #expect(try entries.next()?.position == 1)
      #expect(try entries.next()?.position == 2)
    }

    @Test func `A cancelled task forwards no further call`() async throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      try proxy.send(Log.number, 1)
      usleep(30_000)
      try proxy.send(Log.number, 2)
      token.cancel()
      let (stream, continuation) = AsyncStream.makeStream(of: Int64.self)
      let other = try Log.proxy()
      let subscription = try other.subscribe { $0.on(Log.number) { continuation.yield($0) } }
      let schema = try Log.schema(other)
      // A million times slower: the second call would come after hours.
      let task = Task { try await journal.replay(to: other, schema, pace: 0.000_001) }
      var numbers = stream.makeAsyncIterator()
      #expect(await numbers.next() == 1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      continuation.finish()
      #expect(await numbers.next() == nil)
      subscription.cancel()
      try journal.close()
    }

    @Test(arguments: [Double.infinity, 1e12])
    func `A call that cancels the replay's task is the last one`(_ pace: Double) async throws {
      let folder = try Folder()
      let journal = try folder.numbers(5000)
      let proxy = try Log.proxy()
      let seen = Collected<Int64>()
      let subscription = try proxy.subscribe {
        $0.on(Log.number) { number in
          seen.append(number)
          if number == 2 { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
      }
      let schema = try Log.schema(proxy)
      let task = Task { try await journal.replay(to: proxy, schema, pace: pace) }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(seen.all == [0, 1, 2])
      subscription.cancel()
    }

    /// Filters that no call of a journal of numbers passes.
    private static let emptyFilters = [
      Journal.Filter(methods: []), Journal.Filter(methods: ["none"]), Journal.Filter(times: 0...1),
    ]

    @Test(arguments: emptyFilters, [Double.infinity, 1e12])
    func `A cancelled replay ends also if the filter leaves out all calls`(
      _ filter: Journal.Filter, _ pace: Double
    ) async throws {
      let folder = try Folder()
      let journal = try folder.numbers(10_000)
      let task = Task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return try await journal.replay(nil, filter, pace: pace) { _ in }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// A block that is always in the main queue, and counts how often it runs.
    @MainActor private final class Turns {
      var count = 0
      var isOver = false

      func take() {
        guard !isOver else { return }
        DispatchQueue.main.async {
          MainActor.assumeIsolated {
            self.count += 1
            self.take()
          }
        }
      }
    }

    @Test @MainActor
    func `Other tasks use the actor of a replay meanwhile, whatever the filter leaves out`()
      async throws
    {
      let folder = try Folder()
      let schema = try WireSchema(of: DynamicProxy { $0.optional("other", "v@:") }) {
        $0.leaveOut("number:")
        for name in ["tick:price:symbol:", "write:count:", "named:", "none"] { $0.leaveOut(name) }
      }
      // A batch for each appended piece.
      let journal = try Journal(folder.path)
      let piece = try Log.numbers(50)
      for _ in 0..<1000 {
        try journal.append(piece)
        try journal.flush()
      }
      for (schema, pace) in [(nil, Double.infinity), (nil, 1e12), (schema, .infinity)] {
        for filter in Self.emptyFilters + [Journal.Filter()] {
          let turns = Turns()
          turns.take()
          try await journal.replay(schema, filter, pace: pace) { _ in }
          turns.isOver = true
          #expect(turns.count >= 3, "\(filter), \(schema == nil), \(pace)")
        }
      }
    }

    @Test @MainActor func `Subscribers are called in the caller's isolation`() async throws {
      let folder = try Folder()
      let journal = try folder.numbers(3000)
      let proxy = try Log.proxy()
      let seen = Collected<Bool>()
      let token = try proxy.subscribe {
        $0.on(Log.number) { _ in seen.append(MainActor.assumeIsolated { true }) }
      }
      try await journal.replay(to: proxy, Log.schema(proxy), pace: .infinity)
      #expect(seen.all.count == 3000)
      token.cancel()
    }

    @Test func `A journal can be replayed into the proxy that it records`() async throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      for number in 0..<100 { try proxy.send(Log.number, Int64(number)) }
      #expect(try await journal.replay(to: proxy, Log.schema(proxy), pace: .infinity) == 100)
      #expect(try journal.numbers().map(\.number) == Array(0..<100) + Array(0..<100))
      token.cancel()
    }

    @Test func `Entries are filtered by methods and times`() throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      for number in 0..<10 {
        try proxy.send(Log.number, Int64(number))
        try proxy.send(Log.tick, Int64(number), 1, nil)
        usleep(10_000)
      }
      var all: [(position: Int, time: Int64)] = []
      var entries = try journal.entries()
      while let entry = try entries.next() { all.append((entry.position, entry.record.time)) }
      let middle = all[10].time
      func positions(_ filter: Journal.Filter) throws -> [Int] {
        var entries = try journal.entries(nil, filter)
        var positions: [Int] = []
        while let entry = try entries.next() { positions.append(entry.position) }
        return positions
      }
      #expect(
        try positions(Journal.Filter(methods: ["number:"])) == Array(stride(from: 1, to: 20, by: 2))
      )
      #expect(try positions(Journal.Filter(methods: [])) == [])
      let late = try positions(Journal.Filter(times: middle...Int64.max))
      #expect(late == all.filter { $0.time >= middle }.map(\.position) && late.last == 20)
      let early = try positions(Journal.Filter(times: Int64.min...(middle - 1)))
      #expect(early + late == Array(1...20))
      token.cancel()
    }

    @Test func `Entries are filtered by producers`() async throws {
      let folder = try Folder()
      let (first, second) = (try Log.proxy(), try Log.proxy())
      let journal = try Journal(folder.path)
      let tokens = [
        try journal.record(first, Log.schema(first), producer: 1),
        try journal.record(second, Log.schema(second), producer: .max),
      ]
      for number in 0..<4 {
        try first.send(Log.number, Int64(number))
        try second.send(Log.number, Int64(10 + number))
      }
      for token in tokens { token.cancel() }
      #expect(
        try journal.numbers(Journal.Filter(producers: [1])).map(\.position) == [1, 3, 5, 7])
      #expect(
        try await replayed(journal, Journal.Filter(producers: [.max], positions: 3...8))
          == [11, 12, 13])
      #expect(try await replayed(journal, Journal.Filter(producers: [1, .max])).count == 8)
      #expect(try await replayed(journal, Journal.Filter(producers: [0])) == [])
      #expect(
        try journal.numbers(Journal.Filter(methods: ["none"], producers: [1])).isEmpty)
    }

    @Test func `Entries that were read without a schema cannot be forwarded`() throws {
      let folder = try Folder()
      let journal = try folder.numbers(1)
      var entries = try journal.entries()
      let entry = try #require(try entries.next())
      let error = #expect(throws: WireError.self) { try entry.record.forward(to: Log.proxy()) }
      #expect(error?.code == .notForwarded)
    }

    // MARK: Schemas

    /// A journal of ten calls of `a:`, one of `b:` with a double and one of `gone`, and the
    /// proxy of a program in which the argument of `b:` is an integer and `gone` is unknown.
    private func changed(_ folder: Folder) throws -> (Journal, DynamicProxy) {
      let old = try DynamicProxy(
        adopting: ProtocolTable("Old") {
          $0.optional("a:", "v@:q")
          $0.optional("b:", "v@:d")
          $0.optional("gone", "v@:")
          $0.optional("never called", "v@:")
        })
      let journal = try Journal(folder.path)
      let token = try journal.record(old, WireSchema(of: old))
      for number in 0..<10 { try old.send("a:", Int64(number)) }
      try old.send("b:", 2.5)
      try old.send("a:", Int64(10))
      try old.send("gone")
      try old.send("a:", Int64(11))
      token.cancel()
      try journal.close()
      let new = try DynamicProxy(
        adopting: ProtocolTable("New") {
          $0.optional("a:", "v@:q")
          $0.optional("b:", "v@:q")
        })
      return (try Journal(reading: folder.path), new)
    }

    @Test func `The first call that does not fit is named, and those before it are forwarded`()
      async throws
    {
      let folder = try Folder()
      let (journal, proxy) = try changed(folder)
      let schema = try WireSchema(of: proxy)
      let seen = Collected<Int64>()
      let token = try proxy.before("a:") { (number: Int64) in seen.append(number) }
      let error = await #expect(throws: JournalError.self) {
        try await journal.replay(to: proxy, schema, pace: .infinity)
      }
      #expect(error?.code == .schemaMismatch && error?.position == 11)
      #expect(error?.wireError?.code == .schemaMismatch && error?.wireError?.selector == "b:")
      #expect(
        error?.description.hasSuffix(
          """
          position 11: "b:" was recorded as "v@:d", but the reader declares "v@:q": the \
          arguments differ
          """) == true, "\(error as Any)")
      #expect(seen.all == Array(0..<10))
      // The next call throws the same error.
      var entries = try journal.entries(schema, Journal.Filter(positions: 10...20))
      #expect(try entries.next()?.position == 10)
      let first = journalError { _ = try entries.next() }
      #expect(first?.position == 11 && journalError { _ = try entries.next() } == first)
      // A method that the reader does not have.
      let gone = journalError {
        var entries = try journal.entries(schema, Journal.Filter(positions: 12...20))
        while let entry = try entries.next() { #expect(entry.position == 12) }
      }
      #expect(gone?.code == .schemaMismatch && gone?.position == 13)
      #expect(gone?.wireError?.code == .unknownMethod && gone?.wireError?.selector == "gone")
      #expect(gone?.description.contains("$0.leaveOut(\"gone\")") == true)
      // Without records that do not fit, nothing is wrong.
      #expect(
        try await journal.replay(
          to: proxy, schema, Journal.Filter(positions: 14...20), pace: .infinity) == 1)
      token.cancel()
    }

    @Test(arguments: [1, Double.infinity])
    func `Calls that the filter leaves out by their method need not fit`(
      _ pace: Double
    ) async throws {
      let folder = try Folder()
      let (journal, proxy) = try changed(folder)
      let schema = try WireSchema(of: proxy)
      let seen = Collected<Int64>()
      let token = try proxy.before("a:") { (number: Int64) in seen.append(number) }
      #expect(
        try await journal.replay(to: proxy, schema, Journal.Filter(methods: ["a:"]), pace: pace)
          == 12)
      #expect(seen.all == Array(0..<12))
      var entries = try journal.entries(
        schema, Journal.Filter(methods: ["a:"], positions: 10...20))
      var positions: [Int] = []
      while let entry = try entries.next() { positions.append(entry.position) }
      #expect(positions == [10, 12, 14])
      for (methods, position) in [(["a:", "b:"], 11), (["gone", "a:"], 13), (["gone"], 13)] {
        let error = await #expect(throws: JournalError.self) {
          try await journal.replay(
            to: proxy, schema, Journal.Filter(methods: Set(methods)), pace: .infinity)
        }
        #expect(error?.code == .schemaMismatch && error?.position == position, "\(methods)")
      }
      token.cancel()
    }

    @Test func `A late subscriber gets a last call that fits, whatever else does not`() throws {
      let folder = try Folder()
      let (journal, proxy) = try changed(folder)
      let schema = try WireSchema(of: proxy)
      let seen = Collected<Int64>()
      let token = try journal.subscribe(to: proxy, schema, startingWithLast: ["a:"]) { proxy in
        try proxy.subscribe { $0.on("a:") { (number: Int64) in seen.append(number) } }
      }
      #expect(seen.all == [11])
      let error = journalError {
        _ = try journal.subscribe(to: proxy, schema, startingWithLast: ["b:"]) { _ in }
      }
      #expect(error?.code == .schemaMismatch && error?.position == 11)
      token.cancel()
    }

    @Test func `A schema that changed is named with both encodings, and what precedes it is read`()
      async throws
    {
      let folder = try Folder()
      _ = try folder.numbers(3)
      // The program is changed: the number becomes a double.
      let proxy = try DynamicProxy(
        adopting: ProtocolTable("New") { $0.optional("number:", "v@:d") })
      let schema = try WireSchema(of: proxy) {
        $0.leaveOut("tick:price:symbol:")
        $0.leaveOut("write:count:")
        $0.leaveOut("named:")
        $0.leaveOut("none")
      }
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, schema)
      try proxy.forward(Invocation("number:", MethodSignature("v@:d")))
      token.cancel()
      do {
        try await journal.replay(to: proxy, schema, pace: .infinity)
        Issue.record("no error")
      } catch let error as JournalError {
        #expect(error.code == .schemaMismatch && error.position == 1)
        #expect(error.wireError?.selector == "number:")
        #expect(
          error.description.hasSuffix(
            """
            position 1: "number:" was recorded as "v@q", but the reader declares "v@:d": the \
            arguments differ
            """), "\(error)")
      }
      // What was recorded since fits.
      #expect(
        try await journal.replay(
          to: proxy, schema, Journal.Filter(positions: 4...Int.max), pace: .infinity) == 1)
      // Both can be shown.
      var entries = try journal.entries(nil, Journal.Filter(positions: 3...4))
      #expect(try entries.next()?.description == "3 number: 2")
      #expect(try entries.next()?.description == "4 number: 0.0")
      // A method that has gone.
      let empty = try DynamicProxy(adopting: ProtocolTable("Empty") { $0.optional("other", "v@:") })
      let error = await #expect(throws: JournalError.self) {
        try await journal.replay(to: empty, WireSchema(of: empty), pace: .infinity)
      }
      #expect(error?.code == .schemaMismatch)
      #expect(error?.description.contains("$0.leaveOut(") == true)
    }
  }
#endif
