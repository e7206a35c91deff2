// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CExpat
import Forwarding
import Foundation

/// An expat parser whose handlers forward to a proxy.
public final class ExpatParser {
  /// The proxy of the keys in `ExpatKey`.
  public let proxy: DynamicProxy
  public let handle: XML_Parser
  /// Kept as long as expat may call them. Without an owner nothing is left of them when the parser dies. A program makes
  /// many parsers that live for a short time.
  private let functions: [FunctionPointer]

  public init() throws {
    guard let parser = XML_ParserCreate(nil) else { fatalError("expat has no memory") }
    handle = parser
    proxy = try DynamicProxy("Expat") {
      $0.optional(ExpatKey.started)
      $0.optional(ExpatKey.ended)
      $0.optional(ExpatKey.text)
    }
    let started = try proxy.functionPointer(for: ExpatKey.started, context: .first)
    let ended = try proxy.functionPointer(for: ExpatKey.ended, context: .first)
    let text = try proxy.functionPointer(for: ExpatKey.text, context: .first)
    functions = [started, ended, text]
    XML_SetElementHandler(parser, started.unsafeCast(), ended.unsafeCast())
    XML_SetCharacterDataHandler(parser, text.unsafeCast())
  }

  deinit { XML_ParserFree(handle) }

  /// Parses a part of a document. Gives expat's reason if the document is malformed.
  public func parse(_ part: some ContiguousBytes, isLast: Bool) -> String? {
    let status = part.withUnsafeBytes { bytes in
      XML_Parse(
        handle, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), isLast ? 1 : 0)
    }
    if status == XML_STATUS_OK { return nil }
    return String(cString: XML_ErrorString(XML_GetErrorCode(handle)))
      + ", line \(XML_GetCurrentLineNumber(handle))"
  }
}
