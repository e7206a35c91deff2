// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding
  internal import Synchronization

  /// What the closures of one call have in common of which one may be called, and
  /// once: the guard behind `@ReplyOnce`.
  @_documentation(visibility: internal)
  public final class ForwardedReply: @unchecked Sendable {
    // Sendable: the flag is atomic, the default is set before anybody else has
    // the object, and the rest is immutable.

    private let isUsed = Atomic(false)
    private let repeated: @Sendable () -> Void
    private var reply: (() -> Void)?

    internal init(_ repeated: @escaping @Sendable () -> Void) { self.repeated = repeated }

    deinit {
      if !isUsed.load(ordering: .acquiring) { reply?() }
    }

    /// Says what is replied if nobody does, before the closures are handed out.
    public func otherwise(_ reply: @escaping () -> Void) { self.reply = reply }

    private var isFirst: Bool {
      if !isUsed.exchange(true, ordering: .acquiringAndReleasing) { return true }
      repeated()
      return false
    }

    /// The closure, which does nothing after the first call of any of them.
    public func once<each Argument>(
      _ body: @escaping (repeat each Argument) -> Void
    ) -> (repeat each Argument) -> Void {
      { (arguments: repeat each Argument) in
        if self.isFirst { body(repeat each arguments) }
      }
    }

    /// The closure, which does nothing after the first call of any of them.
    public func sendableOnce<each Argument>(
      _ body: @escaping @Sendable (repeat each Argument) -> Void
    ) -> @Sendable (repeat each Argument) -> Void {
      { (arguments: repeat each Argument) in
        if self.isFirst { body(repeat each arguments) }
      }
    }
  }

  extension ForwardedCore {
    /// The guard of the closures of one call.
    public func reply(_ method: Int) -> ForwardedReply {
      let selector = family.allMethods[method].selector
      let report = proxy.configuration.onError
      return ForwardedReply {
        report(
          ForwardingError(
            .repeatedReply, selector: selector.name,
            "\"\(selector)\" has been replied to already"))
      }
    }
  }
#endif
