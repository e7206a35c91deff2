// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CExpat
import ExampleSupport
import Forwarding
import Foundation
import SharedExpat

/// What observers see of documents that are malformed.
enum Faults {
  static func checkAll() throws {
    for (document, reason, elements) in documents {
      try check(Array(document.utf8), reason, elements)
    }
    try check([0x3C, 0x61, 0x3E, 0xFF], "not well-formed (invalid token)", 1)
    try check(attack, "limit on input amplification factor (from DTD and entities) breached", nil)
    try checkTruncations()
    try checkRandomBytes()
    try checkStopping()
    print(
      "faults: \(documents.count + 2) malformed documents, truncations, random bytes, a parser that stops"
    )
  }

  /// Documents, expat's reasons to refuse them, and how many elements it has seen before.
  private static let documents: [(String, String, Int)] = [
    ("", "no element found", 0),
    ("no element", "syntax error", 0),
    ("<a><b></a>", "mismatched tag", 2),
    ("<a><b", "unclosed token", 1),
    ("<a><b>", "no element found", 2),
    ("<a/><b/>", "junk after document element", 1),
    ("<a x='1' x='2'/>", "duplicate attribute", 0),
    ("<a>&nothing;</a>", "undefined entity", 1),
    ("<a>\u{1}</a>", "not well-formed (invalid token)", 1),
    ("<a><![CDATA[text</a>", "unclosed CDATA section", 1),
    ("<?xml version='1.0' encoding='nothing'?><a/>", "unknown encoding", 0),
    (" <?xml version='1.0'?><a/>", "XML or text declaration not at start of entity", 0),
  ]

  /// Entities that would expand to gigabytes.
  private static var attack: [UInt8] {
    var text = "<!DOCTYPE a [<!ENTITY e0 \"\(String(repeating: "text", count: 100))\">"
    for level in 1...9 {
      text += "<!ENTITY e\(level) \"" + String(repeating: "&e\(level - 1);", count: 10) + "\">"
    }
    return Array((text + "]><a>&e9;</a>").utf8)
  }

  private static func check(_ document: [UInt8], _ reason: String, _ elements: Int?) throws {
    let observed = try Observed()
    let name = String(decoding: document.prefix(60), as: UTF8.self)
    // Expat adds the line.
    let given = observed.parser.parse(document, isLast: true)?.components(separatedBy: ", line ")[0]
    ExampleSupport.check(given, is: reason, "the reason to refuse \(name)")
    observed.checkAgreement(name)
    if let elements {
      ExampleSupport.check(observed.counters[0].count, is: elements, "the elements of \(name)")
    }
  }

  // MARK: - Many documents

  private static let document = Array(
    "<?xml version='1.0'?><!-- c --><a x='1'><b>text &amp; more</b><![CDATA[raw]]><c/></a>".utf8)

  private static func checkTruncations() throws {
    for length in 0..<document.count {
      let observed = try Observed()
      let reason = observed.parser.parse(document.prefix(length), isLast: true)
      ExampleSupport.check(reason != nil, "the first \(length) bytes are accepted")
      observed.checkAgreement("the first \(length) bytes")
    }
  }

  private static func checkRandomBytes() throws {
    var random = SystemRandomNumberGenerator()
    var refused = 0
    for _ in 0..<2000 {
      var bytes = document
      for _ in 0..<3 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      let observed = try Observed()
      if observed.parser.parse(bytes, isLast: true) != nil { refused += 1 }
      observed.checkAgreement("\(bytes)")
    }
    ExampleSupport.check(refused > 0, "no random document is refused")
  }

  /// An observer stops the parser. The others still get the element that is being told.
  private static func checkStopping() throws {
    let observed = try Observed()
    let parser = SendableParser(handle: observed.parser.handle)
    let token = try observed.parser.proxy.subscribe(at: .first) {
      $0.on(ExpatKey.started) { name, _ in
        if String(cString: name) == "b" { XML_StopParser(parser.handle, XML_Bool(XML_FALSE)) }
      }
    }
    let reason = observed.parser.parse(document, isLast: true)
    ExampleSupport.check(reason, is: "parsing aborted, line 1", "the reason after a stop")
    observed.checkAgreement("a stopped parser")
    ExampleSupport.check(observed.counters[0].count, is: 2, "the elements before the stop")
    token.cancel()
  }

  /// Expat calls back on the thread that parses, so only one thread uses the parser.
  private struct SendableParser: @unchecked Sendable {
    let handle: XML_Parser
  }

  /// A parser with two observers of the same kind.
  private struct Observed {
    let parser: ExpatParser
    let counters = [ElementCounter(), ElementCounter()]
    let depths = [DepthMeter(), DepthMeter()]

    init() throws {
      parser = try ExpatParser()
      for counter in counters { try parser.proxy.subscribe(counter) }
      for depth in depths { try parser.proxy.subscribe(depth) }
    }

    func checkAgreement(_ document: String) {
      ExampleSupport.check(
        counters[1].count, is: counters[0].count, "the second count of \(document)")
      ExampleSupport.check(
        depths[1].deepest, is: depths[0].deepest, "the second depth of \(document)")
      ExampleSupport.check(
        0...counters[0].count ~= depths[0].depth, "the depth of \(document) is \(depths[0].depth)")
    }
  }
}
