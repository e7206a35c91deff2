// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  // A typed proxy can be the delegate in a slot: the requirements of
  // `SlotProxy`.
  extension ForwardedProxy {
    /// This proxy as a value of its protocol's type.
    public var asListener: Listener {
      guard let listener = self as? Listener else {
        preconditionFailure("\(Self.self) does not conform to its protocol")
      }
      return listener
    }

    /// The untyped proxy with the list of listeners.
    @unsafe public var forwardingProxy: DynamicProxy { _forwarding.proxy }

    /// Subscribes a listener at a position.
    ///
    /// The caller promises to use it where the listener may be used.
    ///
    /// - Throws: `ForwardingError`, as `subscribe(_:at:lifetime:)`.
    @unsafe public func subscribeListener(
      _ listener: Listener, at position: DynamicProxy.Position, lifetime: DynamicProxy.Lifetime
    ) throws(ForwardingError) -> DynamicProxy.Subscription {
      try subscribe(listener, at: position, lifetime: lifetime)
    }

    /// The object of a listener.
    public static func object(of listener: Listener) -> AnyObject {
      _ForwardedProtocol<_Conformer>.Words(_conformer(listener)).object
    }

    /// The object that is subscribed for a listener: the listener itself, or
    /// the untyped proxy of a typed proxy.
    ///
    /// The caller promises to use it where the listener may be used: an untyped
    /// proxy is `Sendable`, though its typed proxy may not be.
    @unsafe public static func subscriber(for listener: Listener) -> AnyObject {
      listed(listener)
    }

    /// The object that is subscribed for a listener.
    internal static func listed(_ listener: Listener) -> AnyObject {
      Self._protocol.subscriber(_conformer(listener))
    }
  }
#endif
