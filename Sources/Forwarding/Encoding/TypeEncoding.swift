// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A type encoding such as `{Point=dd}`, parsed.
///
/// ```swift
/// let point = try TypeEncoding(#"{Point="x"d"y"d}"#)
/// point.typeName                        // "struct Point"
/// point.fields.map(\.fieldName)         // ["x", "y"]
/// try point.layout()                    // 16 bytes aligned to 8
/// point == (try TypeEncoding("{Point=dd}"))   // true
/// ```
///
/// A value is immutable and may be shared between threads. Types inside a type
/// share its storage, so taking one costs a reference.
///
/// ## Comparison
///
/// `==` compares types. Qualifiers other than `A` (atomic), offsets, and the
/// names of fields, classes and protocols do not count. Everything else does,
/// also the names of structs and unions, where no name is a name of its own, and
/// ``StatedLayout``s. It is an equivalence relation, so encodings can be members
/// of sets and keys of dictionaries.
///
/// Tables and proxies compare less strictly: a declaration of a method may leave
/// out what another one says (`{?=dd}` and `{Point=dd}`), and a function may have
/// other types that calls pass alike, see ``MethodSignature/isCompatible(with:)``.
@safe public struct TypeEncoding: Sendable {
  internal let storage: Storage
  internal let index: Int

  internal init(storage: Storage, index: Int) {
    self.storage = storage
    self.index = index
  }

  /// Owns one reference to a parsed encoding.
  @safe internal final class Storage: @unchecked Sendable {
    // Sendable: what the handle refers to is immutable, and its count is
    // atomic.
    internal let handle: OpaquePointer

    /// Takes over the caller's reference.
    internal init(owning handle: OpaquePointer) {
      unsafe self.handle = handle
    }

    deinit {
      // SAFETY: the reference that `init` took over is given up once.
      unsafe fwd_encoding_release(handle)
    }

    /// The text that was read.
    internal var text: String {
      // SAFETY: the text is as long as the shim says, and lives as long as the
      // handle.
      let text = unsafe UnsafeRawBufferPointer(
        start: fwd_encoding_text(handle), count: fwd_encoding_length(handle))
      return unsafe String(decoding: text, as: UTF8.self)
    }
  }

  /// The node in the shim's array. Valid while this value holds its storage.
  internal var node: UnsafePointer<fwd_type> {
    // SAFETY: indices are made from the shim's own links, which are below the
    // count of nodes.
    unsafe fwd_encoding_type(storage.handle, index)
  }
}

// MARK: - Kinds and qualifiers

extension TypeEncoding {
  /// The kind of a type. More may be added.
  public enum Kind: Sendable, Hashable, CaseIterable {
    /// `c`, a signed character.
    case char
    /// `C`
    case unsignedChar
    /// `s`
    case short
    /// `S`
    case unsignedShort
    /// `i`, 32 bits.
    case int
    /// `I`
    case unsignedInt
    /// `l`: 32 bits wide, as in Apple's 64-bit encodings. Clang writes `q` for
    /// a 64-bit `long`.
    case long
    /// `L`: 32 bits wide.
    case unsignedLong
    /// `q`, 64 bits.
    case longLong
    /// `Q`
    case unsignedLongLong
    /// `t`
    case int128
    /// `T`
    case unsignedInt128
    /// `B`, `_Bool`.
    case bool
    /// `f`
    case float
    /// `d`
    case double
    /// `D`: the platform's `long double`.
    case longDouble
    /// `v`
    case void
    /// `*`, a string that a NUL ends.
    case cString
    /// `@`, a reference to an object.
    case object
    /// `#`, a class.
    case classReference
    /// `:`, a method selector.
    case selector
    /// `?`: not told. Behind a pointer it is a function.
    case unknown
    /// `@?`
    case block
    /// `^`
    case pointer
    /// `[n…]`
    case array
    /// `{name=…}`
    case structure
    /// `(name=…)`
    case union
    /// `b`
    case bitField
    /// `j`
    case complex
    /// The result and the arguments of a block whose encoding tells them.
    case function
  }

  /// The kind of the type.
  public var kind: Kind {
    // SAFETY: the node belongs to the storage, which this value holds.
    Kind(unsafe node.pointee.kind)
  }

  /// The letters of the qualifiers in front of the type, not of the type that
  /// it points to, in the order `rnNoORVA`: `r` (const), `n` (in), `N` (inout),
  /// `o` (out), `O` (bycopy), `R` (byref), `V` (oneway), `A` (atomic). Only `A`
  /// can change the layout of a type.
  public var qualifiers: String {
    // SAFETY: the node belongs to the storage, which this value holds.
    let bits = unsafe node.pointee.qualifiers
    return String("rnNoORVA".enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element))
  }
}

// MARK: - Parts

extension TypeEncoding {
  /// The name of a struct, union or class; for an object known by protocol only
  /// `<Protocol>`. Nil if it is anonymous, or `?`.
  public var name: String? {
    // SAFETY: the node belongs to the storage, which this value holds.
    let name = unsafe substring(node.pointee.name_offset, node.pointee.name_length)
    return name.isEmpty || name == "?" ? nil : name
  }

