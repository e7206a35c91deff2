// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// Decides which subscribers a call reaches, and which result its caller gets.
///
/// ```swift
/// $0.required("shouldOpen:", "B@:@", result: .all)
/// $0.required("visit:", "i@:*", result: .until { (code: Int32) in code != 0 })
/// $0.optional("height:", "d@:q", result: .reduce(0.0) { max($0, $1) })
/// ```
///
/// A policy belongs to a method. Creating the protocol table, or a proxy that
/// overrides the policy, throws an error if the policy's types do not fit the
/// method's result. To get every result with its author, call
/// ``DynamicProxy/collect(_:as:_:)``. <doc:ResultsOfMany> compares the policies.
public enum ResultPolicy: Sendable {
  /// Which of several results is given.
  public enum Pick: Sendable, Hashable {
    /// The first responder's.
    case first
    /// The last responder's.
    case last
  }

  /// A closure that looks at the results.
  public struct Fold: Sendable {
    fileprivate let make: @Sendable (TypeEncoding) throws(ValueMismatch) -> ResultFold
    /// Whether all responders are called.
    fileprivate var callsAll = false
  }

  /// Whether all responders of a method with a result are called.
  internal var callsAll: Bool {
    switch self {
    case .callAll: true
    case .fold(let fold): fold.callsAll
    default: false
    }
  }

  /// Calls the first responder of a method with a result, and all responders of a
  /// method without one, in order.
  case standard

  /// Calls only the first responder.
  case first

  /// Calls all responders, in order, and returns one of the results.
  case callAll(pick: Pick)

  /// Calls responders until one returns a number or pointer that is not zero.
  /// Returns the last result.
  case untilNonzero

  /// Calls responders until one returns `true`. Returns `false` if none does.
  case any

  /// Calls responders until one returns `false`. Returns `true` if none does.
  case all

  /// Calls the responders of a method without a result, in order, until one calls
  /// ``DynamicProxy/markHandled()``.
  case untilHandled

  /// Calls responders as long as a closure says. Made by ``until(_:)`` and
  /// ``reduce(_:_:until:)``.
  case fold(Fold)

  /// Calls responders until `predicate` returns true for a result. Returns the
  /// last result.
  ///
  /// A result that is not a `Value`, such as a raw value without a case, makes the
  /// delivery fail: the error handler is called, and the method's result for failed
  /// deliveries, if it has one, takes its place.
  public static func until<Value>(
    _ predicate: @escaping @Sendable (Value) -> Bool
  ) -> ResultPolicy {
    .fold(Fold(make: { type throws(ValueMismatch) in try .until(type, predicate) }))
  }

  /// Calls responders and combines their results in order, starting with `initial`,
  /// until `isDone` returns true for the combined value. Returns `initial` if
  /// there is no responder. For a result that is not a `Value`, see ``until(_:)``.
  ///
  /// ```swift
  /// $0.required("bytesFor:", "q@q", result: .reduce(Int64(0), +, until: { $0 >= 512 }))
  /// $0.required("mayClose", "B@", result: .reduce(true) { $0 && $1 })   // a veto that asks all
  /// ```
  ///
  /// - Parameters:
  ///   - initial: the value before the first result.
  ///   - combine: returns the combination of the value so far and the next result.
  ///   - isDone: whether the other responders need not be called. It is asked after
  ///     each result. `nil` calls all responders.
  public static func reduce<Value: Sendable>(
    _ initial: Value, _ combine: @escaping @Sendable (Value, Value) -> Value,
    until isDone: (@Sendable (Value) -> Bool)? = nil
  ) -> ResultPolicy {
    .fold(
      Fold(
        make: { type throws(ValueMismatch) in try .reduce(type, initial, isDone, combine) },
        callsAll: isDone == nil))
  }
}

// MARK: - Fitting a result

extension ResultPolicy {
  /// A policy that fits a result type, as the shim takes it.
  internal struct Fitted: Sendable {
    let kind: fwd_result_policy
    let fold: ResultFold?
    /// The result if there is no responder and the method declares no default.
    let emptyResult: StoredValue?
  }

  /// Checks that the policy fits a method's result.
  internal func fit(_ result: TypeEncoding) throws(ValueMismatch) -> Fitted {
    let isVoid = result.kind == .void
    switch self {
    case .standard: return Fitted(FWD_RESULT_DEFAULT)
    case .first: return Fitted(FWD_RESULT_FIRST)
    case .callAll(pick: .first): return Fitted(isVoid ? FWD_RESULT_DEFAULT : FWD_RESULT_ALL_FIRST)
    case .callAll(pick: .last): return Fitted(isVoid ? FWD_RESULT_DEFAULT : FWD_RESULT_ALL_LAST)
    case .untilNonzero:
      // An aggregate's bytes are not all of its value: there may be padding.
      try Self.require(
        !isVoid && !result.isAggregate, result,
        "a number or a pointer for the policy \"untilNonzero\"")
      return Fitted(FWD_RESULT_UNTIL_NONZERO)
    case .any:
      try Self.require(result.kind == .bool, result, "'B' (Bool) for the policy \"any\"")
      return Fitted(FWD_RESULT_ANY)
    case .all:
      try Self.require(result.kind == .bool, result, "'B' (Bool) for the policy \"all\"")
      return Fitted(FWD_RESULT_ALL)
    case .untilHandled:
      try Self.require(isVoid, result, "'v' (void) for the policy \"untilHandled\"")
      return Fitted(FWD_RESULT_UNTIL_HANDLED)
    case .fold(let made):
      let fold = try made.make(result)
      return Fitted(kind: FWD_RESULT_DEFAULT, fold: fold, emptyResult: fold.initial)
    }
  }

