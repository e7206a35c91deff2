// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// JSON text, members in the order in which they are given.
indirect enum JSON {
  case null
  case number(UInt64)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  /// The text, with a line for each value that is not inside a leaf.
  func text(indent: Int = 0) -> String {
    let (open, close, items): (String, String, [String])
    switch self {
    case .null: return "null"
    case .number(let number): return String(number)
    case .string(let string): return Self.quoted(string)
    case .array(let values):
      (open, close) = ("[", "]")
      items = values.map { $0.text(indent: indent + 2) }
    case .object(let members):
      (open, close) = ("{", "}")
      items = members.map { Self.quoted($0) + ": " + $1.text(indent: indent + 2) }
    }
    if items.isEmpty { return open + close }
    if isLeaf && indent > 0 { return open + items.joined(separator: ", ") + close }
    let margin = "\n" + String(repeating: " ", count: indent)
    return open + margin + "  " + items.joined(separator: "," + margin + "  ") + margin + close
  }

  /// Whether it is an object of nothing but numbers and strings.
  private var isLeaf: Bool {
    guard case .object(let members) = self else { return false }
    return members.allSatisfy {
      switch $0.1 {
      case .null, .number, .string: true
      case .array, .object: false
      }
    }
  }

  /// RFC 8259, section 7; besides what it asks for, what a terminal would not
  /// just show is escaped.
  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      default:
        if DisplayText.mustBeEscaped(scalar) {
          for unit in String(scalar).utf16 {
            text += "\\u" + DisplayText.hex(UInt8(unit >> 8)) + DisplayText.hex(UInt8(unit & 0xFF))
          }
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text + "\""
  }
}

extension JSON {
  /// The members for a name of bytes: what is no UTF-8 in it is U+FFFD in the
  /// text, and then the bytes follow in hexadecimal digits under `<key>_hex`.
  static func members(_ key: String, _ bytes: [UInt8]) -> [(String, JSON)] {
    if let text = String(validating: bytes, as: UTF8.self) { return [(key, .string(text))] }
    return [
      (key, .string(String(decoding: bytes, as: UTF8.self))),
      (key + "_hex", .string(bytes.map(DisplayText.hex).joined())),
    ]
  }
}
