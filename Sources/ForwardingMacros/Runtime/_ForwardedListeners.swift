// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// The listeners of an `async` call, one after the other. They are those that
  /// were subscribed when the call began, except listeners that have
  /// unsubscribed, died or been blocked before their turn. For generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedListeners<Listener> {
    /// A listener, which is not kept alive, and the chain of proxies through
    /// which the call reaches it.
    private struct Entry {
      weak var object: AnyObject?
      let subscription: DynamicProxy.Subscription
      let hops: [Hop]
    }

    /// A proxy that is subscribed to another one. The call counts as one
    /// delivery to it, however many listeners it has.
    private final class Hop {
      let subscription: DynamicProxy.Subscription
      private var hasBegun = false
      private var isLast = false

      init(_ subscription: DynamicProxy.Subscription) { self.subscription = subscription }

      /// Whether the delivery to the proxy has begun, or may begin.
      var isOpen: Bool { hasBegun && isLast || subscription.isOpen }

      /// Begins the delivery if no earlier listener has.
      func begin() -> Bool {
        if hasBegun { return isOpen }
        guard case .begun(_, let isLast) = subscription.beginDelivery() else { return false }
        (hasBegun, self.isLast) = (true, isLast)
        return true
      }
    }

    private let core: _ForwardedCore
    private let method: Int
    private let implements: (Listener) -> Bool
    private var entries: [Entry] = []
    private var position = 0
    private var hasResponder = false
    private var sink: ForwardedErrorSink?

    internal init(
      _ core: _ForwardedCore, _ method: Int, of table: ProtocolTable,
      _ implements: @escaping (Listener) -> Bool
    ) {
      self.core = core
      self.method = method
      self.implements = implements
      collect(of: core.proxy, table, [])
    }

    private mutating func collect(of proxy: DynamicProxy, _ table: ProtocolTable, _ hops: [Hop]) {
      for (object, subscription) in proxy.liveSubscriptions {
        guard let inner = object as? DynamicProxy else {
          entries.append(Entry(object: object, subscription: subscription, hops: hops))
          continue
        }
        if inner.protocols.contains(where: { $0.inherits(from: table) }) {
          collect(of: inner, table, hops + [Hop(subscription)])
        }
      }
    }

    /// The listener of an entry; nil if it lacks the method or must not be
    /// called.
    private func listener(of entry: Entry) -> Listener? {
      guard entry.hops.allSatisfy(\.isOpen), entry.subscription.isOpen,
        let listener = entry.object as? Listener, implements(listener)
      else { return nil }
      return listener
    }

    /// Whether some listener would be called.
    internal var responds: Bool { entries.contains { listener(of: $0) != nil } }

    /// Returns the next listener that has the method, or nil if there are no
    /// more. Each listener counts as a delivery of its subscription.
    public mutating func next() -> Listener? {
      while position < entries.count {
        let entry = entries[position]
        position += 1
        guard let listener = listener(of: entry), entry.hops.allSatisfy({ $0.begin() }),
          case .begun = entry.subscription.beginDelivery()
        else { continue }
        hasResponder = true
        return listener
      }
      return nil
    }

    /// Must be called after the last listener. If none responded, calls the
    /// error handler as the configuration says.
    public func finish() {
      core.finishCall()
      do throws(ForwardingError) {
        try checkResponder()
      } catch {
        core.proxy.configuration.onError(error)
      }
    }

    /// Must be called after the last listener of a method that throws. Throws
    /// the collected errors, or an error if no listener responded and the
    /// configuration says so.
    public func finishThrowing() throws {
      core.finishCall()
      try sink?.finish()
      try checkResponder()
    }

    /// Throws the error of a listener, or collects it if the configuration says
    /// that the other listeners are called, too.
    public mutating func fail(_ error: any Error, by listener: Listener) throws {
      let selector = core.family.allMethods[method].selector
      if core.proxy.configuration.listenerErrors(of: selector) == .failFast { throw error }
      let sink = sink ?? ForwardedErrorSink(selector, core.proxy.configuration)
      sink.append(error, by: listener as AnyObject)
      self.sink = sink
    }

    private func checkResponder() throws(ForwardingError) {
      if hasResponder { return }
      switch core.proxy.configuration.noResponder {
      case .fail: throw core.noResponder(method)
      case .report: core.proxy.configuration.onError(core.noResponder(method))
      default: return
      }
    }
  }

  extension _ForwardedCore {
    /// Returns the listeners of a call that begins now.
    public func listeners<Listener>(
      _ method: Int, of family: _ForwardedProtocol<Listener>
    ) -> _ForwardedListeners<Listener> {
      _ForwardedListeners(self, base(of: family) + method, of: family.table) {
        family.implements($0, method)
      }
    }

    /// Whether a call of the method would get a response.
    public func responds<Listener>(
      to method: Int, of family: _ForwardedProtocol<Listener>
    ) -> Bool {
      let entry = family.methods[method]
      if !entry.isAsync { return proxy.responds(to: entry.selector) }
      if proxy.configuration.responding == .declared { return true }
      return listeners(method, of: family).responds
    }
  }

  extension _ForwardedFamily {
    /// The selector of a method of the protocol.
    public func selector(_ method: Int) -> MethodSelector { methods[method].selector }
  }
#endif
