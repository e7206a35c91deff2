// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The arguments of a call as bytes, laid out like the members of a C struct.
///
/// ```swift
/// var frame = ArgumentFrame(try MethodSignature("v@:id"))
/// try frame.setArgument(Int32(7), at: 2)
/// try frame.setArgument(0.5, at: 3)
/// let scale = try frame.argument(at: 3, as: Double.self)
/// ```
///
/// The bytes of a new frame are zero. The receiver and the selector are not in
/// the frame, but indices count them.
///
/// The frame keeps objects alive that were set as objects. The caller must keep
/// everything else alive: what pointers and C strings point to, and objects in
/// arguments that were set as bytes. `retainArguments()` lets the frame keep
/// objects and strings.
@safe internal struct ArgumentFrame: ~Copyable {
  /// The signature whose arguments are in the frame.
  internal let signature: MethodSignature

  /// The bytes: `frameSize` of them, aligned for the signature. They never
  /// move.
  internal let base: UnsafeMutableRawPointer

  private var keeper = ArgumentKeeper()

  /// Creates a frame whose bytes are zero.
  ///
  /// - Complexity: O(*n*) in the size of the frame.
  internal init(_ signature: MethodSignature) {
    self.signature = signature
    // Not less than malloc gives anyway, which spares the aligned allocator.
    let size = max(signature.frameSize, 1)
    // SAFETY: freed in `deinit`; all bytes are written.
    unsafe base = .allocate(byteCount: size, alignment: max(signature.frameAlignment, 16))
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
  }

  /// Creates a frame from bytes that have the layout of the frame.
  ///
  /// - Parameters:
  ///   - signature: the signature whose arguments are in the frame.
  ///   - bytes: valid values of the argument types. Objects are not retained
  ///     and strings are not copied: see `retainArguments()`. The bytes need
  ///     not be aligned.
  /// - Throws: `ForwardingError` with the code `wrongSize` if there are not
  ///   `frameSize` bytes.
  /// - Complexity: O(*n*) in the size of the frame.
  @unsafe
  internal init(
    _ signature: MethodSignature, copying bytes: UnsafeRawBufferPointer
  ) throws(ForwardingError) {
    guard bytes.count == signature.frameSize else {
      throw ForwardingError(
        .wrongSize, encoding: signature.text, expected: "\(signature.frameSize) bytes",
        actual: "\(bytes.count)", subject: "the frame")
    }
    self.init(signature)
    // SAFETY: the sizes agree, and a new allocation overlaps nothing.
    unsafe UnsafeMutableRawBufferPointer(start: base, count: bytes.count).copyMemory(from: bytes)
  }

  /// Creates a frame from the arguments behind pointers. There is a pointer for
  /// each argument, the receiver and the selector included.
  @unsafe internal init(
    _ signature: MethodSignature, copying arguments: UnsafePointer<UnsafeMutableRawPointer>
  ) {
    self.init(signature)
    for argument in signature.arguments {
      guard let offset = argument.frameOffset else { continue }
      // SAFETY: the offset lies in the frame, with room for the argument's
      // size.
      unsafe (base + offset).copyMemory(
        from: arguments[argument.index], byteCount: argument.layout.size)
    }
  }

  deinit {
    // SAFETY: allocated in `init`, freed once. The bytes own no references: the
    // keeper does.
    unsafe base.deallocate()
  }

  /// Returns a frame with the same arguments. The copy keeps alive what this
  /// frame keeps alive. Strings that this frame has copied are copied again.
  ///
  /// - Complexity: O(*n*) in the size of the frame and of the strings.
  internal borrowing func copy() -> ArgumentFrame {
    var copy = ArgumentFrame(signature)
    // SAFETY: both frames have the size of the one signature.
    unsafe copy.base.copyMemory(from: base, byteCount: signature.frameSize)
    unsafe copy.keeper = keeper.copy(signature, frame: copy.base)
    return copy
  }
}

// MARK: - Typed access

extension ArgumentFrame {
  /// Sets an argument.
  ///
  /// The frame keeps an object alive, and the copy of a `String`. It does not
  /// keep alive what a pointer points to: see `retainArguments()`.
  ///
  /// - Parameters:
  ///   - value: a value of a Swift type that fits the argument's encoding: a
  ///     number of the same size, signedness and kind, a pointer, an object for
  ///     `@`, a `TypeEncodable` struct, and so on.
  ///   - index: the index of the argument, the receiver and the selector
  ///     counted.
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`,
  ///   `typeMismatch`; `valueNotRepresentable` for a `String` with a NUL in it.
  internal mutating func setArgument<Value>(_ value: Value, at index: Int) throws(ForwardingError) {
    _ = try replaceArgument(value, at: index)
  }

  /// Sets an argument, and returns the object that was kept alive for the old
  /// one.
  internal mutating func replaceArgument<Value>(
    _ value: Value, at index: Int
  ) throws(ForwardingError) -> AnyObject? {
    let (argument, offset) = try place(at: index)
    let coder: ValueCoder<Value> = try coder(for: argument)
    let copy: AnyObject?
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the slot, which lies in the frame.
      copy = try unsafe coder.encodeCopying(value, into: base + offset)
    } catch {
      throw ForwardingError(error, signature: signature, argumentIndex: index)
    }
    if let copy {
      return keeper.keep(copy, for: argument, count: signature.arguments.count)
    }
    return withExtendedLifetime(value) {
      unsafe keeper.slotChanged(
        base + offset, of: argument, isObject: coder.isObject, count: signature.arguments.count)
    }
  }

  /// Returns an argument.
  ///
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`;
  ///   `typeMismatch` if the type does not fit the encoding, or the object has
  ///   another class; `nullPointer` if the argument is null and the type is not
  ///   optional; `valueNotRepresentable` if the type has no case for the raw
  ///   value, or if a `Bool` is a byte other than 0 and 1.
  internal borrowing func argument<Value>(
    at index: Int, as type: Value.Type
  ) throws(ForwardingError) -> Value {
    let (argument, offset) = try place(at: index)
    let coder: ValueCoder<Value> = try coder(for: argument)
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the slot, which lies in the frame.
      return try unsafe coder.decode(from: base + offset)
    } catch {
      throw ForwardingError(error, signature: signature, argumentIndex: index)
    }
  }

  private borrowing func coder<Value>(
    for argument: MethodSignature.Argument
  ) throws(ForwardingError) -> ValueCoder<Value> {
    do throws(ValueMismatch) {
      return try ValueCoder(for: argument.encoding)
    } catch {
      throw ForwardingError(error, signature: signature, argumentIndex: argument.index)
    }
  }

  private borrowing func place(
    at index: Int
  ) throws(ForwardingError) -> (MethodSignature.Argument, offset: Int) {
    let argument = try signature.checkedArgument(at: index)
    guard let offset = argument.frameOffset else {
      throw ForwardingError(
        .indexOutOfRange, encoding: signature.text, argumentIndex: index,
        expected: "the frame has no receiver and no selector")
    }
    return (argument, offset)
  }
}

