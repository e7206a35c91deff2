// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The layout of a struct or union that its encoding does not carry: packed,
/// aligned by an attribute, with bit-fields, or known by name only.
///
/// ```swift
/// // struct __attribute__((packed)) Header { char kind; int length; };
/// let header = StatedLayout("Header", size: 5, alignment: 1)
/// try TypeEncoding("{Header=ci}").layout()                     // 8 bytes aligned to 4
/// try TypeEncoding("{Header=ci}", stating: [header]).layout()  // 5 bytes aligned to 1
/// let signature = try MethodSignature("i{Header=ci}", stating: [header])
/// ```
///
/// It says what C's `sizeof`, `_Alignof` and `offsetof` say, and holds wherever
/// the name stands in one encoding. Two encodings of one text are equal only if
/// their types' layouts are.
///
/// Nothing is guessed. Without `members` these lie one behind the other if they
/// fill the size so, else as the compiler puts members without attributes. If
/// neither gives the size and the alignment, their offsets are needed, and so
/// they are with bit-fields, whose places Apple's encodings do not have:
///
/// ```swift
/// // struct Flags { unsigned kind : 3; unsigned count : 20; double weight; };
/// StatedLayout("Flags", size: 16, alignment: 8, members: [.bit(0), .bit(3), .offset(8)])
/// ```
///
/// ## Limits
///
/// What cannot be passed by value from what is known, a signature refuses when
/// it is made, and says what is missing:
///
/// - what is aligned to more than 16 bytes;
/// - a struct known by name only, but for one over 16 bytes on x86-64 and over
///   64 on AArch64 that has no SIMD vectors in it. Write its fields into the
///   encoding instead;
/// - small structs that compilers do not pass alike: with `_Atomic` members, with
///   unnamed bit-fields or ones of over 64 bits, or with a struct at an offset
///   that its own alignment forbids;
/// - on other processors than these two, any stated type.
///
/// Protocol tables and function tables read encodings without statements.
public struct StatedLayout: Sendable, Hashable {
  /// The name, as in `{Header=ci}`.
  public let name: String

  /// The size in bytes: a multiple of the alignment.
  public let size: Int

  /// The alignment in bytes: a power of two.
  public let alignment: Int

  /// Where the members lie, one for each that the encoding has, in order; nil
  /// if that is not stated.
  public let members: [Member]?

  /// The largest alignment among the members, with the attributes that they
  /// have and without that of the struct; nil if it is not stated.
  ///
  /// AArch64 passes arguments by it. It is asked for there where one of up to 16
  /// bytes, or of a few floating numbers, is aligned to 16: it is 16 for
  /// `struct { _Alignas(16) long a; long b; }`, and 8 if the attribute is the
  /// struct's.
  public let memberAlignment: Int?

  /// Creates a statement. It is checked when an encoding is read with it.
  public init(
    _ name: String, size: Int, alignment: Int, members: [Member]? = nil, memberAlignment: Int? = nil
  ) {
    self.name = name
    self.size = size
    self.alignment = alignment
    self.members = members
    self.memberAlignment = memberAlignment
  }

  /// Where one member begins.
  public struct Member: Sendable, Hashable {
    fileprivate let bytes: Int
    fileprivate let bits: Int

    /// As C's `offsetof` gives it, in bytes. 0 for the members of unions.
    public static func offset(_ bytes: Int) -> Member { Member(bytes: bytes, bits: 0) }

    /// For a bit-field: its first bit, counted from the struct's beginning.
    public static func bit(_ bits: Int) -> Member { Member(bytes: 0, bits: bits) }
  }
}

// MARK: - To C

extension StatedLayout {
  /// Calls `body` with the statements as the shim takes them.
  internal static func withShim<Result>(
    _ stated: [StatedLayout], _ body: (UnsafePointer<fwd_stated_layout>?, Int) -> Result
  ) -> Result {
    if stated.isEmpty { return body(nil, 0) }
    // No encoding has a control character in a name, so that one with a NUL
    // is found as little as it should be.
    let names = stated.flatMap { $0.name.utf8.map { CChar(bitPattern: $0 == 0 ? 1 : $0) } + [0] }
    let members = stated.flatMap { layout in
      (layout.members ?? []).map { fwd_stated_member(offset: $0.bytes, bit_offset: $0.bits) }
    }
    // SAFETY: the pointers are into the two arrays, which are alive during the
    // call; each statement's names and members stand behind those in front.
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
