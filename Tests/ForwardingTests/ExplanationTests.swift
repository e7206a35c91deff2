// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

@Suite struct ExplanationTests {
  private final class Counter: Sendable {}
  private final class Logger: Sendable {}

  private enum Key {
    static let visit = Method("visit:", ((Int32) -> Int32).self)
    static let ping = Method("ping:", ((Int32) -> Void).self)
    static let name = Method("name", (() -> Int32).self)
    static let may = Method("may", (() -> Bool).self)
  }

  private func proxy(
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.duplicates = .allow
    configure(&configuration)
    return try DynamicProxy("Explained", configuration: configuration) {
      $0.optional(Key.visit, result: .untilNonzero, default: 0)
      $0.optional(Key.ping)
      $0.optional(Key.name)
      $0.optional(Key.may, result: .all)
    }
  }

  private func lines(_ proxy: DynamicProxy, _ selector: MethodSelector) -> [String] {
    proxy.explain(selector).description.split(separator: "\n").map(String.init)
  }

  @Test func `closures without an object are called by what they are`() throws {
    let proxy = try proxy()
    let token = try proxy.subscribe { $0.on(Key.ping) { _ in } }
    #expect(lines(proxy, "ping:")[1] == "  is called      closures with a token")
    withExtendedLifetime(token) {}
  }

