// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingTesting
import Foundation
import Testing

/// The protocol of a parser.
enum Parsing {
  static let started = Method("started:", ((String) -> Void).self)
  static let text = Method("text:at:", ((String?, Int64) -> Void).self)
  static let finished = Method("finished", (() -> Void).self)
  static let ask = Method("ask:", ((Int32) -> Int32).self)
  static let keep = Method("keep:", ((Token) -> Token?).self)
  static let limit = Method("limit", (() -> Double).self)
  static let raw = unsafe Method("raw:length:", ((UnsafePointer<CChar>, Int32) -> Void).self)

  static let table = Result { () throws(ForwardingError) in
    try ProtocolTable("Parsing") {
      $0.required(started)
      $0.required(text)
      $0.required(finished)
      $0.required(ask)
      $0.required(keep)
      $0.required(limit, default: 2.5)
      unsafe $0.required(raw)
    }
  }
}

final class Token: Sendable {
  let name: String
  private let life: Life?
  init(_ name: String, _ life: Life? = nil) {
    (self.name, self.life) = (name, life)
    life?.add(1)
  }
  deinit { life?.add(-1) }
}

/// Counts objects that live.
final class Life: @unchecked Sendable {
  // Sendable: `count` is accessed under the lock only.
  private let lock = NSLock()
  private var count = 0
  var live: Int { lock.withLock { count } }
  func add(_ number: Int) { lock.withLock { count += number } }
}

/// Runs a closure on threads that belong to no test, and waits for them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
    let group = DispatchGroup()
    for index in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(index)
        group.leave()
      }
    }
    group.notify(queue: .global()) { done.resume() }
  }
}

/// The issues that are recorded during a closure.
func issues(_ body: () throws -> Void) throws -> [(text: String, line: Int?)] {
  let found = Found()
  try withKnownIssue(isIntermittent: true) {
    try body()
  } matching: { issue in
    found.add(issue)
    return true
  }
  return found.all
}

private final class Found: @unchecked Sendable {
  // Sendable: `list` is accessed under the lock only.
  private let lock = NSLock()
  private var list: [(text: String, line: Int?)] = []
  var all: [(text: String, line: Int?)] { lock.withLock { list } }
  func add(_ issue: Issue) {
    let text = issue.comments.map(\.rawValue).joined(separator: "\n")
    lock.withLock { list.append((text, issue.sourceLocation?.line)) }
  }
}
