// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A closure with an owner, in the form in which generic code holds it: the
/// struct has the same layout whatever the types are.
///
/// The field is of a function type with a parameter pack, so the compiler stores
/// a function that takes the addresses of its arguments. C can call that one, see
/// `CShims/src/members/swift_closure.h`. The constraint of `Owner` belongs to
/// the form: without it the owner would be passed by address too.
@usableFromInline
internal struct HeldClosure<Owner: AnyObject, Output, each Argument>: Sendable {
  private let body: @Sendable (Owner, repeat each Argument) -> Output

  @usableFromInline
  internal init(_ body: @escaping @Sendable (Owner, repeat each Argument) -> Output) {
    self.body = body
  }
}

/// A closure without an owner, likewise.
@usableFromInline
internal struct HeldOwnerlessClosure<Output, each Argument>: Sendable {
  private let body: @Sendable (repeat each Argument) -> Output

  @usableFromInline
  internal init(_ body: @escaping @Sendable (repeat each Argument) -> Output) {
    self.body = body
  }
}

/// Holds a closure that has neither an owner nor a result. A
/// `HeldOwnerlessClosure<Void, …>` would hold it too, but each call would pass
/// through one more function, which gives the result an address.
internal struct HeldObserver<each Argument>: Sendable {
  private let body: @Sendable (repeat each Argument) -> Void

  internal init(_ body: @escaping @Sendable (repeat each Argument) -> Void) { self.body = body }
}

/// A closure that gets pointers to the arguments of a call, without the receiver and
/// the selector. They are valid during the call.
package typealias RawObserver =
  @Sendable (_ arguments: UnsafePointer<UnsafeMutableRawPointer>) -> Void

/// Holds a raw observer.
@safe internal struct HeldRawObserver: Sendable {
  private let body: RawObserver

  internal init(_ body: @escaping RawObserver) { unsafe self.body = body }
}

/// A held closure as C calls it.
@usableFromInline
@safe internal final class CalledClosure: @unchecked Sendable {
  // Sendable: immutable, and so is what it owns.

  /// The struct that C reads. This object owns it.
  internal let closure: UnsafePointer<fwd_swift_closure>
  private let classes: UnsafeMutablePointer<UnsafeRawPointer>
  /// Keeps the closure's context alive.
  private let held: any Sendable

  /// Prepares a held closure for calls from C.
  ///
  /// - Parameters:
  ///   - held: a `HeldClosure`, `HeldOwnerlessClosure` or `HeldObserver` of the types.
  ///   - takesReceiver: whether it has an owner.
  /// - Returns: nil if the closure has to be called by Swift: if the compiler's
  ///   convention for such closures has not been tested, or an argument or the
  ///   result is no plain copy of the bytes.
  @usableFromInline
  internal convenience init?<Held: Sendable, Output, each Argument>(
    _ held: Held, takesReceiver: Bool, _ coders: ArgumentCoders<repeat each Argument>,
    _ result: ValueCoder<Output>
  ) {
    guard ClosureConvention.current == .packs, result.isWrittenByClosure else { return nil }
    var conditions = Conditions()
    repeat conditions.add(each coders.coders)
    guard conditions.areComplete else { return nil }
    self.init(held, takesReceiver: takesReceiver, conditions)
  }

  /// Prepares a closure that takes the addresses of the arguments.
  ///
  /// - Returns: nil if it has to be called by Swift.
  internal convenience init?(_ observer: @escaping RawObserver) {
    guard ClosureConvention.current == .packs else { return nil }
    unsafe self.init(HeldRawObserver(observer), takesReceiver: false, Conditions())
  }

  private init<Held: Sendable>(_ held: Held, takesReceiver: Bool, _ conditions: Conditions) {
    self.held = held
    unsafe classes = .allocate(capacity: max(conditions.classes.count, 1))
    for (index, type): (Int, AnyClass) in conditions.classes.enumerated() {
      // SAFETY: the index is below the capacity. A class is a pointer.
      unsafe (classes + index).initialize(to: unsafeBitCast(type, to: UnsafeRawPointer.self))
    }
    let words = ClosureWords(of: held)
    let closure = UnsafeMutablePointer<fwd_swift_closure>.allocate(capacity: 1)
    unsafe closure.initialize(
      to: fwd_swift_closure(
        function: words.function, context: words.context, takes_receiver: takesReceiver,
        has_conditions: conditions.nonNull | conditions.bools | conditions.objects != 0,
        non_null: conditions.nonNull, bools: conditions.bools, objects: conditions.objects,
        classes: classes))
    unsafe self.closure = UnsafePointer(closure)
  }

  deinit {
    // SAFETY: allocated in `init`; the dispatch table that C reads keeps this
    // object.
    unsafe closure.deallocate()
    unsafe classes.deallocate()
  }
}

/// The two words of a held closure.
@safe private struct ClosureWords {
  /// C casts it back to what it is.
  let function: @convention(c) () -> Void
  let context: UnsafeRawPointer?

