// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Three observers of one XML parser, over a document made of the system's files: expat-observers [MEGABYTES [DIRECTORY]].

import CExpat
import Forwarding
import Foundation

func check(_ condition: Bool, _ what: String) {
  if !condition { fatalError("wrong: \(what)") }
}

// MARK: - The callbacks

/// Expat's handlers, without the context that expat passes first.
enum Key {
  // void (*)(void *, const XML_Char *name, const XML_Char **attributes)
  static let started = Method(
    "started:attributes:",
    ((UnsafePointer<CChar>, UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Void).self)
  // void (*)(void *, const XML_Char *name)
  static let ended = Method("ended:", ((UnsafePointer<CChar>) -> Void).self)
  // void (*)(void *, const XML_Char *text, int length): the text has no NUL at its end.
  static let text = Method("text:length:", ((UnsafePointer<CChar>, Int32) -> Void).self)
}

/// An expat parser whose handlers forward to a proxy.
final class Parser {
  let proxy: DynamicProxy
  private let parser: XML_Parser
  private let functions: [FunctionPointer]

  init() throws {
    guard let parser = XML_ParserCreate(nil) else { fatalError("expat has no memory") }
    self.parser = parser
    proxy = try DynamicProxy("Expat") {
      $0.optional(Key.started)
      $0.optional(Key.ended)
      $0.optional(Key.text)
    }
    let started = try proxy.functionPointer(for: Key.started, form: .method)
    let ended = try proxy.functionPointer(for: Key.ended, form: .method)
    let text = try proxy.functionPointer(for: Key.text, form: .method)
    functions = [started, ended, text]
    XML_SetElementHandler(parser, started.unsafeCast(), ended.unsafeCast())
    XML_SetCharacterDataHandler(parser, text.unsafeCast())
  }

  deinit { XML_ParserFree(parser) }

  /// Parses a part of a document. Gives expat's reason if the document is malformed.
  func parse(_ part: Data, isLast: Bool) -> String? {
    let status = part.withUnsafeBytes { bytes in
      XML_Parse(
        parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), isLast ? 1 : 0)
    }
    if status == XML_STATUS_OK { return nil }
    return String(cString: XML_ErrorString(XML_GetErrorCode(parser)))
      + ", line \(XML_GetCurrentLineNumber(parser))"
  }
}

// MARK: - Observers

// Expat calls its handlers on the thread that parses, so observers need no locks, and it is honest to say
// `@unchecked Sendable`.

/// Counts elements.
final class ElementCounter: @unchecked Sendable {
  var count = 0
  var attributeCount = 0
}

/// Measures how deep elements are nested.
final class DepthMeter: @unchecked Sendable {
  var depth = 0
  var deepest = 0
}

/// Counts the bytes of text.
final class TextMeter: @unchecked Sendable {
  var byteCount = 0
}

// MARK: - The document

/// An element for each file of a directory, with its name and the beginning of its text, again and again until the
/// document has some size.
struct Document {
  private(set) var data = Data("<files>\n".utf8)
  private(set) var elementCount = 1

  init(of directory: String, size: Int) {
    let names =
      FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    var files: [Data] = []
    for name in names.sorted() where files.count < 2000 {
      guard let handle = FileHandle(forReadingAtPath: "\(directory)/\(name)"),
        let bytes = try? handle.read(upToCount: 20_000)
      else { continue }
      let text = Self.escaped(String(decoding: bytes, as: UTF8.self))
      files.append(
        Data("<file name=\"\(Self.escaped(name))\"><text>\(text)</text></file>\n".utf8))
    }
    check(!files.isEmpty, "\(directory) has no files that can be read")
    while data.count < size {
      for file in files where data.count < size {
        data.append(file)
        elementCount += 2
      }
    }
    data.append(Data("</files>\n".utf8))
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      // XML 1.0 has no other control characters, and no noncharacters.
      case "\u{0}"..."\u{1F}", "\u{7F}", "\u{FFFE}", "\u{FFFF}": result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

// MARK: - The program

let arguments = CommandLine.arguments.dropFirst()
let megabytes = Int(arguments.first ?? "") ?? 50
let document = Document(of: arguments.dropFirst().first ?? "/usr/include", size: megabytes << 20)

let parser = try Parser()
let elements = ElementCounter()
let depth = DepthMeter()
let text = TextMeter()
try parser.proxy.subscribe(elements) {
  $0.on(Key.started) { elements, _, attributes in
    elements.count += 1
    if attributes?[0] != nil { elements.attributeCount += 1 }
  }
}
try parser.proxy.subscribe(depth) {
  $0.on(Key.started) { depth, _, _ in
    depth.depth += 1
    depth.deepest = max(depth.deepest, depth.depth)
  }
  $0.on(Key.ended) { depth, _ in depth.depth -= 1 }
}
try parser.proxy.subscribe(text) {
  $0.on(Key.text) { text, _, length in text.byteCount += Int(length) }
}

let start = ContinuousClock.now
for offset in stride(from: 0, to: document.data.count, by: 1 << 16) {
  let end = min(offset + 1 << 16, document.data.count)
  if let reason = parser.parse(document.data[offset..<end], isLast: end == document.data.count) {
    fatalError("expat: \(reason)")
  }
}
let time = ContinuousClock.now - start

check(
  elements.count == document.elementCount, "\(elements.count) of \(document.elementCount) elements")
check(depth.depth == 0 && depth.deepest == 3, "the depth")
check(text.byteCount > 0 && text.byteCount < document.data.count, "the text")

// A document that is malformed is expat's error, and the observers keep what they have seen.
let broken = try Parser()
try broken.proxy.subscribe(elements) {
  $0.on(Key.started) { elements, _, _ in elements.count += 1 }
}
let before = elements.count
let reason = broken.parse(Data("<a><b></a>".utf8), isLast: true)
check(reason == "mismatched tag, line 1", "the reason: \(reason ?? "none")")
check(elements.count == before + 2, "what was seen before the error")

print("\(document.data.count >> 20) MB of XML parsed in \(time)")
print(
  "\(elements.count - 2) elements, \(elements.attributeCount) with attributes, nested \(depth.deepest) deep, "
    + "\(text.byteCount >> 20) MB of text: told to 3 observers")
withExtendedLifetime((elements, depth, text)) {}