  private static func require(
    _ condition: Bool, _ result: TypeEncoding, _ expected: String
  ) throws(ValueMismatch) {
    if condition { return }
    throw ValueMismatch(
      code: .typeMismatch, expected: expected, actual: result.inWords, verb: "must be")
  }
}

extension ResultPolicy.Fitted {
  fileprivate init(_ kind: fwd_result_policy) {
    self.init(kind: kind, fold: nil, emptyResult: nil)
  }
}

// MARK: - Folds

/// A policy that looks at the results: what the shim calls after each answer.
@safe internal final class ResultFold: Sendable {
  /// Puts a result into the accumulator, which holds zeros before the first,
  /// and says whether to go on. Throws, and leaves the accumulator as it is, if the
  /// bytes are not a value. Takes the reference to an object in the result, on
  /// failure too.
  typealias Step =
    @Sendable (
      _ accumulator: UnsafeMutableRawPointer, _ result: UnsafeMutableRawPointer, _ index: Int
    ) throws(ValueMismatch) -> Bool

  let step: Step
  let initial: StoredValue?
  /// A faster way to do the same.
  let called: CalledFold?

  private init(initial: StoredValue?, called: CalledFold?, step: @escaping Step) {
    unsafe self.step = step
    self.initial = initial
    self.called = called
  }

  /// The coder of a fold. It takes an object by its class only: a closure that takes
  /// a pointer would leak the reference.
  ///
  /// - Parameter role: The value that has the type, for errors.
  private static func foldCoder<Value>(
    _: Value.Type, _ type: TypeEncoding, _ role: String
  ) throws(ValueMismatch) -> ValueCoder<Value> {
    do throws(ValueMismatch) {
      let coder = try ValueCoder<Value>(storingIn: type)
      guard coder.isObject == (type.kind == .object) else {
        throw ValueMismatch.type(
          Value.self, in: type, because: "; a policy takes objects by their class")
      }
      return coder
    } catch {
      throw error.given(as: role)
    }
  }

  static func until<Value>(
    _ type: TypeEncoding, _ predicate: @escaping @Sendable (Value) -> Bool
  ) throws(ValueMismatch) -> ResultFold {
    let coder = try foldCoder(Value.self, type, "a closure of \"until\" that takes")
    let size = try type.resultSize()
    let called = CalledFold(until: predicate, coder, size)
    return unsafe ResultFold(initial: nil, called: called) {
      accumulator, result, index throws(ValueMismatch) in
      // SAFETY: both have room for a result, which the shim says they hold. The
      // reference in the result moves into the accumulator, which gives up the
      // one that it had.
      let value: Value
      do throws(ValueMismatch) {
        value = try unsafe coder.decode(from: result)
      } catch {
        if coder.isObject { unsafe releaseObject(in: result) }
        throw error
      }
      if coder.isObject && index > 0 { unsafe releaseObject(in: accumulator) }
      unsafe accumulator.copyMemory(from: result, byteCount: size)
      return !predicate(value)
    }
  }

  static func reduce<Value: Sendable>(
    _ type: TypeEncoding, _ initial: Value, _ isDone: (@Sendable (Value) -> Bool)?,
    _ combine: @escaping @Sendable (Value, Value) -> Value
  ) throws(ValueMismatch) -> ResultFold {
    let coder = try foldCoder(Value.self, type, "an initial value of \"reduce\" of type")
    let stored = try StoredValue(initial, as: type)
    // C calls one closure, which cannot stop.
    let size = try type.resultSize()
    let called = isDone == nil ? CalledFold(reducing: combine, coder, size) : nil
    return unsafe ResultFold(initial: stored, called: called) {
      accumulator, result, index throws(ValueMismatch) in
      // SAFETY: as above; both references are given up, and the accumulator
      // gets a new one.
      let next = try unsafe coder.decodeRetained(from: result)
      let sum =
        index == 0 ? initial : (try? unsafe coder.decodeRetained(from: accumulator)) ?? initial
      let total = combine(sum, next)
      unsafe coder.encodeRetained(total, into: accumulator)
      return isDone.map { !$0(total) } ?? true
    }
  }
}

/// Gives up the reference that stands in memory.
@unsafe internal func releaseObject(in memory: UnsafeRawPointer) {
  // SAFETY: the caller says that an object pointer, or null, stands there, with
  // a reference of its own.
  unsafe fwd_object_release(memory.load(as: UnsafeMutableRawPointer?.self))
}

extension TypeEncoding {
  /// Whether a value may have bytes that are not part of it.
  fileprivate var isAggregate: Bool {
    switch kind {
    case .structure, .union, .array, .complex: true
    default: false
    }
  }
}
