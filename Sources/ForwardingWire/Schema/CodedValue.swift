// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How the values of one Swift type become bytes and values again.
internal protocol CodedType: Sendable {
  /// The name of the type in encodings.
  var name: String { get }

  /// Returns the JSON of a value at an address.
  @unsafe func encode(_ address: UnsafeRawPointer) throws -> [UInt8]

  /// Returns the address of a new value, which `destroy` ends.
  @unsafe func decode(_ bytes: UnsafeRawBufferPointer) throws -> UnsafeMutableRawPointer

  @unsafe func destroy(_ address: UnsafeMutableRawPointer)
}

/// A recorded Swift value whose type this process need not have. It is only shown.
internal struct UnknownValue: CodedType {
  internal let name: String

  private struct Unknown: Error, CustomStringConvertible {
    let description: String
  }

  private var error: Unknown { Unknown(description: "the type \"\(name)\" is not known here") }

  @unsafe internal func encode(_ address: UnsafeRawPointer) throws -> [UInt8] { throw error }

  @unsafe internal func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws -> UnsafeMutableRawPointer { throw error }

  @unsafe internal func destroy(_ address: UnsafeMutableRawPointer) {}
}

internal struct CodedValue<Value: Codable>: CodedType {
  internal var name: String { SwiftTypeName.of(Value.self) }

  @unsafe internal func encode(_ address: UnsafeRawPointer) throws -> [UInt8] {
    let encoder = JSONEncoder()
    // Equal values have equal bytes.
    encoder.outputFormatting = .sortedKeys
    // SAFETY: the schema has compared the type's name with the argument's encoding.
    let value = unsafe address.assumingMemoryBound(to: Value.self)
    return try [UInt8](encoder.encode(unsafe value.pointee))
  }

  @unsafe internal func decode(
    _ bytes: UnsafeRawBufferPointer
  ) throws -> UnsafeMutableRawPointer {
    let value = try JSONDecoder().decode(Value.self, from: unsafe Data(bytes))
    let address = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe address.initialize(to: value)
    return UnsafeMutableRawPointer(address)
  }

  @unsafe internal func destroy(_ address: UnsafeMutableRawPointer) {
    // SAFETY: `decode` has made the value.
    let value = unsafe address.assumingMemoryBound(to: Value.self)
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }
}
