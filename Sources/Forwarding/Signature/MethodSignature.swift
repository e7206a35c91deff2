// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The types of a method or a C function: its result, its arguments, and the
/// layout of its argument frame.
///
/// ```swift
/// let signature = try MethodSignature("v@:id")   // result, receiver, selector, Int32, Double
/// signature.arguments[2].encoding.typeName       // "Int32"
/// signature.arguments[3].frameOffset             // 8
/// signature.frameSize                            // 16
/// ```
///
/// Argument 0 is the receiver if it is an object or a pointer. Argument 1
/// behind a receiver is the selector if its encoding is `:`. These two are not
/// in the argument frame. The other arguments are in the frame like the members
/// of a C struct.
///
/// Indices count all arguments everywhere in this module. So the first argument
/// behind the receiver and the selector has the index 2 in `v@:id`, 1 in
/// `v^vi`, and 0 in `iid`.
///
/// Compilers encode an array parameter such as `const uint8_t key[16]` as an
/// array (`[16C]`). C passes a pointer to the first element, and so does a
/// signature.
///
/// ## Variadic functions
///
/// `...` separates the arguments that a C function names from those that only the
/// call gives. A signature is that of one call:
///
/// ```swift
/// try MethodSignature("i*...id")   // int f(const char *, ...), with an int and a double
/// ```
///
/// The unnamed arguments are promoted as in C: `f` is passed as a double, `c` as
/// an int. Such calls go through libffi. There is no function pointer with such a
/// signature.
///
/// A value is immutable and may be shared between threads. `==` compares the
/// types, ``isCompatible(with:)`` whether calls pass them alike.
///
/// ## Limits
///
/// - Creating a signature throws an error if the encoding does not say how C
///   passes a type: Apple's bit-fields, structs known by name only, and types
///   that compilers pass in different ways. A ``StatedLayout`` supplies the
///   missing layout of a struct.
/// - An encoding does not show that a struct is packed or over-aligned. Use a
///   ``StatedLayout`` for such a struct.
/// - Compilers' encodings do not show that a function is variadic. Write `...`
///   behind the named arguments: see "Variadic functions".
/// - Clang omits SIMD vector types from encodings. Creating a signature throws
///   an error if the offsets in a method's encoding reveal a vector among the
///   arguments. A vector inside a struct cannot be detected.
@safe public struct MethodSignature: Sendable {
  internal let storage: Storage

  /// Owns one reference to a signature of the C target, and caches values that
  /// are used often.
  @safe internal final class Storage: @unchecked Sendable {
    // Sendable: the signature is immutable, and its reference count is atomic.
    internal let handle: OpaquePointer
    internal let encoding: TypeEncoding.Storage
    internal let arguments: [Argument]
    internal let hiddenCount: Int
    internal let frameSize: Int
    internal let frameAlignment: Int
    internal let returnsObject: Bool
    /// The layouts that were stated for the encoding.
    internal let stated: [StatedLayout]

    /// Takes over the caller's reference.
    internal init(owning handle: OpaquePointer, stating stated: [StatedLayout]) {
      unsafe self.handle = handle
      self.stated = stated
      // SAFETY: the encoding lives as long as the signature, and is retained
      // here. Dropping `const` is sound, since only the reference count
      // changes, which is atomic.
      let encoding = unsafe TypeEncoding.Storage(
        owning: fwd_encoding_retain(fwd_signature_encoding(handle)))
      let hiddenCount = unsafe fwd_signature_hidden_count(handle)
      self.encoding = encoding
      self.hiddenCount = hiddenCount
      arguments = (0..<(unsafe fwd_signature_argument_count(handle))).map { index in
        var layout = fwd_layout()
        // SAFETY: the index is below the count, and the output a local variable.
        let type = unsafe fwd_signature_argument_type(handle, index)
        _ = unsafe fwd_signature_argument(handle, index, &layout)
        return Argument(
          encoding: TypeEncoding(storage: encoding, index: Int(type)), index: index,
          frameOffset: index < hiddenCount ? nil : layout.offset,
          layout: TypeLayout(size: layout.size, alignment: layout.alignment, offset: 0))
      }
      unsafe frameSize = fwd_signature_frame_size(handle)
      unsafe frameAlignment = fwd_signature_frame_alignment(handle)
      let result = unsafe fwd_signature_result_type(handle)
      returnsObject = TypeEncoding(storage: encoding, index: Int(result)).kind == .object
    }

