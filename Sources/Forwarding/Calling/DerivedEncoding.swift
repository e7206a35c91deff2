// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The encoding of a Swift type, derived from the type.
///
/// It is the encoding that Clang gives the C type on the page "Encodings and
/// Swift types", except for pointers to `unsigned char` and to structs: `^C`
/// instead of `*`, which would mean a string, and the name of the struct
/// without its fields, which Swift does not know.
internal struct DerivedEncoding {
  /// The encoding.
  internal let text: String

  /// The layouts that the encoding does not carry.
  internal let statedLayouts: [StatedLayout]

  private init(_ text: String, stating statedLayouts: [StatedLayout] = []) {
    self.text = text
    self.statedLayouts = statedLayouts
  }

  /// Derives the encoding of a parameter or of a result.
  ///
  /// - Throws: `ValueMismatch` if the type has none.
  internal init(of type: Any.Type) throws(ValueMismatch) {
    func open<Value>(_: Value.Type) throws(ValueMismatch) -> DerivedEncoding {
      try Self.derive(Value.self)
    }
    self = try _openExistential(type, do: open)
  }
}

/// The encodings of a function's Swift types.
internal struct DerivedEncodings {
  internal let result: String
  internal let parameters: [String]

  /// The layouts that the encodings do not carry.
  internal let statedLayouts: [StatedLayout]

  /// Derives them.
  ///
  /// - Parameters:
  ///   - owner: what has the types, for errors: `the function "cos"`.
  ///   - selector: the name of the method, for errors.
  /// - Throws: `ForwardingError` with the code `noEncoding` if a type has none.
  internal init(
    _ result: Any.Type, _ parameters: [Any.Type], of owner: String, selector: String? = nil
  ) throws(ForwardingError) {
    var stated: [StatedLayout] = []
    func derive(_ type: Any.Type, _ place: String) throws(ForwardingError) -> String {
      do throws(ValueMismatch) {
        let derived = try DerivedEncoding(of: type)
        for layout in derived.statedLayouts where !stated.contains(layout) { stated.append(layout) }
        return derived.text
      } catch {
        throw ForwardingError(
          .noEncoding, selector: selector,
          "\(place) of \(owner) is \(error.actual), expected \(error.expected)")
      }
    }
    self.result = try derive(result, "the result")
    var encodings: [String] = []
    for (index, type) in parameters.enumerated() {
      encodings.append(try derive(type, "parameter \(index + 1)"))
    }
    self.parameters = encodings
    statedLayouts = stated
  }
}

// MARK: - Values

extension DerivedEncoding {
  // The order is that of `ValueCoder.matching`: a type has the place here that
  // it has there.
  private static func derive<Value>(_: Value.Type) throws(ValueMismatch) -> DerivedEncoding {
    if let kinds = scalarKinds(of: Value.self) { return DerivedEncoding(kinds.0.letter) }
    let wrapped = (Value.self as? any OptionalValue.Type)?.wrapped
    let base = wrapped ?? Value.self
    if let pointer = base as? any PointerValue.Type { return DerivedEncoding(pointer.encoding) }
    if base == AnyObject.self || base is AnyClass { return DerivedEncoding("@") }
    if base == String.self { return DerivedEncoding("r*") }
    if let stated = statedType(Value.self) { return try derive(stating: stated) }
    if let representable = Value.self as? any RawRepresentable.Type {
      return try derive(representable)
    }
    if Value.self == Void.self { return DerivedEncoding("v") }
    if base == AnyClass.self { return DerivedEncoding("#") }
    if isCFunction(base) { return DerivedEncoding("^?") }
    throw .unencodable(Value.self, because: reason(Value.self, wrapped))
  }

  private static func derive(
    stating type: any TypeEncodable.Type
  ) throws(ValueMismatch) -> DerivedEncoding {
    let text = type.typeEncoding
    do throws(ForwardingError) {
      // Read here, since in a signature another parameter would get the blame.
      _ = try TypeEncoding(text, stating: type.statedLayouts)
    } catch {
      throw .unencodable(type, because: "the encoding that it states, \"\(text)\": \(error)")
    }
    return DerivedEncoding(text, stating: type.statedLayouts)
  }

  private static func derive<Representable: RawRepresentable>(
    _: Representable.Type
  ) throws(ValueMismatch) -> DerivedEncoding {
    do throws(ValueMismatch) {
      return try derive(Representable.RawValue.self)
    } catch {
      throw .unencodable(
        Representable.self, because: "its raw value is \(Representable.RawValue.self)")
    }
  }

  private static func reason(_ type: Any.Type, _ wrapped: Any.Type?) -> String {
    let name = String(describing: type)
    if name.contains("->") { return "C takes only @convention(c) functions" }
    if wrapped != nil {
      return "only pointers, objects, classes, strings, selectors and C functions can be nil in C"
    }
    if isSwiftEnum(type) { return "it is an enum without a raw type; give it one, such as Int32" }
    return "it does not conform to TypeEncodable"
  }
}

extension ValueMismatch {
  /// A type has no encoding.
  fileprivate static func unencodable(_ type: Any.Type, because reason: String) -> ValueMismatch {
    ValueMismatch(
      code: .typeMismatch, expected: "a Swift type that has an encoding",
      actual: "\(type): \(reason)")
  }
}

// MARK: - Pointers

extension DerivedEncoding {
  /// The encoding of a pointer to memory of a Swift type: without `const`.
  internal static func pointer<Pointee>(to _: Pointee.Type) -> String {
    // A C string. Clang writes `*` for unsigned characters too, but such memory
    // is mostly bytes, which no NUL ends: `retainArguments()` would read on.
    if Pointee.self == CChar.self { return "*" }
    return "^" + pointee(Pointee.self)
  }

  private static func pointee<Pointee>(_: Pointee.Type) -> String {
    if Pointee.self == Void.self { return "v" }
    if let pointer = ((Pointee.self as? any OptionalValue.Type)?.wrapped ?? Pointee.self)
      as? any PointerValue.Type
    {
      // Clang writes the outermost `const` only.
      let encoding = pointer.encoding
      return encoding.hasPrefix("r") ? String(encoding.dropFirst()) : encoding
    }
    // Memory of an enum of Swift is not that of its raw value, and memory of strings
    // not that of C strings.
    if !isSwiftEnum(Pointee.self), let derived = try? derive(Pointee.self), derived.text != "r*",
      let type = try? TypeEncoding(derived.text),
      statedType(Pointee.self) != nil
        || (try? type.layout())?.size == MemoryLayout<Pointee>.size
    {
      return derived.text
    }
    return importedName(of: Pointee.self).map { "{\($0)}" } ?? "v"
  }

  /// The name of a struct that was imported from C; nil for other types. A
  /// union is imported as a struct without fields.
  private static func importedName(of type: Any.Type) -> String? {
    guard isImported(type), PassedValue.hasFields(type) else { return nil }
    return String(String(reflecting: type).dropFirst("__C.".count))
  }
}

// MARK: - Letters

extension TypeEncoding.Kind {
  /// The letter of a number.
  fileprivate var letter: String {
    switch self {
    case .char: "c"
    case .unsignedChar: "C"
    case .short: "s"
    case .unsignedShort: "S"
    case .int: "i"
    case .unsignedInt: "I"
    case .longLong: "q"
    case .unsignedLongLong: "Q"
    case .int128: "t"
    case .unsignedInt128: "T"
    case .bool: "B"
    case .float: "f"
    case .double: "d"
    case .longDouble: "D"
    default: "?"
    }
  }
}