  /// The quoted name in front of the type, if it is a field that has one.
  public var fieldName: String? {
    // SAFETY: the node belongs to the storage, which this value holds.
    let name = unsafe substring(node.pointee.field_name_offset, node.pointee.field_name_length)
    return name.isEmpty ? nil : name
  }

  /// The fields of a struct or the members of a union, in order; the result and
  /// the arguments of a function; else empty.
  ///
  /// - Complexity: O(*n*) in their number.
  public var fields: [TypeEncoding] {
    switch kind {
    case .structure, .union, .function: children
    default: []
    }
  }

  /// Whether only the name of this struct or union is known: `{stat}`.
  package var isOpaque: Bool {
    // SAFETY: the node belongs to the storage, which this value holds.
    unsafe node.pointee.is_opaque
  }

  /// The type that a pointer points to, or the function of a block whose
  /// encoding has its signature. Nil for other types.
  public var pointee: TypeEncoding? {
    kind == .pointer || kind == .block ? firstChild : nil
  }

  /// The type of an array's elements or of the two parts of a complex number;
  /// else nil.
  public var element: TypeEncoding? {
    kind == .array || kind == .complex ? firstChild : nil
  }

  /// The number of an array's elements, or the width of a bit-field in bits;
  /// else nil.
  public var count: Int? {
    // SAFETY: the node belongs to the storage, which this value holds.
    kind == .array || kind == .bitField ? Int(clamping: unsafe node.pointee.count) : nil
  }

  private var firstChild: TypeEncoding? {
    // SAFETY: the node belongs to the storage, which this value holds.
    let child = unsafe node.pointee.first_child
    return child == FWD_NO_TYPE ? nil : TypeEncoding(storage: storage, index: Int(child))
  }

  private var children: [TypeEncoding] {
    var children: [TypeEncoding] = []
    // SAFETY: the node belongs to the storage, which this value holds.
    var next = unsafe node.pointee.first_child
    while next != FWD_NO_TYPE {
      let child = TypeEncoding(storage: storage, index: Int(next))
      children.append(child)
      // SAFETY: as above.
      next = unsafe child.node.pointee.next_sibling
    }
    return children
  }

  private func substring(_ offset: UInt32, _ length: UInt32) -> String {
    // SAFETY: the shim's spans lie in the text, which lives as long as the
    // storage.
    let bytes = unsafe UnsafeRawBufferPointer(
      start: fwd_encoding_text(storage.handle) + Int(offset), count: Int(length))
    return unsafe String(decoding: bytes, as: UTF8.self)
  }
}

// MARK: - Spelling

extension TypeEncoding {
  /// The type as it was written, without offsets behind it.
  ///
  /// - Complexity: O(*n*) in its length.
  public var text: String {
    // SAFETY: the node belongs to the storage, which this value holds.
    unsafe substring(node.pointee.text_offset, node.pointee.text_length)
  }

  /// The type in words, with Swift's names for numbers: `pointer to struct stat`,
  /// `array of 4 Int32`, `Double`.
  ///
  /// - Complexity: O(*n*) in the depth of the type.
  public var typeName: String {
    var words = ""
    var type = self
    while true {
      if type.qualifiers.contains("r") { words += "const " }
      if type.qualifiers.contains("A") { words += "atomic " }
      guard let next = type.appendWords(to: &words) else { return words }
      type = next
    }
  }

  /// Appends the words for this type itself. Returns the type whose words come
  /// next, if there is one.
  private func appendWords(to words: inout String) -> TypeEncoding? {
    switch kind {
    case .object:
      guard let name else { break }
      words += name.hasPrefix("<") ? "object conforming to \(name)" : "object of class \(name)"
      return nil
    case .structure, .union:
      words += kind == .structure ? "struct" : "union"
      if let name { words += " \(name)" }
      return nil
    case .pointer:
      if pointee?.kind == .unknown { break }
      words += "pointer to "
      return pointee
    case .array:
      words += "array of \(count ?? 0) "
      return element
    case .complex:
      words += "complex "
      return element
    case .bitField:
      words += "bit-field of \(count ?? 0) \(count == 1 ? "bit" : "bits")"
      return nil
    default: break
    }
    words += kind == .pointer ? "function pointer" : kind.word
    return nil
  }

  /// The canonical spelling of the type at `index`.
  internal static func print(_ encoding: OpaquePointer, _ index: Int) -> String {
    // SAFETY: both calls print the same immutable nodes; the second into room
    // for what the first counted and a NUL.
    let length = unsafe fwd_encoding_print(encoding, index, nil, 0)
    return unsafe String(unsafeUninitializedCapacity: length + 1) { buffer in
      unsafe buffer.withMemoryRebound(to: CChar.self) {
        unsafe fwd_encoding_print(encoding, index, $0.baseAddress, $0.count)
      }
    }
  }
}

// MARK: - Comparison