    deinit {
      // SAFETY: the reference that `init` took over is released once.
      unsafe fwd_signature_release(handle)
    }
  }

  /// Takes over the caller's reference to a signature.
  internal init(owning handle: OpaquePointer, stating stated: [StatedLayout] = []) {
    storage = unsafe Storage(owning: handle, stating: stated)
  }

  /// The signature of the C target. Valid as long as this value or a copy of
  /// it.
  internal var handle: OpaquePointer { unsafe storage.handle }

  /// Parses a method encoding such as `v@:id`: the result type, then the
  /// argument types.
  ///
  /// Stack offsets and frame sizes, which runtimes write (`v24@0:8i16`), are
  /// ignored. Recently parsed encodings are cached, unless a layout is stated.
  ///
  /// ```swift
  /// let header = StatedLayout("Header", size: 5, alignment: 1)
  /// let signature = try MethodSignature("i{Header=ci}", stating: [header])
  /// ```
  ///
  /// - Parameters:
  ///   - encoding: The encoding.
  ///   - stated: Layouts of structs and unions in it, by name.
  /// - Throws: `ForwardingError` if the text is malformed or exceeds a limit;
  ///   with the code `unsupported` if the encoding does not say how to call
  ///   such a function; with the code `wrongLayout` if a stated layout
  ///   contradicts the type, or if no type has its name.
  /// - Complexity: O(*n*) in the length of the text, for each stated layout.
  public init(_ encoding: String, stating stated: [StatedLayout] = []) throws(ForwardingError) {
    var handle: OpaquePointer?
    var error = fwd_error()
    var utf8 = encoding
    // SAFETY: the bytes and the layouts are valid during the call, which copies
    // them; the outputs are local variables.
    let status = utf8.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
        if stated.isEmpty {
          return unsafe fwd_signature_create(bytes.baseAddress, bytes.count, &handle, &error)
        }
        return unsafe StatedLayout.withShim(stated) { stated, count in
          unsafe fwd_signature_create_stating(
            bytes.baseAddress, bytes.count, stated, count, &handle, &error)
        }
      }
    }
    guard status == FWD_OK, let handle = unsafe handle else {
      throw ForwardingError(error, encoding: encoding)
    }
    // SAFETY: this value takes over the reference.
    unsafe self.init(owning: handle, stating: stated)
  }
}

// MARK: - Arguments and result

extension MethodSignature {
  /// One argument of a signature.
  public struct Argument: Sendable, Hashable {
    /// The type.
    public let encoding: TypeEncoding
    /// The index among all arguments, the receiver and the selector counted.
    internal let index: Int
    /// The offset in bytes in the argument frame; nil for the receiver and the
    /// selector, which are not in the frame.
    public let frameOffset: Int?
    /// The size and the alignment.
    public let layout: TypeLayout
  }

  /// All arguments, in order, the receiver and the selector included.
  public var arguments: [Argument] { storage.arguments }

  /// The type of the result.
  public var result: TypeEncoding {
    // SAFETY: the handle lives as long as the storage.
    TypeEncoding(
      storage: storage.encoding, index: Int(unsafe fwd_signature_result_type(handle)))
  }

  /// The size and the alignment of the result. The size is 0 for `void`.
  public var resultLayout: TypeLayout {
    var layout = fwd_layout()
    // SAFETY: the output is a local variable.
    _ = unsafe fwd_signature_result(handle, &layout)
    return TypeLayout(layout)
  }
}

// MARK: - The frame, the receiver and the selector

extension MethodSignature {
  /// The size in bytes of the argument frame: a C struct of the arguments
  /// without the receiver and the selector.
  public var frameSize: Int { storage.frameSize }

