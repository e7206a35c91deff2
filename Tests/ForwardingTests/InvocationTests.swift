// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

@testable import Forwarding

@Suite struct InvocationTests {
  private final class Robot {
    var onDeinit: (() -> Void)?
    deinit { onDeinit?() }
  }
  private final class Dog {}

  private typealias Method =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeRawPointer, Int32, Double
    ) -> Double

  private func make(_ encoding: String = "d@:id", target: AnyObject? = nil) throws -> Invocation {
    try Invocation("move:by:", try MethodSignature(encoding), target: target)
  }

  // MARK: Creation and arguments

  @Test(
    "needs a receiver",
    arguments: [("vi", "argument 0 is 'i' (Int32)"), ("v", "it has no arguments")])
  func noReceiver(encoding: String, reason: String) throws {
    let error = #expect(throws: ForwardingError.self) { try make(encoding) }
    #expect(error?.code == .noReceiver)
    #expect(error?.description == "\"move:by:\" cannot take a receiver: \(reason)")
  }

  @Test func `gives back what was set`() throws {
    let invocation = try make("d@:id{fixture_point=dd}")
    try invocation.setArgument(Int32(7), at: 2)
    try invocation.setArgument(0.5, at: 3)
    try invocation.setArgument(fixture_point(x: 1, y: 2), at: 4)
    #expect(try invocation.argument(at: 2, as: Int32.self) == 7)
    #expect(try invocation.argument(at: 3, as: Double.self) == 0.5)
    #expect(try invocation.argument(at: 4, as: fixture_point.self).y == 2)
  }

  @Test func `the receiver and the selector are arguments 0 and 1`() throws {
    let robot = Robot()
    let invocation = try make()
    #expect(try invocation.argument(at: 0, as: Robot?.self) == nil)
    #expect(try invocation.argument(at: 1, as: MethodSelector.self) == "move:by:")
    invocation.target = robot
    #expect(try invocation.argument(at: 0, as: Robot.self) === robot)
    try invocation.setArgument(Robot?.none, at: 0)
    #expect(invocation.target == nil)
    try invocation.setArgument(robot, at: 0)
    #expect(invocation.target === robot)
    invocation.selector = "turn:by:"
    #expect(try invocation.argument(at: 1, as: MethodSelector.self) == "turn:by:")
    try invocation.setArgument("stop:by:" as MethodSelector, at: 1)
    #expect(invocation.selector == "stop:by:")
  }

  @Test func `without a selector in the signature argument 1 is the first`() throws {
    let invocation = try make("v^vi")
    try invocation.setArgument(Int32(5), at: 1)
    #expect(try invocation.argument(at: 1, as: Int32.self) == 5)
    #expect(invocation.selector == "move:by:")
  }

  @Test("refuses indices past the end", arguments: [-1, 4, Int.max, Int.min])
  func index(index: Int) throws {
    let invocation = try make()
    for error in [
      #expect(throws: ForwardingError.self) { try invocation.setArgument(Int32(1), at: index) },
      #expect(throws: ForwardingError.self) { try invocation.argument(at: index, as: Int32.self) },
      #expect(throws: ForwardingError.self) {
        try invocation.withBytes(ofArgumentAt: index) { _ in }
      },
    ] {
      #expect(error?.code == .indexOutOfRange)
      #expect(error?.selector == "move:by:")
      #expect(error?.argumentIndex == index)
      #expect(
        error?.description == #"there is no argument \#(index) of "move:by:": it has 4 arguments"#)
    }
  }

  @Test func `says which type was expected and which was given`() throws {
    let invocation = try make()
    let errors = [
      #expect(throws: ForwardingError.self) { try invocation.setArgument(Int32(1), at: 3) },
      #expect(throws: ForwardingError.self) { _ = try invocation.argument(at: 3, as: Int32.self) },
    ]
    for error in errors {
      #expect(error?.code == .typeMismatch)
      #expect(error?.description == #"argument 3 of "move:by:" is 'd' (Double), got Int32"#)
    }
    let receiver = #expect(throws: ForwardingError.self) { try invocation.setArgument(1.0, at: 0) }
    #expect(receiver?.description == #"argument 0 of "move:by:" is '@' (object), got Double"#)
    let selector = #expect(throws: ForwardingError.self) { try invocation.setArgument(1.0, at: 1) }
    #expect(selector?.description == #"argument 1 of "move:by:" is ':' (selector), got Double"#)
  }

  @Test func `takes and gives bytes of the right size`() throws {
    let invocation = try make()
    let (right, wrong): ([UInt8], [UInt8]) = ([9, 0, 0, 0], [9])
    try unsafe invocation.setBytes(right.span.bytes, at: 2)
    #expect(try invocation.argument(at: 2, as: Int32.self) == 9)
    let first = try invocation.withBytes(ofArgumentAt: 2) { span in
      unsafe span.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    }
    #expect(first == 9)
    let error = #expect(throws: ForwardingError.self) {
      try unsafe invocation.setBytes(wrong.span.bytes, at: 2)
    }
    #expect(error?.code == .wrongSize)
    #expect(error?.description == #"argument 2 of "move:by:" takes 4 bytes, got 1"#)
  }

  @Test func `is made from a frame`() throws {
    var frame = ArgumentFrame(try MethodSignature("d@:id"))
    try frame.setArgument(Int32(3), at: 2)
    let invocation = try Invocation("move:by:", frame)
    #expect(try invocation.argument(at: 2, as: Int32.self) == 3)
  }

  // MARK: Result

  @Test func `has no result before there is one`() throws {
    let invocation = try make()
    #expect(!invocation.hasResult)
    let errors = [
      #expect(throws: ForwardingError.self) { _ = try invocation.result(as: Double.self) },
      #expect(throws: ForwardingError.self) { try invocation.withResultBytes { _ in } },
    ]
    for error in errors {
      #expect(error?.code == .noResult)
      #expect(error?.description == #""move:by:" has no result yet"#)
    }
  }

  @Test func `gives back the result that was set`() throws {
    let invocation = try make()
    try invocation.setResult(2.5)
    #expect(invocation.hasResult)
    #expect(try invocation.result(as: Double.self) == 2.5)
    #expect(try invocation.withResultBytes { $0.byteCount } == 8)
    let (right, wrong): ([Double], [Float]) = ([4], [4])
    try unsafe invocation.setResultBytes(right.span.bytes)
    #expect(try invocation.result(as: Double.self) == 4)
    let size = #expect(throws: ForwardingError.self) {
      try unsafe invocation.setResultBytes(wrong.span.bytes)
    }
    #expect(size?.description == #"the result of "move:by:" takes 8 bytes, got 4"#)
    let type = #expect(throws: ForwardingError.self) { try invocation.setResult(Int32(1)) }
    #expect(type?.description == #"the result of "move:by:" is 'd' (Double), got Int32"#)
    #expect(try invocation.result(as: Double.self) == 4)
  }

  @Test func `a void result is void`() throws {
    let invocation = try make("v@:")
    try invocation.setResult(())
    try invocation.result(as: Void.self)
    #expect(throws: ForwardingError.self) { _ = try invocation.result(as: Int32.self) }
  }

  @Test func `keeps an object that is its result`() throws {
    weak var tracked: Robot?
    let invocation = try make("@@:")
    do {
      let robot = Robot()
      tracked = robot
      try invocation.setResult(robot)
    }
    #expect(tracked != nil)
    #expect(try invocation.result(as: Robot.self) === tracked)
    #expect(throws: ForwardingError.self) { _ = try invocation.result(as: Dog.self) }
    try invocation.setResult(Robot?.none)
    #expect(tracked == nil)
  }

  // MARK: Invoking

  @Test func `invokes a function, any number of times`() throws {
    let robot = Robot()
    let invocation = try make(target: robot)
    for number in Int32(1)...3 {
      try invocation.setArgument(number, at: 2)
      try invocation.setArgument(0.5, at: 3)
      try unsafe invocation.unsafeInvoke(fixture_method as Method)
      #expect(try invocation.result(as: Double.self) == Double(number) / 2)
    }
  }

  @Test func `without a target nobody is called and the result is zeros`() throws {
    let invocation = try make()
    try invocation.setArgument(Int32(4), at: 2)
    try invocation.setResult(7.0)
    let before = fixture_call_count()
    try unsafe invocation.unsafeInvoke(fixture_method as Method)
    #expect(fixture_call_count() == before)
    #expect(try invocation.result(as: Double.self) == 0)
  }

  @Test func `calls with a C context, which may be null`() throws {
    let invocation = try make("v^vi")
    let add: @convention(c) (UnsafeMutablePointer<Int64>?, Int32) -> Void =
      unsafe fixture_add_to_context
    try invocation.setArgument(Int32(5), at: 1)
    var context: Int64 = 10
    try unsafe withUnsafeMutablePointer(to: &context) { context in
      unsafe invocation.unsafeTarget = UnsafeRawPointer(context)
      try unsafe invocation.unsafeInvoke(add)
    }
    #expect(context == 15)
    #expect(invocation.target == nil)
    unsafe invocation.unsafeTarget = nil
    let before = fixture_call_count()
    try unsafe invocation.unsafeInvoke(add)
    #expect(fixture_call_count() == before + 1)
    try invocation.result(as: Void.self)
  }

  @Test func `takes over an object that a function gives`() throws {
    weak var tracked: Robot?
    let invocation = try make("@@:")
    let same: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
      unsafe $0.map { unsafe Unmanaged<AnyObject>.fromOpaque($0).retain().toOpaque() }
    }
    do {
      let robot = Robot()
      tracked = robot
      invocation.target = robot
      try unsafe invocation.unsafeInvoke(same)
      invocation.target = nil
    }
    #expect(tracked != nil)
    #expect(try invocation.result(as: Robot.self) === tracked)
    try unsafe invocation.unsafeInvoke(same)
    #expect(tracked == nil)
    #expect(try invocation.result(as: Robot?.self) == nil)
  }

  @Test func `a null function is an error and changes nothing`() throws {
    let invocation = try make(target: Robot())
    let error = #expect(throws: ForwardingError.self) {
      try unsafe invocation.unsafeInvoke(UnsafeRawPointer?.none)
    }
    #expect(error?.code == .nullPointer)
    #expect(error?.description == #"the function of "move:by:" is null, expected an address"#)
    #expect(!invocation.hasResult)
  }

  @Test func `arguments may be set anew during the call`() throws {
    final class Box: @unchecked Sendable {
      var invocation: Invocation?
    }
    let box = Box()
    weak var tracked: Robot?
    let signature = try MethodSignature("i@:@*")
    let function = try FunctionPointer(signature) { call in
      try? box.invocation?.setArgument(Robot?.none, at: 2)
      try? unsafe box.invocation?.setArgument(UnsafePointer<CChar>?.none, at: 3)
      box.invocation?.target = nil
      let alive = (try? call.argument(at: 2, as: Robot.self)) != nil
      let text = try? unsafe String(cString: call.argument(at: 3, as: UnsafePointer<CChar>.self))
      let target = try? call.argument(at: 0, as: Robot.self)
      try? call.setResult(Int32(alive && text == "text" && target != nil ? 1 : 0))
    }
    let invocation = try Invocation("take:text:", signature, target: Robot())
    do {
      let robot = Robot()
      tracked = robot
      try invocation.setArgument(robot, at: 2)
    }
    invocation.retainArguments()
    try unsafe "text".withCString { try unsafe invocation.setArgument($0, at: 3) }
    box.invocation = invocation
    try unsafe invocation.unsafeInvoke(function.unsafePointer)
    #expect(try invocation.result(as: Int32.self) == 1)
    #expect(tracked == nil)
    box.invocation = nil
  }

  // MARK: Lifetimes

  @Test func `keeps its target and its arguments as long as it lives`() throws {
    weak var target: Robot?
    weak var argument: Robot?
    do {
      let invocation: Invocation
      do {
        let robots = (Robot(), Robot())
        (target, argument) = robots
        invocation = try make("v@:@", target: robots.0)
        try invocation.setArgument(robots.1, at: 2)
      }
      #expect(target != nil && argument != nil)
      withExtendedLifetime(invocation) {}
    }
    #expect(target == nil && argument == nil)
  }

  @Test("a copy outlives the original", arguments: [(false, true), (true, false), (true, true)])
  func copy(originalRetains: Bool, copyRetains: Bool) throws {
    weak var target: Robot?
    weak var argument: Robot?
    weak var result: Robot?
    do {
      let copy: Invocation
      do {
        let robots = (Robot(), Robot(), Robot())
        (target, argument, result) = robots
        let invocation = try make("@@:@*i", target: robots.0)
        try invocation.setArgument(robots.1, at: 2)
        try invocation.setArgument(Int32(4), at: 4)
        try invocation.setResult(robots.2)
        copy = try unsafe "text".withCString { text in
          try unsafe invocation.setArgument(text, at: 3)
          if originalRetains { invocation.retainArguments() }
          return invocation.copy(retainingArguments: copyRetains)
        }
        #expect(copy.argumentsRetained)
        #expect(invocation.argumentsRetained == originalRetains)
        try invocation.setArgument(Int32(5), at: 4)
        invocation.selector = "other"
        invocation.target = nil
      }
      #expect(copy.selector == "move:by:")
      #expect(copy.target === target && target != nil)
      #expect(try copy.argument(at: 2, as: Robot.self) === argument)
      #expect(try copy.argument(at: 4, as: Int32.self) == 4)
      #expect(try copy.result(as: Robot.self) === result)
      let text = try unsafe String(cString: copy.argument(at: 3, as: UnsafePointer<CChar>.self))
      #expect(text == "text")
    }
    #expect(target == nil && argument == nil && result == nil)
  }

  @Test func `a copy that does not retain its arguments still keeps objects`() throws {
    weak var argument: Robot?
    let copy: Invocation
    do {
      let robot = Robot()
      argument = robot
      let invocation = try make("v@:@")
      try invocation.setArgument(robot, at: 2)
      copy = invocation.copy()
    }
    #expect(!copy.argumentsRetained)
    #expect(try copy.argument(at: 2, as: Robot.self) === argument)
  }

  @Test func `what dies when it is replaced may come back to the invocation`() throws {
    let invocation = try make("@@:@")
    var ended = 0
    func robot() -> Robot {
      let robot = Robot()
      robot.onDeinit = { [unowned invocation] in
        ended += 1
        invocation.target = nil
        try? invocation.setArgument(AnyObject?.none, at: 2)
        try? invocation.setResult(AnyObject?.none)
      }
      return robot
    }
    try invocation.setArgument(robot(), at: 2)
    try invocation.setArgument(Dog(), at: 2)
    #expect(ended == 1)
    invocation.target = robot()
    invocation.target = Dog()
    #expect(ended == 2)
    try invocation.setResult(robot())
    try invocation.setResult(Dog())
    #expect(ended == 3)
  }
}
