// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Decides which Swift types can represent which encodings. The table is in
// ValueCoder.swift.

extension ValueCoder {
  /// Creates the coder of an encoding. The rules that are frequent and cheap
  /// come first.
  internal static func matching(_ encoding: TypeEncoding) throws(ValueMismatch) -> ValueCoder {
    let kind = encoding.kind
    if let kinds = scalarKinds(of: Value.self) {
      guard kind == kinds.0 || kind == kinds.1 else { throw .type(Value.self, in: encoding) }
      return ValueCoder(Value.self == Bool.self ? .bool : .bitwise)
    }
    if AddressTranslator<Value>.fits(encoding) {
      return ValueCoder(.translated(AddressTranslator<Value>()))
    }
    let wrapped = (Value.self as? any OptionalValue.Type)?.wrapped
    let base = wrapped ?? Value.self
    // Null is a value of an optional type, and an error for other types.
    let form = wrapped == nil ? Form.nonNull : .bitwise
    if let pointer = base as? any PointerValue.Type {
      guard pointer.mayStand(for: encoding) else { throw .type(Value.self, in: encoding) }
      return ValueCoder(form)
    }
    if base == String.self, kind == .cString {
      let translator: AnyObject = wrapped == nil ? StringTranslator() : OptionalStringTranslator()
      if let fitting = translator as? ValueTranslator<Value> {
        return ValueCoder(.translated(fitting))
      }
    }
    if base == AnyObject.self {
      guard kind == .object else { throw .type(Value.self, in: encoding) }
      return ValueCoder(form, isObject: true)
    }
    if let object = base as? AnyClass {
      guard kind == .object else { throw .type(Value.self, in: encoding) }
      return ValueCoder(.translated(classTranslator(object)), isObject: true)
    }
    if let stated = statedType(Value.self) {
      try check(stated.typeEncoding, stating: stated.statedLayouts, for: encoding)
      return ValueCoder(.bitwise)
    }
    // Not for objects: a raw value would not keep the object alive, as a
    // reference does.
    if kind != .object, let representable = Value.self as? any RawRepresentable.Type {
      return ValueCoder(.translated(try rawTranslator(representable, for: encoding)))
    }
    if Value.self == Void.self && kind == .void { return ValueCoder(.bitwise) }
    if base == AnyClass.self && kind == .classReference { return ValueCoder(form) }
    if encoding.isFunctionPointer && isCFunction(base) { return ValueCoder(form) }
    throw .type(Value.self, in: encoding, because: hint)
  }

  /// The advice of an error about a type that fits no encoding.
  private static var hint: String {
    if Value.self == Void.self || Value.self == AnyClass.self { return "" }
    if Value.self == String.self || Value.self == String?.self {
      return "; a String stands for a C string, '*'"
    }
    let name = String(describing: Value.self)
    if name.contains("@convention(c)") { return "" }
    if name.contains("->") { return "; C takes only @convention(c) functions" }
    if isSwiftEnum(Value.self) { return ", an enum without a raw type; give it one, such as Int32" }
    return ", which does not conform to TypeEncodable"
  }
}

// MARK: - Numbers

/// The kinds of encodings that a Swift number fits; nil for other types.
@inlinable
internal func scalarKinds(of type: Any.Type) -> (TypeEncoding.Kind, TypeEncoding.Kind)? {
  // Comparisons of metadata addresses, since a cast to a protocol would look up
  // the conformance at run time.
  if type == Int32.self { return (.int, .long) }
  if type == UInt32.self { return (.unsignedInt, .unsignedLong) }
  if type == Double.self { return (.double, .double) }
  if type == Float.self { return (.float, .float) }
  if type == Bool.self { return (.bool, .bool) }
  if type == Int64.self { return (.longLong, .longLong) }
  if type == UInt64.self { return (.unsignedLongLong, .unsignedLongLong) }
  if type == Int8.self { return (.char, .char) }
  if type == UInt8.self { return (.unsignedChar, .unsignedChar) }
  if type == Int16.self { return (.short, .short) }
  if type == UInt16.self { return (.unsignedShort, .unsignedShort) }
  let isWide = MemoryLayout<Int>.size == 8
  if type == Int.self { return isWide ? (.longLong, .longLong) : (.int, .long) }
  if type == UInt.self {
    return isWide ? (.unsignedLongLong, .unsignedLongLong) : (.unsignedInt, .unsignedLong)
  }
  if #available(macOS 15, *) {
    if type == Int128.self { return (.int128, .int128) }
    if type == UInt128.self { return (.unsignedInt128, .unsignedInt128) }
  }
  #if arch(x86_64) || arch(i386)
    if type == Float80.self { return (.longDouble, .longDouble) }
  #endif
  return nil
}

