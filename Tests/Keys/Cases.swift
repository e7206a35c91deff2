// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

enum Visitor {
  static let visit = unsafe Method("visit:kind:", ((UnsafePointer<CChar>?, Int32) -> Int32).self)
  static let finished = Method("finished:", ((Int64) -> Void).self)
  static let log = Method("log:", ((String) -> Void).self)
}

final class Owner: Sendable {
  func note(_ kind: Int32) -> Int32 { kind }
}

// CASE the types of closures and literals are inferred
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) {
    unsafe $0.on(Visitor.visit) { owner, path, kind in owner.note(kind) }
    $0.on(Visitor.finished) { owner, count in _ = owner.note(Int32(count)) }
    $0.on(Visitor.log) { _, text in print(text.uppercased()) }
  }
  let stop = try unsafe proxy.send(Visitor.visit, nil, 3)
  _ = owner.note(stop)
  try proxy.send(Visitor.finished, 12)
  try proxy.send(Visitor.log, "text")
}

// CASE a pointer to mutable memory is passed for a constant one
func use(_ proxy: DynamicProxy, _ path: UnsafeMutablePointer<CChar>) throws {
  _ = try unsafe proxy.send(Visitor.visit, path, 3)
}

// CASE a key is constructed where its types are inferred from an annotation
let move: Forwarding.Method<Double, Int32> = Method("move:", ((Int32) -> Double).self)

// CASE a literal is a key with the types of its context
func use(_ proxy: DynamicProxy, _ owner: Owner, _ selector: MethodSelector) throws {
  let stop = try unsafe proxy.send("visit:kind:", UnsafePointer<CChar>?.none, Int32(3)) as Int32
  let kind: Int32 = try proxy.send(Method(selector), stop)
  try proxy.send("finished:", Int64(kind))
  try proxy.send(Method(selector), Int64(12))
  let tokens = [
    try proxy.before("visit:kind:") { (path: UnsafePointer<CChar>?) in },
    try proxy.instead("count:") { (row: Int64) -> Int32 in 3 },
    try proxy.feed("count:") { (row: Int64) -> Int32 in 3 },
  ]
  print(tokens.count, try proxy.collect("count:", as: Int32.self, Int64(1)).count)
}

// CASE an argument of another type is refused
// ERROR cannot convert value of type 'String' to expected argument type 'Int64'
func use(_ proxy: DynamicProxy) throws {
  try proxy.send(Visitor.finished, "12")
}

// CASE a variable of another integer type is refused
// ERROR cannot convert value of type 'Int' to expected argument type 'Int64'
func use(_ proxy: DynamicProxy, _ count: Int) throws {
  try proxy.send(Visitor.finished, count)
}

// CASE too many arguments are refused
// ERROR extra argument in call
func use(_ proxy: DynamicProxy) throws {
  try proxy.send(Visitor.finished, 1, 2)
}

// CASE too few arguments are refused
// ERROR missing argument for parameter #2 in call
func use(_ proxy: DynamicProxy) throws {
  try proxy.send(Visitor.finished)
}

// CASE a result of another type is refused
// ERROR cannot convert value of type 'Int32' to specified type 'Int64'
func use(_ proxy: DynamicProxy) throws {
  let stop: Int64 = try unsafe proxy.send(Visitor.visit, nil, 3)
  print(stop)
}

// CASE a closure may leave out all arguments
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) { $0.on(Visitor.finished) { owner in } }
}

// CASE a closure with some of the arguments is refused
// ERROR pack expansion requires that 'UnsafePointer<CChar>?, Int32'
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) { unsafe $0.on(Visitor.visit) { owner, path in 0 } }
}

// CASE a closure with too many parameters is refused
// ERROR pack expansion requires that 'Int64' and
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) { $0.on(Visitor.finished) { owner, count, other in } }
}

// CASE a closure with another result is refused
// ERROR cannot convert value of type 'String' to closure result type 'Int32'
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) { unsafe $0.on(Visitor.visit) { owner, path, kind in "text" } }
}

// CASE a closure without the result is refused
// ERROR cannot convert value of type '()' to closure result type 'Int32'
func use(_ proxy: DynamicProxy, _ owner: Owner) throws {
  try proxy.subscribe(owner) { unsafe $0.on(Visitor.visit) { owner, path, kind in print(kind) } }
}

// CASE an interceptor's parameters are the key's
// ERROR pack expansion requires that
func use(_ proxy: DynamicProxy) throws {
  _ = try proxy.before(Visitor.finished) { count, other in }
}

// CASE a default of another type is refused
// ERROR cannot convert value of type 'Double' to expected argument type 'Int32'
func use() throws {
  _ = try DynamicProxy { unsafe $0.optional(Visitor.visit, default: 0.5) }
}

// CASE a feed's property has the type of the result
// ERROR cannot convert value of type
final class Model: Sendable {
  let name = "x"
}
func use(_ proxy: DynamicProxy, _ model: Model) throws {
  _ = try proxy.feed(Method("count", (() -> Int).self), from: model, \.name)
}

// CASE pointers are no elements of a signal
// ERROR conformance of 'UnsafePointer<Pointee>' to 'Sendable' is unavailable
let entered = unsafe Method("entered:", ((UnsafePointer<CChar>) -> Void).self)
func use(_ proxy: DynamicProxy) throws {
  _ = try unsafe proxy.signal(for: entered)
}

// CASE a function that throws has no C type
// ERROR invalid conversion from throwing function of type
let load = Method("load:", ((Int32) throws -> Void).self)

// CASE an async function has no C type
// ERROR invalid conversion from 'async' function of type
let wait = Method("wait:", ((Int32) async -> Void).self)

// CASE a closure that does not escape has no C type
// ERROR converting non-escaping value to
let each = Method("each:", ((() -> Void) -> Void).self)
