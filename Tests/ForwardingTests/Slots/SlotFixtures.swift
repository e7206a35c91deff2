// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

@testable import Forwarding

// A service with a delegate as Swift programs have them: not Sendable, weak, and
// of a protocol of classes. The typed proxy is written by hand.

protocol FetchDelegate: AnyObject {
  func fetched(_ count: Int32)
  /// What a service asks before it calls a method that a delegate need not have.
  func responds(to selector: MethodSelector) -> Bool
}

extension HubRegistry {
  /// The hubs of dead services are in nobody's way. But they have weak references
  /// to them, and to the leak sanitizer what those need is lost: an object's side
  /// table is known by an address that has been shifted.
  fileprivate static let collectsAtExit: Void = {
    atexit { HubRegistry.collect() }
  }()
}

/// The optional method.
protocol FinishDelegate: FetchDelegate {
  func finished()
}

extension FetchDelegate {
  func responds(to selector: MethodSelector) -> Bool {
    selector.name != "finished" || self is any FinishDelegate
  }
}

/// A class that cannot be changed: its slot is a stored property.
class Fetcher {
  weak var delegate: (any FetchDelegate)?
  let name: String

  init(_ name: String = "") {
    self.name = name
    HubRegistry.collectsAtExit
  }

  func fetch(_ count: Int32 = 1) { delegate?.fetched(count) }

  /// Asks first.
  func finish() {
    guard let delegate, delegate.responds(to: "finished") else { return }
    (delegate as? any FinishDelegate)?.finished()
  }

  func sum(_ a: Int, _ b: Int) -> Int { a + b }
}

/// Notes its calls. Not Sendable.
class Notes {
  var lines: [String] = []
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

class FetchListener: FetchDelegate {
  let name: String
  let notes: Notes
  var action: (() -> Void)?

  init(_ name: String, _ notes: Notes) {
    self.name = name
    self.notes = notes
  }

  func fetched(_ count: Int32) {
    notes.lines.append("\(name)\(count)")
    action?()
  }
}

final class FinishListener: FetchListener, FinishDelegate {
  func finished() { notes.lines.append("\(name) finished") }
}

final class FetchProxy: FinishDelegate, SlotProxy {
  let forwardingProxy: DynamicProxy

  init(_ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }) {
    var configuration = DynamicProxy.Configuration()
    configure(&configuration)
    do {
      forwardingProxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    } catch {
      fatalError("\(error)")
    }
  }

  static let table = ProtocolTable.table("FetchDelegate") {
    $0.required("fetched:", "v@:i")
    $0.optional("finished", "v@:")
  }

  var asListener: any FetchDelegate { self }

  func fetched(_ count: Int32) { try? forwardingProxy.send("fetched:", count) }
  func finished() { try? forwardingProxy.send("finished") }
  func responds(to selector: MethodSelector) -> Bool { forwardingProxy.responds(to: selector) }

  func subscribeListener(
    _ listener: any FetchDelegate, at position: DynamicProxy.Position,
    lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    if let proxy = listener as? FetchProxy {
      return try forwardingProxy.subscribe(
        proxy.forwardingProxy, at: position, lifetime: lifetime)
    }
    // SAFETY: a proxy is used where its listeners are.
    return try unsafe forwardingProxy.unsafeSubscribe(
      listener, table: listener is FinishListener ? Self.finishing : Self.fetching, at: position,
      lifetime: lifetime)
  }

  static func subscriber(for listener: any FetchDelegate) -> AnyObject {
    (listener as? FetchProxy)?.forwardingProxy ?? listener
  }

  private static let fetching = FunctionTable(for: FetchListener.self) {
    $0.on("fetched:") { (self: FetchListener, count: Int32) in self.fetched(count) }
  }
  private static let finishing = FunctionTable(for: FinishListener.self) {
    $0.on("fetched:") { (self: FinishListener, count: Int32) in self.fetched(count) }
    $0.on("finished") { (self: FinishListener) in self.finished() }
  }
}

extension DelegateForwarder where Service: Fetcher, Proxy == FetchProxy {
  /// Takes the slot of a fetcher by its key path.
  convenience init(
    _ service: Service, options: DelegateSlotOptions = DelegateSlotOptions(),
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) {
    self.init(service, \.delegate, options: options, proxy: FetchProxy(configure))
  }
}

extension DelegateHub where Proxy == FetchProxy {
  static func of(_ fetcher: Fetcher) -> DelegateHub {
    DelegateSlots.hub(of: fetcher, \.delegate, proxy: FetchProxy())
  }
}

/// A delegate slot of a class of one's own.
final class OwnFetcher {
  @DelegateSlot(FetchProxy()) var delegate: (any FetchDelegate)?
  @DelegateSlot(FetchProxy(), options: DelegateSlotOptions(lifetime: .strong))
  var keeper: (any FetchDelegate)?
  func fetch(_ count: Int32 = 1) {
    delegate?.fetched(count)
    keeper?.fetched(count)
  }
}

/// A delegate slot of a class that can be extended.
final class TellingFetcher: Fetcher, DelegateSlotOwner {
  override var delegate: (any FetchDelegate)? {
    didSet { delegateSlotDidChange() }
  }
  var delegateSlot: (any FetchDelegate)? {
    get { delegate }
    set { delegate = newValue }
  }
  func makeDelegateProxy() -> FetchProxy { FetchProxy() }
}

/// A service whose untyped slot any thread may use.
final class SharedTarget: Sendable {
  private let state = Lock<(any AnyObject & Sendable)?>(nil)
  var target: (any AnyObject & Sendable)? {
    get { state.withLock { $0 } }
    set {
      let old = state.withLock { state in
        let old = state
        state = newValue
        return old
      }
      extendLifetime(old)
    }
  }
}
