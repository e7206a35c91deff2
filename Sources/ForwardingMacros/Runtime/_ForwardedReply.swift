// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding
  internal import Synchronization

  /// The state that all closures of one call share, for `@ReplyOnce`: of all
  /// these closures, only one call is let through. For generated code.
  @_documentation(visibility: internal)
  public final class _ForwardedReply: @unchecked Sendable {
    // Sendable: the flag is atomic, `reply` is set before another thread has
    // the object, and the rest is immutable.

    private let isUsed = Atomic(false)
    private let repeated: @Sendable () -> Void
    private var reply: (() -> Void)?

    internal init(_ repeated: @escaping @Sendable () -> Void) { self.repeated = repeated }

    deinit {
      if !isUsed.load(ordering: .acquiring) { reply?() }
    }

    /// Sets the reply for the case that no closure is called. Must be called
    /// before the closures are passed on.
    public func otherwise(_ reply: @escaping () -> Void) { self.reply = reply }

    private var isFirst: Bool {
      if !isUsed.exchange(true, ordering: .acquiringAndReleasing) { return true }
      repeated()
      return false
    }

    /// Wraps a closure. The first call of any wrapped closure is let through;
    /// later calls only report an error.
    public func once<each Argument>(
      _ body: @escaping (repeat each Argument) -> Void
    ) -> (repeat each Argument) -> Void {
      { (arguments: repeat each Argument) in
        if self.isFirst { body(repeat each arguments) }
      }
    }

    /// Wraps a `Sendable` closure, as `once(_:)` does.
    public func sendableOnce<each Argument>(
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) -> @Sendable (repeat each Argument) -> Void {
      { (arguments: repeat each Argument) in
        if self.isFirst { body(repeat each arguments) }
      }
    }
  }

  extension _ForwardedCore {
    /// Creates the shared state of the closures of one call.
    public func reply(_ method: Int) -> _ForwardedReply {
      let selector = family.allMethods[method].selector
      let report = proxy.configuration.onError
      return _ForwardedReply {
        report(
          ForwardingError(
            .repeatedReply, selector: selector.name,
            "\"\(selector)\" has been replied to already"))
      }
    }
  }
#endif
