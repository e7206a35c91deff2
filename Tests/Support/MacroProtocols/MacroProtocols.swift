// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import ForwardingMacros

  /// A protocol that others inherit from in another module.
  @Forwarded
  public protocol Opening: AnyObject {
    /// Takes numbers.
    func opened(_ count: Int, at time: Double)
    /// Gives a text.
    @DefaultResult("closed") func state(_ row: Int) -> String
    /// May be left out.
    @Optional func closed(_ reason: String) throws -> Int
    /// May be set.
    var width: Int { get set }
    /// Waits.
    func wait(_ text: String) async throws -> String
  }

  /// Protocols in a type.
  public enum Nest {
    /// For any thread.
    @Forwarded
    public protocol Bird: AnyObject, Sendable {
      /// Takes nothing.
      func sing()
    }
  }
#endif
