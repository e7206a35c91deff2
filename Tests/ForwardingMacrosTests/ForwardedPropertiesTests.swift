// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  @Forwarded
  protocol Model: AnyObject {
    var count: Int { get set }
    @DefaultResult("nobody") var title: String { get }
    var owner: Tracked? { get set }
    @DefaultResult(Shape.point) var shape: Shape { get set }
    var isOpen: Bool { get }
    var size: Double { get set }
    var checked: [Int] { get throws }
    var `default`: Int32 { get set }
    var pointer: UnsafeRawPointer? { get set }
  }

  @safe private final class ModelListener: Model {
    var count = 1
    var title: String { "title of \(count), which is not small" }
    var owner: Tracked?
    var shape = Shape.circle(radius: 1)
    var isOpen = true
    var size = 2.5
    var failure: Failure?
    var checked: [Int] {
      get throws {
        if let failure { throw failure }
        return [count]
      }
    }
    var `default`: Int32 = 4
    var pointer: UnsafeRawPointer?
  }

  /// Properties are methods, as in Objective-C.
  @Suite(.serialized) struct ForwardedPropertiesTests {
    private let proxy = ModelProxy()
    private let first = ModelListener()
    private let second = ModelListener()

    @Test func `a property of nobody has its default`() {
      #expect(proxy.count == 0 && proxy.title == "nobody" && proxy.owner == nil)
      #expect(proxy.shape == .point && !proxy.isOpen && proxy.size == 0 && proxy.default == 0)
      #expect(throws: ForwardingError.self) { try proxy.checked }
      proxy.count = 3
    }

    @Test func `the first responder's value is read, and all are set`() throws {
      try proxy.subscribe(first)
      try proxy.subscribe(second)
      second.count = 8
      #expect(proxy.count == 1 && proxy.title == "title of 1, which is not small")
      #expect(proxy.isOpen && proxy.size == 2.5)
      #expect(try proxy.checked == [1])
      first.failure = Failure(2)
      #expect(throws: Failure(2)) { try proxy.checked }
      proxy.count = 5
      proxy.size = -1
      proxy.default += 1
      proxy.shape = .named("a name that is not small")
      #expect(first.count == 5 && second.count == 5 && second.size == -1)
      #expect(first.default == 5 && second.default == 5)
      #expect(second.shape == .named("a name that is not small"))
      var byte: UInt8 = 1
      unsafe withUnsafePointer(to: &byte) { byte in
        unsafe proxy.pointer = UnsafeRawPointer(byte)
        #expect(unsafe second.pointer == UnsafeRawPointer(byte))
      }
    }

    @Test func `objects that are set are held by listeners alone`() throws {
      let left = try Tracked.left {
        try proxy.subscribe(first)
        proxy.owner = Tracked(4)
        #expect(proxy.owner?.value == 4 && first.owner?.value == 4)
        proxy.owner = nil
        #expect(first.owner == nil)
      }
      #expect(left == 0)
    }

    @Test func `a property by any`() throws {
      let model: any Model = proxy
      try proxy.subscribe(first)
      model.count += 2
      #expect(first.count == 3)
    }

    @Test func `untyped callers know a property as Objective-C does`() throws {
      try proxy.subscribe(first)
      #expect(ModelProxy.selector(for: .count) == "count")
      #expect(ModelProxy.selector(for: .setCount) == "setCount:")
      #expect(ModelProxy.selector(for: .setDefault) == "setDefault:")
      #expect(!ModelProxy.protocolTable.requirements.contains { $0.selector == "setTitle:" })
      try unsafe proxy.proxy.send("setCount:", 9)
      #expect(first.count == 9)
      let count: Int = try unsafe proxy.proxy.send("count")
      #expect(count == 9 && proxy.responds(to: .setCount))
    }
  }
#endif