  /// The alignment in bytes that the argument frame needs.
  package var frameAlignment: Int { storage.frameAlignment }

  /// Whether argument 0 is the receiver: an object or a pointer.
  internal var hasReceiver: Bool { storage.hiddenCount > 0 }

  /// The index of the first argument that is neither the receiver nor the
  /// selector: 0 without a receiver, 1 with a receiver, 2 with both.
  public var firstArgumentIndex: Int { storage.hiddenCount }

  /// Whether the result is an object, so that a call gives its caller a reference to it.
  internal var returnsObject: Bool { storage.returnsObject }

  /// The signature of a function with the same parameters and without a result.
  ///
  /// - Complexity: O(*n*) in the length of the encoding.
  internal func withoutResult() throws(ForwardingError) -> MethodSignature {
    if result.kind == .void { return self }
    let parameters = arguments.map(\.encoding.text).joined()
    // A layout that was stated for the result only would name nothing.
    let stated = storage.stated.filter { $0.isNamed(in: parameters) }
    return try MethodSignature("v" + parameters, stating: stated)
  }
}

extension MethodSignature {
  /// The layouts that were stated for types of the encoding.
  package var statedLayouts: [StatedLayout] { storage.stated }

  /// Whether two values share one parsed signature. Much faster than `==`, but
  /// equal signatures need not be identical.
  package func isIdentical(to other: MethodSignature) -> Bool { storage === other.storage }

  /// Whether calls of both have arguments of equal types. The receiver, the
  /// selector and the result are not compared.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  package func hasArguments(of other: MethodSignature) -> Bool {
    arguments[firstArgumentIndex...].map(\.encoding)
      == other.arguments[other.firstArgumentIndex...].map(\.encoding)
  }
}

// MARK: - Comparison

extension MethodSignature {
  /// Returns whether two signatures may be the same, although one of them may
  /// carry less information: compares the result and each argument by
  /// `TypeEncoding.isEquivalent(to:)`. Symmetric, but not transitive.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding; O(1) for the
  ///   same text.
  internal func isEquivalent(to other: MethodSignature) -> Bool {
    // SAFETY: both handles live as long as the values.
    unsafe fwd_signature_equivalent(handle, other.handle)
  }

  /// Returns whether a function of one signature can be called with the other:
  /// compares the result and each argument. Equal types
  /// are compatible. Beyond that:
  ///
  /// - one type may leave out what the other says: the name of a struct or union,
  ///   and behind a pointer its fields; the signature of a block;
  /// - `^v` goes with every pointer, `*` with pointers to characters, and blocks
  ///   go with `@`.
  ///
  /// Receivers of all kinds are compatible with one another. Symmetric, but not
  /// transitive.
  ///
  /// - Complexity: O(*n*) in the length of the shorter encoding.
  public func isCompatible(with other: MethodSignature) -> Bool {
    // SAFETY: both handles live as long as the values.
    unsafe fwd_signature_compatible(handle, other.handle)
  }
}

// MARK: - Conformances

// Equal signatures have equal result and argument types.
extension MethodSignature: Hashable {}

extension MethodSignature.Storage: Hashable {
  /// - Complexity: O(*n*) in the length of the shorter encoding; O(1) for the
  ///   same text.
  internal static func == (left: MethodSignature.Storage, right: MethodSignature.Storage) -> Bool {
    // SAFETY: both handles live as long as the objects.
    unsafe fwd_signature_equal(left.handle, right.handle)
  }

  internal func hash(into hasher: inout Hasher) {
    // SAFETY: the handle lives as long as the object.
    hasher.combine(unsafe fwd_signature_hash(handle))
  }
}

extension MethodSignature: CustomStringConvertible {
  /// The text that was parsed, with its offsets.
  public var text: String { storage.encoding.text }

  /// The canonical spelling, without offsets.
  ///
  /// - Complexity: O(*n*) in its length.
  public var description: String {
    // SAFETY: the handle lives as long as the value.
    unsafe TypeEncoding.print(storage.encoding.handle, 0)
  }
}
