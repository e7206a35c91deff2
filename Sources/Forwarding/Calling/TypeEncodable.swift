// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A type that states its encoding, so that its values can be arguments and
/// results.
///
/// Numbers, `Bool`, pointers, C function pointers, classes, selectors and enums
/// with such raw values need no conformance. C structs do:
///
/// ```swift
/// extension timespec: @retroactive TypeEncodable {
///   public static var typeEncoding: String { "{timespec=qq}" }
/// }
/// ```
///
/// The bytes are copied as they are, so the type must be trivial: no references
/// that Swift counts. (It cannot be required to be `BitwiseCopyable`: that
/// conformance of structs imported from C is not visible to a refinement.) The
/// encoding must describe its layout. Both are checked, as far as size and
/// alignment go, when a value is first passed. And every value that C may write
/// in it must be one of the Swift type: a struct imported from C has this
/// property, one with fields that are Swift enums does not.
///
/// An enum of Swift is passed as its raw value, also if it conforms: its memory
/// has other bytes. Without a raw type it cannot be passed. An enum imported from
/// C has its raw value in memory.
public protocol TypeEncodable {
  /// The type encoding, such as `{timespec=qq}`. Names of fields may be left
  /// out.
  static var typeEncoding: String { get }

  /// The layouts of structs and unions in the encoding that it does not carry.
  /// None if the type does not say otherwise.
  static var statedLayouts: [StatedLayout] { get }
}

extension TypeEncodable {
  /// None.
  public static var statedLayouts: [StatedLayout] { [] }
}

/// The type if it states the encoding of its memory: nil for an enum of Swift.
internal func statedType(_ type: Any.Type) -> (any TypeEncodable.Type)? {
  guard let stated = type as? any TypeEncodable.Type, !isSwiftEnum(type) else { return nil }
  return stated
}

/// Whether a type is an enum of Swift, whose memory is not its raw value. False for an
/// enum imported from C.
internal func isSwiftEnum(_ type: Any.Type) -> Bool {
  MetadataKind(of: type) == .enumeration && !isImported(type)
}
