// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The receiver of a signal's closure while the signal is observed. Only the
/// proxy's list keeps it, so it dies when its subscription has ended, and with
/// the proxy.
@usableFromInline
internal final class SignalRegistration<Element: Sendable>: Sendable {
  @usableFromInline internal let emitter: SignalEmitter<Element>

  fileprivate init(_ lock: SignalLock) { emitter = SignalEmitter(lock) }

  deinit { emitter.finish() }
}

/// The registration with the proxy that all sinks of a signal share.
///
/// | step | by | under the source's lock |
/// |---|---|---|
/// | a sink joins the emitter of the registration, which is made if there is none | joining | yes |
/// | a registration that the last sink has left is unsubscribed | joining, leaving | no |
/// | the registration is subscribed, once however many sinks join | joining | no |
/// | a sink leaves the emitter; the last one retires the registration | leaving | yes |
///
/// So a sink that has joined gets each invocation that begins afterwards, once,
/// and no foreign code (observers of capabilities, `deinit`) runs under the lock.
///
/// A registration whose subscription has been ended by others, as by
/// `unsubscribeAll()`, is not used again, though a delivery under way may still
/// have it: its sinks are finished, and the next sink makes another.
package final class SignalSource<Element: Sendable>: Sendable {
  private struct State {
    weak var registration: SignalRegistration<Element>?
    /// The registration's emitter, which names the registration without a
    /// reference to it.
    var emitter: SignalEmitter<Element>?
    /// The registration's subscription; nil until it has been made.
    var subscription: DynamicProxy.Subscription?
    /// A subscription that the last sink has left, and that may not have been
    /// cancelled yet.
    var retired: DynamicProxy.Subscription?
  }

  private let reference: ProxyReference
  private let dispatch: DispatchTable
  private let position: DynamicProxy.Position
  private let state = Lock(State())
  /// The lock of emitters and of iterators' channels. It may be taken while the lock of
  /// the state is held.
  internal let lock = SignalLock(())

  /// Prepares the registration of a closure, whose receiver is a
  /// `SignalRegistration`.
  internal init(
    _ proxy: DynamicProxy, _ selector: MethodSelector, _ position: DynamicProxy.Position,
    _ function: PackedFunction
  ) throws(ForwardingError) {
    reference = proxy.reference
    self.position = position
    let method = FunctionTable.Method(selector: selector) { _ in .packed(function) }
    dispatch = try DispatchTable(
      JoinedTable(FunctionTable(methods: [method], fault: nil), proxy.core.plan),
      isSingle: false)
  }

  /// The proxy, if it is alive.
  package var proxy: DynamicProxy? { reference.proxy }

  /// Adds a sink. Its elements are those that are emitted from now on. If the
  /// proxy refuses the subscription, the sink is finished, and the proxy's error
  /// handler is told why.
  package func join(_ sink: any SignalSink<Element>) -> SignalMembership<Element>? {
    do throws(ForwardingError) {
      return try subscribe(sink)
    } catch {
      reference.proxy?.configuration.onError(error)
      return nil
    }
  }

  /// Does the same, but throws the reason if the proxy refuses the subscription.
  internal func subscribe(
    _ sink: any SignalSink<Element>
  ) throws(ForwardingError) -> SignalMembership<Element>? {
    guard let proxy = reference.proxy else {
      sink.finish()
      return nil
    }
    forgetEnded(proxy)
    // All references are released outside the lock, since they may be the last.
    let (registration, isSubscribed, retired) = state.withLock { state in
      let registration = state.registration ?? SignalRegistration<Element>(lock)
      // A registration that lives has not finished its emitter.
      registration.emitter.add(sink)
      if state.emitter !== registration.emitter {
        state.registration = registration
        state.emitter = registration.emitter
        state.subscription = nil
      }
      return (registration, state.subscription != nil, state.retired)
    }
    let membership = SignalMembership(self, sink, registration.emitter)
    retired?.cancel()
    // Another thread has subscribed the registration. If that has ended since,
    // the sink is finished with the others.
    if isSubscribed { return membership }
    do throws(ForwardingError) {
      let subscription = try proxy.attach(
        registration, dispatch, at: position, lifetime: .strong, duplicates: .once)
      let isKept = state.withLock { state in
        guard state.emitter === registration.emitter else { return false }
        // Another thread may have subscribed it, too, since the first subscription had ended. The
        // later one has the greater number.
        if let other = state.subscription, other.identifier > subscription.identifier {
          return false
        }
        state.subscription = subscription
        return true
      }
      // The registration has been finished or subscribed once more, so nobody would end this one.
      if !isKept { subscription.end() }
      return membership
    } catch {
      membership.end()
      sink.finish()
      throw error
    }
  }

  /// Forgets the registration if its subscription has been ended by others, and
  /// finishes its sinks.
  private func forgetEnded(_ proxy: DynamicProxy) {
    let known = state.withLock { state in
      state.subscription.flatMap { subscription in state.emitter.map { (subscription, $0) } }
    }
    guard let (subscription, emitter) = known, !proxy.subscribers.isLive(subscription.identifier)
    else { return }
    state.withLock { state in
      guard state.emitter === emitter else { return }
      state.registration = nil
      state.emitter = nil
      state.subscription = nil
    }
    emitter.finish()
  }

  /// Removes a sink, once. The last one ends the registration.
  fileprivate func leave(_ sink: any SignalSink<Element>, _ emitter: SignalEmitter<Element>) {
    let ended = state.withLock { state -> DynamicProxy.Subscription? in
      guard emitter.remove(sink), state.emitter === emitter else { return nil }
      let subscription = state.subscription
      state.retired = subscription
      state.registration = nil
      state.emitter = nil
      state.subscription = nil
      return subscription
    }
    guard let ended else { return }
    ended.end()
    state.withLock { state in
      if state.retired == ended { state.retired = nil }
    }
  }
}

/// The membership of one sink in a signal, which ends when this dies.
package final class SignalMembership<Element: Sendable>: Sendable {
  private let source: SignalSource<Element>
  private let sink: any SignalSink<Element>
  private let emitter: SignalEmitter<Element>

  fileprivate init(
    _ source: SignalSource<Element>, _ sink: any SignalSink<Element>,
    _ emitter: SignalEmitter<Element>
  ) {
    self.source = source
    self.sink = sink
    self.emitter = emitter
  }

  /// Removes the sink, without finishing it.
  package func end() { source.leave(sink, emitter) }

  deinit {
    end()
    // A thread may wait for room in the channel of an iterator that has died.
    (sink as? SignalChannel<Element>)?.cancel()
  }
}
