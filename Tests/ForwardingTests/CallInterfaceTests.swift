// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Forwarding
import Testing

@Suite struct CallInterfaceTests {
  private final class Robot {}

  // MARK: Typed calls

  @Test func `calls functions over each number`() throws {
    func next<Value: Equatable>(
      _ encoding: String, _ function: some BitwiseCopyable, _ value: Value, _ expected: Value
    ) throws {
      let signature = try MethodSignature(encoding + encoding)
      let result: Value = try unsafe signature.unsafeCall(function, value)
      #expect(result == expected)
    }
    try next("c", fixture_next_int8 as @convention(c) (Int8) -> Int8, Int8(-1), 0)
    try next("c", fixture_next_int8 as @convention(c) (Int8) -> Int8, Int8(127), -128)
    try next("C", fixture_next_uint8 as @convention(c) (UInt8) -> UInt8, UInt8(254), 255)
    try next("s", fixture_next_int16 as @convention(c) (Int16) -> Int16, Int16(-300), -299)
    try next("S", fixture_next_uint16 as @convention(c) (UInt16) -> UInt16, UInt16(65534), 65535)
    try next("i", fixture_next_int32 as @convention(c) (Int32) -> Int32, Int32(-70000), -69999)
    try next("l", fixture_next_int32 as @convention(c) (Int32) -> Int32, Int32.max - 1, .max)
    try next("I", fixture_next_uint32 as @convention(c) (UInt32) -> UInt32, UInt32.max - 1, .max)
    try next("q", fixture_next_int64 as @convention(c) (Int64) -> Int64, Int64.min, .min + 1)
    try next("Q", fixture_next_uint64 as @convention(c) (UInt64) -> UInt64, UInt64.max - 1, .max)
    try next("f", fixture_next_float as @convention(c) (Float) -> Float, Float(0.5), 1.5)
    try next("d", fixture_next_double as @convention(c) (Double) -> Double, Double(-0.25), 0.75)
    try next("B", fixture_not as @convention(c) (Bool) -> Bool, true, false)
    try next("B", fixture_not as @convention(c) (Bool) -> Bool, false, true)
    try next("t", fixture_next_int128, Int128(UInt64.max), Int128(UInt64.max) + 1)
    #if arch(x86_64)
      try next("D", fixture_next_long_double, Float80(0.5), Float80(1.5))
    #endif
  }

  @Test func `passes more arguments than there are registers`() throws {
    let signature = try MethodSignature("dcdSfqdidCqqdfdddd")
    let sum: Double = try unsafe signature.unsafeCall(
      fixture_weigh
        as @convention(c) (
          Int8, Double, UInt16, Float, Int64, Double, Int32, Double, UInt8, Int64, Int64, Double,
          Float,
          Double, Double, Double, Double
        ) -> Double,
      Int8(-1), 2.0, UInt16(3), Float(4), Int64(-5), 6.0, Int32(7), 8.0, UInt8(9), Int64(10),
      Int64(11),
      12.0, Float(13), 14.0, 15.0, 16.0, 17.0)
    // The squares of 1 to 17, with two negative arguments, the first and the fifth.
    let weights: [Double] = (1...17).map { Double($0 * $0) }
    let expected = weights.reduce(0, +) - 52
    #expect(sum == expected)
  }

  @Test func `passes and gives structs`() throws {
    let swap = try MethodSignature("{fixture_point=dd}{fixture_point=dd}")
    let point: fixture_point = try unsafe swap.unsafeCall(
      fixture_swap as @convention(c) (fixture_point) -> fixture_point, fixture_point(x: 1, y: 2))
    #expect(point.x == 2 && point.y == 1)

    let mixed = try MethodSignature("{fixture_mixed=idc}{fixture_mixed=idc}i")
    let doubled: fixture_mixed = try unsafe mixed.unsafeCall(
      fixture_double_mixed as @convention(c) (fixture_mixed, Int32) -> fixture_mixed,
      fixture_mixed(number: -3, fraction: 0.5, last: 7), Int32(3))
    #expect(doubled.number == -9 && doubled.fraction == 1.5 && doubled.last == 21)

    let large = try MethodSignature("{fixture_large=qqqd}{fixture_large=qqqd}")
    let result: fixture_large = try unsafe large.unsafeCall(
      fixture_double_large as @convention(c) (fixture_large) -> fixture_large,
      fixture_large(a: 1, b: 2, c: 3, d: 0.5))
    #expect(result.a == 2 && result.b == 4 && result.c == 6 && result.d == 1)
  }

  @Test func `passes pointers, enums and the address of a function`() throws {
    let length = try MethodSignature("Q*")
    let count: UInt = try unsafe "seven!!".withCString { text in
      let raw = unsafe UnsafeRawPointer(bitPattern: UInt(bitPattern: address(of: fixture_length)))
      return try unsafe length.unsafeCall(raw, text)
    }
    #expect(count == 7)
    let color: fixture_color = try unsafe MethodSignature("II").unsafeCall(
      fixture_next_color as @convention(c) (fixture_color) -> fixture_color, fixture_green)
    #expect(color == fixture_blue)
    var number: Int32 = 0
    try unsafe withUnsafeMutablePointer(to: &number) { pointer in
      try unsafe MethodSignature("v^ii").unsafeCall(
        fixture_set as @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Void, pointer,
        Int32(9),
        as: Void.self)
    }
    #expect(number == 9)
  }

