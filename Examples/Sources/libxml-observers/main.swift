// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Observers of libxml2's struct of 31 callbacks, over a document made of the system's files:
// libxml-observers [MEGABYTES].

import CLibXML
import ExampleSupport
import Forwarding

// libxml2 calls back on the thread that parses, so the observers need no locks.

/// Counts elements and attributes.
final class ElementCounter: DynamicProxy.Subscriber, @unchecked Sendable {
  private(set) var count = 0
  private(set) var attributeCount = 0
  private(set) var depth = 0

  static let functionTable = FunctionTable(for: ElementCounter.self) {
    $0.on(SAXKey.started) { elements, _, _, _, _, _, attributes, _, _ in
      elements.count += 1
      elements.depth += 1
      elements.attributeCount += Int(attributes)
    }
    $0.on(SAXKey.ended) { elements, _, _, _ in elements.depth -= 1 }
  }
}

/// Counts the bytes of text.
final class TextMeter: DynamicProxy.Subscriber, @unchecked Sendable {
  private(set) var byteCount = 0

  static let functionTable = FunctionTable(for: TextMeter.self) {
    $0.on(SAXKey.text) { text, _, length in text.byteCount += Int(length) }
  }
}

/// Keeps comments and errors.
final class Journal: @unchecked Sendable {
  var comments: [String] = []
  var errors: [String] = []
}

let proxy = try DynamicProxy("SAX") {
  $0.optional(SAXKey.started)
  $0.optional(SAXKey.ended)
  $0.optional(SAXKey.text)
  $0.optional(SAXKey.comment)
  $0.optional(SAXKey.failed)
}

// The proxy owns the functions. A member that nobody observes is null, so libxml2 does nothing for it. It reads the
// members when a parser is made.
let handler = try proxy.callbackTable(xmlSAXHandler.self, owner: proxy) {
  $0.set(\.startElementNs, to: SAXKey.started, context: .first, nullIfUnimplemented: true)
  $0.set(\.endElementNs, to: SAXKey.ended, context: .first, nullIfUnimplemented: true)
  $0.set(\.characters, to: SAXKey.text, context: .first, nullIfUnimplemented: true)
  $0.set(\.comment, to: SAXKey.comment, context: .first, nullIfUnimplemented: true)
  $0.set(\.serror, to: SAXKey.failed, context: .first)
}
// Without it libxml2 uses the callbacks of its first version, which know no namespaces.
handler.pointee.initialized = UInt32(XML_SAX2_MAGIC)

/// Parses a document. Returns whether it is well-formed.
@MainActor func parse(_ document: [UInt8]) -> Bool {
  document.withUnsafeBytes { bytes in
    xmlSAXUserParseMemory(
      handler, nil, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count)) == 0
  }
}

// MARK: - A large document

let megabytes = argument("MEGABYTES", default: 50)
let document = Document(of: "/usr/include", size: megabytes << 20)

check(handler.pointee.startElementNs == nil, "a member that nobody observes is not null")
let counters = [ElementCounter(), ElementCounter()]
for counter in counters { try proxy.subscribe(counter) }
let text = TextMeter()
try proxy.subscribe(text)
check(handler.pointee.startElementNs != nil, "a member with observers is null")
check(handler.pointee.comment == nil, "the member for comments is not null")

let start = ContinuousClock.now
check(parse(document.bytes), "the document is malformed")
let time = ContinuousClock.now - start
for counter in counters {
  check(counter.count, is: document.elementCount, "the elements")
  check(counter.attributeCount, is: document.elementCount / 2, "the attributes")
  check(counter.depth, is: 0, "the depth")
}
check(text.byteCount > 0 && text.byteCount < document.bytes.count, "the text")

// MARK: - Observers that come and go, malformed documents

let small = Array("<a><!--one--><b x='1'>text</b></a>".utf8)
let journal = Journal()
let comments = try proxy.subscribe { $0.on(SAXKey.comment) { journal.comments.append($0) } }
let errors = try proxy.subscribe {
  $0.on(SAXKey.failed) { error in
    journal.errors.append("line \(error.pointee.line): \(String(cString: error.pointee.message))")
  }
}
check(parse(small), "the small document is malformed")
comments.cancel()
check(handler.pointee.comment == nil, "the member for comments is not null after the end")
check(parse(small), "the small document is malformed")
check(journal.comments, is: ["one"], "the comments")

for length in 0..<small.count {
  let before = journal.errors.count
  check(!parse(Array(small.prefix(length))), "the first \(length) bytes are accepted")
  // libxml2 refuses an empty document without an error.
  check(length == 0 || journal.errors.count > before, "no error for the first \(length) bytes")
}
check(journal.errors.allSatisfy { $0.hasPrefix("line 1: ") }, "an error of another line")
check(counters[0].count, is: counters[1].count, "the second count")
errors.cancel()

print("\(document.bytes.count >> 20) MB of XML parsed in \(time)")
print(
  "\(document.elementCount) elements and \(text.byteCount >> 20) MB of text: told to 3 observers; "
    + "\(journal.errors.count) errors of malformed documents")
withExtendedLifetime((counters, text, proxy)) {}
printCheckCount()
