// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Dispatch
  import Forwarding
  import ForwardingDelivery
  import ForwardingMacros
  import Testing

  /// Values that C has no type for: their addresses stand in the frame, and messages
  /// have copies.
  struct Reading: Sendable, Equatable {
    var texts: [String]
    var note: String?
  }

  /// Cannot be moved by a copy of its bytes.
  struct Sighting: Sendable {
    weak var object: Seen?
    var name: String
  }

  final class Seen: Sendable {}

  @Forwarded
  protocol Observatory: AnyObject, Sendable {
    func measured(_ reading: Reading, in place: String, _ level: Double)
    func sighted(_ sighting: Sighting, _ list: [Int])
  }

  @MainActor private final class Display {
    var lines: [String] = []
  }

  private final class Ledger: @unchecked Sendable {
    // Sendable: used on one queue.
    var lines: [String] = []
  }

  @Suite struct QueuedKeysTests {
    @MainActor @Test func `typed calls are delivered on the main actor with their values`()
      async throws
    {
      let observatory = ObservatoryProxy()
      let display = Display()
      let subscription = try observatory.proxy.subscribe(
        display, on: MainActor.shared, to: ObservatoryProxy.Keys.measuredIn
      ) { display, reading, place, level in
        display.lines.append("\(reading.texts) \(reading.note ?? "-") \(place) \(level)")
      }
      for index in 0..<3 {
        let reading = Reading(texts: ["text number \(index) is not small"], note: nil)
        observatory.measured(reading, in: "a place with a long name", Double(index))
      }
      await subscription.drained()
      let expected = (0..<3).map {
        "[\"text number \($0) is not small\"] - a place with a long name \(Double($0))"
      }
      #expect(display.lines == expected)
    }

    @Test func `values with weak references keep them, and are dropped whole`() async throws {
      let observatory = ObservatoryProxy()
      let (queue, ledger) = (DispatchQueue(label: "sightings"), Ledger())
      queue.suspend()
      let subscription = try observatory.proxy.subscribe(
        ledger, on: queue, to: ObservatoryProxy.Keys.sighted, overflow: .dropOldest(limit: 2)
      ) { ledger, sighting, list in
        ledger.lines.append("\(sighting.name) \(sighting.object == nil) \(list.count)")
      }
      let kept = Seen()
      for index in 0..<100 {
        observatory.sighted(
          Sighting(object: index % 2 == 0 ? kept : Seen(), name: "sighting number \(index)"),
          Array(0..<index))
      }
      queue.resume()
      await subscription.drained()
      #expect(ledger.lines == ["sighting number 98 false 98", "sighting number 99 true 99"])
      #expect(subscription.droppedCount == 98)
      withExtendedLifetime(kept) {}
    }
  }
#endif