  @Test func `who is called, who may be, and who is skipped, in order`() throws {
    let proxy = try proxy()
    let counter = Counter()
    let late = Counter()
    let logger = Logger()
    var doomed: Counter? = Counter()
    try proxy.subscribe(logger) { $0.on(Key.ping) { _, _ in } }
    try proxy.subscribe(counter) { $0.on(Key.visit) { _, _ in 0 } }
    try proxy.subscribe(doomed!) { $0.on(Key.visit) { _, _ in 0 } }
    let blocked = try proxy.subscribe(late) { $0.on(Key.visit) { _, _ in 0 } }
    try proxy.subscribe(late) { $0.on(Key.visit) { _, _ in 0 } }
    let token = try blocked.block()
    doomed = nil
    let explained = lines(proxy, "visit:")
    #expect(
      explained == [
        "\"visit:\" calls subscribers until one returns something other than zero.",
        "  is skipped     Logger: it does not implement the method",
        "  is called      Counter",
        "  is skipped     Counter: it has died",
        "  is skipped     Counter: it is blocked",
        "  may be called  Counter: an earlier result may end the fan-out",
        "Without a response the result is the default.",
      ])
    // Steps name subscriptions.
    let steps = proxy.explain("visit:").steps
    guard case .calls(_, let subscription) = steps[1] else {
      Issue.record("\(steps)")
      return
    }
    #expect(subscription?.subscriber === counter)
    // The explanation changes nothing and notices nothing: a send does.
    #expect(try proxy.send(Key.visit, 1) == 0)
    withExtendedLifetime((logger, late, token)) {}
  }

  @Test func `policies`() throws {
    let proxy = try proxy()
    #expect(
      lines(proxy, "ping:") == [
        "\"ping:\" calls all subscribers in order.", "  no subscribers",
        "Without a response nothing happens.",
      ])
    let a = try proxy.subscribe {
      $0.on(Key.name) { 1 }
      $0.on(Key.may) { true }
    }
    let b = try proxy.subscribe {
      $0.on(Key.name) { 2 }
      $0.on(Key.may) { true }
    }
    let named = proxy.explain("name").description.split(separator: "\n").map(String.init)
    #expect(named.first == "\"name\" calls the first subscriber that responds.")
    #expect(named[1].hasPrefix("  is called "))
    #expect(named[2].hasSuffix(": the first response ends the fan-out, unless its delivery fails"))
    #expect(named.last == "Without a response the caller gets the error noResponder.")
    #expect(
      lines(proxy, "may").first == "\"may\" calls subscribers until one returns false.")
    #expect(lines(proxy, "may").last == "Without a response the result is true.")
    let veto = try DynamicProxy {
      $0.optional(Key.name, result: .reduce(Int32(0)) { $0 + $1 }, default: 0)
    }
    let c = try veto.subscribe { $0.on(Key.name) { 1 } }
    let d = try veto.subscribe { $0.on(Key.name) { 2 } }
    let asked = lines(veto, "name")
    #expect(asked.first == "\"name\" calls all subscribers and combines their results.")
    #expect(asked[1...2].allSatisfy { $0.hasPrefix("  is called ") })
    withExtendedLifetime((c, d)) {}
    withExtendedLifetime((a, b)) {}
  }

  @Test func `a cancelled subscription is listed as long as its record is there`() throws {
    let proxy = try proxy()
    let owners = (0..<8).map { _ in Counter() }
    let subscriptions = try owners.map { owner in
      try proxy.subscribe(owner) { $0.on(Key.ping) { _, _ in } }
    }
    subscriptions[2].cancel()
    let explained = lines(proxy, "ping:")
    #expect(explained[3] == "  is skipped     a subscription: it has been cancelled")
    #expect(explained.count == 10)
    withExtendedLifetime(owners) {}
  }

  @Test func `interceptors, blocks and the forward target`() throws {
    let proxy = try proxy()
    let counter = Counter()
    let subscription = try proxy.subscribe(counter) { $0.on(Key.ping) { _, _ in } }
    let before = try proxy.before(Key.ping) { _ in }
    let around = try proxy.around(Key.ping.selector) { _, proceed in try proceed() }
    #expect(
      lines(proxy, "ping:") == [
        "\"ping:\" calls all subscribers in order.",
        "  is called      an interceptor before the delivery",
        "  is called      an interceptor around the delivery",
        "  may be called  Counter: an interceptor around the delivery decides",
        "Without a response nothing happens.",
      ])
    let second = try proxy.around(Key.ping.selector) { _, proceed in try proceed() }
    let after = try proxy.after(Key.ping) { _ in }
    #expect(
      lines(proxy, "ping:").filter { $0.contains("interceptor") } == [
        "  is called      an interceptor before the delivery",
        "  is called      an interceptor around the delivery",
        "  may be called  an interceptor around the delivery: an interceptor around the delivery decides",
        "  may be called  Counter: an interceptor around the delivery decides",
        "  may be called  an interceptor after the delivery: an error of an interceptor around the delivery ends the call",
      ])
    second.cancel()
    after.cancel()
    around.cancel()
    let instead = try proxy.instead(Key.ping) { _ in }
    #expect(
      lines(proxy, "ping:").contains("  is called      an interceptor instead of the subscribers"))
    #expect(
      lines(proxy, "ping:").contains("  is skipped     Counter: an interceptor is called instead"))
    instead.cancel()
    let block = try proxy.block("ping:")
    #expect(
      lines(proxy, "ping:") == [
        "\"ping:\" is blocked.",
        "  is skipped     an interceptor before the delivery: the method is blocked",
        "  is skipped     Counter: the method is blocked",
        "So nothing happens.",
      ])
    block.cancel()
    before.cancel()
    let target = Logger()
    try proxy.setForwardTarget(target) { $0.on(Key.ping) { _, _ in } }
    #expect(
      lines(proxy, "ping:").contains(
        "  is skipped     Logger, the forward target: a subscriber handles the method"))
    subscription.cancel()
    #expect(lines(proxy, "ping:").contains("  is called      Logger, the forward target"))
    #expect(
      lines(proxy, "visit:").contains(
        "  is skipped     Logger, the forward target: it does not implement the method"))
    withExtendedLifetime((counter, target)) {}
  }

  @Test func `a proxy as a subscriber, a limit, and a C context`() throws {
    let proxy = try proxy()
    let inner = try self.proxy()
    try proxy.subscribe(inner)
    #expect(
      lines(proxy, "ping:").contains(
        "  is skipped     DynamicProxy: it is a proxy, and none of its subscribers responds"))
    let token = try inner.subscribe { $0.on(Key.ping) { _ in } }
    #expect(lines(proxy, "ping:").contains("  is called      DynamicProxy"))
    // Methods with a context of C.
    var methods = unsafe fwd_method()
    let function: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void = { _, _ in }
    unsafe "ping:".withCString { selector in
      unsafe "v^vi".withCString { encoding in
        unsafe methods.selector = selector
        unsafe methods.encoding = encoding
        unsafe methods.function = unsafeBitCast(function, to: (@convention(c) () -> Void).self)
        let status = unsafe fwd_proxy_subscribe(
          proxy.unsafeHandle, UnsafeMutableRawPointer(bitPattern: 64), &methods, 1, nil, nil, nil,
          nil)
        #expect(status == FWD_OK)
      }
    }
    #expect(lines(proxy, "ping:").contains("  is called      a C context"))
    withExtendedLifetime(token) {}
  }

  @Test func `a method that nobody declares`() throws {
    #expect(
      lines(try proxy(), "other") == [
        "\"other\" is declared by no protocol of the proxy.",
        "The caller gets the error unknownSelector.",
      ])
    #expect(
      lines(try proxy { $0.unknownSelectors = .ignore }, "other").last
        == "It is ignored, and the result is zeros.")
    #expect(
      lines(try proxy { $0.onUnknown = { _ in } }, "other").last
        == "The closure of onUnknown is called.")
    #expect(
      lines(try proxy { $0.noResponder = .report }, "name").last
        == "Without a response the result is zeros, and the error handler is told.")
    #expect(
      lines(try proxy { $0.noResponder = .fail }, "ping:").last
        == "Without a response the caller gets the error noResponder.")
  }

  @Test func `C gets the text`() throws {
    let proxy = try proxy()
    let text = proxy.explain("ping:").description
    let selector = unsafe MethodSelector("ping:").handle
    var buffer = [CChar](repeating: 1, count: 20)
    #expect(
      unsafe fwd_proxy_explain(proxy.unsafeHandle, selector, &buffer, 20) == text.utf8.count)
    #expect(buffer.prefix(19).map { UInt8(bitPattern: $0) } == Array(text.utf8.prefix(19)))
    #expect(buffer[19] == 0)
    #expect(unsafe fwd_proxy_explain(proxy.unsafeHandle, selector, nil, 0) == text.utf8.count)
    #expect(unsafe fwd_proxy_explain(nil, selector, &buffer, 20) == 0)
    #expect(buffer[0] == 0)
  }
}
