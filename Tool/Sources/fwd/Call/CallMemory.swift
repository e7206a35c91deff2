// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The memory of one call: values of C types, written from literals, and read
/// as text.
@safe final class CallMemory {
  /// Why a literal is no value of a type.
  typealias Fault = Literal.Fault

  /// An array that an argument points to.
  @safe struct Pointed {
    let start: UnsafeMutableRawPointer
    let element: TypeEncoding
    let count: Int
  }

  private var blocks: [UnsafeMutableRawPointer] = unsafe []

  init() {}

  deinit { for index in unsafe blocks.indices { unsafe free(blocks[index]) } }

  /// Zeroed memory for some bytes, at least one.
  func room(_ size: Int, alignment: Int = 16) -> UnsafeMutableRawPointer {
    var block: UnsafeMutableRawPointer?
    let status = unsafe posix_memalign(&block, max(alignment, 16), max(size, 1))
    guard status == 0, let block = unsafe block else {
      fatalError("no memory")
    }
    unsafe memset(block, 0, max(size, 1))
    unsafe blocks.append(block)
    return unsafe block
  }

  /// Zeroed memory for a value.
  func room(_ layout: TypeLayout) -> UnsafeMutableRawPointer {
    unsafe room(layout.size, alignment: layout.alignment)
  }
}

// MARK: - Writing

extension CallMemory {
  /// Writes a literal as a value of a type.
  ///
  /// - Returns: the array that a pointer has been made to, if it was.
  @discardableResult
  func write(
    _ literal: Literal, as type: TypeEncoding, to place: UnsafeMutableRawPointer
  ) throws -> Pointed? {
    switch (type.kind, literal) {
    case (.structure, .members(let items)):
      try unsafe writeMembers(items, of: type, to: place)
    case (.union, .members(let items)):
      guard items.count == 1, let first = type.fields.first else {
        throw Fault(
          text: "expected {VALUE}, of the union's first member, got \(literal.description)")
      }
      try unsafe write(items[0], as: first, to: place)
    case (.array, .elements(let items)):
      guard let element = type.element, items.count == type.count else {
        throw Fault(
          text: "expected \(type.count ?? 0) elements, got \(items.count) in \(literal.description)"
        )
      }
      try unsafe writeElements(items, of: element, to: place)
    case (.complex, .members(let items)):
      guard items.count == 2, let part = type.element else {
        throw Fault(text: "expected {REAL, IMAGINARY}, got \(literal.description)")
      }
      try unsafe writeElements(items, of: part, to: place)
    case (.pointer, .elements(let items)), (.cString, .elements(let items)):
      // Bytes that are no string, or room for a function to write one.
      let element = try type.kind == .cString ? TypeEncoding("C") : type.pointee
      guard let element, let layout = try? element.layout(), layout.size > 0 else {
        throw Fault(text: "the size of what it points to is not known: expected null")
      }
      let (size, isTooLarge) = items.count.multipliedReportingOverflow(by: layout.size)
      guard !isTooLarge, size <= 1 << 30 else {
        throw Fault(text: "\(items.count) elements of \(layout.size) bytes are more than 1 GB")
      }
      let start = unsafe room(size, alignment: layout.alignment)
      try unsafe writeElements(items, of: element, to: start)
      unsafe place.storeBytes(of: start, as: UnsafeMutableRawPointer.self)
      return unsafe Pointed(start: start, element: element, count: items.count)
    case (_, .word(let text, let isQuoted)):
      try unsafe write(word: text, isQuoted: isQuoted, as: type, to: place)
    default:
      throw Fault(text: "expected \(Self.example(of: type)), got \(literal.description)")
    }
    return nil
  }

  private func writeMembers(
    _ items: [Literal], of type: TypeEncoding, to place: UnsafeMutableRawPointer
  ) throws {
    let fields = type.fields
    guard items.count == fields.count else {
      throw Fault(
        text: "expected \(fields.count) members of \(type.typeName), got \(items.count)")
    }
    for (field, item) in zip(fields, items) {
      if field.kind == .bitField { throw Fault(text: "bit-fields cannot be written") }
      try unsafe write(item, as: field, to: place + field.layout().offset)
    }
  }

  private func writeElements(
    _ items: [Literal], of element: TypeEncoding, to place: UnsafeMutableRawPointer
  ) throws {
    let size = try element.layout().size
    for (index, item) in items.enumerated() {
      try unsafe write(item, as: element, to: place + index * size)
    }
  }

