// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding
  public import ForwardingWire

  extension Journal {
    /// A recorded call.
    public struct Entry: CustomStringConvertible {
      /// The position in the journal.
      public let position: Int
      /// The call: its method, time and arguments. It can be forwarded if the journal is
      /// read with a schema.
      public let record: WireRecord
      // No more than these four words: Swift returns a longer struct in memory, and destroys
      // an optional one through its metadata, which takes a tenth of a replayed call.

      /// The entry as one line of JSON: the members `position` and those of
      /// `WireRecord.json`.
      ///
      /// - Complexity: O(*n*) in the length of the record.
      public var json: String { "{\"position\":\(position)," + record.json.dropFirst() }

      /// The position, the method and the arguments.
      public var description: String { "\(position) \(record)" }
    }

    /// Which entries are read. By default all of them.
    ///
    /// ```swift
    /// let filter = Journal.Filter(methods: ["tick:symbol:"], positions: 100...200)
    /// ```
    public struct Filter: Sendable, Hashable {
      /// The names of the methods; nil for all.
      public var methods: Set<String>?
      /// The producers, as stated to ``Journal/record(_:_:producer:)``; nil for all.
      public var producers: Set<UInt32>?
      /// The range of positions. It may extend beyond the end of the journal.
      public var positions: ClosedRange<Int>
      /// The range of the calls' times, in nanoseconds since 1970 in UTC. If the system's time
      /// was set during the recording, the positions of such entries have gaps.
      public var times: ClosedRange<Int64>

      /// Creates a filter. By default it leaves nothing out.
      public init(
        methods: Set<String>? = nil, producers: Set<UInt32>? = nil,
        positions: ClosedRange<Int> = 1...Int.max,
        times: ClosedRange<Int64> = Int64.min...Int64.max
      ) {
        self.methods = methods
        self.producers = producers
        self.positions = positions
        self.times = times
      }

      internal func admits(_ record: WireRecord) -> Bool {
        times.contains(record.time) && producers?.contains(record.producer) ?? true
          && methods?.contains(record.selector.name) ?? true
      }
    }
  }
#endif
