// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Three observers of one XML parser, over a document made of the system's files: expat-observers [MEGABYTES].

import ExampleSupport
import Forwarding
import Foundation
import SharedExpat

let megabytes = argument("MEGABYTES", default: 50)
let document = Document(of: "/usr/include", size: megabytes << 20)

let parser = try ExpatParser()
let elements = ElementCounter()
let depth = DepthMeter()
let text = TextMeter()
try parser.proxy.subscribe(elements)
try parser.proxy.subscribe(depth)
try parser.proxy.subscribe(text)

let start = ContinuousClock.now
for offset in stride(from: 0, to: document.bytes.count, by: 1 << 16) {
  let end = min(offset + 1 << 16, document.bytes.count)
  // The batch holds the observers once for each part of the document, instead of at each element.
  let reason = try parser.proxy.withBatch {
    parser.parse(document.bytes[offset..<end], isLast: end == document.bytes.count)
  }
  if let reason { fatalError("expat: \(reason)") }
}
let time = ContinuousClock.now - start

check(
  elements.count == document.elementCount, "\(elements.count) of \(document.elementCount) elements")
check(depth.depth == 0 && depth.deepest == 3, "the depth")
check(text.byteCount > 0 && text.byteCount < document.bytes.count, "the text")

try Faults.checkAll()

print("\(document.bytes.count >> 20) MB of XML parsed in \(time)")
print(
  "\(elements.count) elements, \(elements.attributeCount) with attributes, nested \(depth.deepest) deep, "
    + "\(text.byteCount >> 20) MB of text: told to 3 observers")
withExtendedLifetime((elements, depth, text)) {}
printCheckCount()
