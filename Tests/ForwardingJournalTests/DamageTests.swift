// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Foundation
  import Testing

  @Suite struct DamageTests {
    /// Reads everything that can be read: as records to be shown, and to be forwarded.
    ///
    /// - Parameter isRight: whether a tick is one that was recorded.
    /// - Returns: the error of the second, and how many entries precede it.
    @discardableResult
    private func read(
      _ path: String, isRight: @escaping @Sendable (Int64, String?) -> Bool = { _, _ in true }
    ) -> (JournalError?, Int) {
      var count = 0
      _ = journalError {
        var shown = try Journal(reading: path).entries()
        while let entry = try shown.next() { #expect(!entry.json.isEmpty) }
      }
      let error = journalError {
        let proxy = try Log.proxy()
        let token = try proxy.subscribe {
          $0.on(Log.tick) { number, _, text in #expect(isRight(number, text)) }
        }
        defer { token.cancel() }
        var entries = try Journal(reading: path).entries(Log.schema(proxy))
        while let entry = try entries.next() {
          try entry.record.forward(to: proxy)
          count += 1
        }
      }
      return (error, count)
    }

    @Test func `A damaged record is named, and reading can go on behind it`() throws {
      let folder = try Folder()
      let journal = try folder.numbers(100)
      var bytes = try #require(try folder.records().first)
      bytes[16 * 48 + 44] ^= 4
      try folder.setRecords(0, bytes)
      let (error, count) = read(folder.path)
      #expect(error?.code == .damaged && error?.position == 17 && count == 16)
      #expect(error?.wireError?.code == .checksumMismatch)
      #expect(error?.description.contains("read from position 18") == true, "\(error as Any)")
      #expect(
        try journal.numbers(Journal.Filter(positions: 18...1000)).map(\.number) == Array(17..<100))
    }

    @Test func `A record without a right length is named, and the next batch can be read`() throws {
      let folder = try Folder()
      _ = try folder.numbers(10)
      let journal = try folder.numbers(10)
      var bytes = try #require(try folder.records().first)
      bytes[3 * 48] = 47
      try folder.setRecords(0, bytes)
      let (error, count) = read(folder.path)
      #expect(error?.code == .damaged && error?.position == 4 && count == 3)
      #expect(error?.description.contains("or from 11 ") == true, "\(error as Any)")
      #expect(
        journalError { _ = try journal.numbers(Journal.Filter(positions: 5...9)) }?.code == .damaged
      )
      #expect(try journal.numbers(Journal.Filter(positions: 11...20)).count == 10)
    }

    @Test func `Batches before a damaged batch are read, and those after it can be`() throws {
      for statement in [
        "DELETE FROM batches WHERE first_position = 3",
        "UPDATE batches SET record_count = 2 WHERE first_position = 3",
        "UPDATE batches SET records = x'00' WHERE first_position = 3",
      ] {
        let folder = try Folder()
        for _ in 0..<5 { _ = try folder.numbers(1) }
        try folder.run(statement)
        let (error, count) = read(folder.path)
        #expect(error?.code == .damaged && error?.position == 3 && count == 2)
        #expect(error?.description.contains("from position 4") == true, "\(error as Any)")
        let rest = try Journal(reading: folder.path).numbers(Journal.Filter(positions: 4...9))
        #expect(rest.map(\.position) == [4, 5])
      }
    }

    @Test(arguments: [1...3, 3...3, 2...4])
    func `A batch that is missing is damage, also where the filter ends inside of it`(
      positions: ClosedRange<Int>
    ) throws {
      let folder = try Folder()
      _ = try folder.numbers(2)
      _ = try folder.numbers(2)
      _ = try folder.numbers(2)
      try folder.run("DELETE FROM batches WHERE first_position = 3")
      let journal = try Journal(reading: folder.path)
      let error = journalError {
        _ = try journal.numbers(Journal.Filter(positions: positions))
      }
      #expect(error?.code == .damaged && error?.position == 3)
      #expect(error?.description.contains("from position 5") == true, "\(error as Any)")
      #expect(try journal.numbers(Journal.Filter(positions: 1...2)).count == 2)
      #expect(try journal.numbers(Journal.Filter(positions: 5...9)).count == 2)
    }

    @Test func `A last call that is missing is damage`() throws {
      let folder = try Folder()
      _ = try folder.numbers(2)
      try folder.run("DELETE FROM batches")
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let error = journalError {
        _ = try journal.subscribe(
          to: proxy, Log.schema(proxy), startingWithLast: [Log.number.selector.name]
        ) { try $0.subscribe { $0.on(Log.number) { _ in } } }
      }
      #expect(error?.code == .damaged && error?.position == 2, "\(error as Any)")
    }

    @Test func `A last call that is of another method or producer is not delivered`() throws {
      for (statement, producer) in [
        ("UPDATE last_positions SET position = 1", 7),
        ("UPDATE last_positions SET producer = 8", 8),
      ] as [(String, UInt32)] {
        let folder = try Folder()
        let proxy = try Log.proxy()
        let schema = try Log.schema(proxy)
        let journal = try Journal(folder.path)
        let token = try journal.record(proxy, schema, producer: 7)
        try proxy.send(Log.tick, 1, 2, nil)
        try proxy.send(Log.number, 3)
        token.cancel()
        try journal.close()
        try folder.run(statement)
        let late = Collected<Int64>()
        let error = journalError {
          _ = try Journal(reading: folder.path).subscribe(
            to: proxy, schema, startingWithLast: ["number:"], producers: [producer]
          ) { try $0.subscribe { $0.on(Log.number) { late.append($0) } } }
        }
        #expect(late.all == [])
        #expect(error?.code == .damaged, "\(statement): \(error as Any)")
      }
    }

    @Test func `Tables that are not those of a journal are refused`() throws {
      let columns = "earliest_time_ns, latest_time_ns, session, steady_time_ns, records"
      for statement in [
        "DROP TABLE batches; CREATE TABLE batches(first_position TEXT, record_count, \(columns));"
          + "INSERT INTO batches VALUES('099', 1, 0, 9, 0, 0, x''), ('0zz', 1, 0, 9, 0, 0, x'')",
        "DROP TABLE schemas; CREATE TABLE schemas(identifier INTEGER PRIMARY KEY, "
          + "record BLOB AS (zeroblob(67000000))); INSERT INTO schemas VALUES (1), (2)",
        "CREATE TRIGGER t AFTER INSERT ON batches BEGIN DELETE FROM batches; END",
        "CREATE VIEW v AS SELECT 1", "CREATE INDEX i ON batches(session)", "DROP TABLE marks",
        "DROP TABLE batches; CREATE VIEW batches AS SELECT 1 AS first_position",
      ] {
        let folder = try Folder()
        _ = try folder.numbers(10)
        try folder.run(statement)
        #expect(read(folder.path).0?.code == .damaged, "\(statement)")
        #expect(journalError { _ = try Journal(folder.path) }?.code == .damaged, "\(statement)")
      }
    }

    @Test func `Tables that ANALYZE has made are no damage`() throws {
      let folder = try Folder()
      _ = try folder.numbers(10)
      try folder.run("ANALYZE")
      #expect(try Journal(reading: folder.path).numbers().count == 10)
    }

    @Test func `An array of countless elements without bytes is shown as bytes`() throws {
      let folder = try Folder()
      let proxy = try DynamicProxy { $0.optional("one:", "v@:{S=[100i][40000000[0i]]}") }
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, WireSchema(of: proxy))
      let method = try proxy.method(for: "one:")
      try unsafe [Int32](1...100).withUnsafeBytes { try unsafe method.forward(frame: $0) }
      token.cancel()
      var entries = try journal.entries()
      #expect(try entries.next()?.json.contains(",100],\"\"]") == true)
    }

    /// A statement that forges a journal of 100 numbers, and what a reader of it gets.
    struct Forgery: Sendable, CustomTestStringConvertible {
      let statement: String
      let code: JournalError.Code
      var position: Int?
      /// How many entries are read before the error.
      var count = 0
      var testDescription: String { statement }

      init(
        _ statement: String, _ code: JournalError.Code = .damaged, at position: Int? = nil,
        after count: Int = 0
      ) {
        (self.statement, self.code, self.position, self.count) = (statement, code, position, count)
      }
    }

    @Test(arguments: [
      Forgery("UPDATE batches SET record_count = 0", at: 1),
      Forgery("UPDATE batches SET record_count = -1", at: 1),
      Forgery("UPDATE batches SET record_count = 101", at: 1),
      Forgery("UPDATE batches SET record_count = 9223372036854775807", at: 1),
      Forgery("UPDATE batches SET first_position = -7", at: 1),
      Forgery("UPDATE batches SET first_position = 9223372036854775807", at: 1),
      Forgery("UPDATE batches SET first_position = 2", at: 1),
      Forgery("UPDATE batches SET records = x''", at: 1),
      Forgery("UPDATE batches SET records = 'text'", at: 1),
      Forgery("UPDATE batches SET records = zeroblob(50000000)", at: 1),
      Forgery("UPDATE batches SET records = zeroblob(100000000)"),
      Forgery("UPDATE schemas SET record = x'00'", at: 1),
      Forgery("DELETE FROM schemas", at: 1),
      Forgery("UPDATE schemas SET identifier = identifier + 4294967296 * 7", at: 1),
      Forgery("PRAGMA application_id = 1", .notAJournal),
    ])
    func `Forged batches and schemas are errors`(_ forgery: Forgery) throws {
      let folder = try Folder()
      _ = try folder.numbers(100)
      try folder.run(forgery.statement)
      let (error, count) = read(folder.path)
      #expect(error?.code == forgery.code && error?.position == forgery.position, "\(error as Any)")
      #expect(count == forgery.count)
    }

    @Test(arguments: [0, 1, 3, 1_000_000])
    func `A file of another version is refused, and the error names both versions`(
      _ version: Int
    ) throws {
      let folder = try Folder()
      _ = try folder.numbers(1)
      // Another version may have other tables.
      try folder.run("PRAGMA user_version = \(version); DROP TABLE marks; CREATE TABLE t(c)")
      for open in [{ try Journal(reading: folder.path) }, { try Journal(folder.path) }] {
        let error = journalError { _ = try open() }
        #expect(error?.code == .unsupportedVersion)
        #expect(
          error?.description
            == "\(folder.path): the journal has version \(version) of the file format, expected "
            + "version 2")
      }
    }

    @Test(arguments: [
      "UPDATE batches SET session = 'x', steady_time_ns = -9223372036854775808",
      "UPDATE batches SET steady_time_ns = 9223372036854775807", "DELETE FROM last_positions",
      "UPDATE last_positions SET position = -9223372036854775808",
      "UPDATE last_positions SET producer = -1", "UPDATE last_positions SET producer = 'x'",
    ])
    func `Forged times and last positions lose no record`(_ statement: String) throws {
      let folder = try Folder()
      _ = try folder.numbers(100)
      try folder.run(statement)
      let (error, count) = read(folder.path)
      #expect(error == nil && count == 100)
      // Recording goes on.
      #expect(try folder.numbers(1).numbers().map(\.number) == Array(0..<100) + [0])
    }

    @Test func `Hostile records with right checksums are refused`() throws {
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      try proxy.send(Log.tick, 1, 2, "ACME")
      try proxy.send(Log.number, 2)
      token.cancel()
      try journal.close()
      // The string's slot is at byte 56 of the first record: offset, then size.
      for (place, value) in [
        (56, 0x7FFF_FFF8), (56, 0), (60, 1 << 20), (60, 6), (10, 77), (20, 1 << 20), (8, 5),
      ] {
        let bytes = try folder.records()
        try unsafe folder.changeRecords { position, record in
          guard position == 1 else { return }
          if place == 8 || place == 10 {
            unsafe record.storeBytes(of: UInt8(value), toByteOffset: place, as: UInt8.self)
          } else {
            unsafe record.storeBytes(of: UInt32(value), toByteOffset: place, as: UInt32.self)
          }
        }
        let (error, count) = read(folder.path)
        #expect(
          error?.code == .damaged && error?.position == 1 && count == 0,
          "\(place): \(error.map(String.init(describing:)) ?? "")")
        try folder.setRecords(0, bytes[0])
      }
      #expect(read(folder.path).1 == 2)
    }

    @Test func `Truncated files and files with flipped bits are read up to an error, or wholly`()
      throws
    {
      var generator = SystemRandomNumberGenerator()
      let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
      var random = Random(seed)
      let folder = try Folder()
      let proxy = try Log.proxy()
      let journal = try Journal(folder.path)
      let token = try journal.record(proxy, Log.schema(proxy))
      for number in 0..<2000 { try proxy.send(Log.tick, Int64(number), 1, "text \(number)") }
      token.cancel()
      try journal.close()
      let whole = try Data(contentsOf: URL(filePath: folder.path))
      for round in 0..<120 {
        let other = try Folder()
        var bytes = whole
        if round % 3 == 0 {
          bytes = bytes.prefix(Int(random.next() % UInt64(bytes.count)))
        } else {
          for _ in 0..<(round % 8 + 1) {
            bytes[Int(random.next() % UInt64(bytes.count))] ^= 1 << UInt8(random.next() % 8)
          }
        }
        try bytes.write(to: URL(filePath: other.path))
        let next = Collected<Int64>()
        let (error, count) = read(other.path) { number, text in
          defer { next.append(number) }
          return number == Int64(next.all.count) && text == "text \(number)"
        }
        // The end of the last page may be unused.
        if bytes.count < whole.count {
          #expect(error != nil || count == 2000, "seed \(seed), round \(round)")
        }
        #expect(next.all.count == count, "seed \(seed), round \(round)")
        // A recorder may refuse the file, or go on. It must not trap.
        _ = journalError { _ = try other.numbers(1) }
      }
    }

    /// The files beside that of a journal.
    private func files(beside folder: Folder) throws -> [String] {
      let name = URL(filePath: folder.path).lastPathComponent
      return try FileManager.default.contentsOfDirectory(atPath: folder.directory)
        .filter { $0 != name }
    }

    @Test func `A file that is no journal is refused and left as it is`() throws {
      let folder = try Folder()
      #expect(journalError { _ = try Journal(reading: folder.path) }?.code == .cannotOpen)
      #expect(journalError { _ = try Journal(reading: "") }?.code == .invalidArgument)
      let missing = journalError { _ = try Journal(folder.directory + "/no/such") }
      #expect(missing?.code == .cannotOpen)
      #expect(missing?.description.hasSuffix(": its directory does not exist") == true)
      #expect(journalError { _ = try Journal(folder.directory) }?.code == .cannotOpen)
      let text = Data("just some text, and more of it\n".utf8) + Data(repeating: 32, count: 2000)
      try text.write(to: URL(filePath: folder.path))
      for open in [{ try Journal(reading: folder.path) }, { try Journal(folder.path) }] {
        let error = journalError { _ = try open() }
        #expect(error?.code == .notAJournal)
        #expect(error?.description.hasPrefix(folder.path) == true)
      }
      #expect(try Data(contentsOf: URL(filePath: folder.path)) == text)
      #expect(try files(beside: folder) == [])
      // Another program's database.
      try FileManager.default.removeItem(atPath: folder.path)
      try folder.run("PRAGMA journal_mode = WAL; CREATE TABLE notes(text)")
      #expect(journalError { _ = try Journal(folder.path) }?.code == .notAJournal)
      #expect(try files(beside: folder) == [])
      #expect(journalError { _ = try Journal(reading: folder.path) }?.code == .notAJournal)
    }
  }

  /// Random numbers of a seed.
  private struct Random {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }
#endif
