// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Foundation

/// Delivers to weak subscribers in a process with one thread, where references are counted by
/// plain loads and stores. One delivery starts a thread. After that the same happens again, by
/// atomic instructions.
///
/// Prints what is wrong, and how many checks there were.
@main struct OneThread {
  static let notify = Method("notify:", ((Int64) -> Void).self)
  static let ask = Method("ask:", ((Int64) -> Int64).self)

  static func main() throws {
    let checks = Checks()
    // Without the C library's variable the process counts atomically all the time.
    checks.expect(CLibrary.hasOneThread ?? true, "the process has one thread at first")
    try deliver(checks)
    try startThread(checks)
    checks.expect(!(CLibrary.hasOneThread ?? false), "the process has had a second thread")
    try deliver(checks)
    print("\(checks.passed) passed, \(checks.failed) failed")
    exit(checks.failed == 0 ? 0 : 1)
  }

  static func makeProxy() throws -> DynamicProxy {
    try DynamicProxy {
      $0.required(notify)
      $0.required(ask, result: .callAll(pick: .last))
    }
  }

  static func subscribe(_ subscriber: Subscriber, to proxy: DynamicProxy) throws {
    try proxy.subscribe(subscriber) {
      $0.on(notify) { subscriber, number in subscriber.take(number) }
      $0.on(ask) { subscriber, number in
        subscriber.take(number)
        return number + 1
      }
    }
  }

  // MARK: - Deliveries

  static func deliver(_ checks: Checks) throws {
    try countsStay(checks)
    try lastReferenceGoes(checks)
    try deinitialisingObjectGetsNothing(checks)
  }

  /// The counts are afterwards what they were, with and without a side table.
  static func countsStay(_ checks: Checks) throws {
    let proxy = try makeProxy()
    let subscribers = (0..<70).map { $0 % 2 == 0 ? Subscriber() : OtherSubscriber() }
    for subscriber in subscribers { try subscribe(subscriber, to: proxy) }
    // A weak variable moves an object's counts to a side table.
    weak let weakly = subscribers[3]
    let before = subscribers.map { _getRetainCount($0) }
    for number in 1...100 {
      try proxy.send(notify, Int64(number))
      checks.expect(try proxy.send(ask, Int64(number)) == Int64(number) + 1, "the last result")
    }
    checks.expect(subscribers.map { _getRetainCount($0) } == before, "references as before")
    checks.expect(subscribers.allSatisfy { $0.sum == 2 * 5050 }, "each gets all calls")
    checks.expect(weakly === subscribers[3], "an object with a side table lives")
  }

  /// A subscriber that drops its last reference lives until the end of its delivery.
  static func lastReferenceGoes(_ checks: Checks) throws {
    for hasSideTable in [false, true] {
      let proxy = try makeProxy()
      let owner = Owner()
      owner.subscriber = Subscriber()
      weak let weakly = hasSideTable ? owner.subscriber : nil
      var deaths = 0
      owner.subscriber?.onDeath = { _ in deaths += 1 }
      owner.subscriber?.onCall = { subscriber in
        owner.subscriber = nil
        checks.expect(deaths == 0 && subscriber.sum == 1, "alive during its delivery")
      }
      try owner.subscriber.map { try subscribe($0, to: proxy) }
      try proxy.send(notify, 1)
      checks.expect(deaths == 1, "dies once, behind its delivery")
      checks.expect(weakly == nil, "weak variables are empty")
      try? proxy.send(notify, 1)
      checks.expect(deaths == 1 && proxy.count == 0, "gets nothing afterwards")
    }
  }

  /// A fan-out in a subscriber's `deinit` does not deliver to it.
  static func deinitialisingObjectGetsNothing(_ checks: Checks) throws {
    let proxy = try makeProxy()
    let other = Subscriber()
    let owner = Owner()
    owner.subscriber = Subscriber()
    var calls = 0
    owner.subscriber?.onCall = { _ in calls += 1 }
    owner.subscriber?.onDeath = { _ in try? proxy.send(notify, 5) }
    try owner.subscriber.map { try subscribe($0, to: proxy) }
    try subscribe(other, to: proxy)
    owner.subscriber = nil
    checks.expect(calls == 0 && other.sum == 5, "a dying subscriber gets nothing")
  }

  // MARK: - The thread

  /// The second of three subscribers starts a thread, so its reference was taken by the plain
  /// way and is released by the other one.
  static func startThread(_ checks: Checks) throws {
    let proxy = try makeProxy()
    let subscribers = (0..<3).map { _ in Subscriber() }
    for subscriber in subscribers { try subscribe(subscriber, to: proxy) }
    subscribers[1].onCall = { _ in
      let done = DispatchSemaphore(value: 0)
      Thread { done.signal() }.start()
      done.wait()
    }
    let before = subscribers.map { _getRetainCount($0) }
    try proxy.send(notify, 7)
    checks.expect(subscribers.map { _getRetainCount($0) } == before, "a thread starts meanwhile")
    checks.expect(subscribers.allSatisfy { $0.sum == 7 }, "each gets the call of the start")
  }
}

/// What the C library knows of the process.
enum CLibrary {
  /// Whether the process certainly has one thread; nil if the C library does not tell.
  static var hasOneThread: Bool? {
    // SAFETY: glibc has a variable of one byte with this name, which lives as long as the process.
    unsafe dlsym(nil, "__libc_single_threaded").map { unsafe $0.load(as: UInt8.self) != 0 }
  }
}

/// Counts checks, and prints those that fail.
final class Checks {
  var passed = 0, failed = 0

  func expect(_ condition: Bool, _ name: String) {
    if condition {
      passed += 1
    } else {
      failed += 1
      print("failed: \(name)")
    }
  }
}

final class Owner {
  var subscriber: Subscriber?
}

class Subscriber: @unchecked Sendable {
  // Sendable: all calls come from the main thread.
  var sum: Int64 = 0
  var onCall: ((Subscriber) -> Void)?
  var onDeath: ((Subscriber) -> Void)?

  func take(_ number: Int64) {
    sum += number
    onCall?(self)
  }

  deinit { onDeath?(self) }
}

final class OtherSubscriber: Subscriber, @unchecked Sendable {
  override func take(_ number: Int64) { sum += number }
}