extension TypeEncoding {
  /// Returns whether two encodings may be spellings of one type, where one of
  /// them tells less.
  ///
  /// Equal encodings are equivalent. Beyond that:
  ///
  /// - an anonymous struct or union goes with one of any name;
  /// - behind a pointer, a struct or union without fields (`{stat}`, `{stat=}`)
  ///   goes with any of its name;
  /// - a block without a signature goes with any block;
  /// - Apple's bit-field `b3` goes with a GNU one of the same width;
  /// - `A` (atomic) counts only if it changes the layout.
  ///
  /// This relation is symmetric but not transitive: `{A=i}` is equivalent to
  /// `{?=i}`, which is equivalent to `{B=i}`.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  internal func isEquivalent(to other: TypeEncoding) -> Bool {
    // SAFETY: both nodes belong to storages that the values hold.
    unsafe fwd_encoding_equivalent(storage.handle, index, other.storage.handle, other.index)
  }

  /// Returns whether a value of one type can be passed where the other is
  /// expected.
  ///
  /// Equivalent types are compatible. Beyond that, `^v` goes with every
  /// pointer, `*` with pointers to characters, and blocks go with `@`. Not
  /// transitive.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  internal func isCompatible(with other: TypeEncoding) -> Bool {
    // SAFETY: both nodes belong to storages that the values hold.
    unsafe fwd_encoding_compatible(storage.handle, index, other.storage.handle, other.index)
  }
}

extension TypeEncoding: Hashable {
  /// Returns whether two encodings spell one type, see ``TypeEncoding``.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  public static func == (left: TypeEncoding, right: TypeEncoding) -> Bool {
    // SAFETY: both nodes belong to storages that the values hold.
    unsafe fwd_encoding_equal(
      left.storage.handle, left.index, right.storage.handle, right.index)
  }

  /// Hashes the parts of the type that `==` compares.
  ///
  /// - Complexity: O(*n*) in the length of the encoding.
  public func hash(into hasher: inout Hasher) {
    // SAFETY: the node belongs to the storage, which this value holds.
    hasher.combine(unsafe fwd_encoding_hash(storage.handle, index))
  }
}

// MARK: - Conformances

extension TypeEncoding: CustomStringConvertible {
  /// The canonical spelling: offsets are gone, qualifiers stand in a fixed
  /// order, an empty name is `?`.
  ///
  /// - Complexity: O(*n*) in its length.
  public var description: String {
    // SAFETY: the node belongs to the storage, which this value holds.
    unsafe TypeEncoding.print(storage.handle, index)
  }
}

extension TypeEncoding.Kind {
  internal init(_ kind: fwd_type_kind) {
    switch kind {
    case FWD_TYPE_CHAR: self = .char
    case FWD_TYPE_UCHAR: self = .unsignedChar
    case FWD_TYPE_SHORT: self = .short
    case FWD_TYPE_USHORT: self = .unsignedShort
    case FWD_TYPE_INT: self = .int
    case FWD_TYPE_UINT: self = .unsignedInt
    case FWD_TYPE_LONG: self = .long
    case FWD_TYPE_ULONG: self = .unsignedLong
    case FWD_TYPE_LONG_LONG: self = .longLong
    case FWD_TYPE_ULONG_LONG: self = .unsignedLongLong
    case FWD_TYPE_INT128: self = .int128
    case FWD_TYPE_UINT128: self = .unsignedInt128
    case FWD_TYPE_BOOL: self = .bool
    case FWD_TYPE_FLOAT: self = .float
    case FWD_TYPE_DOUBLE: self = .double
    case FWD_TYPE_LONG_DOUBLE: self = .longDouble
    case FWD_TYPE_VOID: self = .void
    case FWD_TYPE_C_STRING: self = .cString
    case FWD_TYPE_OBJECT: self = .object
    case FWD_TYPE_CLASS: self = .classReference
    case FWD_TYPE_SELECTOR: self = .selector
    case FWD_TYPE_BLOCK: self = .block
    case FWD_TYPE_POINTER: self = .pointer
    case FWD_TYPE_ARRAY: self = .array
    case FWD_TYPE_STRUCT: self = .structure
    case FWD_TYPE_UNION: self = .union
    case FWD_TYPE_BIT_FIELD: self = .bitField
    case FWD_TYPE_COMPLEX: self = .complex
    case FWD_TYPE_FUNCTION: self = .function
    default: self = .unknown
    }
  }

  /// The word for a type of which there is no more to say.
  fileprivate var word: String {
    switch self {
    case .char: "Int8"
    case .unsignedChar: "UInt8"
    case .short: "Int16"
    case .unsignedShort: "UInt16"
    case .int, .long: "Int32"
    case .unsignedInt, .unsignedLong: "UInt32"
    case .longLong: "Int64"
    case .unsignedLongLong: "UInt64"
    case .int128: "Int128"
    case .unsignedInt128: "UInt128"
    case .bool: "Bool"
    case .float: "Float"
    case .double: "Double"
    case .longDouble: "long double"
    case .void: "void"
    case .cString: "C string"
    case .object: "object"
    case .classReference: "class"
    case .selector: "selector"
    case .unknown: "unknown type"
    case .block: "block"
    case .pointer: "pointer"
    case .array: "array"
    case .structure: "struct"
    case .union: "union"
    case .bitField: "bit-field"
    case .complex: "complex"
    case .function: "function"
    }
  }
}
