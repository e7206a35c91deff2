// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Text that is safe to show: what could move the cursor, or is no UTF-8, is
/// spelled out.
enum DisplayText {
  /// Spells out bytes that are no UTF-8 as `\xff`, and control and format
  /// characters as `\n` or `\u{202e}`.
  static func escaped(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    var parser = Unicode.UTF8.ForwardParser()
    let bytes = Array(bytes)
    var iterator = bytes.makeIterator()
    var position = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded):
        append(Unicode.UTF8.decode(encoded), to: &text)
        position += encoded.count
      case .error(let length):
        for byte in bytes[position..<position + length] {
          text += "\\x" + hex(byte)
        }
        position += length
      case .emptyInput:
        return text
      }
    }
  }

  /// The same for text that is UTF-8.
  static func escaped(_ text: String) -> String { escaped(text.utf8) }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\n": text += "\\n"
    case "\t": text += "\\t"
    case "\r": text += "\\r"
    case "\\": text += "\\\\"
    default:
      if mustBeEscaped(scalar) {
        text +=
          scalar.value < 0x80
          ? "\\x" + hex(UInt8(scalar.value)) : "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }

  /// Whether a terminal would do something else than show the scalar.
  static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value >= 0x20 && scalar.value < 0x7F { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      return true
    default: return false
    }
  }

  /// A byte as two digits.
  static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}

// MARK: - Columns

extension DisplayText {
  /// How many columns a terminal gives the text.
  static func columns(_ text: String) -> Int {
    text.reduce(0) { $0 + columns($1) }
  }

  private static func columns(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation { return 2 }
    switch scalar.value {
    // The blocks that Unicode's East Asian Width (UAX #11) calls wide.
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  /// The end of the text, cut to a width; "…" or "..." shows that something is
  /// missing.
  static func suffix(_ text: String, width: Int, style: Style) -> String {
    guard columns(text) > width else { return text }
    let mark = style.isUnicode ? "…" : "..."
    var room = max(0, width - mark.count)
    var end: [Character] = []
    for character in text.reversed() {
      room -= columns(character)
      if room < 0 { break }
      end.append(character)
    }
    return mark + String(end.reversed())
  }

  /// The beginning of the text, cut to a width.
  static func prefix(_ text: String, width: Int, style: Style) -> String {
    guard columns(text) > width else { return text }
    let mark = style.isUnicode ? "…" : "..."
    var room = max(0, width - mark.count)
    let start = text.prefix {
      room -= columns($0)
      return room >= 0
    }
    return start + mark
  }
}

// MARK: - Numbers

extension DisplayText {
  /// "12,345"
  static func count(_ number: some BinaryInteger) -> String {
    var digits = String(number)
    var place = digits.endIndex
    while let next = digits.index(place, offsetBy: -3, limitedBy: digits.startIndex),
      next > digits.startIndex
    {
      digits.insert(",", at: next)
      place = next
    }
    return digits
  }

  /// "12 files", "1 file"
  static func count(_ number: UInt64, _ noun: String) -> String {
    "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  /// "1.5 MiB"
  static func size(_ bytes: UInt64) -> String {
    if bytes < 1024 { return "\(bytes) B" }
    var value = Double(bytes)
    var unit = ""
    // 1023.95 and more would be shown as 1024.0.
    for name in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] where value >= 1023.95 || unit.isEmpty {
      value /= 1024
      unit = name
    }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}
