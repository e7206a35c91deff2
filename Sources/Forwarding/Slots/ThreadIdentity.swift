// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Names a thread while it runs.
internal struct ThreadIdentity: Equatable, Sendable {
  private let value: UInt

  /// The thread of the caller.
  internal static var current: ThreadIdentity {
    #if canImport(Glibc)
      ThreadIdentity(value: UInt(pthread_self()))
    #else
      unsafe ThreadIdentity(value: UInt(bitPattern: pthread_self()))
    #endif
  }
}
