// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

/// Arguments that are not values of a closure's types: the error names the parameter, and
/// has the code of the mismatch.
@Suite struct DeliveredValuesTests {
  private enum Kind: Int32 { case file = 1 }
  private class Animal {}
  private final class Dog: Animal {}

  /// How a closure gets an argument.
  enum Way: String, CaseIterable, Sendable {
    case owner, ownerless, feed, signal, emitter, before, after, instead

    /// Whether the sender gets the error, too.
    var isThrown: Bool { self != .before && self != .after }
  }

  /// The second parameter of each method is faulty.
  private static let methods: [(name: String, type: String)] = [
    ("flag:of:", "B"), ("pointer:of:", "^v"), ("object:of:", "@"), ("kind:of:", "i"),
    ("text:of:", "*"),
  ]

  private static func table(_ hidden: String) -> ProtocolTable {
    .table("Delivered") { table in
      for method in methods { table.optional(method.name, "v\(hidden)i\(method.type)") }
    }
  }

  private let journal = Journal()

  /// Makes a closure of each way subscribe. The value that is returned keeps it.
  private func subscribe<Value>(
    _ way: Way, _ proxy: DynamicProxy, _ name: String, _: Value.Type
  ) throws -> Any {
    let key = Method<Void, Int32, Value>(try MethodSelector(validating: name))
    let journal = journal
    switch way {
    case .owner:
      let owner = Bystander()
      try proxy.subscribe(owner) { $0.on(key) { _, _, _ in journal.note("called") } }
      return owner
    case .ownerless:
      return try proxy.subscribe { $0.on(key) { _, _ in journal.note("called") } }
    case .feed:
      return try proxy.feed(key) { _, _ in journal.note("called") }
    case .signal:
      let signal = try proxy.signal(for: key) { _, _ in journal.note("called") }
      return signal.makeAsyncIterator()
    case .emitter:
      let signal = try proxy.signal(for: key, of: Int.self) { _, _, _ in journal.note("called") }
      return signal.makeAsyncIterator()
    case .before: return try proxy.before(key) { _, _ in journal.note("called") }
    case .after: return try proxy.after(key) { _, _ in journal.note("called") }
    case .instead: return try proxy.instead(key) { _, _ in journal.note("called") }
    }
  }

  private func check<Value>(
    _ way: Way, _ name: String, _ type: Value.Type, _ code: ForwardingError.Code, _ text: String,
    _ setArgument: (Invocation, Int) throws -> Void
  ) throws {
    for hidden in ["@", "@:"] {
      for convention in [ClosureConvention.packs, .loads] {
        try ClosureConvention.$chosen.withValue(convention) {
          let errors = Box<[ForwardingError]>([])
          var configuration = DynamicProxy.Configuration()
          configuration.onError = { error in errors.update { $0.append(error) } }
          let proxy = try DynamicProxy(
            adopting: Self.table(hidden), configuration: configuration)
          let kept = try subscribe(way, proxy, name, type)
          let selector = try MethodSelector(validating: name)
          let invocation = try Invocation(selector, proxy.method(for: selector).signature)
          let index = hidden.count + 1
          try setArgument(invocation, index)
          var thrown: ForwardingError?
          do throws(ForwardingError) { try proxy.forward(invocation) } catch { thrown = error }
          #expect(errors.value.count == 1)
          let error = errors.value.first
          #expect(error?.code == code)
          #expect(error?.argumentIndex == index)
          #expect(error?.selector == name)
          #expect(error?.description == "parameter 2 of \"\(name)\" \(text)")
          #expect(thrown == (way.isThrown ? error : nil))
          #expect(journal.take().isEmpty)
          withExtendedLifetime(kept) {}
        }
      }
    }
  }

  @Test("a Bool byte of 2", arguments: Way.allCases)
  func bools(way: Way) throws {
    try check(
      way, "flag:of:", Bool.self, .valueNotRepresentable,
      "has the byte 2, which is no Bool: expected 0 or 1"
    ) { try unsafe $0.setBytes([2 as UInt8].span.bytes, at: $1) }
  }

  @Test("null for a pointer that is not optional", arguments: Way.allCases)
  func pointers(way: Way) throws {
    try unsafe check(
      way, "pointer:of:", UnsafeRawPointer.self, .nullPointer, "is null, expected UnsafeRawPointer"
    ) { try unsafe $0.setArgument(UnsafeRawPointer?.none, at: $1) }
  }

  @Test("an object of another class", arguments: Way.allCases)
  func objects(way: Way) throws {
    try check(
      way, "object:of:", Dog.self, .typeMismatch,
      "must be an object of class Dog, got one of class Animal"
    ) { try $0.setArgument(Animal() as AnyObject, at: $1) }
    try check(way, "object:of:", Dog.self, .nullPointer, "is null, expected Dog") {
      try $0.setArgument(AnyObject?.none, at: $1)
    }
  }