  /// - Parameter held: a struct whose only field is a closure.
  init<Held>(of held: Held) {
    // SAFETY: a closure is two words, a function and a context. Not the bytes of
    // the closure itself: the compiler would pass another form of it.
    let words = unsafe withUnsafeBytes(of: held) { bytes in
      unsafe bytes.load(as: (function: UnsafeRawPointer, context: UnsafeRawPointer?).self)
    }
    unsafe function = unsafeBitCast(words.function, to: (@convention(c) () -> Void).self)
    unsafe context = words.context
  }
}

// MARK: - Folds

private struct HeldPredicate<Value>: Sendable {
  let body: @Sendable (Value) -> Bool
}

private struct HeldCombination<Value>: Sendable {
  let body: @Sendable (Value, Value) -> Value
}

/// The closure of a result policy as C calls it.
@safe internal struct CalledFold: @unchecked Sendable {
  // Sendable: immutable, and so is what it holds.

  /// Without `step`, `context` and `initial`. Valid as long as this value.
  internal let fold: fwd_fold
  /// Keeps the closure's context alive.
  private let held: any Sendable

  /// - Returns: nil if the closure has to be called by Swift.
  internal init?<Value>(
    until predicate: @escaping @Sendable (Value) -> Bool, _ coder: ValueCoder<Value>, _ size: Int
  ) {
    guard Self.calls(coder, size) else { return nil }
    let held = HeldPredicate(body: predicate)
    let words = ClosureWords(of: held)
    self.held = held
    var fold = unsafe fwd_fold()
    unsafe fold.predicate = words.function
    unsafe fold.closure_context = words.context
    unsafe self.fold = fold
  }

  /// - Returns: nil if the closure has to be called by Swift.
  internal init?<Value>(
    reducing combine: @escaping @Sendable (Value, Value) -> Value, _ coder: ValueCoder<Value>,
    _ size: Int
  ) {
    guard Self.calls(coder, size) else { return nil }
    let held = HeldCombination(body: combine)
    let words = ClosureWords(of: held)
    self.held = held
    var fold = unsafe fwd_fold()
    unsafe fold.combine = words.function
    unsafe fold.closure_context = words.context
    unsafe self.fold = fold
  }

  private static func calls<Value>(_ coder: ValueCoder<Value>, _ size: Int) -> Bool {
    ClosureConvention.current == .packs && coder.isBitwise && size <= Int(FWD_FOLDED_SIZE)
  }
}

// MARK: - Conditions

/// The conditions under which the bytes of arguments are values of a closure's types.
private struct Conditions {
  var nonNull: UInt64 = 0
  var bools: UInt64 = 0
  var objects: UInt64 = 0
  /// One for each bit of `objects`.
  var classes: [AnyClass] = []
  /// Whether these conditions suffice for all arguments.
  var areComplete = true
  private var count = 0

  mutating func add<Value>(_ coder: ValueCoder<Value>) {
    defer { count += 1 }
    guard count < Int(FWD_SWIFT_CLOSURE_ARGUMENTS) else {
      areComplete = false
      return
    }
    let bit: UInt64 = 1 << count
    switch coder.form {
    case .bitwise: break
    case .bool: bools |= bit
    case .nonNull: nonNull |= bit
    case .translated(let translator):
      guard let type: AnyClass = translator.requiredClass else {
        areComplete = false
        return
      }
      objects |= bit
      classes.append(type)
      if !(Value.self is any OptionalValue.Type) { nonNull |= bit }
    }
  }
}

extension ValueCoder {
  /// Whether a closure that returns a value writes just what belongs into the
  /// slot of a result: its bytes, and for an object a reference that is the
  /// slot's.
  fileprivate var isWrittenByClosure: Bool {
    if case .translated(let translator) = form { translator.requiredClass != nil } else { true }
  }
}

// MARK: - The convention

/// How deliveries call closures.
internal enum ClosureConvention: Sendable {
  /// C calls them with the addresses of the arguments.
  case packs
  /// Swift loads the arguments, and calls them with values.
  case loads

  /// Chosen by a test, for the tables that it joins to proxies.
  @TaskLocal internal static var chosen: ClosureConvention?

  /// The one that is used.
  internal static var current: ClosureConvention { chosen ?? standard }

  /// How C may call a closure with a parameter pack is not documented, so only
  /// compilers with which the tests have passed do it. To force one way, build and
  /// test with `FWD_CLOSURES=packs` or `FWD_CLOSURES=loads` in the environment.
  private static let standard: ClosureConvention = {
    #if FWD_CLOSURES_LOADS
      return .loads
    #elseif FWD_CLOSURES_PACKS
      return fwd_calls_swift_closures() ? .packs : .loads
    #elseif os(Linux) && arch(x86_64) && compiler(>=6.3) && compiler(<6.4)
      return fwd_calls_swift_closures() ? .packs : .loads
    #else
      return .loads
    #endif
  }()
}
