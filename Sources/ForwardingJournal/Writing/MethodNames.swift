// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding
  internal import ForwardingWire

  /// The schemas of a journal, stored or still queued, with the names of their methods.
  internal final class MethodNames: Sendable {
    /// A method of a schema.
    internal struct Key: Hashable, Sendable {
      private let bits: UInt64

      @inline(__always)
      internal init(_ schema: UInt32, _ method: UInt16) {
        bits = UInt64(schema) << 16 | UInt64(method)
      }
    }

    private struct State: Sendable {
      var records: [UInt32: [UInt8]]
      var names: [Key: String] = [:]
    }

    private let state: Lock<State>

    /// - Parameter records: the stored schema records.
    internal init(_ records: [UInt32: [UInt8]]) { state = Lock(State(records: records)) }

    internal func name(_ method: Key) -> String? { state.withLock { $0.names[method] } }

    /// Adds a schema.
    ///
    /// - Parameter store: called if the schema is new, before another thread can use it.
    /// - Returns: false if another schema has the same identifier.
    internal func add(
      _ identifier: UInt32, _ record: [UInt8], _ methods: [String],
      store: (UInt32, [UInt8]) -> Void
    ) -> Bool {
      state.withLock { state in
        if let earlier = state.records[identifier], earlier != record { return false }
        for (index, name) in methods.enumerated() {
          state.names[Key(identifier, UInt16(truncatingIfNeeded: index))] = name
        }
        if state.records.updateValue(record, forKey: identifier) == nil {
          store(identifier, record)
        }
        return true
      }
    }
  }
#endif
