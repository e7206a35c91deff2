// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The properties that decide how C passes a value: its size, and which of its bytes
/// are floating-point numbers.
internal struct PassedValue {
  internal let size: Int
  internal let alignment: Int

  /// The numbers and pointers in it, or nil if the type does not show them.
  private let scalars: [Scalar]?

  fileprivate struct Scalar {
    let offset: Int
    let size: Int
    let isFloating: Bool
  }

  /// Whether values of both, which have one size, go into the same registers as
  /// far as their types show.
  internal func isPassed(as other: PassedValue) -> Bool {
    // Types that are aligned to 16 begin at an even register on AArch64.
    if alignment != other.alignment && max(alignment, other.alignment) >= 16 { return false }
    guard let scalars, let others = other.scalars else { return true }
    // A byte of padding on one side goes with any class on the other.
    var classes: [Int: Int] = [:]
    for scalar in scalars {
      for byte in 0..<scalar.size { classes[scalar.offset + byte] = scalar.registerClass }
    }
    return others.allSatisfy { scalar in
      (0..<scalar.size).allSatisfy { byte in
        classes[scalar.offset + byte].map { $0 == scalar.registerClass } ?? true
      }
    }
  }

  /// Larger values go by memory whatever is in them: on x86-64 above 16 bytes,
  /// on AArch64 above four numbers of 16 bytes.
  private static let largestInRegisters = 64
}

extension PassedValue.Scalar {
  /// 0 for integers and pointers; the size for floating-point numbers, since
  /// AArch64 has a register for each number of a struct of one type.
  fileprivate var registerClass: Int { isFloating ? size : 0 }
}

extension PassedValue: CustomStringConvertible {
  internal var description: String {
    guard let scalars, let first = scalars.first else {
      return "\(size) \(size == 1 ? "byte" : "bytes")"
    }
    let kinds = Set(scalars.map(\.isFloating))
    let kind = kinds.count > 1 ? "mixed" : first.isFloating ? "floating" : "integer"
    return "\(size) \(size == 1 ? "byte" : "bytes") (\(kind))"
  }
}

// MARK: - Of encodings

extension PassedValue {
  internal init(_ encoding: TypeEncoding, _ layout: TypeLayout) {
    size = layout.size
    alignment = layout.alignment
    var scalars: [Scalar] = []
    let isKnown =
      layout.size <= Self.largestInRegisters && Self.collect(encoding, at: 0, &scalars)
    self.scalars = isKnown ? scalars : nil
  }

  /// Adds the scalars of a type at an offset. False if they are not known.
  private static func collect(
    _ encoding: TypeEncoding, at offset: Int, _ scalars: inout [Scalar]
  ) -> Bool {
    guard let size = (try? encoding.layout())?.size else { return false }
    switch encoding.kind {
    case .void: return true
    case .float, .double, .longDouble:
      scalars.append(Scalar(offset: offset, size: size, isFloating: true))
      return true
    case .structure:
      return encoding.fields.allSatisfy { field in
        guard let start = (try? field.layout())?.offset else { return false }
        return collect(field, at: offset + start, &scalars)
      }
    case .array, .complex:
      guard let element = encoding.element, let stride = (try? element.layout())?.size else {
        return false
      }
      return stride == 0
        || (0..<size / stride).allSatisfy {
          collect(element, at: offset + $0 * stride, &scalars)
        }
    case .union, .bitField, .unknown, .function: return false
    default:
      scalars.append(Scalar(offset: offset, size: size, isFloating: false))
      return true
    }
  }
}

// MARK: - Of Swift types

extension PassedValue {
  internal init(_ type: Any.Type) {
    func open<Value>(_: Value.Type) -> (Int, Int) {
      (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    }
    (size, alignment) = _openExistential(type, do: open)
    var scalars: [Scalar] = []
    let isKnown = size <= Self.largestInRegisters && Self.collect(type, at: 0, &scalars)
    self.scalars = isKnown ? scalars : nil
  }

  private static func collect(
    _ type: Any.Type, at offset: Int, _ scalars: inout [Scalar]
  ) -> Bool {
    func open<Value>(_: Value.Type) -> Bool {
      let size = MemoryLayout<Value>.size
      if size == 0 { return true }
      if Value.self is any BinaryFloatingPoint.Type {
        scalars.append(Scalar(offset: offset, size: size, isFloating: true))
        return true
      }
      if let parts = parts(of: Value.self) {
        return collect(parts, of: Value.self, at: offset, &scalars)
      }
      // SIMD types, and what else is no word.
      if size > 8 && !(Value.self is any BinaryInteger.Type) { return false }
      scalars.append(Scalar(offset: offset, size: size, isFloating: false))
      return true
    }
    return _openExistential(type, do: open)
  }

  /// The types of the fields of a C struct as it was imported, or of the elements
  /// of an array in one, which is a tuple. Nil for types that are one value.
  private static func parts<Value>(of type: Value.Type) -> [Any.Type]? {
    // Swift's numbers and pointers are structs, too. They count as one value.
    if type is any BinaryInteger.Type || type is any CustomReflectable.Type
      || type is any ReferenceValue.Type || type is Bool.Type
    {
      return nil
    }
    let kind = MetadataKind(of: type)
    guard kind == .structure || kind == .tuple, _isPOD(type) else { return nil }
    // Only values tell their fields. Those of imported types may be zeros.
    let size = MemoryLayout<Value>.stride
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: size, alignment: MemoryLayout<Value>.alignment
    ) { bytes in
      // SAFETY: the room has the type's size and alignment. Trivial types of C
      // have no invalid bytes.
      unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
      let value = unsafe bytes.baseAddress!.load(as: Value.self)
      return Mirror(reflecting: value).children.map { Swift.type(of: $0.value) }
    }
  }

  /// Whether a type is a C struct that was imported with its fields. Unions,
  /// and structs of bit-fields alone, are imported without.
  internal static func hasFields(_ type: Any.Type) -> Bool {
    func open<Value>(_: Value.Type) -> Bool { parts(of: Value.self)?.isEmpty == false }
    return _openExistential(type, do: open)
  }

  /// Places parts as C does. False if the whole has another size then: unions and
  /// bit-fields show no parts, packed structs lie otherwise.
  private static func collect<Value>(
    _ parts: [Any.Type], of type: Value.Type, at offset: Int, _ scalars: inout [Scalar]
  ) -> Bool {
    var end = 0
    var largest = 1
    for part in parts {
      func open<Part>(_: Part.Type) -> (Int, Int) {
        (MemoryLayout<Part>.size, MemoryLayout<Part>.alignment)
      }
      let (size, alignment) = _openExistential(part, do: open)
      end = (end + alignment - 1) & ~(alignment - 1)
      if !collect(part, at: offset + end, &scalars) { return false }
      end += size
      largest = max(largest, alignment)
    }
    return (end + largest - 1) & ~(largest - 1) == MemoryLayout<Value>.stride
  }
}

/// A struct around a class reference, of which zeros are no value.
private protocol ReferenceValue {}
extension Unmanaged: ReferenceValue {}