extension MethodSignature {
  /// Returns the argument at an index that may be wrong.
  internal func checkedArgument(
    at index: Int, selector: MethodSelector? = nil
  ) throws(ForwardingError) -> Argument {
    guard index >= 0 && index < arguments.count else {
      throw ForwardingError(
        .indexOutOfRange, selector: selector?.name, encoding: text, argumentIndex: index,
        expected: arguments.count == 1 ? "it has 1 argument" : "it has \(arguments.count) arguments"
      )
    }
    return arguments[index]
  }
}

// MARK: - Bytes

extension ArgumentFrame {
  /// Sets an argument to bytes. They must be a value of the argument's type: a
  /// live object for `@`, a string that ends with a NUL for `*`.
  ///
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`; `wrongSize`
  ///   if the number of bytes is not the size of the type.
  @unsafe
  internal mutating func setBytes(_ bytes: RawSpan, at index: Int) throws(ForwardingError) {
    // SAFETY: the caller's promise is passed on.
    _ = try unsafe replaceBytes(bytes, at: index)
  }

  /// Sets an argument to bytes, and returns the object that was kept alive for
  /// the old one.
  @unsafe internal mutating func replaceBytes(
    _ bytes: RawSpan, at index: Int
  ) throws(ForwardingError) -> AnyObject? {
    let (argument, offset) = try place(at: index)
    try argument.checkSize(bytes.byteCount, signature: signature)
    // SAFETY: the sizes agree; a span into this frame may overlap, which
    // copyMemory allows.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count)
        .copyMemory(from: bytes)
    }
    return unsafe keeper.slotChanged(
      base + offset, of: argument, isObject: false, count: signature.arguments.count)
  }

  /// Calls `body` with the bytes of an argument or of the whole frame, which
  /// are valid during the call.
  ///
  /// - Parameter index: The index of the argument; nil for the whole frame,
  ///   padding included.
  /// - Throws: `ForwardingError` with the code `indexOutOfRange`; what `body`
  ///   throws.
  internal borrowing func withBytes<Value>(
    ofArgumentAt index: Int? = nil, _ body: (RawSpan) throws(ForwardingError) -> Value
  ) throws(ForwardingError) -> Value {
    var (offset, size) = (0, signature.frameSize)
    if let index {
      let (argument, start) = try place(at: index)
      (offset, size) = (start, argument.layout.size)
    }
    // SAFETY: the bytes lie in the frame, which is borrowed.
    return try body(unsafe UnsafeRawBufferPointer(start: base + offset, count: size).bytes)
  }
}

extension MethodSignature.Argument {
  internal func checkSize(
    _ size: Int, selector: MethodSelector? = nil, signature: MethodSignature
  ) throws(ForwardingError) {
    guard size == layout.size else {
      throw ForwardingError(
        .wrongSize, selector: selector?.name, encoding: signature.text, argumentIndex: index,
        expected: layout.size == 1 ? "1 byte" : "\(layout.size) bytes", actual: "\(size)")
    }
  }
}

// MARK: - Retained arguments

extension ArgumentFrame {
  /// Makes the frame keep its objects and strings alive: retains objects (`@`)
  /// and copies strings (`*`), now and whenever an argument is set. They are
  /// released with the frame.
  ///
  /// This applies to the arguments themselves, not to members of structs and
  /// not to what pointers point to. Blocks are not copied.
  ///
  /// - Complexity: O(*n*) in the number of arguments and the length of the
  ///   strings.
  internal mutating func retainArguments() {
    // SAFETY: the slots hold values of their types.
    unsafe keeper.retain(signature, frame: base)
  }

  /// Retains the current arguments that are objects, and copies no strings.
  internal mutating func keepObjects() {
    for argument in signature.arguments where argument.encoding.kind == .object {
      guard let offset = argument.frameOffset else { continue }
      // SAFETY: the offset lies in the frame, where there is an object or null.
      _ = unsafe keeper.slotChanged(
        base + offset, of: argument, isObject: true, count: signature.arguments.count)
    }
  }

  /// Whether `retainArguments()` was called.
  internal var argumentsRetained: Bool { keeper.retains }

  /// The objects that the frame keeps alive now.
  internal var keptReferences: [AnyObject?] { keeper.contents }
}
