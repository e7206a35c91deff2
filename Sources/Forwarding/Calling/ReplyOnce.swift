// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// A reply that may be given once: a closure handed to several subscribers, of
/// whom the first answers.
///
/// ```swift
/// let reply = ReplyOnce(default: { false }) { (isAllowed: Bool) in connection.proceed(isAllowed) }
/// for delegate in delegates { delegate.mayProceed { reply($0) } }
/// ```
///
/// It may be called from any thread: one call is let through, the others return
/// at once. If there is a default, it is given when the reply and all
/// closures that refer to it have died without a call, on the thread of the last.
public final class ReplyOnce<each Argument>: Sendable {
  private let body: @Sendable (repeat each Argument) -> Void
  private let makeDefault: (@Sendable () -> (repeat each Argument))?
  private let onRepeat: @Sendable () -> Void
  private let isUsed = Atomic(false)

  /// Guards a reply.
  ///
  /// - Parameters:
  ///   - onRepeat: told of each call but the first, on its thread.
  ///   - makeDefault: what is replied if nobody does; nil for nothing.
  ///   - body: takes the reply. It is kept until this object dies.
  public init(
    onRepeat: @escaping @Sendable () -> Void = {},
    default makeDefault: (@Sendable () -> (repeat each Argument))? = nil,
    _ body: @escaping @Sendable (repeat each Argument) -> Void
  ) {
    self.body = body
    self.makeDefault = makeDefault
    self.onRepeat = onRepeat
  }

  deinit {
    if let makeDefault, !isUsed.load(ordering: .acquiring) {
      let value = makeDefault()
      body(repeat each value)
    }
  }

  /// Replies, unless somebody has done so before.
  public func callAsFunction(_ arguments: repeat each Argument) {
    if isUsed.exchange(true, ordering: .acquiringAndReleasing) { return onRepeat() }
    body(repeat each arguments)
  }
}