// MARK: - Pointers

/// A type of one word that is never null.
internal protocol PointerValue {
  static func mayStand(for encoding: TypeEncoding) -> Bool

  /// The encoding, with `r` if the memory behind the pointer is `const` in C.
  static var encoding: String { get }
}

internal protocol OptionalValue {
  static var wrapped: Any.Type { get }
}

extension Optional: OptionalValue {
  internal static var wrapped: Any.Type { Wrapped.self }
}

extension UnsafePointer: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool {
    encoding.takesPointer(to: Pointee.self)
  }
  internal static var encoding: String { "r" + DerivedEncoding.pointer(to: Pointee.self) }
}

extension UnsafeMutablePointer: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool {
    encoding.takesPointer(to: Pointee.self)
  }
  internal static var encoding: String { DerivedEncoding.pointer(to: Pointee.self) }
}

#if canImport(ObjectiveC)
  extension AutoreleasingUnsafeMutablePointer: PointerValue {
    internal static func mayStand(for encoding: TypeEncoding) -> Bool {
      encoding.takesPointer(to: Pointee.self)
    }
    internal static var encoding: String { DerivedEncoding.pointer(to: Pointee.self) }
  }
#endif

extension UnsafeRawPointer: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool { encoding.isPointer }
  internal static var encoding: String { "r^v" }
}

extension UnsafeMutableRawPointer: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool { encoding.isPointer }
  internal static var encoding: String { "^v" }
}

extension OpaquePointer: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool { encoding.isPointer }
  internal static var encoding: String { "^v" }
}

extension Unmanaged: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool { encoding.kind == .object }
  internal static var encoding: String { "@" }
}

extension MethodSelector: PointerValue {
  internal static func mayStand(for encoding: TypeEncoding) -> Bool {
    encoding.kind == .selector
  }
  internal static var encoding: String { ":" }
}

extension TypeEncoding {
  fileprivate var isPointer: Bool {
    switch kind {
    case .pointer, .cString, .object, .classReference, .block: true
    default: false
    }
  }

  /// `^?`, as Clang spells pointers to functions.
  fileprivate var isFunctionPointer: Bool { kind == .pointer && pointee?.kind == .unknown }

  /// Whether a typed pointer fits this encoding. Structs are not compared: the
  /// encoding often has only their name, and an imported Swift type does not
  /// have its C name.
  fileprivate func takesPointer<Pointee>(to type: Pointee.Type) -> Bool {
    if kind == .cString { return isCharacter(type) }
    guard kind == .pointer, var pointee else { return false }
    while pointee.kind == .array, let element = pointee.element { pointee = element }
    switch pointee.kind {
    case .void, .structure, .union: return true
    case .char, .unsignedChar: return isCharacter(type) || pointee.holds(type)
    default: return pointee.holds(type)
    }
  }

  /// Whether a pointer to the Swift type can point to memory of this encoding.
  private func holds<Value>(_ type: Value.Type) -> Bool {
    // Memory of strings is no memory of C strings, nor that of a Swift enum its raw value.
    guard !isSwiftEnum(type), let coder = try? ValueCoder<Value>(for: self), !coder.isCopied,
      let layout = try? layout()
    else { return false }
    // A type with a raw value need not have its layout.
    return !coder.isChecked || layout.size == MemoryLayout<Value>.size
  }
}

extension ValueCoder {
  /// Whether a translator converts the value.
  fileprivate var isChecked: Bool {
    if case .translated = form { true } else { false }
  }
}

private func isCharacter(_ type: Any.Type) -> Bool { type == Int8.self || type == UInt8.self }

/// Whether a type is a C function pointer. Swift has no cast to test this, so
/// the function reads the type's description.
internal func isCFunction(_ type: Any.Type) -> Bool {
  String(describing: type).hasPrefix("@convention(c)")
}

// MARK: - Structs

