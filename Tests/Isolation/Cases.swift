// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

protocol FetchDelegate: AnyObject {
  func fetched(_ count: Int)
}

final class FetchProxy: FetchDelegate, SlotProxy {
  @unsafe let forwardingProxy: DynamicProxy
  init() {
    do { unsafe forwardingProxy = try DynamicProxy(adopting: []) } catch { fatalError("\(error)") }
  }
  func fetched(_ count: Int) {}
  var asListener: any FetchDelegate { self }
  func subscribeListener(
    _ listener: any FetchDelegate, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    unsafe try forwardingProxy.unsafeSubscribe(
      listener, table: FunctionTable(for: AnyObject.self) { _ in }, at: position,
      lifetime: lifetime)
  }
}

@MainActor final class Window {
  var delegate: (any FetchDelegate)?
  var target: (any AnyObject & Sendable)?
  @DelegateSlot(FetchProxy()) var own: (any FetchDelegate)?
}

final class Shared: Sendable {
  var target: (any AnyObject & Sendable)? {
    get { nil }
    set {}
  }
}

func requireSendable<Value: Sendable>(_: Value) {}

// CASE a forwarder is used where it was made
@MainActor func use(_ window: Window) {
  let forwarder = DelegateForwarder(window, \.delegate, proxy: FetchProxy())
  forwarder.recheck()
  let other = DelegateForwarder(window, \.$own)
  other.stop()
}

// CASE a forwarder of an actor's slot is not sent to another task
// ERROR passing closure as a 'sending' parameter risks causing data races
@MainActor func send(_ window: Window) {
  let forwarder = DelegateForwarder(window, \.delegate, proxy: FetchProxy())
  Task.detached { forwarder.recheck() }
}

// CASE a forwarder of a DelegateSlot is not sent to another task
// ERROR passing closure as a 'sending' parameter risks causing data races
@MainActor func send(_ window: Window) {
  let forwarder = DelegateForwarder(window, \.$own)
  Task.detached { forwarder.stop() }
}

// CASE a forwarder with a Sendable proxy is not sent to another task
// ERROR passing closure as a 'sending' parameter risks causing data races
@MainActor func send(_ window: Window, _ proxy: DynamicProxy) {
  let forwarder = DelegateForwarder(window, \.target, proxy: proxy)
  Task.detached { forwarder.recheck() }
}

// CASE a forwarder is not Sendable, whatever its service and proxy are
// ERROR conformance of 'DelegateForwarder<Service, Proxy>' to 'Sendable' is unavailable
func require(_ shared: Shared, _ proxy: DynamicProxy) {
  requireSendable(DelegateForwarder(shared, \.target, proxy: proxy))
}

// CASE a Sendable forwarder takes a slot that any thread may use
func send(_ shared: Shared, _ proxy: DynamicProxy) {
  let forwarder = SendableDelegateForwarder(shared, \.target, proxy: proxy)
  requireSendable(forwarder)
  Task.detached { forwarder.recheck() }
}

// CASE a Sendable forwarder does not take an actor's slot
// ERROR type 'ReferenceWritableKeyPath<Window, Optional<any Sendable & AnyObject>>' does not conform to the 'Sendable' protocol
@MainActor func send(_ window: Window, _ proxy: DynamicProxy) {
  _ = SendableDelegateForwarder(window, \.target, proxy: proxy)
}

// CASE a Sendable forwarder does not take the slot of an isolated DelegateSlotOwner
// ERROR main actor-isolated conformance of 'Owner' to 'DelegateSlotOwner' cannot satisfy conformance requirement
@MainActor final class Owner: @MainActor DelegateSlotOwner {
  var delegateSlot: (any AnyObject & Sendable)?
  func makeDelegateProxy() -> DynamicProxy {
    do { return try DynamicProxy(adopting: []) } catch { fatalError("\(error)") }
  }
}
@MainActor func send(_ owner: Owner) {
  _ = SendableDelegateForwarder(owner)
}

// CASE a Sendable forwarder does not take a proxy that is not Sendable
// ERROR type 'FetchProxy' does not conform to the 'Sendable' protocol
final class Unchecked: @unchecked Sendable {
  var delegate: (any FetchDelegate)?
}
func send(_ service: Unchecked) {
  _ = SendableDelegateForwarder(service, \.delegate, proxy: FetchProxy())
}

// CASE a Sendable forwarder does not take listeners that are not Sendable
// ERROR type 'any FetchDelegate' does not conform to the 'Sendable' protocol
final class SharedProxy: FetchDelegate, SlotProxy, Sendable {
  let forwardingProxy: DynamicProxy
  init(_ proxy: DynamicProxy) { forwardingProxy = proxy }
  func fetched(_ count: Int) {}
  var asListener: any FetchDelegate { self }
  func subscribeListener(
    _ listener: any FetchDelegate, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    try forwardingProxy.subscribe(forwardingProxy, at: position, lifetime: lifetime)
  }
}
final class SharedFetcher: Sendable {
  var delegate: (any FetchDelegate)? {
    get { nil }
    set {}
  }
}
func takeShared(_ fetcher: SharedFetcher, _ proxy: SharedProxy) {
  _ = SendableDelegateForwarder(fetcher, \.delegate, proxy: proxy)
}
