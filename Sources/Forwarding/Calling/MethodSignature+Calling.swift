// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

// Calls of C functions whose signature is known at run time.

extension MethodSignature {
  /// Calls a C function with Swift values for all arguments, the receiver and
  /// the selector included, and gives its result.
  ///
  /// ```swift
  /// let power = try MethodSignature("ddd")
  /// let power2: @convention(c) (Double, Double) -> Double = pow
  /// let eight: Double = try unsafe power.unsafeCall(power2, 2.0, 3.0)
  /// ```
  ///
  /// An object that the function returns is the caller's (+1): the function has
  /// retained it. Afterwards `errno` has the value that the function has set.
  ///
  /// - Parameters:
  ///   - function: a C function pointer, as a `@convention(c)` value or a raw
  ///     pointer, which the caller promises to have this signature.
  ///   - values: the arguments. Objects are kept alive during the call.
  ///   - result: the type of the result; `Void` for `v`.
  /// - Throws: `ForwardingError` with the codes `wrongArgumentCount`;
  ///   `typeMismatch` for an argument or a result whose type may not stand for
  ///   its encoding, and for what is no function pointer; `nullPointer` for a
  ///   null function, and `nullPointer` or `valueNotRepresentable` for such a
  ///   result; `outOfMemory`.
  @unsafe public func unsafeCall<Function: BitwiseCopyable, each Argument, Output>(
    _ function: Function, _ values: repeat each Argument, as result: Output.Type = Output.self
  ) throws(ForwardingError) -> Output {
    // SAFETY: what `function` is, the caller promises.
    let function = try unsafe CFunction(function, signature: self)
    var count = 0
    repeat MethodSignature.count((each Argument).self, &count)
    guard count == arguments.count else {
      throw ForwardingError(
        .wrongArgumentCount, encoding: text,
        expected: arguments.count == 1 ? "1 argument" : "\(arguments.count) arguments",
        actual: "\(count)")
    }
    let coder: ValueCoder<Output>
    do throws(ValueMismatch) {
      coder = try ValueCoder(for: self.result)
    } catch {
      throw ForwardingError(error, signature: self)
    }
    var room = CallRoom(self)
    for value in repeat each values { try room.append(value) }
    // SAFETY: each argument has been encoded as its type.
    try unsafe call(function, room.pointers, room.result)
    // The code below may change `errno`.
    let number = errno
    defer { errno = number }
    // The function's arguments are alive up to here.
    for value in repeat each values { withExtendedLifetime(value) {} }
    withExtendedLifetime(room.copies) {}
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the result, which the call has written.
      return try unsafe coder.decodeRetained(from: room.result)
    } catch {
      throw ForwardingError(error, signature: self)
    }
  }

  /// Calls a C function with arguments that stand behind pointers.
  ///
  /// - Parameters:
  ///   - function: a C function pointer, as a `@convention(c)` value or a raw
  ///     pointer, which the caller promises to have this signature.
  ///   - arguments: pointers to all arguments, the receiver and the selector
  ///     included; may be nil if there are none. Neither they nor the values
  ///     are modified.
  ///   - result: room for the result, of which exactly its size is written; nil
  ///     if it is not wanted.
  /// - Throws: `ForwardingError` with the codes `nullPointer` for a null
  ///   function, arguments or argument; `typeMismatch` for what is no function
  ///   pointer; `outOfMemory`.
  @unsafe public func unsafeCall<Function: BitwiseCopyable>(
    _ function: Function, argumentPointers arguments: UnsafePointer<UnsafeMutableRawPointer>?,
    result: UnsafeMutableRawPointer?
  ) throws(ForwardingError) {
    // SAFETY: the caller promises what the function and the pointers are.
    let function = try unsafe CFunction(function, signature: self)
    try unsafe call(function, arguments, result)
  }

  @unsafe internal func call(
    _ function: CFunction, _ arguments: UnsafePointer<UnsafeMutableRawPointer>?,
    _ result: UnsafeMutableRawPointer?, selector: MethodSelector? = nil
  ) throws(ForwardingError) {
    // SAFETY: the caller promises that the function has this signature, and the
    // pointers are what it takes.
    let status = unsafe fwd_call(handle, function.pointer, arguments, result)
    if status == FWD_OK { return }
    throw ForwardingError(
      status == FWD_NO_MEMORY ? .outOfMemory : .nullPointer, selector: selector?.name,
      encoding: text, expected: "an address for each",
      actual: unsafe String(cString: fwd_error_message()), subject: "an argument")
  }

  private static func count<Value>(_: Value.Type, _ count: inout Int) { count += 1 }
}

