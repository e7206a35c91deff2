// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Makes a record of each call of one method of a proxy.
///
/// A class, so that the closure that each call goes through captures one reference. A
/// closure that captures several values passes all of them to its body at each call.
internal final class CallRecorder: Sendable {
  private let method: WireMethod
  private let origin: RecordHeader.Origin
  private let encoder: WireEncoder
  private let report: @Sendable (ForwardingError) -> Void
  private let body: @Sendable (RawSpan) -> Void

  internal init(
    _ method: WireMethod, origin: RecordHeader.Origin, _ encoder: WireEncoder,
    report: @escaping @Sendable (ForwardingError) -> Void,
    _ body: @escaping @Sendable (RawSpan) -> Void
  ) {
    self.method = method
    self.origin = origin
    self.encoder = encoder
    self.report = report
    self.body = body
  }

  /// Calls the body with the record of a call.
  ///
  /// - Parameter arguments: pointers to the method's arguments.
  @inline(__always)
  @unsafe internal func record(_ arguments: ArgumentPointers) {
    do throws(WireError) {
      try unsafe encoder.encode(method, origin, arguments, body)
    } catch {
      failed(error)
    }
  }

  @inline(never)
  private func failed(_ error: WireError) { report(method.notRecorded(error.description)) }
}
