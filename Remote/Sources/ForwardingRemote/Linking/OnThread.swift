// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// Runs a blocking closure on a new thread, so that no thread of the cooperative pool is
/// blocked.
internal func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws(RemoteError) -> Value
) async throws(RemoteError) -> Value {
  let outcome = Outcome<Value>()
  await withCheckedContinuation { continuation in
    let thread = Thread {
      outcome.store(Result { () throws(RemoteError) in try body() })
      continuation.resume()
    }
    thread.start()
  }
  return try outcome.take().get()
}

/// Hands a result from the thread that has made it to the task that waits for it.
///
/// The continuation orders the two, but the thread sanitizer does not see into the runtime
/// of Swift. It reported what the closure had written as a race with a later read, far from
/// the continuation. It sees this lock.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var result: Result<Value, RemoteError>?

  func store(_ result: Result<Value, RemoteError>) { lock.withLock { self.result = result } }

  func take() -> Result<Value, RemoteError> {
    guard let result = lock.withLock({ result }) else {
      preconditionFailure("The continuation was resumed before its result was stored.")
    }
    return result
  }
}
