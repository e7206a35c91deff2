// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// JSON of any origin: RFC 8259.
///
/// Foundation's decoder is no check: it reads a number only when it is asked for it, so that
/// `[1+2]` passes, and it accepts control characters in strings.
@safe internal struct JSONText {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  /// The closing brackets that are still to come, the innermost one last.
  private var open: [UInt8] = []

  private init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

  /// Returns the text on one line; nil if it is no JSON.
  @unsafe internal static func line(_ bytes: UnsafeRawBufferPointer) -> String? {
    var checked = unsafe JSONText(bytes)
    guard let text = unsafe String(validating: bytes, as: UTF8.self), checked.isJSON() else {
      return nil
    }
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      // Only blanks between the parts can be control characters.
      case "\0"..."\u{1F}": line += " "
      // Only strings can have these, which move a terminal's cursor.
      case "\u{7F}"..."\u{9F}": line.appendEscape(scalar.value)
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// Whether the bytes, which are UTF-8, are one value.
  private mutating func isJSON() -> Bool {
    repeat {
      guard takesValue() else { return false }
      // Behind a value: the end of some arrays and objects, then the next element.
      while let bracket = open.last {
        skipBlanks()
        if takes(bracket) {
          open.removeLast()
        } else {
          guard takes(UInt8(ascii: ",")) else { return false }
          if bracket == UInt8(ascii: "}"), !takesName() { return false }
          break
        }
      }
    } while !open.isEmpty
    skipBlanks()
    return next == nil
  }

  /// Takes a string, a number or a name of a value, or the beginning of an array or an object up to
  /// its first value.
  private mutating func takesValue() -> Bool {
    while true {
      skipBlanks()
      switch next {
      case UInt8(ascii: "["):
        position += 1
        open.append(UInt8(ascii: "]"))
        skipBlanks()
        if next == UInt8(ascii: "]") { return true }
      case UInt8(ascii: "{"):
        position += 1
        open.append(UInt8(ascii: "}"))
        skipBlanks()
        if next == UInt8(ascii: "}") { return true }
        if !takesName() { return false }
      case UInt8(ascii: "\""): return takesString()
      case UInt8(ascii: "t"): return takes("true")
      case UInt8(ascii: "f"): return takes("false")
      case UInt8(ascii: "n"): return takes("null")
      default: return takesNumber()
      }
    }
  }

  /// Takes the name of a member and the colon.
  private mutating func takesName() -> Bool {
    skipBlanks()
    guard takesString() else { return false }
    skipBlanks()
    return takes(UInt8(ascii: ":"))
  }

  private mutating func takesString() -> Bool {
    guard takes(UInt8(ascii: "\"")) else { return false }
    while let byte = next, byte >= 0x20 {
      position += 1
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\"), !takesEscape() { return false }
    }
    return false
  }

  /// Takes what follows a backslash.
  private mutating func takesEscape() -> Bool {
    guard let letter = next else { return false }
    position += 1
    guard letter == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(letter) }
    guard let unit = takeUnit() else { return false }
    // Readers do not agree about half of a pair.
    guard (0xD800...0xDFFF).contains(unit) else { return true }
    guard unit < 0xDC00, takes("\\u"), let second = takeUnit() else { return false }
    return (0xDC00...0xDFFF).contains(second)
  }

  private mutating func takeUnit() -> Int? {
    var unit = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        return nil
      }
      unit = unit * 16 + digit
      position += 1
    }
    return unit
  }

  private mutating func takesNumber() -> Bool {
    _ = takes(UInt8(ascii: "-"))
    if !takes(UInt8(ascii: "0")), !takesDigits() { return false }
    if takes(UInt8(ascii: ".")), !takesDigits() { return false }
    if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
      _ = takes(UInt8(ascii: "+")) || takes(UInt8(ascii: "-"))
      return takesDigits()
    }
    return true
  }

  private mutating func takesDigits() -> Bool {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position > start
  }

  // MARK: Bytes

  private var next: UInt8? {
    // SAFETY: the bytes are used while `line` runs, and the index is checked.
    unsafe position < bytes.count ? bytes[position] : nil
  }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      position += 1
    }
  }

  private mutating func takes(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func takes(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { unsafe $0.allSatisfy { takes($0) } }
  }
}
