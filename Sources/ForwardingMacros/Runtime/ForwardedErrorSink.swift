// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Stands in the place of the error where a proxy wants those of all listeners:
  /// a listener that throws leaves its own here, and the next is called.
  internal final class ForwardedErrorSink: Error, @unchecked Sendable {
    // Sendable: used by the one fan-out alone.

    private let selector: MethodSelector
    private let configuration: DynamicProxy.Configuration
    private let isReporting: Bool
    private var failures: [ForwardedErrors.Failure] = []

    init(_ selector: MethodSelector, _ configuration: DynamicProxy.Configuration) {
      self.selector = selector
      self.configuration = configuration
      isReporting = configuration.errors(of: selector) == .continue
    }

    func append(_ error: any Error, by author: AnyObject?) {
      let failure = ForwardedErrors.Failure(error, by: author)
      if !isReporting { return failures.append(failure) }
      configuration.report(error, from: selector, by: failure.authorClass)
    }

    /// Throws what has been collected.
    func finish() throws(ForwardedErrors) {
      if !failures.isEmpty { throw ForwardedErrors(selector, failures) }
    }
  }

  extension ForwardedCore {
    /// Calls `body` with the address of a place for errors. It forwards to all
    /// listeners, whoever throws.
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
      // An untyped subscriber knows of no sink, and ends the fan-out.
      if let error = cell, !(error is ForwardedErrorSink) { sink.append(error, by: nil) }
      if let failure { sink.append(failure, by: nil) }
      try sink.finish()
    }
  }

  extension ForwardedArguments {
    /// Hands an error to the caller of a method without a result: what is in the
    /// register says so, and ends the fan-out, unless all errors are wanted.
    @inline(never)
    @unsafe public func fail(_ error: any Error, _ result: UInt, by author: AnyObject?) {
      // SAFETY: the slot is the address of an optional error, or null.
      if let cell = unsafe word(errorIndex)?.assumingMemoryBound(to: (any Error)?.self),
        let sink = unsafe cell.pointee as? ForwardedErrorSink
      {
        sink.append(error, by: author)
        unsafe ForwardedMarshal.store(false, result)
        return
      }
      unsafe fail(error)
      unsafe ForwardedMarshal.store(true, result)
    }

    /// Whether an error is one, and not a sink.
    @usableFromInline
    @inline(never)
    internal static func isFailure(_ error: any Error) -> Bool { !(error is ForwardedErrorSink) }
  }
#endif
