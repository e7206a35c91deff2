// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  import Forwarding
  import ForwardingJournal
  import ForwardingWire
  import Foundation

  struct Name: Codable, Equatable, Sendable {
    var first: String
    var last: String?
  }

  /// The methods of the tests.
  enum Log {
    static let number = Method("number:", ((Int64) -> Void).self)
    static let tick = Method("tick:price:symbol:", ((Int64, Double, String?) -> Void).self)
    static let write = unsafe Method("write:count:", ((UnsafeRawPointer?, Int32) -> Void).self)

    static func proxy(
      _ configuration: DynamicProxy.Configuration = DynamicProxy.Configuration()
    ) throws -> DynamicProxy {
      try DynamicProxy(
        adopting: ProtocolTable("Log") {
          $0.optional(number)
          $0.optional(tick)
          $0.optional("write:count:", "v@:r^vi")
          $0.optional("named:", "v@:^{\(String(reflecting: Name.self))}")
          $0.optional("none", "v@:")
        }, configuration: configuration)
    }

    static func schema(_ proxy: DynamicProxy) throws -> WireSchema {
      try WireSchema(of: proxy) {
        $0.rule("write:count:", argument: 0, .counted(by: 1))
        $0.rule("named:", argument: 0, .codable(Name.self))
      }
    }

    /// The schema record, and records of numbers from 0 on.
    static func numbers(_ count: Int64) throws -> [UInt8] {
      let schema = try schema(proxy())
      let encoder = WireEncoder(schema)
      var bytes = schema.bytes
      let invocation = try Invocation("number:", MethodSignature("v@q"))
      for number in 0..<count {
        try invocation.setArgument(number, at: 1)
        try encoder.encode(invocation, into: &bytes)
      }
      return bytes
    }
  }

  /// A directory that is removed with this object, with the path of a journal in it.
  final class Folder {
    let directory: String
    var path: String { directory + "/calls.journal" }

    init() throws {
      var template = Array((NSTemporaryDirectory() + "/fwd-XXXXXX").utf8CString)
      guard unsafe mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
      directory = String(
        decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Makes a journal of numbers from 0 on, closes it, and returns it for reading. Rows have
    /// as many records as fit, since all are appended at once.
    func numbers(_ count: Int64) throws -> Journal {
      let journal = try Journal(path)
      try journal.append(Log.numbers(count))
      try journal.close()
      return try Journal(reading: path)
    }
  }

  /// What several threads collect. Not behind a `Mutex`, which the thread sanitizer does not
  /// know on Linux.
  final class Collected<Element: Sendable>: @unchecked Sendable {
    // SAFETY: the lock protects the elements.
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { lock.withLock { elements } }
    func append(_ element: Element) { lock.withLock { elements.append(element) } }
  }

  extension Journal {
    /// The numbers of the journal, in order, with their positions.
    func numbers(_ filter: Filter = Filter()) throws -> [(position: Int, number: Int64)] {
      let proxy = try Log.proxy()
      let seen = Collected<Int64>()
      let token = try proxy.subscribe { $0.on(Log.number) { seen.append($0) } }
      defer { token.cancel() }
      var entries = try entries(Log.schema(proxy), filter)
      var positions: [Int] = []
      while let entry = try entries.next() {
        try entry.record.forward(to: proxy)
        positions.append(entry.position)
      }
      return Array(zip(positions, seen.all))
    }
  }

  /// The error that a closure throws.
  func journalError(_ body: () throws -> Void) -> JournalError? {
    do {
      try body()
      return nil
    } catch {
      return error as? JournalError
    }
  }
#endif
