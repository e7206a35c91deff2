// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct ArgumentFrameTests {
  private final class Robot {}
  private final class Dog {}

  // MARK: Typed access

  @Test func `a new frame is zeroed`() throws {
    let frame = ArgumentFrame(try MethodSignature("v@:idc{P=dd}"))
    let bytes = try frame.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    #expect(bytes == Array(repeating: 0, count: 40))
    #expect(try frame.argument(at: 2, as: Int32.self) == 0)
    #expect(try frame.argument(at: 3, as: Double.self) == 0)
  }

  @Test func `gives back what was set`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:idB{fixture_point=dd}*"))
    try frame.setArgument(Int32(-7), at: 2)
    try frame.setArgument(0.5, at: 3)
    try frame.setArgument(true, at: 4)
    try frame.setArgument(fixture_point(x: 1, y: 2), at: 5)
    #expect(try frame.argument(at: 2, as: Int32.self) == -7)
    #expect(try frame.argument(at: 3, as: Double.self) == 0.5)
    #expect(try frame.argument(at: 4, as: Bool.self))
    #expect(try frame.argument(at: 5, as: fixture_point.self).y == 2)
    let text = try unsafe frame.argument(at: 6, as: UnsafePointer<CChar>?.self)
    #expect(unsafe text == nil)
  }

  @Test func `arguments stand where the signature says`() throws {
    let signature = try MethodSignature("vcds")
    var frame = ArgumentFrame(signature)
    try frame.setArgument(Int8(1), at: 0)
    try frame.setArgument(Int16(0x0302), at: 2)
    let bytes = try frame.withBytes { span in (0..<span.byteCount).map { span.byte(at: $0) } }
    #expect(bytes.count == 24)
    #expect(bytes[0] == 1)
    #expect(bytes[16...17] == [2, 3])
    let short = try frame.withBytes(ofArgumentAt: 2) { span in
      (0..<span.byteCount).map { span.byte(at: $0) }
    }
    #expect(short == [2, 3])
  }

  @Test func `honours 16-byte alignment`() throws {
    let signature = try MethodSignature("vctD")
    #expect(signature.frameAlignment == 16)
    var frame = ArgumentFrame(signature)
    try frame.setArgument(Int128.max - 1, at: 1)
    #expect(try frame.argument(at: 1, as: Int128.self) == Int128.max - 1)
  }

  // MARK: Faults

  @Test("refuses indices that are not in the frame", arguments: [-1, 0, 1, 3, Int.max, Int.min])
  func index(index: Int) throws {
    var frame = ArgumentFrame(try MethodSignature("v@:i"))
    let error = #expect(throws: ForwardingError.self) { try frame.setArgument(Int32(1), at: index) }
    #expect(error?.code == .indexOutOfRange)
    #expect(error?.argumentIndex == index)
    let other = #expect(throws: ForwardingError.self) {
      _ = try frame.argument(at: index, as: Int32.self)
    }
    #expect(other == error)
  }

  @Test func `says which type was expected and which was given`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:d"))
    let error = #expect(throws: ForwardingError.self) { try frame.setArgument(Int32(1), at: 2) }
    #expect(error?.code == .typeMismatch)
    #expect(error?.description == #"argument 2 of "v@:d" is 'd' (Double), got Int32"#)
    let past = #expect(throws: ForwardingError.self) { try frame.setArgument(Int32(1), at: 3) }
    #expect(past?.description == #"there is no argument 3 of "v@:d": it has 3 arguments"#)
  }

  @Test func `a failed set changes nothing`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:@"))
    let robot = Robot()
    try frame.setArgument(robot, at: 2)
    #expect(throws: ForwardingError.self) { try frame.setArgument(1.0, at: 2) }
    #expect(try frame.argument(at: 2, as: Robot.self) === robot)
  }

  @Test func `checks null and classes`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:@*"))
    let null = #expect(throws: ForwardingError.self) {
      _ = try frame.argument(at: 2, as: Robot.self)
    }
    #expect(null?.code == .nullPointer)
    #expect(null?.description == #"argument 2 of "v@:@*" is null, expected Robot"#)
    #expect(try frame.argument(at: 2, as: Robot?.self) == nil)
    try frame.setArgument(Dog(), at: 2)
    let wrong = #expect(throws: ForwardingError.self) {
      _ = try frame.argument(at: 2, as: Robot.self)
    }
    #expect(wrong?.code == .typeMismatch)
    #expect(
      wrong?.description
        == #"argument 2 of "v@:@*" must be an object of class Robot, got one of class Dog"#)
    #expect(throws: ForwardingError.self) { _ = try frame.argument(at: 2, as: Robot?.self) }
    let pointer = #expect(throws: ForwardingError.self) {
      _ = try unsafe frame.argument(at: 3, as: UnsafePointer<CChar>.self)
    }
    #expect(pointer?.code == .nullPointer)
  }

  // MARK: Bytes

  @Test func `takes a whole frame of the right size only`() throws {
    let signature = try MethodSignature("v@:id")
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes[0] = 7
    let number = try unsafe bytes.withUnsafeBytes { bytes in
      let frame = try unsafe ArgumentFrame(signature, copying: bytes)
      return try frame.argument(at: 2, as: Int32.self)
    }
    #expect(number == 7)
    for count in [0, 15, 17] {
      let wrong = [UInt8](repeating: 0, count: count)
      let error = #expect(throws: ForwardingError.self) {
        try unsafe wrong.withUnsafeBytes { bytes in
          _ = try unsafe ArgumentFrame(signature, copying: bytes)
        }
      }
      #expect(error?.code == .wrongSize)
      #expect(error?.description == #"the frame of "v@:id" takes 16 bytes, got \#(count)"#)
    }
  }

  @Test func `takes bytes of the right size only`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:i"))
    let bytes: [UInt8] = [1, 0, 0, 0, 0]
    try unsafe frame.setBytes(bytes.span.bytes.extracting(first: 4), at: 2)
    #expect(try frame.argument(at: 2, as: Int32.self) == 1)
    let error = #expect(throws: ForwardingError.self) {
      try unsafe frame.setBytes(bytes.span.bytes, at: 2)
    }
    #expect(error?.code == .wrongSize)
    #expect(error?.description == #"argument 2 of "v@:i" takes 4 bytes, got 5"#)
    #expect(throws: ForwardingError.self) { try unsafe frame.setBytes(bytes.span.bytes, at: 0) }
  }

  // MARK: Lifetimes

  @Test func `keeps objects that were set as such, and no longer than needed`() throws {
    weak var first: Robot?
    weak var second: Robot?
    do {
      var frame = ArgumentFrame(try MethodSignature("v@:@"))
      do {
        let robot = Robot()
        first = robot
        try frame.setArgument(robot, at: 2)
      }
      #expect(first != nil)
      do {
        let robot = Robot()
        second = robot
        try frame.setArgument(Optional(robot), at: 2)
      }
      #expect(first == nil)
      #expect(try frame.argument(at: 2, as: Robot.self) === second)
    }
    #expect(second == nil)
  }

  @Test func `setting nil gives an object up`() throws {
    weak var tracked: Robot?
    var frame = ArgumentFrame(try MethodSignature("v@:@"))
    do {
      let robot = Robot()
      tracked = robot
      try frame.setArgument(robot, at: 2)
    }
    try frame.setArgument(Robot?.none, at: 2)
    #expect(tracked == nil)
    #expect(try frame.argument(at: 2, as: AnyObject?.self) == nil)
  }

  @Test func `retained arguments outlive the caller's`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:@*^c"))
    weak var tracked: Robot?
    do {
      let robot = Robot()
      tracked = robot
      var text: [CChar] = Array("hello".utf8CString)
      try unsafe text.withUnsafeMutableBufferPointer { text in
        try unsafe frame.setArgument(Unmanaged.passUnretained(robot), at: 2)
        try unsafe frame.setArgument(text.baseAddress, at: 3)
        try unsafe frame.setArgument(text.baseAddress, at: 4)
        let before = frame.argumentsRetained
        frame.retainArguments()
        let after = frame.argumentsRetained
        #expect(!before && after)
        unsafe text[0] = 0x4A
        let buffer = try unsafe frame.argument(at: 4, as: UnsafePointer<CChar>.self)
        #expect(unsafe buffer == UnsafePointer(text.baseAddress))
      }
      withExtendedLifetime(robot) {}
    }
    #expect(tracked != nil)
    #expect(try frame.argument(at: 2, as: Robot.self) === tracked)
    #expect(try frame.string(at: 3) == "hello")
    try frame.setArgument(AnyObject?.none, at: 2)
    #expect(tracked == nil)
  }

  @Test func `after retaining, what is set anew is retained and copied too`() throws {
    var frame = ArgumentFrame(try MethodSignature("v@:@*"))
    frame.retainArguments()
    weak var tracked: Robot?
    do {
      let robot = Robot()
      tracked = robot
      try unsafe frame.setArgument(Unmanaged.passUnretained(robot), at: 2)
      var text: [CChar] = Array("one".utf8CString)
      try unsafe text.withUnsafeMutableBufferPointer { text in
        try unsafe frame.setArgument(text.baseAddress, at: 3)
        unsafe text[0] = 0
      }
    }
    #expect(tracked != nil)
    #expect(try frame.string(at: 3) == "one")
    // Its own copy, set again: the old one may not be freed too early.
    let own = try unsafe frame.argument(at: 3, as: UnsafePointer<CChar>.self)
    try unsafe frame.setArgument(own, at: 3)
    #expect(try frame.string(at: 3) == "one")
    try unsafe frame.setArgument(UnsafePointer<CChar>?.none, at: 3)
    #expect(try unsafe frame.argument(at: 3, as: UnsafePointer<CChar>?.self) == nil)
    // Bytes are retained too.
    weak var second: Robot?
    do {
      let robot = Robot()
      second = robot
      let word = [UInt(bitPattern: unsafe Unmanaged.passUnretained(robot).toOpaque())]
      try unsafe frame.setBytes(word.span.bytes, at: 2)
    }
    #expect(tracked == nil)
    #expect(second != nil)
  }

  @Test("copies keep what the original keeps", arguments: [false, true])
  func copy(retains: Bool) throws {
    weak var tracked: Robot?
    var copy: ArgumentFrame? = nil
    do {
      var frame = ArgumentFrame(try MethodSignature("v@:@*i"))
      let robot = Robot()
      tracked = robot
      try frame.setArgument(robot, at: 2)
      try frame.setArgument(Int32(3), at: 4)
      var text: [CChar] = Array("text".utf8CString)
      try unsafe text.withUnsafeMutableBufferPointer { text in
        if retains {
          try unsafe frame.setArgument(text.baseAddress, at: 3)
          frame.retainArguments()
        }
      }
      let made = frame.copy()
      let retained = made.argumentsRetained
      #expect(retained == retains)
      try frame.setArgument(Int32(4), at: 4)
      #expect(try made.argument(at: 4, as: Int32.self) == 3)
      if retains {
        let original = try unsafe frame.argument(at: 3, as: UnsafePointer<CChar>.self)
        let copied = try unsafe made.argument(at: 3, as: UnsafePointer<CChar>.self)
        #expect(unsafe original != copied)
      }
      copy = consume made
    }
    #expect(tracked != nil)
    if retains { #expect(try copy!.string(at: 3) == "text") }
    copy = nil
    #expect(tracked == nil)
  }
}

extension RawSpan {
  fileprivate func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}

extension ArgumentFrame {
  fileprivate borrowing func string(at index: Int) throws -> String {
    unsafe String(cString: try argument(at: index, as: UnsafePointer<CChar>.self))
  }
}
