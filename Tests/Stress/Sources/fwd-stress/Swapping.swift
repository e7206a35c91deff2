// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import Synchronization

/// Subscribers of which several are replaced at once. Each fan-out must reach one of every
/// place, and all of one version of a pair.
final class Swapping: Sendable {
  private static let ask = Method("ask:", ((Int64) -> Int64).self)
  private static let placeCount = 4
  /// What a subscriber of the first half of a pair adds, so that both halves can be told apart.
  private static let unit: Int64 = 1 << 20

  private let proxy: DynamicProxy
  private let places: [PosixLock<[DynamicProxy.Token]>]
  private let versions = Atomic<Int64>(0)

  init(_ configuration: DynamicProxy.Configuration) throws {
    proxy = try DynamicProxy("Swapping", configuration: configuration) {
      $0.optional(Self.ask, result: .reduce(Int64(0), +))
    }
    places = try (0..<Self.placeCount).map { [proxy] _ in
      PosixLock(try Self.pair(1, proxy))
    }
    versions.store(1, ordering: .relaxed)
  }

  /// Two subscribers whose results have the sum 1 only together: one adds its version, the
  /// other takes it away.
  private static func pair(
    _ version: Int64, _ proxy: DynamicProxy
  ) throws -> [DynamicProxy.Token] {
    [
      try proxy.subscribe(at: version % 2 == 0 ? .first : .last) {
        $0.on(ask) { (_: Int64) in version * unit + 1 }
      },
      try proxy.subscribe(at: version % 3 == 0 ? .first : .last) {
        $0.on(ask) { (_: Int64) in -version * unit }
      },
    ]
  }

  /// Fans out, and checks who has answered.
  func forward() {
    violations.unfailing("a fan-out while subscribers are replaced") {
      let sum = try proxy.send(Self.ask, 0)
      violations.check(
        sum == Int64(Self.placeCount), "a fan-out has seen a part of a change: \(sum)")
    }
  }

  /// Replaces a pair, or begins to and gives up.
  func swap(_ random: inout Random) {
    struct GivenUp: Error {}
    let (place, givesUp) = (places[random.below(places.count)], random.isOneOf(4))
    let version = versions.add(1, ordering: .relaxed).newValue
    place.withLock { tokens in
      do {
        try proxy.change { proxy in
          let new = try Self.pair(version, proxy)
          for token in tokens { token.cancel() }
          if givesUp { throw GivenUp() }
          tokens = new
        }
      } catch is GivenUp {
        violations.check(
          tokens.allSatisfy(\.isLive), "a change that was given up has ended a subscription")
      } catch {
        violations.note("a change: \(error)")
      }
    }
  }
}
