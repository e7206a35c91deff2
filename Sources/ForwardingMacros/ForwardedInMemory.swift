// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// Stands in a typed proxy's `Keys` for the key of a method whose result type C does not
  /// have.
  ///
  /// Such a result is returned in memory that the caller passes, so the method has no
  /// method key. Use `ForwardedProxy.on(_:at:_:)` and the other functions of the typed
  /// proxy instead.
  public struct ForwardedInMemory<Output>: Sendable {}
#endif
