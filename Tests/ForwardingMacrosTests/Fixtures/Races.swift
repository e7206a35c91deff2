// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Uses of queued listeners that could race. The compiler must report each at the line
// that a comment marks, and no line without one. It looks for races in files without
// other errors.

import Dispatch
import ForwardingDelivery
import ForwardingMacros

@Forwarded(sendable: true)
protocol Sent: AnyObject {
  func call()
}

/// May be used in one isolation domain only.
final class Lonely: Sent {
  func call() {}
}

@MainActor final class OnMain: @MainActor Sent {
  func call() {}
}

final class Shared: Sent, Sendable {
  func call() {}
}

@globalActor actor Elsewhere { static let shared = Elsewhere() }

@Elsewhere final class OnElsewhere: @Elsewhere Sent {
  func call() {}
}

/// What needs no promise.
@MainActor func allowed(_ proxy: SentProxy, _ onMain: OnMain, _ shared: Shared) throws {
  try proxy.subscribe(onMain, on: MainActor.shared)
  let queue = DispatchQueue(label: "q")
  try proxy.subscribe(shared, on: queue)
  try proxy.subscribe(shared, on: queue)
  try proxy.subscribe(Lonely(), on: queue, lifetime: .strong)
  try proxy.subscribe(shared)
  Task.detached { proxy.call() }
}

@Elsewhere func allowed(_ proxy: SentProxy, _ onElsewhere: OnElsewhere) throws {
  try proxy.subscribe(onElsewhere, on: Elsewhere.shared)
}

actor Home {
  let lonely = Lonely()

  func allowed(_ proxy: SentProxy) throws {
    try proxy.subscribe(lonely, on: self)
    lonely.call()
  }

  func elsewhere(_ proxy: SentProxy) throws {
    try proxy.subscribe(lonely, on: DispatchQueue.main)  // error: risks causing data races
  }
}

@MainActor func usedElsewhereToo(_ proxy: SentProxy) throws {
  let lonely = Lonely()
  try proxy.subscribe(lonely, on: MainActor.shared)
  Task.detached { lonely.call() }  // error: risks causing data races
}

func belongsToTheCaller(_ proxy: SentProxy, _ lonely: Lonely) async throws {
  _ = try await proxy.subscribe(lonely, on: MainActor.shared)  // error: risks causing data races
}

@MainActor func belongsToTheMainActor(_ proxy: SentProxy, _ lonely: Lonely) async throws {
  _ = try await proxy.subscribe(lonely, on: Elsewhere.shared)  // error: risks causing data races
}

func keptByTheCaller(_ proxy: SentProxy, _ lonely: Lonely) throws {
  try proxy.subscribe(lonely, on: DispatchQueue.main)  // error: risks causing data races
}

func usedAfterwards(_ proxy: SentProxy) throws {
  let lonely = Lonely()
  try proxy.subscribe(lonely, on: DispatchQueue.main)  // error: risks causing data races
  lonely.call()
}

@MainActor func onAQueue(_ proxy: SentProxy, _ onMain: OnMain) throws {
  try proxy.subscribe(onMain, on: DispatchQueue.main)  // warning: risks causing data races
}

@MainActor func onAnotherActor(_ proxy: SentProxy, _ onMain: OnMain) async throws {
  _ = try await proxy.subscribe(onMain, on: Elsewhere.shared)  // warning: risks causing data races
}

@MainActor @Forwarded
protocol OnScreen: AnyObject {
  func draw()
}

/// Conforms anywhere, so that its objects belong to whatever made them.
final class Painter {
  var count = 0
}
extension Painter: OnScreen {
  func draw() { count += 1 }
}

@MainActor final class Canvas {
  weak var delegate: (any OnScreen)?
}

@MainActor func allowed(_ proxy: OnScreenProxy, _ canvas: Canvas) throws {
  let painter = Painter()
  try proxy.subscribe(painter, lifetime: .strong)
  try proxy.setForwardTarget(painter)
  try DelegateForwarder(canvas, \.delegate, proxy: OnScreenProxy()).subscribe(painter)
  proxy.draw()
  painter.count += 1
}

@MainActor func usedElsewhereToo(_ proxy: OnScreenProxy) throws {
  let painter = Painter()
  try proxy.subscribe(painter)
  Task.detached { painter.count += 1 }  // error: risks causing data races
}

@MainActor func targetUsedElsewhereToo(_ proxy: OnScreenProxy) throws {
  let painter = Painter()
  try proxy.setForwardTarget(painter)
  Task.detached { painter.count += 1 }  // error: risks causing data races
}

@MainActor func adoptedAndUsedElsewhereToo(_ canvas: Canvas) throws {
  let painter = Painter()
  try DelegateForwarder(canvas, \.delegate, proxy: OnScreenProxy()).subscribe(painter)
  Task.detached { painter.count += 1 }  // error: risks causing data races
}

@MainActor func targetReadElsewhere(_ proxy: OnScreenProxy) {
  let target = proxy.forwardTarget as! Painter
  Task.detached { target.count += 1 }  // error: risks causing data races
}
