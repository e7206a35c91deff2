// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct ValueCoderTests {
  private class Animal {}
  private final class Dog: Animal {}

  private enum Direction: Int32 {
    case north = 1
    case south
  }
  private enum Name: String { case only }
  /// Its memory is 0 and 1.
  private enum Shade: UInt8, TypeEncodable {
    case dark = 1
    case light = 5
    static var typeEncoding: String { "C" }
  }
  private enum Rawless: TypeEncodable {
    case first, second
    static var typeEncoding: String { "C" }
  }
  private struct Options: OptionSet { let rawValue: UInt16 }
  private struct Unstated { var x = 0.0 }
  private struct Stated: TypeEncodable {
    var number: Int32 = 0
    var last: Int8 = 0
    static var typeEncoding: String { "{Stated=ic}" }
  }
  private struct Misstated: TypeEncodable {
    var number: Int32 = 0
    static var typeEncoding: String { "{Misstated=q}" }
  }
  private struct Unreadable: TypeEncodable {
    static var typeEncoding: String { "{" }
  }
  private struct Counted: TypeEncodable {
    var object: AnyObject?
    static var typeEncoding: String { "{Counted=^v}" }
  }
  private typealias Callback = @convention(c) (Int32) -> Int32

  // MARK: The table

  /// A Swift type and all kinds of encodings that it may stand in.
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let fits: [String]
    let check: @Sendable (TypeEncoding) -> Bool

    init<Value>(_ type: Value.Type, _ fits: String...) {
      testDescription = String(describing: type)
      self.fits = fits
      check = { encoding in (try? ValueCoder<Value>(for: encoding)) != nil }
    }
  }

  static let encodings = [
    "c", "C", "s", "S", "i", "I", "l", "L", "q", "Q", "t", "T", "B", "f", "d", "D", "v", "*", "@",
    "#",
    ":", "?", "@?", "^v", "^?", "^c", "^C", "^B", "^i", "^I", "^d", "^*", "^@", "^^v", "^{stat=}",
    "^(u=i)",
    "^[4i]", "[4i]", "{P=dd}", "{fixture_point=dd}", "{Stated=ic}", "(u=i)", "jd", "b3",
  ]

  private static let pointers = [
    "*", "@", "#", "@?", "^v", "^?", "^c", "^C", "^B", "^i", "^I", "^d", "^*", "^@", "^^v",
    "^{stat=}",
    "^(u=i)", "^[4i]",
  ]

  static let rows: [Row] = unsafe [
    Row(Int8.self, "c"), Row(UInt8.self, "C"), Row(Int16.self, "s"), Row(UInt16.self, "S"),
    Row(Int32.self, "i", "l"), Row(UInt32.self, "I", "L"), Row(Int64.self, "q"),
    Row(UInt64.self, "Q"), Row(Int.self, "q"), Row(UInt.self, "Q"), Row(Int128.self, "t"),
    Row(UInt128.self, "T"), Row(Float.self, "f"), Row(Double.self, "d"), Row(Bool.self, "B"),
    Row(Void.self, "v"),
    Row(UnsafeRawPointer.self, pointers), Row(UnsafeMutableRawPointer?.self, pointers),
    Row(OpaquePointer.self, pointers), Row(OpaquePointer?.self, pointers),
    Row(
      UnsafePointer<CChar>.self, "*", "^v", "^c", "^C", "^{stat=}", "^(u=i)"),
    Row(UnsafeMutablePointer<UInt8>?.self, "*", "^v", "^c", "^C", "^{stat=}", "^(u=i)"),
    Row(UnsafePointer<Int32>.self, "^v", "^i", "^{stat=}", "^(u=i)", "^[4i]"),
    Row(UnsafeMutablePointer<Double>?.self, "^v", "^d", "^{stat=}", "^(u=i)"),
    Row(UnsafePointer<Bool>.self, "^v", "^B", "^{stat=}", "^(u=i)"),
    Row(
      UnsafePointer<UnsafeMutableRawPointer?>.self, "^v", "^*", "^@", "^^v", "^{stat=}", "^(u=i)"),
    Row(UnsafePointer<UnsafePointer<CChar>>.self, "^v", "^*", "^^v", "^{stat=}", "^(u=i)"),
    Row(UnsafePointer<fixture_color>.self, "^v", "^I", "^{stat=}", "^(u=i)"),
    // A Swift enum takes one byte, whatever its raw value.
    Row(UnsafePointer<Direction>.self, "^v", "^{stat=}", "^(u=i)"),
    Row(UnsafePointer<fixture_point>.self, "^v", "^{stat=}", "^(u=i)"),
    Row(Animal.self, "@"), Row(Dog?.self, "@"), Row(AnyObject.self, "@"), Row(AnyObject?.self, "@"),
    Row(Unmanaged<Animal>.self, "@"), Row(Unmanaged<AnyObject>?.self, "@"),
    Row(AnyClass.self, "#"), Row(AnyClass?.self, "#"),
    Row(MethodSelector.self, ":"), Row(MethodSelector?.self, ":"),
    Row(Callback.self, "^?"), Row(Callback?.self, "^?"),
    Row(Direction.self, "i", "l"), Row(fixture_color.self, "I", "L"), Row(Options.self, "S"),
    Row(fixture_point.self, "{fixture_point=dd}"), Row(Stated.self, "{Stated=ic}"),
    Row(Shade.self, "C"), Row(UnsafePointer<Shade>.self, "^v", "^{stat=}", "^(u=i)"),
    Row(Rawless.self),
    Row(Name.self, "*"), Row(Unstated.self), Row(Misstated.self), Row(Unreadable.self),
    Row(Counted.self),
    Row(String.self, "*"), Row(String?.self, "*"), Row((Double, Double).self), Row(Int32?.self),
    Row(Any.self),
    Row([Int32].self),
    Row((() -> Void).self), Row((@Sendable (Int32) -> Int32)?.self),
  ]

  @Test("fits what it should, and nothing else", arguments: rows)
  func table(row: Row) throws {
    let fitting = try Self.encodings.filter { row.check(try TypeEncoding($0)) }
    #expect(fitting == Self.encodings.filter(row.fits.contains))
    #expect(Set(row.fits).isSubset(of: Self.encodings), "the row has an encoding that is not tried")
  }

  #if arch(x86_64)
    @Test func `Float80 is long double`() throws {
      #expect(try roundTrip(Float80(0.1), "D") == Float80(0.1))
    }
  #endif

  @Test func `an encoding that means the same will do`() throws {
    #expect(try roundTrip(fixture_point(x: 1, y: 2), "r{?=dd}").y == 2)
    #expect(throws: ValueMismatch.self) {
      try ValueCoder<fixture_point>(for: TypeEncoding("{P=dd}"))
    }
  }

  @Test func `a struct without the padding at its end is its size`() throws {
    #expect(MemoryLayout<Stated>.size == 5)
    let value = try roundTrip(Stated(number: -2, last: 9), "{Stated=ic}")
    #expect(value.number == -2 && value.last == 9)
  }

  // MARK: Values

  /// Writes a value to a slot between guard bytes, and reads it back.
  private func roundTrip<Value>(_ value: Value, _ encoding: String) throws -> Value {
    let encoding = try TypeEncoding(encoding)
    let size = try encoding.layout().size
    let coder = try ValueCoder<Value>(for: encoding)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 32, alignment: 16)
    defer { unsafe bytes.deallocate() }
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0xA5)
    let slot = unsafe try #require(bytes.baseAddress) + 16
    unsafe coder.encode(value, into: slot)
    let guards = unsafe bytes.prefix(16) + bytes.suffix(16)
    #expect(guards.allSatisfy { $0 == 0xA5 }, "wrote outside of the slot")
    return try unsafe coder.decode(from: slot)
  }

  @Test func `numbers keep their extremes`() throws {
    #expect(try roundTrip(Int8.min, "c") == .min)
    #expect(try roundTrip(UInt8.max, "C") == .max)
    #expect(try roundTrip(Int16.min, "s") == .min)
    #expect(try roundTrip(UInt16.max, "S") == .max)
    #expect(try roundTrip(Int32.min, "i") == .min)
    #expect(try roundTrip(UInt32.max, "I") == .max)
    #expect(try roundTrip(Int64.min, "q") == .min)
    #expect(try roundTrip(UInt64.max, "Q") == .max)
    #expect(try roundTrip(Int.min, "q") == .min)
    #expect(try roundTrip(Int128.min, "t") == .min)
    #expect(try roundTrip(UInt128.max, "T") == .max)
    #expect(try roundTrip(Float.leastNonzeroMagnitude, "f") == .leastNonzeroMagnitude)
    #expect(try roundTrip(Double.infinity, "d") == .infinity)
    #expect(try roundTrip(Double.nan, "d").isNaN)
    #expect(try roundTrip(true, "B") == true)
    #expect(try roundTrip(false, "B") == false)
    try roundTrip((), "v")
  }

  @Test(arguments: UInt8.min ... .max)
  func `only the bytes 0 and 1 are a Bool`(byte: UInt8) throws {
    let coder = try ValueCoder<Bool>(for: TypeEncoding("B"))
    let decode = {
      try unsafe withUnsafeBytes(of: byte) { try unsafe coder.decode(from: $0.baseAddress!) }
    }
    if byte <= 1 {
      #expect(try decode() == (byte == 1))
      #expect(try (decode() ? 1 : 0) == byte)
    } else {
      let error = ValueMismatch(
        code: .valueNotRepresentable, expected: "Bool: expected 0 or 1",
        actual: "the byte \(byte)")
      #expect(throws: error) { try decode() }
    }
  }

  @Test func `pointers, selectors and functions keep their bits`() throws {
    let pointer = unsafe UnsafeRawPointer(bitPattern: 0x1234_5678)
    #expect(unsafe try roundTrip(pointer, "^v") == pointer)
    let none = unsafe try roundTrip(UnsafePointer<Int32>?.none, "^i")
    #expect(unsafe none == nil)
    let selector: MethodSelector = "visit:"
    #expect(try roundTrip(selector, ":") == selector)
    #expect(try roundTrip(MethodSelector?.none, ":") == nil)
    let function: Callback = { $0 * 2 }
    #expect(try roundTrip(function, "^?")(21) == 42)
    #expect(try roundTrip(Callback?.none, "^?") == nil)
    #expect(try roundTrip(Dog.self as AnyClass, "#") == Dog.self)
  }

  @Test func `raw values go both ways`() throws {
    #expect(try roundTrip(Direction.south, "i") == .south)
    #expect(try roundTrip(fixture_blue, "I") == fixture_blue)
    #expect(try roundTrip(Options(rawValue: 0x8001), "S").rawValue == 0x8001)
    let error = #expect(throws: ValueMismatch.self) {
      try decode(UInt64(7), as: Direction.self, "i")
    }
    #expect(error?.code == .valueNotRepresentable)
    #expect(error?.actual == "raw value 7")
  }

  private func decode<Value>(_ word: UInt64, as type: Value.Type, _ encoding: String) throws
    -> Value
  {
    let coder = try ValueCoder<Value>(for: TypeEncoding(encoding))
    return try unsafe withUnsafeBytes(of: word) { try unsafe coder.decode(from: $0.baseAddress!) }
  }

  // MARK: Null

  @Test func `null is an error for what has no nil`() throws {
    func expectNull<Value>(_ type: Value.Type, _ encoding: String) {
      let error = #expect(throws: ValueMismatch.self) { _ = try decode(0, as: type, encoding) }
      #expect(error?.code == .nullPointer)
      #expect(error?.expected == String(describing: type))
    }
    unsafe expectNull(UnsafePointer<CChar>.self, "*")
    unsafe expectNull(UnsafeMutableRawPointer.self, "^v")
    unsafe expectNull(OpaquePointer.self, "^{s}")
    expectNull(Dog.self, "@")
    expectNull(AnyObject.self, "@")
    unsafe expectNull(Unmanaged<Dog>.self, "@")
    expectNull(AnyClass.self, "#")
    expectNull(MethodSelector.self, ":")
    expectNull(Callback.self, "^?")
    #expect(try decode(0, as: Dog?.self, "@") == nil)
    #expect(try decode(0, as: AnyObject?.self, "@") == nil)
    #expect(try decode(0, as: AnyClass?.self, "#") == nil)
  }

  // MARK: Objects

  @Test func `classes are checked`() throws {
    let (animal, dog) = (Animal(), Dog())
    let any = try ValueCoder<AnyObject>(for: TypeEncoding("@"))
    var word: UInt64 = 0
    try unsafe withUnsafeMutableBytes(of: &word) { bytes in
      let slot = unsafe try #require(bytes.baseAddress)
      unsafe any.encode(dog, into: slot)
      #expect(try unsafe ValueCoder<Animal>(for: TypeEncoding("@")).decode(from: slot) === dog)
      #expect(try unsafe ValueCoder<Dog?>(for: TypeEncoding("@")).decode(from: slot) === dog)
      unsafe any.encode(animal, into: slot)
      for wrong in [
        #expect(throws: ValueMismatch.self) {
          _ = try unsafe ValueCoder<Dog>(for: TypeEncoding("@")).decode(from: slot)
        },
        #expect(throws: ValueMismatch.self) {
          _ = try unsafe ValueCoder<Dog?>(for: TypeEncoding("@")).decode(from: slot)
        },
      ] {
        #expect(wrong?.code == .typeMismatch)
        #expect(wrong?.expected == "an object of class Dog")
        #expect(wrong?.actual == "one of class Animal")
      }
    }
    withExtendedLifetime((animal, dog)) {}
  }

  @Test func `a slot borrows, and what is read is held`() throws {
    weak var tracked: Dog?
    var read: AnyObject?
    do {
      let dog = Dog()
      tracked = dog
      read = try roundTrip(dog, "@")
      #expect(try roundTrip(Optional(dog), "@") === dog)
    }
    #expect(read === tracked)
    #expect(tracked != nil)
    read = nil
    #expect(tracked == nil)
  }

  @Test func `a retained slot owns its object until it is read`() throws {
    weak var tracked: Dog?
    var word: UInt64 = 0
    try unsafe withUnsafeMutableBytes(of: &word) { bytes in
      let slot = unsafe try #require(bytes.baseAddress)
      let coder = try ValueCoder<Dog>(for: TypeEncoding("@"))
      do {
        let dog = Dog()
        tracked = dog
        unsafe coder.encodeRetained(dog, into: slot)
      }
      #expect(tracked != nil)
      do {
        let dog = try unsafe coder.decodeRetained(from: slot)
        #expect(dog === tracked)
      }
      #expect(tracked == nil)
      // It is released when reading fails, too.
      let animal = try ValueCoder<Animal>(for: TypeEncoding("@"))
      weak var other: Animal?
      do {
        let made = Animal()
        other = made
        unsafe animal.encodeRetained(made, into: slot)
      }
      #expect(other != nil)
      #expect(throws: ValueMismatch.self) { _ = try unsafe coder.decodeRetained(from: slot) }
      #expect(other == nil)
    }
  }

  @Test func `unmanaged references are left alone`() throws {
    weak var tracked: Dog?
    do {
      let dog = Dog()
      tracked = dog
      let coder = unsafe try ValueCoder<Unmanaged<Dog>>(for: TypeEncoding("@"))
      #expect(unsafe !coder.isObject)
      let back = unsafe try roundTrip(Unmanaged.passUnretained(dog), "@")
      #expect(unsafe back.takeUnretainedValue() === dog)
    }
    #expect(tracked == nil)
  }

  // MARK: Speed and words

  @Test func `numbers and optional pointers are read by a plain load`() throws {
    #expect(try ValueCoder<Int32>(for: TypeEncoding("i")).isBitwise)
    #expect(try ValueCoder<fixture_point>(for: TypeEncoding("{fixture_point=dd}")).isBitwise)
    #expect(try !ValueCoder<Bool>(for: TypeEncoding("B")).isBitwise)
    let optional = unsafe try ValueCoder<UnsafeRawPointer?>(for: TypeEncoding("^v"))
    let pointer = unsafe try ValueCoder<UnsafeRawPointer>(for: TypeEncoding("^v"))
    #expect(unsafe optional.isBitwise && !pointer.isBitwise)
    #expect(try !ValueCoder<Dog>(for: TypeEncoding("@")).isBitwise)
  }

  @Test func `a refusal says what to do`() throws {
    func refusal<Value>(_ type: Value.Type, _ encoding: String) throws -> String? {
      let encoding = try TypeEncoding(encoding)
      let error = #expect(throws: ValueMismatch.self) { _ = try ValueCoder<Value>(for: encoding) }
      return error?.actual
    }
    #expect(try refusal(Int32.self, "d") == "Int32")
    #expect(
      try refusal(Unstated.self, "{P=d}") == "Unstated, which does not conform to TypeEncodable")
    #expect(
      try refusal((Double, Double).self, "{P=dd}")
        == "(Double, Double), which does not conform to TypeEncodable")
    #expect(
      try refusal(Rawless.self, "C")
        == "Rawless, an enum without a raw type; give it one, such as Int32")
    #expect(try refusal(String.self, "^v") == "String; a String stands for a C string, '*'")
    #expect(
      try refusal((() -> Void).self, "^?") == "() -> (); C takes only @convention(c) functions")
    #expect(
      try refusal(Stated.self, "{P=dd}")
        == "Stated, whose encoding is '{Stated=ic}' (struct Stated)")
    #expect(
      try refusal(Misstated.self, "{Misstated=q}")
        == "Misstated of 4 bytes aligned to 4, whose encoding says 8 bytes aligned to 8")
    #expect(try refusal(Unreadable.self, "i") == "Unreadable, whose encoding \"{\" is malformed")
    #expect(
      try refusal(Counted.self, "{Counted=^v}")
        == "Counted, which has references that Swift counts")
    #expect(try refusal(Direction.self, "d") == "Direction, whose raw value is Int32")
    let long = String(repeating: "d", count: 500)
    let error = #expect(throws: ValueMismatch.self) {
      try ValueCoder<Int32>(for: TypeEncoding("{P=\(long)}"))
    }
    #expect((error?.expected.count ?? 0) < 120)
  }
}

extension ValueCoderTests.Row {
  init<Value>(_ type: Value.Type, _ fits: [String]) {
    testDescription = String(describing: type)
    self.fits = fits
    check = { encoding in (try? ValueCoder<Value>(for: encoding)) != nil }
  }
}
