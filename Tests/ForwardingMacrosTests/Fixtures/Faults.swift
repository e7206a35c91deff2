// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Protocols that compile until `@Forwarded` stands at them. The compiler must report
// each fault at the line that a comment marks, and no line without one.

import ForwardingDelivery
import ForwardingMacros

struct Token: ~Copyable {}
class Base {}
protocol Plain: AnyObject {}
struct Bool { var raw = 1 }
struct Int { var raw = 2 }
typealias Handler = () -> Void
@globalActor actor Elsewhere { static let shared = Elsewhere() }

@Forwarded
protocol WithSpan: AnyObject {
  func take(_ span: Span<UInt8>)  // error: copies arguments, which this type, such as a Span
}

@Forwarded
protocol WithSpanOnItsOwnLine: AnyObject {
  func take(  // error: copies arguments
    _ number: Swift.Int,
    _ span: Span<UInt8>  // error: copies arguments
  )
}

@Forwarded
protocol WithMutableSpan: AnyObject {
  func change(_ span: inout MutableSpan<Swift.Int>)  // error: takes the address of an 'inout'
}

@Forwarded
protocol WithNoncopyableResult: AnyObject {
  func make() throws -> Token  // error: copies results
}

@Forwarded
protocol WithOwnBool: AnyObject {
  func decide() -> Bool  // error: knows no result of this type
}

@Forwarded
protocol WithOwnInt: AnyObject {
  var count: Int { get }  // error: knows no result of this type
}

@Forwarded
protocol WithClass: Base {  // error: 'WithClass' requires that 'WithClassProxy' inherit from 'Base'
  func call()
}

@Forwarded
protocol WithPlainParent: Plain {  // error: only of protocols that have '@Forwarded' themselves
  func call()
}

@Forwarded
protocol WithClosure: AnyObject {
  func call(_ handler: Handler)  // error: non-escaping parameter
}

@Elsewhere @Forwarded
protocol WithActor: AnyObject {  // error: 'Elsewhere'-isolated code
  func call()  // error: call to global actor 'Elsewhere'-isolated
}

@Forwarded
protocol WithKeys: AnyObject, Sendable {
  func close(at path: String) throws
  func change(_ number: inout Swift.Int)
  func wait() async
  @DefaultResult("") var title: String { get }
}

func useKeys(_ proxy: WithKeysProxy) throws {
  _ = WithKeysProxy.Keys.closeAt  // error: no method key for 'close(at:)', which throws
  _ = WithKeysProxy.Keys.change  // error: which has an 'inout' parameter
  _ = WithKeysProxy.Keys.wait  // error: which is async
  _ = try proxy.proxy.method(for: WithKeysProxy.Keys.title)  // error: 'ForwardedInMemory<String>'
}

@Forwarded
protocol Alone: AnyObject {
  func call()
}

@Forwarded(sendable: true)
protocol WithBases: AnyObject {
  func take(_ name: String, _ base: Base)  // error: 'Base' does not conform
  func point(_ pointer: UnsafeRawPointer)  // error: 'UnsafeRawPointer' to 'Sendable'
  func load(_ base: Base) throws
}

@Forwarded(sendable: true)
protocol WithAlone: Alone {  // error: needs inherited protocols that have it too
  func own()
}

@Forwarded(sendable: true)
protocol Sent: AnyObject {
  func call()
}

final class Lonely: Sent {
  func call() {}
}

@MainActor final class OnMain: @MainActor Sent {
  func call() {}
}

func subscribe(_ proxy: SentProxy, _ lonely: Lonely, _ onMain: OnMain) async throws {
  try proxy.subscribe(lonely)  // error: does not conform to the 'Sendable' protocol
  _ = try await proxy.subscribe(onMain, on: MainActor.shared)  // error: 'OnMain' to 'Sent'
}

@MainActor func subscribe(_ proxy: SentProxy, _ onMain: OnMain, on other: Elsewhere) throws {
  _ = try proxy.subscribe(onMain, on: other)  // error: actor-isolated
}

func subscribe(_ proxy: AloneProxy, _ alone: any Alone) throws {
  _ = try proxy.subscribe(alone, on: MainActor.shared)  // error: on
}

@MainActor @Forwarded
protocol OnScreen: AnyObject {
  func draw()
}

func subscribe(_ proxy: OnScreenProxy, _ listener: any OnScreen) throws {
  try proxy.subscribe(listener)  // error: main actor-isolated instance method
  proxy.unsubscribeAll()  // error: 'OnScreenProxy' to 'ForwardedProxy'
  _ = OnScreenProxy()  // error: 'OnScreenProxy' to 'ForwardedProxy'
  _ = proxy.count  // error: 'OnScreenProxy' to 'ForwardedProxy'
}

@MainActor final class Canvas {
  weak var delegate: (any OnScreen)?
}

func adopt(
  _ canvas: Canvas, _ slot: ReferenceWritableKeyPath<Canvas, (any OnScreen)?>,
  _ proxy: OnScreenProxy
) {
  _ = DelegateForwarder(canvas, slot, proxy: proxy)  // error: 'OnScreenProxy' to 'SlotProxy'
}

@MainActor func adoptedNowhere(_ canvas: Canvas) {
  let forwarder = DelegateForwarder(canvas, \.delegate, isolation: nil, proxy: OnScreenProxy())
  Task.detached { forwarder.recheck() }  // error: 'OnScreenProxy' to 'SlotProxy'
}

@Forwarded
protocol Anywhere: AnyObject {
  func call()
}

@MainActor @Forwarded
protocol OfAnywhere: Anywhere {  // error: needs inherited protocols that have the same actor
  func draw()
}

@MainActor @Forwarded
protocol OfOnScreen: OnScreen {
  func erase()
}

@MainActor @Forwarded
protocol Scattered: AnyObject {
  nonisolated func anywhere()  // error: this requirement is called elsewhere
}
