// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The layout of a struct or union, for types whose encoding does not give it.
///
/// These are types that are packed, aligned by an attribute, have bit-fields,
/// or are known by name only.
///
/// ```swift
/// // struct __attribute__((packed)) Header { char kind; int length; };
/// let header = StatedLayout("Header", size: 5, alignment: 1)
/// try TypeEncoding("{Header=ci}").layout()                     // 8 bytes aligned to 4
/// try TypeEncoding("{Header=ci}", stating: [header]).layout()  // 5 bytes aligned to 1
/// let signature = try MethodSignature("i{Header=ci}", stating: [header])
/// ```
///
/// The values are those of C's `sizeof`, `_Alignof` and `offsetof`. A stated
/// layout applies to every type of its name in an encoding. Two encodings with
/// the same text are equal only if the layouts of their types are equal.
///
/// Nothing is guessed. If `members` is nil, the members lie one behind the
/// other without padding, or where the compiler puts members without
/// attributes, whichever gives the stated size and alignment. If neither does,
/// `members` is required. It is also required for bit-fields, since Apple's
/// encodings do not give their positions:
///
/// ```swift
/// // struct Flags { unsigned kind : 3; unsigned count : 20; double weight; };
/// StatedLayout("Flags", size: 16, alignment: 8, members: [.bit(0), .bit(3), .offset(8)])
/// ```
///
/// ## Limits
///
/// Creating a ``MethodSignature`` throws an error if C code passes an argument
/// in a way that the layout does not determine. The error says what is missing.
/// These types cannot be passed by value:
///
/// - types aligned to more than 16 bytes;
/// - structs known by name only. Write the members into the encoding instead.
///   Exceptions are structs of more than 16 bytes on x86-64, and structs of
///   more than 64 bytes without SIMD vectors on AArch64;
/// - small structs that compilers pass in different ways: with `_Atomic`
///   members, with unnamed bit-fields, with bit-fields of more than 64 bits, or
///   with a struct at an offset that its own alignment forbids;
/// - any type with a stated layout on other processors than these two.
///
/// A protocol table states the layouts of a method when it declares it:
/// `$0.required("turn:", "v@{Header=ci}", stating: [header])`. The encodings of
/// the functions that implement the method are read with the same layouts.
public struct StatedLayout: Sendable, Hashable {
  package let name: String
  package let size: Int
  package let alignment: Int
  package let members: [Member]?
  package let memberAlignment: Int?

  /// Creates a stated layout. It is checked when an encoding is read with it.
  ///
  /// - Parameters:
  ///   - name: The name of the type: `Header` in `{Header=ci}`.
  ///   - size: The size in bytes: a multiple of the alignment.
  ///   - alignment: The alignment in bytes: a power of two.
  ///   - members: The position of each member that the encoding has, in order;
  ///     nil if the positions are not stated.
  ///   - memberAlignment: The largest alignment among the members, with their
  ///     own attributes and without the attribute of the struct; nil if it is
  ///     not stated.
  ///
  ///     AArch64 passes arguments by this alignment. It is required there for
  ///     an argument of up to 16 bytes, or of up to four floating-point
  ///     members, that is aligned to 16. It is 16 for `struct { _Alignas(16)
  ///     long a; long b; }`, and 8 if the whole struct has the attribute
  ///     instead.
  public init(
    _ name: String, size: Int, alignment: Int, members: [Member]? = nil, memberAlignment: Int? = nil
  ) {
    self.name = name
    self.size = size
    self.alignment = alignment
    self.members = members
    self.memberAlignment = memberAlignment
  }

  /// The position of one member.
  public enum Member: Sendable, Hashable {
    /// The offset in bytes, as C's `offsetof` gives it. 0 for members of
    /// unions.
    case offset(Int)

    /// The first bit of a bit-field, counted from the beginning of the struct.
    case bit(Int)

    fileprivate var shim: fwd_stated_member {
      switch self {
      case .offset(let bytes): fwd_stated_member(offset: bytes, bit_offset: 0)
      case .bit(let bits): fwd_stated_member(offset: 0, bit_offset: bits)
      }
    }
  }
}

extension StatedLayout {
  /// Whether an encoding has a struct or union of the name.
  internal func isNamed(in encoding: String) -> Bool {
    ["{\(name)=", "{\(name)}", "(\(name)=", "(\(name))"].contains { encoding.contains($0) }
  }
}

// MARK: - To and from C

extension StatedLayout {
  /// Copies what a C program states.
  ///
  /// - Throws: `ForwardingError`: `nullPointer`, `malformed`, `overflow`.
  @unsafe internal init(_ shim: fwd_stated_layout) throws(ForwardingError) {
    guard let text = unsafe shim.name else {
      throw ForwardingError(.nullPointer, "the name of a stated layout is NULL")
    }
    // SAFETY: the caller says that the string ends with a NUL, and gives as many
    // members as it says.
    guard let name = unsafe String(validatingCString: text) else {
      throw ForwardingError(.malformed, "the name of a stated layout is not UTF-8")
    }
    // No encoding has more members than bytes.
    guard (0...Int(FWD_ENCODING_LENGTH_LIMIT)).contains(unsafe shim.member_count) else {
      throw ForwardingError(
        .overflow, "the stated layout of \"\(name)\" has \(unsafe shim.member_count) members")
    }
    self.name = name
    size = unsafe shim.size
    alignment = unsafe shim.alignment
    memberAlignment = unsafe shim.member_alignment == 0 ? nil : shim.member_alignment
    members = unsafe shim.members.map { first in
      unsafe UnsafeBufferPointer(start: first, count: shim.member_count).map { member in
        if member.bit_offset == 0 { return .offset(member.offset) }
        // The bit counts from the byte. A sum that overflows is outside of each type.
        let (start, isFar) = member.offset.multipliedReportingOverflow(by: 8)
        let (bit, isFarther) = start.addingReportingOverflow(member.bit_offset)
        return .bit(isFar || isFarther ? .max : bit)
      }
    }
  }

  /// Calls `body` with the layouts as C structs.
  internal static func withShim<Result>(
    _ stated: [StatedLayout], _ body: (UnsafePointer<fwd_stated_layout>?, Int) -> Result
  ) -> Result {
    if stated.isEmpty { return body(nil, 0) }
    // A NUL would end the C string early, so it is replaced by another control
    // character. No name in an encoding has one, so the name is not found.
    let names = stated.flatMap { $0.name.utf8.map { CChar(bitPattern: $0 == 0 ? 1 : $0) } + [0] }
    let members = stated.flatMap { ($0.members ?? []).map(\.shim) }
    // SAFETY: the pointers are into the two arrays, which are alive during the
    // call. The names and members of the layouts are in the arrays in the order
    // of the layouts.
    return unsafe names.withUnsafeBufferPointer { names in
      unsafe members.withUnsafeBufferPointer { members in
        var nextName = 0
        var nextMember = 0
        var layouts: [fwd_stated_layout] = unsafe []
        for layout in stated {
          let count = layout.members?.count ?? 0
          unsafe layouts.append(
            fwd_stated_layout(
              name: names.baseAddress.map { unsafe $0 + nextName }, size: layout.size,
              alignment: layout.alignment,
              members: count == 0 ? nil : members.baseAddress.map { unsafe $0 + nextMember },
              member_count: count, member_alignment: layout.memberAlignment ?? 0))
          nextName += layout.name.utf8.count + 1
          nextMember += count
        }
        return unsafe layouts.withUnsafeBufferPointer { unsafe body($0.baseAddress, $0.count) }
      }
    }
  }
}