/// A pointer to a C function of whatever type.
@unsafe internal struct CFunction {
  internal let pointer: @convention(c) () -> Void

  /// Takes the pointer out of a `@convention(c)` value or a raw pointer.
  internal init<Function: BitwiseCopyable>(
    _ function: Function, selector: MethodSelector? = nil, signature: MethodSignature
  ) throws(ForwardingError) {
    guard MemoryLayout<Function>.size == MemoryLayout<Int>.size else {
      throw ForwardingError(
        .typeMismatch, selector: selector?.name, encoding: signature.text,
        expected: "a C function pointer", actual: String(describing: Function.self),
        subject: "the function")
    }
    // SAFETY: the sizes agree; that it is a function is the caller's promise.
    guard let pointer = unsafe unsafeBitCast(function, to: (@convention(c) () -> Void)?.self) else {
      throw ForwardingError(
        .nullPointer, selector: selector?.name, encoding: signature.text, expected: "an address",
        subject: "the function")
    }
    unsafe self.pointer = pointer
  }
}

/// The arguments and the result of one call.
@safe private struct CallRoom: ~Copyable {
  private let signature: MethodSignature
  private let bytes: UnsafeMutableRawPointer
  private var used = 0
  private var count = 0

  fileprivate let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer>
  fileprivate let result: UnsafeMutableRawPointer

  /// The copies of strings that arguments point to.
  fileprivate private(set) var copies: [AnyObject] = []

  fileprivate init(_ signature: MethodSignature) {
    self.signature = signature
    var size = signature.resultLayout.size
    var alignment = max(signature.resultLayout.alignment, 16)
    for argument in signature.arguments {
      size = aligned(size, argument.layout) + argument.layout.size
      alignment = max(alignment, argument.layout.alignment)
    }
    // SAFETY: freed in `deinit`. The result stands first, the arguments behind
    // it in order.
    unsafe bytes = .allocate(byteCount: max(size, 16), alignment: alignment)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: max(size, 16))
    unsafe pointers = .allocate(capacity: max(signature.arguments.count, 1))
    unsafe result = bytes
    used = signature.resultLayout.size
  }

  deinit {
    // SAFETY: allocated in `init`, freed once.
    unsafe bytes.deallocate()
    unsafe pointers.deallocate()
  }

  /// Adds the next argument; there is one.
  fileprivate mutating func append<Value>(_ value: Value) throws(ForwardingError) {
    let argument = signature.arguments[count]
    let coder: ValueCoder<Value>
    do throws(ValueMismatch) {
      coder = try ValueCoder(for: argument.encoding)
    } catch {
      throw mismatch(error)
    }
    let offset = aligned(used, argument.layout)
    do throws(ValueMismatch) {
      // SAFETY: the offsets are those that `init` has counted.
      if let copy = try unsafe coder.encodeCopying(value, into: bytes + offset) {
        copies.append(copy)
      }
    } catch {
      throw mismatch(error)
    }
    unsafe pointers.advanced(by: count).initialize(to: bytes + offset)
    used = offset + argument.layout.size
    count += 1
  }

  /// The error of the next argument.
  private func mismatch(_ error: ValueMismatch) -> ForwardingError {
    ForwardingError(error, signature: signature, argumentIndex: count, parameter: count + 1)
  }
}

/// The next offset at which a type may stand.
private func aligned(_ offset: Int, _ layout: TypeLayout) -> Int {
  (offset + layout.alignment - 1) & ~(layout.alignment - 1)
}
