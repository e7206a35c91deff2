// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Copies values of one Swift type that stand in memory.
internal class ValueCopier: @unchecked Sendable {
  // Sendable: immutable.

  internal let size: Int
  internal let alignment: Int

  fileprivate init(_ size: Int, _ alignment: Int) {
    self.size = size
    self.alignment = alignment
  }

  /// Copies a value.
  @unsafe internal func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {}
  /// Destroys a copy.
  @unsafe internal func destroy(_ place: UnsafeMutableRawPointer) {}
  /// The value as text; a string has quotation marks.
  @unsafe internal func text(_ place: UnsafeRawPointer) -> String { "" }

  /// The copier of a type.
  internal static func of(_ type: Any.Type) -> ValueCopier {
    func make<Value>(_: Value.Type) -> ValueCopier { TypedValueCopier<Value>() }
    return make(type)
  }
}

private final class TypedValueCopier<Value>: ValueCopier, @unchecked Sendable {
  init() { super.init(MemoryLayout<Value>.size, MemoryLayout<Value>.alignment) }

  override func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
    // SAFETY: the table says that the argument is the address of such a value.
    // Not by a count, which would also copy the bytes up to the next element of an array.
    unsafe target.initializeMemory(
      as: Value.self, to: source.assumingMemoryBound(to: Value.self).pointee)
  }

  override func destroy(_ place: UnsafeMutableRawPointer) {
    // SAFETY: `copy` has initialized it.
    unsafe place.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }

  override func text(_ place: UnsafeRawPointer) -> String {
    // SAFETY: as above.
    describe(unsafe place.assumingMemoryBound(to: Value.self).pointee)
  }
}

/// A value as it stands in messages.
internal func describe<Value>(_ value: Value) -> String {
  if let text = value as? String { return text.debugDescription }
  return String(describing: value)
}

// MARK: - Kinds of types

/// An optional, to find out what it wraps.
private protocol AnyOptional {
  static var wrapped: Any.Type { get }
}

extension Optional: AnyOptional {
  fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension ValueCopier {
  /// Whether values of a type are copies of a C string: a `String`, or an enum of
  /// strings, optional or not.
  internal static func isString(_ type: Any.Type) -> Bool {
    func rawValue<Value: RawRepresentable>(_: Value.Type) -> Any.Type { Value.RawValue.self }
    let type = wrapped(type)
    if type == String.self { return true }
    return (type as? any RawRepresentable.Type).map { rawValue($0) == String.self } ?? false
  }

  /// Whether values of a type are addresses, and reading one does not read what it
  /// points to.
  internal static func isAddress(_ type: Any.Type) -> Bool {
    let type = wrapped(type)
    return unsafe type is any _Pointer.Type || type == OpaquePointer.self
      || type is any TypeEncodable.Type
  }

  private static func wrapped(_ type: Any.Type) -> Any.Type {
    (type as? any AnyOptional.Type)?.wrapped ?? type
  }
}

// MARK: - C values

extension TypeEncoding {
  /// A value of this type as text: numbers as such, pointers as addresses, and other
  /// values as the name of the type.
  @unsafe internal func text(of place: UnsafeRawPointer) -> String {
    switch kind {
    case .char: unsafe "\(place.load(as: Int8.self))"
    case .unsignedChar: unsafe "\(place.load(as: UInt8.self))"
    case .short: unsafe "\(place.load(as: Int16.self))"
    case .unsignedShort: unsafe "\(place.load(as: UInt16.self))"
    case .int, .long: unsafe "\(place.load(as: Int32.self))"
    case .unsignedInt, .unsignedLong: unsafe "\(place.load(as: UInt32.self))"
    case .longLong: unsafe "\(place.load(as: Int64.self))"
    case .unsignedLongLong: unsafe "\(place.load(as: UInt64.self))"
    case .bool:
      switch unsafe place.load(as: UInt8.self) {
      case 0: "false"
      case 1: "true"
      case let byte: "\(byte)"
      }
    case .float: unsafe "\(place.load(as: Float.self))"
    case .double: unsafe "\(place.load(as: Double.self))"
    case .pointer, .cString:
      unsafe place.load(as: UnsafeRawPointer?.self).map { unsafe "\($0)" } ?? "nil"
    case .selector:
      unsafe place.load(as: UInt.self) == 0 ? "nil" : "\(place.load(as: MethodSelector.self))"
    default: typeName
    }
  }
}
