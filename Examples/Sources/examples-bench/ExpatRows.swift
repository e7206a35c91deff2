// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Benchmark
  import CExpat
  import CFwdMeasure
  import ExampleSupport
  import Forwarding
  import Foundation
  import FwdBenchDriver
  import SharedExpat

  /// Three observers of one expat parser: called directly by C handlers in Swift, and by a proxy.
  enum ExpatRows {
    private static let name = "expat"
    private static let direct = "expat: three observers, called directly"
    private static let shared = "expat: three observers of a proxy"
    private static let batched = "expat: three observers of a proxy, in a batch"
    private static let strong = "expat: three observers of a proxy, held strongly"
    private static let none = "expat: no handlers"

    static var group: RowGroup {
      RowGroup(
        name: name, comparisons: [Comparison(title: "/ directly", way: direct)],
        rows: {
          [
            row(none) { _ in SilentParser() },
            row(direct) { DirectParser($0) },
            row(shared) { try SharedParser($0) },
            row(batched) { try SharedParser($0, inBatch: true) },
            row(strong) { try SharedParser($0, .strong) },
          ]
        },
        goals: {
          [
            Goal(
              group: name, title: "an XML parser with three observers",
              bounds: [(batched, "in a batch"), (shared, "each call by itself")].map {
                way, detail in
                Bound(
                  quantity: .ratio(of: way, to: direct), limit: 1.4, unit: "called directly",
                  detail: detail)
              })
          ]
        })
    }

    fileprivate struct Observers {
      let elements = ElementCounter()
      let depth = DepthMeter()
      let text = TextMeter()
    }

    fileprivate protocol AnyParser {
      var handle: XML_Parser { get }
      /// Whether the observers see the document.
      var observes: Bool { get }
      func parse(_ document: Document) -> XML_Status
    }

    private static let size = 4 << 20
    /// Made when a row runs.
    private static let document = Document(of: "/usr/include", size: size)

    /// A row of one document. The time is that of parsing alone.
    private static func row(
      _ way: String, _ make: @escaping (Observers) throws -> any AnyParser
    ) -> Row {
      Row(group: name, way: way, deliveries: size) { iterations in
        var spent: UInt64 = 0
        var isRight = true
        for _ in 0..<iterations {
          let observers = Observers()
          guard let parser = try? make(observers) else {
            return Sample(bench_start(), isRight: false)
          }
          let start = bench_start()
          let status = parser.parse(document)
          spent += bench_finish(start, 0, 0).nanoseconds
          isRight = isRight && status == XML_STATUS_OK
          let count = parser.observes ? document.elementCount : 0
          isRight = isRight && observers.elements.count == count && observers.depth.depth == 0
          isRight = isRight && (observers.text.byteCount > 0) == parser.observes
          withExtendedLifetime(parser) {}
        }
        var total = bench_start()
        total.nanoseconds = spent
        return Sample(total, isRight: isRight)
      }
    }

    // MARK: - Parsers

    private final class SilentParser: AnyParser {
      let handle = XML_ParserCreate(nil)!
      let observes = false
      deinit { XML_ParserFree(handle) }
    }

    private final class SharedParser: AnyParser {
      private let parser: ExpatParser
      let observes = true
      private let inBatch: Bool
      var handle: XML_Parser { parser.handle }

      init(
        _ observers: Observers, _ lifetime: DynamicProxy.Lifetime = .weak, inBatch: Bool = false
      ) throws {
        parser = try ExpatParser()
        self.inBatch = inBatch
        try parser.proxy.subscribe(observers.elements, lifetime: lifetime)
        try parser.proxy.subscribe(observers.depth, lifetime: lifetime)
        try parser.proxy.subscribe(observers.text, lifetime: lifetime)
      }

      func parse(_ document: Document) -> XML_Status {
        guard inBatch else { return parseAll(document) }
        return (try? parser.proxy.withBatch { parseAll(document) }) ?? XML_STATUS_ERROR
      }
    }

    /// Handlers in Swift that know their observers.
    private final class DirectParser: AnyParser {
      let handle = XML_ParserCreate(nil)!
      let observes = true
      private let observers: Observers

      init(_ observers: Observers) {
        self.observers = observers
        XML_SetUserData(handle, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
          handle,
          { context, _, attributes in
            let parser = Unmanaged<DirectParser>.fromOpaque(context!).takeUnretainedValue()
            parser.observers.elements.started(attributes)
            parser.observers.depth.started()
          },
          { context, _ in
            let parser = Unmanaged<DirectParser>.fromOpaque(context!).takeUnretainedValue()
            parser.observers.depth.ended()
          })
        XML_SetCharacterDataHandler(handle) { context, _, length in
          let parser = Unmanaged<DirectParser>.fromOpaque(context!).takeUnretainedValue()
          parser.observers.text.add(length)
        }
      }

      deinit { XML_ParserFree(handle) }
    }
  }

  extension ExpatRows.AnyParser {
    func parse(_ document: Document) -> XML_Status { parseAll(document) }

    func parseAll(_ document: Document) -> XML_Status {
      document.bytes.withUnsafeBytes { bytes in
        XML_Parse(handle, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 1)
      }
    }
  }
#endif
