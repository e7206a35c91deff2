// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Foundation
import Testing

@testable import Forwarding

/// Reads the tables of the page "Encodings and Swift types" and checks each row.
@Suite struct SwiftTypesTests {
  struct Row: CustomTestStringConvertible, Sendable {
    let swift: String
    let encoding: String
    let c: String
    var testDescription: String { swift }
  }

  class Animal {}
  enum Direction: Int32 { case up, down }
  struct Options: OptionSet { let rawValue: UInt16 }

  /// The types that the page names.
  private static let types: [String: Any.Type] = unsafe [
    "Int8": Int8.self, "UInt8": UInt8.self, "Int16": Int16.self, "UInt16": UInt16.self,
    "Int32": Int32.self, "UInt32": UInt32.self, "Int64": Int64.self, "UInt64": UInt64.self,
    "Int": Int.self, "UInt": UInt.self, "Int128": Int128.self, "UInt128": UInt128.self,
    "Bool": Bool.self, "Float": Float.self, "Double": Double.self, "String": String.self,
    "UnsafePointer<CChar>": UnsafePointer<CChar>.self,
    "UnsafeMutablePointer<CChar>": UnsafeMutablePointer<CChar>.self,
    "UnsafePointer<UInt8>": UnsafePointer<UInt8>.self,
    "UnsafeRawPointer": UnsafeRawPointer.self,
    "UnsafeMutableRawPointer": UnsafeMutableRawPointer.self,
    "OpaquePointer": OpaquePointer.self, "UnsafePointer<Int32>": UnsafePointer<Int32>.self,
    "UnsafeMutablePointer<Double>": UnsafeMutablePointer<Double>.self,
    "UnsafePointer<UnsafePointer<CChar>>": UnsafePointer<UnsafePointer<CChar>>.self,
    "UnsafeMutablePointer<UnsafeMutableRawPointer?>":
      UnsafeMutablePointer<UnsafeMutableRawPointer?>.self,
    "UnsafePointer<timespec>": UnsafePointer<timespec>.self,
    "UnsafePointer<sigval>": UnsafePointer<sigval>.self,
    "UnsafePointer<fixture_point>": UnsafePointer<fixture_point>.self,
    "UnsafePointer<fixture_color>": UnsafePointer<fixture_color>.self,
    "@convention(c) (Int32) -> Void": (@convention(c) (Int32) -> Void).self,
    "AnyObject": AnyObject.self, "Animal": Animal.self,
    "Unmanaged<Animal>": Unmanaged<Animal>.self, "AnyClass": AnyClass.self,
    "MethodSelector": MethodSelector.self, "fixture_point": fixture_point.self,
    "fixture_packed": fixture_packed.self, "fixture_color": fixture_color.self,
    "Direction": Direction.self, "Options": Options.self,
  ]

  /// The rows whose encoding is not a spelling of the compiler's: a pointer to
  /// bytes is no string here, and Swift does not show that a type is a union.
  private static let onlyCompatible: Set = [
    "UnsafePointer<UInt8>", "UnsafePointer<sigval>", "OpaquePointer",
  ]

  /// The rows in which Clang writes `i` for an enum, though the enum is unsigned.
  private static let enums: Set = ["fixture_color", "UnsafePointer<fixture_color>"]

  private static let page = #filePath.replacing(
    "Tests/ForwardingTests/SwiftTypesTests.swift",
    with: "Sources/Forwarding/Documentation.docc/SwiftTypes.md")

  static let rows: [Row] = {
    let text = (try? String(contentsOfFile: page, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard line.hasPrefix("| `"), cells.count == 3 else { return nil }
      let texts = cells.map { $0.trimmingCharacters(in: ["`"]) }
      return Row(swift: texts[0], encoding: texts[1], c: texts[2])
    }
  }()

  private static func type(_ row: Row) -> Any.Type? {
    #if arch(x86_64)
      if row.swift == "Float80" { return Float80.self }
    #endif
    return types[row.swift]
  }

  @Test func `the page has all types`() {
    let named = Set(Self.rows.map(\.swift))
    #expect(named == Set(Self.types.keys).union(["Float80"]))
  }

  @Test("a row has the encoding that is derived from the Swift type", arguments: rows)
  func derived(row: Row) throws {
    guard let type = Self.type(row) else { return }
    let derived = try DerivedEncoding(of: type)
    #expect(derived.text == row.encoding)
    func optional<Value>(_: Value.Type) throws -> String? {
      try? DerivedEncoding(of: Value?.self).text
    }
    let mayBeNull =
      ["*", "^", "@", "#", ":"].contains { row.encoding.contains($0) }
      && !row.encoding.hasPrefix("{")
    #expect(try _openExistential(type, do: optional) == (mayBeNull ? row.encoding : nil))
  }

  @Test("a row has what the C compiler says about the C type", arguments: rows)
  func compiled(row: Row) throws {
    guard let type = Self.type(row) else { return }
    let derived = try DerivedEncoding(of: type)
    let encoding = try TypeEncoding(derived.text, stating: derived.statedLayouts)
    let c = unsafe try #require(fixture_c_type_named(row.c)).pointee
    let compiler = unsafe try TypeEncoding(
      String(cString: c.encoding), stating: derived.statedLayouts)
    #expect(encoding.isCompatible(with: compiler) != Self.enums.contains(row.swift))
    let isOther = Self.onlyCompatible.contains(row.swift) || Self.enums.contains(row.swift)
    #expect(encoding.isEquivalent(to: compiler) != isOther)
    let layout = try encoding.layout()
    #expect(unsafe layout.size == c.size && layout.alignment == c.alignment)
    func layoutOf<Value>(_: Value.Type) -> (Int, Int) {
      (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    }
    if Self.passedAsRawValue.contains(row.swift) || row.swift == "String" { return }
    let swift = _openExistential(type, do: layoutOf)
    #expect(unsafe swift == (c.size, c.alignment))
  }

  /// Types of Swift that have other bytes than what is passed for them.
  private static let passedAsRawValue: Set = ["Direction"]

  @Test("a value of the Swift type may stand for the compiler's encoding", arguments: rows)
  func standing(row: Row) throws {
    guard let type = Self.type(row), !Self.enums.contains(row.swift) else { return }
    let stated = try DerivedEncoding(of: type).statedLayouts
    let c = unsafe try #require(fixture_c_type_named(row.c)).pointee
    let compiler = unsafe try TypeEncoding(String(cString: c.encoding), stating: stated)
    func fits<Value>(_: Value.Type) throws {
      _ = try ValueCoder<Value>(for: compiler)
    }
    try _openExistential(type, do: fits)
  }
}
