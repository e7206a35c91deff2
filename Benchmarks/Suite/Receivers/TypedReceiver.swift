// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import ForwardingMacros

  /// What the two classes are to a typed proxy.
  @Forwarded
  public protocol TypedReceiver: AnyObject, Sendable {
    /// Takes two numbers.
    func notify(_ count: Int64, _ scale: Double)
  }

  extension Tally: TypedReceiver {}
  extension Ledger: TypedReceiver {}
#endif
