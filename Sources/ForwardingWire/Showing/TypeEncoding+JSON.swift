// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

extension TypeEncoding {
  /// Appends the value of this type at an address.
  @unsafe internal func appendJSON(_ place: UnsafeRawPointer, to text: inout String) {
    // SAFETY: the bytes of the type lie in the record, aligned or not.
    switch kind {
    case .char: text += String(unsafe place.load(as: Int8.self))
    case .unsignedChar: text += String(unsafe place.load(as: UInt8.self))
    case .short: text += String(unsafe place.loadUnaligned(as: Int16.self))
    case .unsignedShort: text += String(unsafe place.loadUnaligned(as: UInt16.self))
    case .int, .long: text += String(unsafe place.loadUnaligned(as: Int32.self))
    case .unsignedInt, .unsignedLong: text += String(unsafe place.loadUnaligned(as: UInt32.self))
    case .longLong: text += String(unsafe place.loadUnaligned(as: Int64.self))
    case .unsignedLongLong: text += String(unsafe place.loadUnaligned(as: UInt64.self))
    case .int128:
      let (low, high) = unsafe Self.words(place)
      text.appendQuoted(String(Int128(truncatingIfNeeded: high) << 64 | Int128(low)))
    case .unsignedInt128:
      let (low, high) = unsafe Self.words(place)
      text.appendQuoted(String(UInt128(high) << 64 | UInt128(low)))
    // A recorded byte may be neither 0 nor 1.
    case .bool:
      let byte = unsafe place.load(as: UInt8.self)
      text += byte > 1 ? "\(byte)" : byte == 1 ? "true" : "false"
    case .float: text.append(number: unsafe place.loadUnaligned(as: Float.self))
    case .double: text.append(number: unsafe place.loadUnaligned(as: Double.self))
    case .structure: unsafe appendFields(place, to: &text)
    case .array, .complex: unsafe appendItems(place, to: &text)
    default: unsafe appendBytes(place, to: &text)
    }
  }

  private static func words(_ place: UnsafeRawPointer) -> (low: UInt64, high: UInt64) {
    unsafe (
      place.loadUnaligned(as: UInt64.self),
      place.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    )
  }

  /// Appends what a pointer of this type points to.
  @unsafe internal func appendElements(
    _ bytes: UnsafeRawBufferPointer, to text: inout String
  ) {
    let size = pointee.flatMap { try? $0.layout().size } ?? 1
    guard let pointee, pointee.kind != .void, pointee.kind != .char,
      pointee.kind != .unsignedChar, size > 0, let base = bytes.baseAddress
    else { return unsafe text.appendHexadecimal(bytes) }
    text += "["
    for start in stride(from: 0, to: bytes.count, by: size) {
      if start > 0 { text += "," }
      unsafe pointee.appendJSON(base + start, to: &text)
    }
    text += "]"
  }

  @unsafe private func appendFields(_ place: UnsafeRawPointer, to text: inout String) {
    let fields = fields
    // Bit-fields have no offset of their own.
    let offsets = fields.map { (try? $0.layout())?.offset }
    guard !fields.isEmpty, !offsets.contains(nil) else {
      return unsafe appendBytes(place, to: &text)
    }
    let areNamed = !fields.contains { $0.fieldName == nil }
    text += areNamed ? "{" : "["
    for (index, field) in fields.enumerated() {
      if index > 0 { text += "," }
      if areNamed {
        text.appendQuoted(field.fieldName ?? "")
        text += ":"
      }
      unsafe field.appendJSON(place + (offsets[index] ?? 0), to: &text)
    }
    text += areNamed ? "}" : "]"
  }

  @unsafe private func appendItems(_ place: UnsafeRawPointer, to text: inout String) {
    // Elements of no bytes may be any number, in a few bytes of an encoding.
    guard let element, let size = try? element.layout().size, size > 0 else {
      return unsafe appendBytes(place, to: &text)
    }
    text += "["
    for index in 0..<(kind == .complex ? 2 : count ?? 0) {
      if index > 0 { text += "," }
      unsafe element.appendJSON(place + index * size, to: &text)
    }
    text += "]"
  }

  @unsafe private func appendBytes(_ place: UnsafeRawPointer, to text: inout String) {
    let size = (try? layout().size) ?? 0
    unsafe text.appendHexadecimal(UnsafeRawBufferPointer(start: place, count: size))
  }
}

extension String {
  internal mutating func append(number: some BinaryFloatingPoint & CustomStringConvertible) {
    // JSON has no number for these.
    if number.isFinite { self += number.description } else { appendQuoted(number.description) }
  }

  @unsafe internal mutating func appendHexadecimal(_ bytes: UnsafeRawBufferPointer) {
    self += "\""
    for index in 0..<bytes.count {
      let byte = unsafe bytes[index]
      self += byte < 16 ? "0" : ""
      self += String(byte, radix: 16)
    }
    self += "\""
  }

  /// Appends a string of JSON: RFC 8259, section 7.
  internal mutating func appendQuoted(_ string: String) {
    self += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": self += "\\\""
      case "\\": self += "\\\\"
      case "\n": self += "\\n"
      case "\t": self += "\\t"
      case "\r": self += "\\r"
      // Besides what JSON asks for: DEL and the C1 controls, which move a terminal's cursor.
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}": appendEscape(scalar.value)
      default: unicodeScalars.append(scalar)
      }
    }
    self += "\""
  }

  internal mutating func appendEscape(_ value: UInt32) {
    let digits = String(value, radix: 16)
    self += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Appends the recorded JSON of a Swift value, on one line; as a string if it is none.
  @unsafe internal mutating func appendRecordedJSON(_ bytes: UnsafeRawBufferPointer) {
    if let value = unsafe JSONText.line(bytes) {
      self += value
    } else {
      appendQuoted(unsafe String(decoding: bytes, as: UTF8.self))
    }
  }
}