  private func address(
    of function: @convention(c) (UnsafePointer<CChar>) -> Int
  ) -> UnsafeRawPointer {
    unsafe unsafeBitCast(function, to: UnsafeRawPointer.self)
  }

  @Test func `passes objects borrowed and takes over the one that comes back`() throws {
    let same = try MethodSignature("@@")
    let function: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
      unsafe $0.map { unsafe Unmanaged<AnyObject>.fromOpaque($0).retain().toOpaque() }
    }
    weak var tracked: Robot?
    do {
      let robot = Robot()
      tracked = robot
      let back: Robot = try unsafe same.unsafeCall(function, robot)
      #expect(back === robot)
      let none: Robot? = try unsafe same.unsafeCall(function, Robot?.none)
      #expect(none == nil)
    }
    #expect(tracked == nil)
    let error = #expect(throws: ForwardingError.self) {
      try unsafe same.unsafeCall(function, Robot?.none, as: Robot.self)
    }
    #expect(error?.code == .nullPointer)
    #expect(error?.description == #"the result of "@@" is null, expected Robot"#)
  }

  @Test func `a method takes its receiver and selector as arguments`() throws {
    let selector: MethodSelector = "move:by:"
    let result: Double = try unsafe MethodSignature("d@:id").unsafeCall(
      fixture_method
        as @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer, Int32, Double) -> Double,
      Robot(), selector, Int32(4), 0.5)
    #expect(result == 2)
  }

  // MARK: Bytes

  @Test("calls functions over structs of each size", arguments: 1...64)
  func bytes(size: Int) throws {
    let signature = try MethodSignature("{s=[\(size)C]}{s=[\(size)C]}")
    // One guard byte behind the argument and the result.
    var argument = (0...size).map { UInt8($0 * 3) }
    var result = [UInt8](repeating: 0xEE, count: size + 1)
    let before = argument
    try unsafe argument.withUnsafeMutableBytes { argument in
      try unsafe result.withUnsafeMutableBytes { result in
        var pointer = unsafe try #require(argument.baseAddress)
        let original = unsafe pointer
        try unsafe signature.unsafeCall(
          fixture_bytes_function(size), argumentPointers: &pointer, result: result.baseAddress)
        #expect(unsafe pointer == original, "the caller's array was written to")
      }
    }
    #expect(argument == before, "the caller's argument was written to")
    #expect(result.dropLast() == before.dropLast().map { $0 + 1 }[...])
    #expect(result.last == 0xEE, "wrote behind the result")
  }

  @Test func `a result that is not wanted need not have room`() throws {
    var number: Int32 = 1
    try unsafe withUnsafeMutableBytes(of: &number) { bytes in
      var pointer = unsafe try #require(bytes.baseAddress)
      try unsafe MethodSignature("ii").unsafeCall(
        fixture_next_int32 as @convention(c) (Int32) -> Int32, argumentPointers: &pointer,
        result: nil)
    }
  }

  // MARK: Faults

  @Test func `checks the number of arguments`() throws {
    let signature = try MethodSignature("ii")
    let function: @convention(c) (Int32) -> Int32 = fixture_next_int32
    let none = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(function, as: Int32.self)
    }
    #expect(none?.code == .wrongArgumentCount)
    #expect(none?.description == #""ii" takes 1 argument, got 0"#)
    let two = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(function, Int32(1), Int32(1), as: Int32.self)
    }
    #expect(two?.description == #""ii" takes 1 argument, got 2"#)
  }

  @Test func `checks the types of the arguments and of the result`() throws {
    let signature = try MethodSignature("ii")
    let function: @convention(c) (Int32) -> Int32 = fixture_next_int32
    let argument = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(function, 1.0, as: Int32.self)
    }
    #expect(argument?.description == #"parameter 1 of "ii" is 'i' (Int32), got Double"#)
    let result = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(function, Int32(1), as: Void.self)
    }
    #expect(result?.description == #"the result of "ii" is 'i' (Int32), got ()"#)
  }

  @Test func `checks the function`() throws {
    let signature = try MethodSignature("v")
    let null = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(UnsafeRawPointer?.none, as: Void.self)
    }
    #expect(null?.code == .nullPointer)
    #expect(null?.description == #"the function of "v" is null, expected an address"#)
    let small = #expect(throws: ForwardingError.self) {
      try unsafe signature.unsafeCall(Int32(1), as: Void.self)
    }
    #expect(small?.code == .typeMismatch)
    #expect(small?.description == #"the function of "v" is a C function pointer, got Int32"#)
  }

  @Test func `refuses missing argument pointers`() throws {
    let error = #expect(throws: ForwardingError.self) {
      try unsafe MethodSignature("ii").unsafeCall(
        fixture_next_int32 as @convention(c) (Int32) -> Int32, argumentPointers: nil, result: nil)
    }
    #expect(error?.code == .nullPointer)
  }
}
