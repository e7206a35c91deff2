// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  // Listeners that are called later, by the module ForwardingDelivery.

  extension ForwardedProxy where Self: DeliveringProxy {
    /// Returns the values that a delivery to a listener needs.
    @_documentation(visibility: internal)
    public func _delivery(
      to listener: _Conformer
    ) throws(ForwardingError) -> _ListenerDelivery {
      try Self._protocol.delivery(to: listener, by: _forwarding.proxy)
    }
  }

  extension _ForwardedProtocol {
    fileprivate func delivery(
      to listener: Listener, by proxy: DynamicProxy
    ) throws(ForwardingError) -> _ListenerDelivery {
      let implementations = implementations(listener)
      for implementation in implementations { try implementation.method.checkIsDeliverable() }
      let object = Words(listener).object
      var isolation = _ListenerDelivery.Isolation.none
      if implementations.contains(where: \.isIsolated) {
        // The cast succeeds only on the actor.
        isolation = object as? Listener == nil ? .elsewhere : .here
      }
      // A typed proxy is called as any other listener, since its own listeners are
      // called there, too.
      return _ListenerDelivery(
        to: object, isolation, functionTable(for: listener) ?? makeTable(implementations),
        implementations.map { _ListenerDelivery.Method($0.method.selector, $0.method.values) },
        by: proxy)
    }
  }

  extension ForwardedImplementation {
    fileprivate var isIsolated: Bool { Self.isIsolated(conformance) }

    /// Whether the class of a witness table conforms on a global actor only.
    internal static func isIsolated(_ conformance: UInt) -> Bool {
      // SAFETY: a witness table begins with the address of its conformance descriptor:
      // three relative addresses of four bytes, then the flags
      // (ConformanceFlags in swift/ABI/MetadataValues.h).
      guard let table = unsafe UnsafePointer<UnsafeRawPointer>(bitPattern: conformance) else {
        return false
      }
      let flags = unsafe table.pointee.load(fromByteOffset: 12, as: UInt32.self)
      return flags & 0x0008_0000 != 0
    }
  }

  extension ForwardedMethod {
    /// Checks that a call of the method can be made later. The result, if it is in a
    /// register, depends on the proxy's policy.
    ///
    /// - Throws: `ForwardingError` with the code `notMailable`.
    fileprivate func checkIsDeliverable() throws(ForwardingError) {
      let reason: String
      if isAsync {
        reason = "is async"
      } else if isThrowing {
        reason = "throws"
      } else if arguments.contains(where: { $0.hasPrefix("N") }) {
        reason = "has an inout parameter"
      } else if isResultHidden {
        reason = "returns its result, \(result.inWords), in memory"
      } else {
        return
      }
      throw ForwardingError(
        .notMailable, selector: selector.name,
        """
        "\(selector)" \(reason), so a listener that is called later cannot have it: expected methods \
        that only take arguments, or a listener that leaves this one out if it is optional
        """)
    }
  }
#endif
