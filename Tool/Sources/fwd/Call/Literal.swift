// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A value as the command line spells it: `-3`, `2.5`, `text`, `null`,
/// `{1, {2, 3}}`, `[1, 2]`.
indirect enum Literal {
  /// Anything without brackets around it. Quotes have been taken off.
  case word(String, isQuoted: Bool)
  /// `{…}`, the members of a struct.
  case members([Literal])
  /// `[…]`, the elements of an array.
  case elements([Literal])

  /// Why a text is no literal, or a literal no value of a type.
  struct Fault: Error, CustomStringConvertible {
    let text: String

    var description: String { text }
  }

  /// Reads a whole argument. Only in brackets do blanks and commas separate.
  init(_ text: String) throws(Fault) {
    // What the shell gives that is no UTF-8 has become this character.
    if text.contains("\u{FFFD}") { throw Fault(text: "expected UTF-8, got \"\(text)\"") }
    let trimmed = text.drop { $0 == " " }
    guard trimmed.first == "{" || trimmed.first == "[" else {
      self = try Self.unquoted(text)
      return
    }
    var rest = trimmed
    self = try Self.read(&rest)
    rest = rest.drop { $0 == " " }
    if !rest.isEmpty { throw Fault(text: "\"\(rest)\" stands behind the closing bracket") }
  }

  private static func unquoted(_ text: String) throws(Fault) -> Literal {
    if text.count >= 2, text.first == "\"", text.last == "\"" {
      return .word(try unescaped(text.dropFirst().dropLast()), isQuoted: true)
    }
    return .word(text, isQuoted: false)
  }

  /// Text in quotes, where a backslash has the meanings that it has in C.
  private static func unescaped(_ text: Substring) throws(Fault) -> String {
    let meanings: [Character: Character] = [
      "a": "\u{7}", "b": "\u{8}", "e": "\u{1B}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
      "v": "\u{B}", "\\": "\\", "\"": "\"", "'": "'", "?": "?",
    ]
    var result = ""
    var rest = text
    while let character = rest.popFirst() {
      guard character == "\\" else {
        result.append(character)
        continue
      }
      guard let next = rest.popFirst() else {
        throw Fault(text: "nothing stands behind the last \\")
      }
      if let meaning = meanings[next] {
        result.append(meaning)
        continue
      }
      // Up to three octal digits, or hexadecimal ones behind an x.
      let isHexadecimal = next == "x"
      let more = rest.prefix(2).prefix {
        isHexadecimal ? $0.isHexDigit : "01234567".contains($0)
      }
      let digits = isHexadecimal ? String(more) : String(next) + more
      guard let code = UInt8(digits, radix: isHexadecimal ? 16 : 8), code < 0x80 else {
        throw Fault(text: "\\\(next) is no character of ASCII")
      }
      rest = rest.dropFirst(more.count)
      result.unicodeScalars.append(Unicode.Scalar(code))
    }
    return result
  }

  private static func read(_ rest: inout Substring, depth: Int = 0) throws(Fault) -> Literal {
    guard depth < 128 else { throw Fault(text: "its brackets are nested deeper than 128") }
    rest = rest.drop { $0 == " " }
    switch rest.first {
    case "{": return .members(try list(&rest, until: "}", depth))
    case "[": return .elements(try list(&rest, until: "]", depth))
    case "\"":
      var end = rest.index(after: rest.startIndex)
      while end < rest.endIndex, rest[end] != "\"" {
        // What follows a backslash does not end the text.
        let step = rest[end] == "\\" ? 2 : 1
        end = rest.index(end, offsetBy: step, limitedBy: rest.endIndex) ?? rest.endIndex
      }
      guard end < rest.endIndex else { throw Fault(text: "the quote in \"\(rest)\" has no end") }
      let text = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
      return .word(try unescaped(text), isQuoted: true)
    default:
      let word = rest.prefix { !",]} ".contains($0) }
      rest = rest.dropFirst(word.count)
      return .word(String(word), isQuoted: false)
    }
  }

  private static func list(
    _ rest: inout Substring, until close: Character, _ depth: Int
  ) throws(Fault) -> [Literal] {
    let start = rest
    var items: [Literal] = []
    rest = rest.dropFirst().drop { $0 == " " }
    if rest.first == close {
      rest = rest.dropFirst()
      return items
    }
    while true {
      items.append(try read(&rest, depth: depth + 1))
      rest = rest.drop { $0 == " " }
      let next = rest.first
      rest = rest.dropFirst()
      if next == close { return items }
      guard next == "," else {
        throw Fault(text: "expected ',' or '\(close)' in \"\(start)\"")
      }
    }
  }

  /// As an error quotes it.
  var description: String {
    switch self {
    case .word(let text, let isQuoted): isQuoted ? "\"\(text)\"" : text
    case .members(let items): "{\(items.map(\.description).joined(separator: ", "))}"
    case .elements(let items): "[\(items.map(\.description).joined(separator: ", "))]"
    }
  }
}
