// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// One fan-out as its thread sees it. Its address goes through the proxy as an
/// argument, so that deliveries find it.
final class Fan {
  let worker: Worker
  /// How many fan-outs of this thread it runs inside of.
  let depth: Int
  /// Which one it is, of all.
  let ticket: Int64
  let method: Method
  /// The moment at which it began, and that by which members had joined.
  let begin: Int
  let joinedBy: Int
  /// What its members do, for a fan-out of `nest:fan:level:`.
  let nesting: Nesting?
  private(set) var deliveries = 0
  /// The fan-outs that its deliveries have made for the nesting, and the
  /// deliveries of these.
  var nestedFans = 0
  var nestedSum = 0
  /// The members that stay in its proxy, and the calls of each.
  private let scope: Range<Int>
  private var calls: [Int]
  private var nextFixed: Int

  /// The methods of the protocol.
  enum Method {
    case strike, weigh, shade, claim, nest
  }

  init(
    _ worker: Worker, _ method: Method, joinedBy: Int? = nil,
    scope: Range<Int> = Stage.mainMembers, nesting: Nesting? = nil
  ) {
    self.worker = worker
    self.method = method
    self.scope = scope
    self.nesting = nesting
    nextFixed = scope.lowerBound
    depth = worker.depth
    ticket = worker.nextTicket()
    begin = clock.load(ordering: .sequentiallyConsistent)
    self.joinedBy = joinedBy ?? begin
    calls = Array(repeating: 0, count: Stage.steadyCount)
  }

  var address: Int64 {
    // SAFETY: the address only names the object.
    unsafe Int64(Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()))
  }

  /// The fan-out at an address, which is under way on this thread.
  static func at(_ address: Int64) -> Fan {
    // SAFETY: whoever forwards has the object until all deliveries are made.
    unsafe Unmanaged<Fan>.fromOpaque(UnsafeRawPointer(bitPattern: Int(address))!)
      .takeUnretainedValue()
  }

  /// Takes note of a delivery.
  func note(_ member: Member) {
    deliveries += 1
    guard let number = member.steady else { return }
    calls[number] += 1
    guard number < scope.lowerBound + Stage.fixedCount else { return }
    violations.check(number == nextFixed, "member \(number) was called out of order")
    nextFixed = number + 1
  }

  /// Checks that each member that stays in the proxy was called once, and none
  /// of another proxy.
  func checkSteady() {
    for (number, count) in calls.enumerated() where count != (scope.contains(number) ? 1 : 0) {
      violations.note("member \(number) got \(count) calls of one fan-out (\(method))")
    }
  }
}
