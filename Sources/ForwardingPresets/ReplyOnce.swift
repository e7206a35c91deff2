// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// Lets one call of a closure through that several subscribers get to reply with.
///
/// ```swift
/// let reply = ReplyOnce(default: { false }) { (isAllowed: Bool) in connection.proceed(isAllowed) }
/// for delegate in delegates { delegate.mayProceed { reply($0) } }
/// ```
///
/// Any thread may call it. The first call is let through, and later calls return at
/// once. If there is a default, it is the reply if this object and all closures that
/// refer to it are released without a call, on the thread of the last release.
public final class ReplyOnce<each Argument>: Sendable {
  private let body: @Sendable (repeat each Argument) -> Void
  private let makeDefault: (@Sendable () -> (repeat each Argument))?
  private let onRepeat: @Sendable () -> Void
  private let isUsed = Atomic(false)

  /// Creates a guard around a closure.
  ///
  /// - Parameters:
  ///   - onRepeat: called for each call but the first, on the same thread.
  ///   - makeDefault: returns the reply if there is no call; nil for none.
  ///   - body: gets the reply. It is kept until this object is deallocated.
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

  /// Calls the closure if this is the first call.
  public func callAsFunction(_ arguments: repeat each Argument) {
    if isUsed.exchange(true, ordering: .acquiringAndReleasing) { return onRepeat() }
    body(repeat each arguments)
  }
}