  @Test("a raw value without a case", arguments: Way.allCases)
  func rawValues(way: Way) throws {
    try check(
      way, "kind:of:", Kind.self, .valueNotRepresentable,
      "has raw value 3, which is no Kind: expected the raw value of a case"
    ) { try $0.setArgument(3 as Int32, at: $1) }
  }

  @Test("a C string that is not UTF-8", arguments: Way.allCases)
  func strings(way: Way) throws {
    let bytes: [CChar] = [-1, 0]
    try unsafe bytes.withUnsafeBufferPointer { bytes in
      try check(
        way, "text:of:", String.self, .valueNotRepresentable,
        "has bytes that are not UTF-8, which is no String"
      ) { try unsafe $0.setArgument(bytes.baseAddress, at: $1) }
    }
  }

  @Test func `the code and the index come through chains of proxies`() throws {
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    let table = Self.table("@")
    let inner = try DynamicProxy(adopting: table, configuration: configuration)
    let outer = try DynamicProxy(adopting: table, configuration: configuration)
    try outer.subscribe(inner)
    let around = try outer.around("kind:of:") { _, proceed in try proceed() }
    let token = try inner.subscribe { $0.on("kind:of:") { (_: Int32, _: Kind) in } }
    let thrown = #expect(throws: ForwardingError.self) {
      try outer.send("kind:of:", Int32(1), Int32(3))
    }
    #expect(thrown?.code == .valueNotRepresentable && thrown?.argumentIndex == 2)
    // Each proxy reports it.
    #expect(errors.value.map(\.code) == [.valueNotRepresentable, .valueNotRepresentable])
    #expect(errors.value.allSatisfy { $0.argumentIndex == 2 })
    #expect(errors.value.allSatisfy { $0.description == thrown?.description })
    withExtendedLifetime((token, around)) {}
  }

  @Test func `C gets a failed delivery`() throws {
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    let proxy = try DynamicProxy(adopting: Self.table("@"), configuration: configuration)
    let token = try proxy.subscribe { $0.on("flag:of:") { (_: Int32, _: Bool) in } }
    var frame: (Int32, UInt8) = (1, 2)
    for isIntercepted in [false, true] {
      let around =
        isIntercepted ? try proxy.around("flag:of:") { _, proceed in try proceed() } : nil
      let status = unsafe withUnsafeBytes(of: &frame) { bytes in
        var aligned: (UInt64) = 0
        unsafe withUnsafeMutableBytes(of: &aligned) { unsafe $0.copyMemory(from: bytes) }
        return unsafe fwd_forward_named(proxy.unsafeHandle, "flag:of:", &aligned, 8, nil, 0)
      }
      #expect(status == FWD_DELIVERY_FAILED)
      #expect(unsafe String(cString: fwd_error_message()).contains("which is no Bool"))
      #expect(errors.value.last?.code == .valueNotRepresentable)
      withExtendedLifetime(around) {}
    }
    withExtendedLifetime(token) {}
  }

  @Test func `a proxy that C made tells its handler of a failed delivery`() throws {
    final class Report: Sendable {
      let statuses = Box<[UInt32]>([])
    }
    let report = Report()
    let table = Self.table("@")
    var options = unsafe fwd_proxy_options()
    unsafe options.size = MemoryLayout<fwd_proxy_options>.size
    unsafe options.method_size = MemoryLayout<fwd_method_options>.size
    unsafe options.on_error = { context, _, error in
      let report = unsafe Unmanaged<Report>.fromOpaque(context!).takeUnretainedValue()
      let status = unsafe error.pointee.status.rawValue
      report.statuses.update { $0.append(status) }
    }
    unsafe options.on_error_context = Unmanaged.passUnretained(report).toOpaque()
    var handle: OpaquePointer?
    var adopted: OpaquePointer? = unsafe OpaquePointer(Unmanaged.passUnretained(table).toOpaque())
    #expect(unsafe fwd_proxy_create(&adopted, 1, &options, &handle, nil) == FWD_OK)
    let made = try unsafe #require(handle)
    let proxy = unsafe DynamicProxy.of(core: made)
    let token = try proxy.subscribe { $0.on("kind:of:") { (_: Int32, _: Kind) in } }
    var frame: (Int32, Int32) = (1, 3)
    #expect(
      unsafe fwd_forward_named(made, "kind:of:", &frame, 8, nil, 0) == FWD_DELIVERY_FAILED)
    #expect(report.statuses.value == [FWD_DELIVERY_FAILED.rawValue])
    withExtendedLifetime((token, report)) {}
    unsafe fwd_proxy_release(made)
  }
}