extension ValueCoder {
  /// Checks that the encoding of a `TypeEncodable` type is equivalent to
  /// `encoding`, and that it has the type's size and alignment.
  private static func check(
    _ text: String, stating stated: [StatedLayout], for encoding: TypeEncoding
  ) throws(ValueMismatch) {
    let own: TypeEncoding
    let layout: TypeLayout
    do throws(ForwardingError) {
      own = try TypeEncoding(text, stating: stated)
      layout = try own.layout()
    } catch {
      throw .type(
        Value.self, in: encoding,
        because: ", whose encoding \"\(text)\" is \(error.code)")
    }
    guard own.isEquivalent(to: encoding) else {
      throw .type(Value.self, in: encoding, because: ", whose encoding is \(own.inWords)")
    }
    // BitwiseCopyable is a marker protocol, so a cast cannot test for it.
    guard _isPOD(Value.self) else {
      throw .type(Value.self, in: encoding, because: ", which has references that Swift counts")
    }
    // The size of a Swift struct does not include the padding at its end.
    let sizes = MemoryLayout<Value>.size...max(1, MemoryLayout<Value>.stride)
    guard sizes.contains(layout.size) && MemoryLayout<Value>.alignment == layout.alignment else {
      throw .type(
        Value.self, in: encoding,
        because:
          " of \(MemoryLayout<Value>.size) bytes aligned to \(MemoryLayout<Value>.alignment), "
          + "whose encoding says \(layout.inWords)")
    }
  }
}

// MARK: - Classes

extension ValueCoder {
  private static func classTranslator(_ type: AnyClass) -> ValueTranslator<Value> {
    func open<Object: AnyObject>(_ type: Object.Type) -> ValueTranslator<Value> {
      ClassTranslator<Value, Object>()
    }
    return open(type)
  }
}

/// Checks the class of an object when a slot is read. `Value` is `Object` or an
/// optional of it.
private final class ClassTranslator<Value, Object: AnyObject>: ValueTranslator<Value>,
  @unchecked Sendable
{
  override var requiredClass: AnyClass? { Object.self }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: an `@` slot holds an object that is alive, or null.
    if let object = unsafe slot.load(as: AnyObject?.self) {
      guard object is Object else { throw .object(object, expected: Object.self) }
    } else if Value.self == Object.self {
      throw .null(Value.self)
    }
    // SAFETY: the word is a reference of this class, or it is null and `Value`
    // is optional.
    return unsafe slot.load(as: Value.self)
  }
}

// MARK: - Raw values

extension ValueCoder {
  private static func rawTranslator(
    _ type: any RawRepresentable.Type, for encoding: TypeEncoding
  ) throws(ValueMismatch) -> ValueTranslator<Value> {
    func open<Wrapper: RawRepresentable>(
      _ type: Wrapper.Type
    ) throws(ValueMismatch) -> (any Sendable)? {
      do throws(ValueMismatch) {
        return RawTranslator<Wrapper>(raw: try ValueCoder<Wrapper.RawValue>(for: encoding))
      } catch {
        throw .type(
          type, in: encoding, because: ", whose raw value is \(Wrapper.RawValue.self)")
      }
    }
    // `Wrapper` is `Value`, which the compiler cannot know.
    guard let translator = try open(type) as? ValueTranslator<Value> else {
      throw .type(Value.self, in: encoding)
    }
    return translator
  }
}

/// Passes enums and option sets as their raw values.
private final class RawTranslator<Value: RawRepresentable>: ValueTranslator<Value>,
  @unchecked Sendable
{
  private let raw: ValueCoder<Value.RawValue>

  init(raw: ValueCoder<Value.RawValue>) { self.raw = raw }

  override var translatesEncoding: Bool { true }

  override func decode(from slot: UnsafeRawPointer) throws(ValueMismatch) -> Value {
    // SAFETY: the slot is one of the raw value's encoding.
    let rawValue = try unsafe raw.decode(from: slot)
    guard let value = Value(rawValue: rawValue) else {
      throw ValueMismatch(
        code: .valueNotRepresentable,
        expected: "\(Value.self): expected the raw value of a case",
        actual: "raw value \(rawValue)")
    }
    return value
  }

  override func encode(_ value: Value, into slot: UnsafeMutableRawPointer) {
    // SAFETY: the slot is one of the raw value's encoding.
    unsafe raw.encode(value.rawValue, into: slot)
  }

  override var isCopied: Bool { raw.isCopied }

  override var isText: Bool { raw.translator?.isText ?? false }

  override func text(of value: Value) -> String? { raw.translator?.text(of: value.rawValue) }

  override func encodeCopy(
    _ value: Value, into slot: UnsafeMutableRawPointer
  ) throws(ValueMismatch) -> AnyObject? {
    try unsafe raw.encodeCopying(value.rawValue, into: slot)
  }
}
