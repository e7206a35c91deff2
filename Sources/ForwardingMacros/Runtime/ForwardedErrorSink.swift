// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Collects the errors of all listeners of a call. It is passed as the error
  /// of the call: a listener that throws adds its error here, and the fan-out
  /// goes on.
  internal final class ForwardedErrorSink: Error, @unchecked Sendable {
    // Sendable: only one fan-out uses it, on one thread.

    private let selector: MethodSelector
    private let configuration: DynamicProxy.Configuration
    private let isReporting: Bool
    private var failures: [ForwardedErrors.Failure] = []

    init(_ selector: MethodSelector, _ configuration: DynamicProxy.Configuration) {
      self.selector = selector
      self.configuration = configuration
      isReporting = configuration.listenerErrors(of: selector) == .continue
    }

    func append(_ error: any Error, by author: AnyObject?) {
      let failure = ForwardedErrors.Failure(error, by: author)
      if !isReporting { return failures.append(failure) }
      configuration.report(error, from: selector, by: failure.authorClass)
    }

    /// Throws the collected errors, if there are any.
    func finish() throws(ForwardedErrors) {
      if !failures.isEmpty { throw ForwardedErrors(selector, failures) }
    }
  }

  extension _ForwardedCore {
    /// Calls `body`, which forwards to all listeners, with the address of an
    /// optional error that has a sink. Then throws the collected errors.
    @usableFromInline
    @inline(never)
    internal func collecting(
      _ method: Int, _ body: (UInt) throws(ForwardingError) -> Bool
    ) throws {
      let sink = ForwardedErrorSink(family.allMethods[method].selector, proxy.configuration)
      var cell: (any Error)? = sink
      var failure: ForwardingError?
      do throws(ForwardingError) {
        _ = try unsafe withUnsafeMutablePointer(to: &cell) { cell throws(ForwardingError) in
          try body(UInt(bitPattern: cell))
        }
      } catch {
        if error.code != .noResponder { failure = error }
      }
      // An untyped subscriber replaces the sink by its error, which ends the
      // fan-out.
      if let error = cell, !(error is ForwardedErrorSink) { sink.append(error, by: nil) }
      if let failure { sink.append(failure, by: nil) }
      try sink.finish()
    }
  }

  extension _ForwardedArguments {
    /// Passes an error to the caller of a method without a result. The register
    /// says that there is an error, which ends the fan-out. If the caller has
    /// passed a sink, the error is added to it, and the fan-out goes on.
    @inline(never)
    @unsafe public func fail(_ error: any Error, by author: AnyObject?) {
      // SAFETY: the argument is the address of an optional error, or null.
      if let cell = unsafe word(errorIndex)?.assumingMemoryBound(to: (any Error)?.self),
        let sink = unsafe cell.pointee as? ForwardedErrorSink
      {
        sink.append(error, by: author)
        unsafe _ForwardedMarshal.store(false, result)
        return
      }
      unsafe fail(error)
      unsafe _ForwardedMarshal.store(true, result)
    }

    /// Whether an error is not a sink.
    @usableFromInline
    @inline(never)
    internal static func isFailure(_ error: any Error) -> Bool { !(error is ForwardedErrorSink) }
  }
#endif
