// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Testing

@testable import Forwarding

/// A C program's own tests, in Tests/Support/CTestFixtures/c_interface_checks.c,
/// which print the checks that fail; then C beside Swift.
@Suite(.serialized) struct CInterfaceTests {
  // MARK: In C

  @Test func `C interns selectors`() {
    #expect(c_interface_check_selectors() == 0)
  }

  @Test func `C registers and finds protocols`() {
    #expect(c_interface_check_protocols() == 0)
  }

  @Test func `protocols with stated layouts`() {
    #expect(c_interface_check_stated_layouts() == 0)
  }

  @Test func `blocked methods and proxies`() {
    #expect(c_interface_check_blocking() == 0)
  }

  @Test func `C makes proxies with options`() {
    #expect(c_interface_check_proxies() == 0)
  }

  @Test func `C options of other versions are read or refused by their size`() {
    #expect(c_interface_check_versions() == 0)
  }

  @Test func `NULL is an error or nothing for each C function`() {
    #expect(c_interface_check_null_references() == 0)
  }

  @Test func `C subscribes at positions, and moves subscriptions`() {
    #expect(c_interface_check_positions() == 0)
  }

  @Test func `changes of subscriptions take effect at once or not at all`() {
    #expect(c_interface_check_changes() == 0)
  }

  @Test func `C visits the methods and the subscribers of a proxy`() {
    #expect(c_interface_check_visitors() == 0)
  }

  @Test func `C collects every result with its subscription`() {
    #expect(c_interface_check_collecting() == 0)
  }

  @Test func `C intercepts before, after, instead of and around deliveries`() {
    #expect(c_interface_check_interception() == 0)
  }

  @Test func `C interceptors end, nest and outlive their interception`() {
    #expect(c_interface_check_interception_lifetimes() == 0)
  }

  @Test func `C subscribes contexts with destroy notifiers`() {
    #expect(c_interface_check_subscribers() == 0)
  }

  @Test func `C changes members during a fan-out`() {
    #expect(c_interface_check_membership() == 0)
  }

  @Test func `C forwards frames, arguments and names`() {
    #expect(c_interface_check_forwarding() == 0)
  }

  @Test func `C has result policies`() {
    #expect(c_interface_check_policies() == 0)
  }

  @Test func `C gets function pointers`() {
    #expect(c_interface_check_functions() == 0)
  }

  @Test func `C gets structs of callbacks`() {
    #expect(c_interface_check_callback_tables() == 0)
  }

  @Test func `C forwards and subscribes in threads`() {
    #expect(c_interface_check_threads() == 0)
  }

  // MARK: Beside Swift

  private static let table = ProtocolTable.table("CInterfaceTests.Noting") {
    $0.required("note:", "v@:i")
    $0.optional("finish", "v@:")
    $0.optional("name:", "*@:*")
  }

  private func note(
    _ number: Int32, to journal: Journal, in proxy: DynamicProxy
  ) throws -> fwd_subscription {
    var subscription: fwd_subscription = 0
    // SAFETY: the journal outlives the proxy's subscription in each test.
    let status = unsafe c_interface_subscribe_note(
      proxy.unsafeHandle, number,
      { context, number, argument in
        unsafe Unmanaged<Journal>.fromOpaque(context!).takeUnretainedValue()
          .note("C\(number) \(argument)")
      }, Unmanaged.passUnretained(journal).toOpaque(), &subscription)
    #expect(status == FWD_OK)
    return subscription
  }

  private func swift(_ name: String, _ journal: Journal) -> FunctionTable.Builder<Void> {
    var builder = FunctionTable.Builder<Void>()
    builder.on("note:") { (number: Int32) in journal.note("\(name) \(number)") }
    return builder
  }

