// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  /// The errors that listeners threw from one call, if `Configuration.listenerErrors`
  /// is `collect`.
  public struct ForwardedErrors: Error, Sendable {
    /// An error of one listener.
    public struct Failure: Sendable {
      /// The error.
      public let error: any Error
      /// The listener that threw the error; nil for an untyped subscriber, which does
      /// not say.
      public let author: ObjectIdentifier?
      /// The class of that listener, or nil.
      public let authorClass: String?

      /// Names an error and its author.
      internal init(_ error: any Error, by author: AnyObject?) {
        self.error = error
        self.author = author.map { ObjectIdentifier($0) }
        authorClass = author.map { String(describing: type(of: $0)) }
      }
    }

    /// The method.
    public let selector: MethodSelector
    /// The errors in the order of delivery; there is at least one.
    public let failures: [Failure]

    internal init(_ selector: MethodSelector, _ failures: [Failure]) {
      self.selector = selector
      self.failures = failures
    }
  }

  extension ForwardedErrors: CustomStringConvertible {
    /// The method, and each error with its author.
    public var description: String {
      let list = failures.map { "\($0.authorClass ?? "a subscriber"): \($0.error)" }
      return "\(failures.count) failed in \"\(selector)\": \(list.joined(separator: "; "))"
    }
  }
#endif
