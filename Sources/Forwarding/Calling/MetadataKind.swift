// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What kind of type a type is: the first word of its metadata
/// (swift/ABI/MetadataKind.def).
internal struct MetadataKind: Equatable {
  private let word: UInt

  internal init(of type: Any.Type) {
    // SAFETY: a metatype is the address of metadata that begins with its kind.
    word = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)[0]
  }

  private init(_ word: UInt) { self.word = word }

  internal static let structure = MetadataKind(0x200)
  internal static let enumeration = MetadataKind(0x201)
  internal static let tuple = MetadataKind(0x301)
  internal static let function = MetadataKind(0x302)
}

/// Whether a type was imported from C.
internal func isImported(_ type: Any.Type) -> Bool {
  String(reflecting: type).hasPrefix("__C.")
}
