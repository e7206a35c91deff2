// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// swift-format-ignore-file

// Protocols of all kinds, whose expansions must have no warning.

import ForwardingMacros

public struct Token: ~Copyable { var number = 0 }
public final class Thing: Sendable {}
public class NSBox {}
public enum Mode: Sendable { case slow, fast }

typealias Objects = AnyObject
typealias SendableObjects = AnyObject & Sendable

@Forwarded
protocol Deprecated: AnyObject {
  @available(*, deprecated, message: "use new") func old(_ number: Int, _ text: String)
  @available(*, deprecated) func result() -> Int
  @available(*, deprecated) func fail(_ thing: Thing?) throws -> String
  @available(*, deprecated) func wait() async
  @available(*, deprecated) @Optional func maybe(_ text: String) -> Int
  @available(*, deprecated) var oldProperty: Int { get set }
  @available(*, noasync) func block()
  @available(macOS 26, *) func later(_ number: Double)
  func new(_ number: Int)
}

@available(*, deprecated) @Forwarded
protocol AllDeprecated: AnyObject {
  func call(_ number: Int)
  @Optional func maybe() -> Int
}

@Forwarded
protocol Mixed: AnyObject {
  @discardableResult func discard(_ number: Int) -> Int
  func point(
    _ a: UnsafeRawPointer?, _ b: UnsafeMutablePointer<Int>, _ c: OpaquePointer,
    _ d: UnsafeBufferPointer<Int>)
  func origin() -> UnsafeRawPointer?
  @DefaultResult(Mode.slow) func mode(_ mode: Mode) -> Mode
  func close(_ body: @escaping @Sendable (Int) -> Void, _ other: (() -> Void)?)
  @ReplyOnce(default: 1) func reply(_ body: @escaping (Int) -> Void) -> Bool
  func change(_ a: inout Int, _ b: inout Token, _ c: inout Thing, _ d: inout String)
  func any(_ a: Any, _ b: any Error, _ c: AnyObject?, _ d: [any Sendable]) throws
  func wait(_ number: Int) async throws -> String
  var title: String? { get set }
  @DefaultResult("") var name: String { get async }
  func nothing(_ a: Void, _ b: Never?)
  func tuple(_ pair: (Int, String)) -> (Int, String)?
  func many(
    _ a: Int, _ b: Int, _ c: Thing, _ d: Thing, _ e: Thing, _ f: Thing, _ g: Thing, _ h: Thing,
    _ i: Thing, _ j: Int)
  @unsafe func danger(_ pointer: UnsafeRawPointer)
  func type(_ a: Thing.Type, _ b: Any.Type)
  func wide() -> Int128
  func qualified(_ number: Swift.Int) -> Swift.Int
}

@MainActor @Forwarded
protocol Screen: AnyObject, Sendable {
  func show(_ row: Int)
  @Optional func hide() throws -> Int
  @available(*, deprecated) func old()
  nonisolated func note(_ row: Int)
  func wait() async -> Int
}

@Forwarded protocol Shared: AnyObject & Sendable { func share(_ thing: Thing) }
@Forwarded protocol OfAlias: Objects { func call() }
@Forwarded protocol OfSendableAlias: SendableObjects { func call() }
@Forwarded protocol OfQualified: Swift.AnyObject { func call() }
@Forwarded protocol Derived: Mixed, Shared { func own() }
@Forwarded protocol Composed: Mixed & Shared { func own() }
@Forwarded protocol Inheriting: Shared {}

@Forwarded(sendable: true)
public protocol Sent: AnyObject {
  typealias DeliveredListener = Int
  func tick(_ price: Double, _ name: String, _ thing: Thing?)
  func listener(_ listener: DeliveredListener, _ mode: Mode)
  func change(_ token: inout Token, _ number: Int)
  func load(_ box: NSBox) throws -> Int
  func wait(_ box: NSBox) async
  @Optional func reply(_ body: @escaping @Sendable (Int) -> Void)
  var count: Int { get set }
}
@Forwarded(sendable: true) protocol SentOn: Sent, Objects { func more() }
@Forwarded(sendable: true) protocol SentToAll: AnyObject, Sendable { func more() }
@Forwarded(sendable: true) nonisolated protocol SentNowhere: Sent {}
@Forwarded(sendable: false) protocol NotSent: Sent { func own(_ box: NSBox) }
@MainActor final class OnMain: @MainActor SentToMain { func more(_ number: Int) {} }
@Forwarded(sendable: true) protocol SentToMain: AnyObject { func more(_ number: Int) }
func makesSendable(_ proxy: SentProxy) -> any Sendable { proxy }

enum Nest {
  struct Int: Sendable { var value = 0 }
  struct Bool {}
  enum Optional<Wrapped> { case none, some(Wrapped) }
  struct Array<Element> {}

  @Forwarded
  protocol Inner: AnyObject {
    func take(_ a: Int, _ b: Bool, _ c: Optional<Swift.Int>, _ d: Array<Int>)
    @DefaultResult(Int()) func give() -> Int
    @Optional func maybe(_ number: Int) -> Swift.Int
  }
}
