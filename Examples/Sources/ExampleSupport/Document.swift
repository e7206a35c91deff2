// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// An element for each file of a directory, with its name and the beginning of its text, again and again until the
/// document has some size.
public struct Document: Sendable {
  public private(set) var bytes = Array("<files>\n".utf8)
  public private(set) var elementCount = 1

  public init(of directory: String, size: Int) {
    let names =
      FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    var files: [[UInt8]] = []
    for name in names.sorted() where files.count < 2000 {
      guard let handle = FileHandle(forReadingAtPath: "\(directory)/\(name)"),
        let bytes = try? handle.read(upToCount: 20_000)
      else { continue }
      let text = Self.escaped(String(decoding: bytes, as: UTF8.self))
      files.append(
        Array("<file name=\"\(Self.escaped(name))\"><text>\(text)</text></file>\n".utf8))
    }
    check(!files.isEmpty, "\(directory) has no files that can be read")
    while bytes.count < size {
      for file in files where bytes.count < size {
        bytes += file
        elementCount += 2
      }
    }
    bytes += Array("</files>\n".utf8)
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
