// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// JSON of any origin.
internal enum JSONText {
  /// Decodes nothing: the decoder has parsed the whole text before it asks.
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  /// Returns the text on one line; nil if it is no JSON.
  @unsafe internal static func line(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard let text = unsafe String(validating: bytes, as: UTF8.self),
      (try? JSONDecoder().decode(Anything.self, from: unsafe Data(bytes))) != nil
    else { return nil }
    // Control characters may stand between the parts of JSON as blanks. The decoder also
    // accepts them in strings, where JSON does not allow them.
    var line = ""
    line.unicodeScalars.append(contentsOf: text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 })
    return line
  }
}