  private func write(
    word text: String, isQuoted: Bool, as type: TypeEncoding, to place: UnsafeMutableRawPointer
  ) throws {
    func store<Value>(_ value: Value?) throws {
      guard let value else {
        throw Fault(text: "expected \(Self.example(of: type)), got \"\(text)\"")
      }
      unsafe place.storeBytes(of: value, as: Value.self)
    }
    func integer<Value: FixedWidthInteger>(_: Value.Type) throws {
      try store(isQuoted ? nil : Self.integer(text, Value.self))
    }
    func floatingPoint<Value: BinaryFloatingPoint & LosslessStringConvertible>(
      _: Value.Type
    ) throws {
      let value = isQuoted ? nil : Value(text)
      // Swift reads a number that is too large as infinity.
      if let value, value.isInfinite, !text.lowercased().contains("inf") {
        throw Fault(
          text:
            "\"\(text)\" is out of the range of \(type.typeName) (\(type.text)); infinity is inf")
      }
      try store(value)
    }
    switch type.kind {
    case .char: try integer(Int8.self)
    case .unsignedChar: try integer(UInt8.self)
    case .short: try integer(Int16.self)
    case .unsignedShort: try integer(UInt16.self)
    case .int, .long: try integer(Int32.self)
    case .unsignedInt, .unsignedLong: try integer(UInt32.self)
    case .longLong: try integer(Int64.self)
    case .unsignedLongLong: try integer(UInt64.self)
    case .int128: try integer(Int128.self)
    case .unsignedInt128: try integer(UInt128.self)
    case .bool: try store(["true": true, "1": true, "false": false, "0": false][text])
    case .float: try floatingPoint(Float.self)
    case .double: try floatingPoint(Double.self)
    case .longDouble:
      #if arch(x86_64)
        try floatingPoint(Float80.self)
      #else
        throw Fault(text: "long double cannot be written on this processor")
      #endif
    case .cString: try unsafe writeString(text, isQuoted, to: place)
    case .pointer where type.pointee?.kind == .char:
      try unsafe writeString(text, isQuoted, to: place)
    case .selector:
      guard let selector = try? MethodSelector(validating: text) else {
        throw Fault(text: "expected a selector, got \"\(text)\"")
      }
      unsafe place.storeBytes(of: selector, as: MethodSelector.self)
    case .pointer, .object, .classReference, .block:
      guard text == "null", !isQuoted else {
        throw Fault(text: "expected \(Self.example(of: type)), got \"\(text)\"")
      }
    default: throw Fault(text: "expected \(Self.example(of: type)), got \"\(text)\"")
    }
  }

  /// A string that the function may change, or null.
  private func writeString(_ text: String, _ isQuoted: Bool, to place: UnsafeMutableRawPointer)
    throws
  {
    if text == "null" && !isQuoted { return }
    if text.utf8.contains(0) { throw Fault(text: "a C string has no NUL inside") }
    let copy = unsafe room(text.utf8.count + 1)
    for (index, byte) in text.utf8.enumerated() {
      unsafe copy.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
    unsafe place.storeBytes(of: copy, as: UnsafeMutableRawPointer.self)
  }

  /// `-12`, `0xff`, `'a'`
  static func integer<Value: FixedWidthInteger>(_ text: String, _: Value.Type) -> Value? {
    if text.count == 3, text.first == "'", text.last == "'",
      let scalar = text.dropFirst().unicodeScalars.first
    {
      return Value(exactly: scalar.value)
    }
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : text[...]
    guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else { return Value(text) }
    // Not another sign.
    guard digits.dropFirst(2).first?.isHexDigit == true else { return nil }
    return Value((isNegative ? "-" : "") + digits.dropFirst(2), radix: 16)
  }

  /// What a value of a type looks like, for errors.
  private static func example(of type: TypeEncoding) -> String {
    switch type.kind {
    case .structure: "{\(type.fields.map(\.typeName).joined(separator: ", "))}"
    case .union: "{VALUE} of the union's first member"
    case .array: "[\(type.count ?? 0) elements]"
    case .complex: "{REAL, IMAGINARY}"
    case .bool: "true or false"
    case .pointer: type.pointee?.kind == .void ? "null" : "null or [elements]"
    case .cString: "a string, [bytes] or null"
    case .object, .classReference, .block: "null"
    default: "\(type.typeName) (\(type.text))"
    }
  }
}

// MARK: - Reading

extension CallMemory {
  /// A value as text, in the form in which it is written.
  static func text(_ type: TypeEncoding, at place: UnsafeRawPointer) -> String {
    func load<Value>(_: Value.Type) -> Value { unsafe place.loadUnaligned(as: Value.self) }
    switch type.kind {
    case .char: return "\(load(Int8.self))"
    case .unsignedChar: return "\(load(UInt8.self))"
    case .short: return "\(load(Int16.self))"
    case .unsignedShort: return "\(load(UInt16.self))"
    case .int, .long: return "\(load(Int32.self))"
    case .unsignedInt, .unsignedLong: return "\(load(UInt32.self))"
    case .longLong: return "\(load(Int64.self))"
    case .unsignedLongLong: return "\(load(UInt64.self))"
    case .int128: return "\(load(Int128.self))"
    case .unsignedInt128: return "\(load(UInt128.self))"
    case .bool: return load(UInt8.self) == 0 ? "false" : "true"
    case .float: return "\(load(Float.self))"
    case .double: return "\(load(Double.self))"
    case .longDouble:
      #if arch(x86_64)
        return "\(load(Float80.self))"
      #else
        return "?"
      #endif
    case .cString:
      guard let start = unsafe load(UnsafePointer<CChar>?.self) else { return "null" }
      let bytes = unsafe UnsafeBufferPointer(start: start, count: strlen(start))
      return "\"\(unsafe DisplayText.escaped(bytes.map { UInt8(bitPattern: $0) }))\""
    case .structure:
      let members = type.fields.map { field -> String in
        guard let layout = try? field.layout(), field.kind != .bitField else { return "?" }
        return unsafe text(field, at: place + layout.offset)
      }
      return "{\(members.joined(separator: ", "))}"
    case .union: return type.fields.first.map { "{\(unsafe text($0, at: place))}" } ?? "{}"
    case .array: return unsafe elements(type.element, type.count ?? 0, at: place, "[", "]")
    case .complex: return unsafe elements(type.element, 2, at: place, "{", "}")
    default:
      let address = load(UInt.self)
      return address == 0 ? "null" : "0x" + String(address, radix: 16)
    }
  }

  static func elements(
    _ element: TypeEncoding?, _ count: Int, at place: UnsafeRawPointer, _ open: String = "[",
    _ close: String = "]"
  ) -> String {
    guard let element, let size = try? element.layout().size else { return open + "?" + close }
    let texts = (0..<count).map { unsafe text(element, at: place + $0 * size) }
    return open + texts.joined(separator: ", ") + close
  }
}
