// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension TypeEncoding {
  /// Parses the encoding of one type, such as `{Point=dd}`.
  ///
  /// The grammar is that of Clang's `@encode` with what method encodings add:
  /// qualifiers, quoted class and field names, blocks, `t` and `T` for 128-bit
  /// integers, `j` for complex numbers. Clang writes `q` for a 64-bit `long`;
  /// `l` and `L` are 32 bits wide, as in Apple's 64-bit encodings.
  ///
  /// A type whose size is unknown, such as `b3` or `{stat}`, is accepted;
  /// `layout()` then throws. Layouts that the encoding does not contain can be
  /// stated. The GNU runtime's bit-fields, such as `b8I4`, contain their
  /// position, type and width, so structs with them have a layout. A bit-field
  /// counts as named unless the encoding has field names and its own is empty;
  /// on x86-64 an unnamed one does not align its struct.
  ///
  /// Types that compilers cannot encode are refused as `unsupported`: the space
  /// that Clang writes for `_Float16` or `_BitInt`, gcc's vectors (`!`) and its
  /// complex 128-bit integers (`jt`).
  ///
  /// - Parameters:
  ///   - text: The encoding.
  ///   - stated: Layouts of structs and unions in it, by name.
  /// - Throws: `ForwardingError` if the text is malformed, too long, too deep,
  ///   or contains an unsupported type; with the code `wrongLayout` if a stated
  ///   layout contradicts the type, or if no type has its name.
  /// - Complexity: O(*n*) in the length of the text, for each statement.
  public init(_ text: String, stating stated: [StatedLayout] = []) throws(ForwardingError) {
    var handle: OpaquePointer?
    var error = fwd_error()
    var utf8 = text
    // SAFETY: the bytes are valid during the call, which copies them; the
    // outputs are local variables.
    let status = utf8.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
        unsafe StatedLayout.withShim(stated) { stated, count in
          unsafe fwd_encoding_create_stating(
            bytes.baseAddress, bytes.count, FWD_FORM_TYPE, stated, count, &handle, &error)
        }
      }
    }
    guard status == FWD_OK, let handle = unsafe handle else {
      throw ForwardingError(error, encoding: text)
    }
    // SAFETY: the handle is a reference that only the storage releases.
    self.init(storage: unsafe Storage(owning: handle), index: 0)
  }

  /// Returns the size, the alignment and, for a field, the offset of the type,
  /// as in C, or as stated.
  ///
  /// - Throws: `ForwardingError` with the code `unsupported` or `overflow` if
  ///   the size is unknown: of bit-fields themselves, of structs with Apple's
  ///   bit-fields or with GNU ones at other positions than C's, of structs
  ///   known by name only, of functions and unknown types, and of types that
  ///   contain one of these.
  public func layout() throws(ForwardingError) -> TypeLayout {
    // SAFETY: the node belongs to the storage, which this value holds.
    let (status, layout) = unsafe (node.pointee.layout_status, node.pointee.layout)
    if status == FWD_OK { return TypeLayout(layout) }
    throw layoutError
  }

  private var layoutError: ForwardingError {
    var error = fwd_error()
    // SAFETY: text and reason live as long as the storage, which this value
    // holds; a layout that failed has a reason.
    let reason = unsafe node.pointee.layout_reason.map { unsafe String(cString: $0) } ?? "no size"
    unsafe fwd_encoding_fail(
      &error, node.pointee.layout_status, "type encoding", fwd_encoding_text(storage.handle),
      fwd_encoding_length(storage.handle), Int(node.pointee.layout_offset), reason)
    return ForwardingError(error, encoding: storage.text)
  }
}