  @Test func `C and Swift subscribers stand in one order`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let journal = Journal()
    let first = try proxy.subscribe { $0 = swift("a", journal) }
    let c1 = try note(1, to: journal, in: proxy)
    let second = try proxy.subscribe { $0 = swift("b", journal) }
    let c2 = try note(2, to: journal, in: proxy)
    try proxy.send("note:", Int32(7))
    #expect(journal.take() == ["a 7", "C1 7", "b 7", "C2 7"])
    #expect(proxy.count == 4)
    // From C, too.
    var number: Int32 = 8
    let status = unsafe fwd_forward_named(proxy.unsafeHandle, "note:", &number, 4, nil, 0)
    #expect(status == FWD_OK)
    #expect(journal.take() == ["a 8", "C1 8", "b 8", "C2 8"])
    #expect(unsafe fwd_proxy_unsubscribe(proxy.unsafeHandle, c1) == FWD_OK)
    second.cancel()
    try proxy.send("note:", Int32(9))
    #expect(journal.take() == ["a 9", "C2 9"])
    #expect(unsafe fwd_proxy_unsubscribe(proxy.unsafeHandle, c1) == FWD_NOT_SUBSCRIBED)
    proxy.unsubscribeAll()
    #expect(unsafe fwd_proxy_unsubscribe(proxy.unsafeHandle, c2) == FWD_NOT_SUBSCRIBED)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `Swift places beside C, and answers name no object`() throws {
    let proxy = try DynamicProxy(adopting: Self.table)
    let journal = Journal()
    _ = try note(1, to: journal, in: proxy)
    _ = try note(2, to: journal, in: proxy)
    let token = try proxy.subscribe(at: .index(1)) { $0 = swift("a", journal) }
    let high = try proxy.subscribe(at: .priority(1)) { $0 = swift("b", journal) }
    try proxy.send("note:", Int32(0))
    #expect(journal.take() == ["b 0", "C1 0", "a 0", "C2 0"])
    #expect(proxy.liveSubscribers.count == 2)
    let answers = try proxy.collect("note:", as: Void.self, Int32(1))
    #expect(answers.count == 4 && answers.allSatisfy { $0.author == nil })
    #expect(proxy.subscriptions().count == 4)
    #expect(proxy.subscriptions().allSatisfy { $0.subscriber == nil })
    #expect(proxy.description.hasSuffix("of 4: closures with a token, closures with a token"))
    withExtendedLifetime((token, high)) {}
  }

  @Test func `the C handle keeps the proxy when C retains it`() throws {
    weak var tracked: DynamicProxy?
    let journal = Journal()
    let handle: OpaquePointer
    do {
      let proxy = try DynamicProxy(adopting: Self.table)
      tracked = proxy
      unsafe handle = try #require(fwd_proxy_retain(proxy.unsafeHandle))
      _ = try note(1, to: journal, in: proxy)
    }
    #expect(tracked != nil)
    var number: Int32 = 3
    let status = unsafe fwd_forward_named(handle, "note:", &number, 4, nil, 0)
    #expect(status == FWD_OK)
    #expect(journal.take() == ["C1 3"])
    unsafe fwd_proxy_release(handle)
    #expect(tracked == nil)
  }

  @Test func `C finds what Swift has registered, and the other way`() throws {
    let made = try Self.table.register()
    let found = unsafe fwd_protocol_find("CInterfaceTests.Noting")
    #expect(unsafe found == OpaquePointer(Unmanaged.passUnretained(made).toOpaque()))
    var requirement = unsafe fwd_requirement(selector: nil, encoding: nil, required: true)
    let status = unsafe "v@:q".withCString { text in
      unsafe requirement.selector = text
      unsafe requirement.encoding = text
      return unsafe fwd_protocol_register(
        "CInterfaceTests.FromC", &requirement, 1, nil, nil)
    }
    #expect(status == FWD_OK)
    let table = try #require(ProtocolTable.named("CInterfaceTests.FromC"))
    #expect(table.requirements.map(\.selector) == ["v@:q"])
    #expect(table.requirements.first?.isRequired == true)
    let error = #expect(throws: ForwardingError.self) {
      try ProtocolTable("CInterfaceTests.FromC") { $0.optional("v@:q", "v@:q") }.register()
    }
    #expect(error?.code == .conflict)
  }

  @Test func `Swift's failed deliveries come to C as a status`() throws {
    enum Kind: Int32 { case one = 1 }
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { _ in }
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    let token = try proxy.subscribe { $0.on("note:") { (_: Kind) in } }
    var number: Int32 = 2
    let status = unsafe fwd_forward_named(proxy.unsafeHandle, "note:", &number, 4, nil, 0)
    #expect(status == FWD_DELIVERY_FAILED)
    #expect(unsafe String(cString: fwd_error_message()).contains("no Kind"))
    withExtendedLifetime(token) {}
  }
}
