// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Values that other parts of the library store in an object, one of each type.
/// So the object does not know those parts.
internal final class Attachments: Sendable {
  private let values = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// The value of a type, which the first call makes. `make` runs under a lock.
  internal func value<Value: AnyObject & Sendable>(
    _ type: Value.Type, make: @Sendable () -> Value
  ) -> Value {
    values.withLock { values in
      let key = ObjectIdentifier(type)
      if let found = values[key] as? Value { return found }
      let made = make()
      values[key] = made
      return made
    }
  }

  /// The value of a type, if there is one.
  internal func existing<Value: AnyObject & Sendable>(_ type: Value.Type) -> Value? {
    values.withLock { $0[ObjectIdentifier(type)] as? Value }
  }
}
