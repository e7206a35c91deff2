// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// The listeners of an `async` call, as they were when it began, one after the
  /// other. One that has left or died meanwhile is passed over.
  @_documentation(visibility: internal)
  public struct ForwardedListeners<Listener> {
    /// A listener that is not kept alive, and the proxies on the way to it: one
    /// of another proxy is called as long as both stay where they are.
    private struct Entry {
      weak var object: AnyObject?
      let proxies: [DynamicProxy]

      var isMember: Bool {
        guard let object, let last = proxies.last, last.contains(object) else { return false }
        return zip(proxies, proxies.dropFirst()).allSatisfy { $0.contains($1) }
      }
    }

    private let core: ForwardedCore
    private let method: Int
    private let implements: (Listener) -> Bool
    private var entries: [Entry] = []
    private var position = 0
    private var hasResponder = false
    private var sink: ForwardedErrorSink?

    internal init(
      _ core: ForwardedCore, _ method: Int, of table: ProtocolTable,
      _ implements: @escaping (Listener) -> Bool
    ) {
      self.core = core
      self.method = method
      self.implements = implements
      collect(of: [core.proxy], table)
    }

    private mutating func collect(of proxies: [DynamicProxy], _ table: ProtocolTable) {
      for object in proxies.last?.liveSubscribers ?? [] {
        guard let inner = object as? DynamicProxy else {
          entries.append(Entry(object: object, proxies: proxies))
          continue
        }
        if inner.protocols.contains(where: { $0.inherits(from: table) }) {
          collect(of: proxies + [inner], table)
        }
      }
    }

    /// The next listener that has the method; nil behind the last.
    public mutating func next() -> Listener? {
      while position < entries.count {
        let entry = entries[position]
        position += 1
        guard entry.isMember, let object = entry.object, let listener = object as? Listener,
          implements(listener)
        else { continue }
        hasResponder = true
        return listener
      }
      return nil
    }

    /// Says so to whom the configuration names, if nobody responded.
    public func finish() {
      do throws(ForwardingError) {
        try checkResponder()
      } catch {
        core.proxy.configuration.onError(error)
      }
    }

    /// Throws what listeners threw that the configuration wants collected, or if
    /// nobody responded and the configuration wants that.
    public func finishThrowing() throws {
      try sink?.finish()
      try checkResponder()
    }

    /// Throws what a listener threw, unless the configuration wants the others
    /// to be called too.
    public mutating func fail(_ error: any Error, by listener: Listener) throws {
      let selector = core.family.allMethods[method].selector
      if core.proxy.configuration.errors(of: selector) == .failFast { throw error }
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

  extension ForwardedCore {
    /// The listeners of a call that begins.
    public func listeners<Listener, Conformer>(
      _ method: Int, of family: ForwardedProtocol<Listener, Conformer>
    ) -> ForwardedListeners<Listener> {
      ForwardedListeners(self, base(of: family) + method, of: family.table) {
        family.implements($0, method)
      }
    }

    /// Whether a call would reach someone.
    public func responds<Listener, Conformer>(
      to method: Int, of family: ForwardedProtocol<Listener, Conformer>
    ) -> Bool {
      let entry = family.methods[method]
      if !entry.isAsync { return proxy.responds(to: entry.selector) }
      if proxy.configuration.responding == .declared { return true }
      var listeners = listeners(method, of: family)
      return listeners.next() != nil
    }
  }

  extension ForwardedFamily {
    /// The name of a method of the protocol.
    public func selector(_ method: Int) -> MethodSelector { methods[method].selector }
  }
#endif
