// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a proxy holds for a signal that is observed: the receiver of its
/// closure. Only the proxy's list keeps it, so its end is the end of the
/// registration, and with the proxy it dies.
@usableFromInline
internal final class SignalRegistration<Element: Sendable>: Sendable {
  @usableFromInline internal let emitter = SignalEmitter<Element>()

  fileprivate init() {}

  deinit { emitter.finish() }
}

/// The one registration with the proxy that all observers of a signal share.
///
/// | step | who | under the source's lock |
/// |---|---|---|
/// | a sink joins the emitter of the registration, which is made if there is none | joining | yes |
/// | a registration that the last one has left is taken out of the list | joining, leaving | no |
/// | the registration is put into the list, once however many do it | joining | no |
/// | a sink leaves the emitter; the last one gives the registration up | leaving | yes |
///
/// So whoever has joined gets each invocation that begins afterwards, once, and
/// no foreign code (observers of capabilities, deinitialisers) runs under the
/// lock.
package final class SignalSource<Element: Sendable>: Sendable {
  private struct State {
    weak var registration: SignalRegistration<Element>?
    /// Of the registration, to tell it from others without a reference to it.
    var emitter: SignalEmitter<Element>?
    var subscription: Subscription?
    /// One that has been given up, and may still be in the list.
    var retired: Subscription?
  }

  private let anchor: ProxyAnchor
  private let dispatch: DispatchTable
  private let state = Lock(State())

  /// Prepares the registration of a closure, whose receiver is a
  /// `SignalRegistration`.
  internal init(
    _ proxy: DynamicProxy, _ selector: MethodSelector, _ function: PackedFunction
  ) throws(ForwardingError) {
    anchor = proxy.anchor
    let method = FunctionTable.Method(selector: selector) { _ in .packed(function) }
    dispatch = try DispatchTable(
      FunctionTable(methods: [method], fault: nil), proxy.requirements, key: nil, isSingle: false)
  }

  /// The proxy, if it is alive.
  package var proxy: DynamicProxy? { anchor.proxy }

  /// Lets a sink in. Its elements are those of invocations that begin from now
  /// on. One that cannot be let in is finished; why is told to the proxy's
  /// error handler.
  package func join(_ sink: any SignalSink<Element>) -> SignalMembership<Element>? {
    guard let proxy = anchor.proxy else {
      sink.finish()
      return nil
    }
    // A reference that may be the last one leaves the lock.
    let (registration, retired) = state.withLock { state in
      let registration = state.registration ?? SignalRegistration<Element>()
      // One that lives has not ended.
      registration.emitter.add(sink)
      if state.emitter !== registration.emitter {
        state.registration = registration
        state.emitter = registration.emitter
        state.subscription = nil
      }
      return (registration, state.retired)
    }
    let membership = SignalMembership(self, sink, registration.emitter)
    retired?.cancel()
    do throws(ForwardingError) {
      let subscription = try proxy.attach(
        registration, dispatch, lifetime: .strong, duplicates: .once)
      state.withLock { state in
        if state.emitter === registration.emitter { state.subscription = subscription }
      }
      return membership
    } catch {
      membership.end()
      sink.finish()
      proxy.configuration.onError(error)
      return nil
    }
  }

  /// Lets a sink out, once. The last one ends the registration.
  fileprivate func leave(_ sink: any SignalSink<Element>, _ emitter: SignalEmitter<Element>) {
    let ended = state.withLock { state -> Subscription? in
      guard emitter.remove(sink), state.emitter === emitter else { return nil }
      let subscription = state.subscription
      state.retired = subscription
      state.registration = nil
      state.emitter = nil
      state.subscription = nil
      return subscription
    }
    guard let ended else { return }
    ended.cancel()
    state.withLock { state in
      if state.retired == ended { state.retired = nil }
    }
  }
}

/// One sink's part in a signal: until it is ended, or dies.
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

  /// Lets the sink out. It is not told.
  package func end() { source.leave(sink, emitter) }

  deinit { end() }
}
