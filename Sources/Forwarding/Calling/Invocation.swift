// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A call as an object: a selector, a signature, a target, the arguments, and,
/// once the call is made, the result.
///
/// ```swift
/// let invocation = try Invocation("move:by:", try MethodSignature("i@:id"), target: robot)
/// try invocation.setArgument(Int32(7), at: 2)
/// try invocation.setArgument(0.5, at: 3)
/// try unsafe invocation.unsafeInvoke(robotMove)   // a C function
/// let steps = try invocation.result(as: Int32.self)
/// ```
///
/// Indices count all arguments: the receiver is 0, and the selector 1 if the
/// signature has one. An invocation can be invoked any number of times. Its
/// arguments may be changed in between.
///
/// The invocation keeps the target alive, and objects that were set as objects.
/// The caller must keep everything else alive: what pointers and C strings
/// point to, and objects in arguments that were set as bytes. Call
/// ``retainArguments()`` if the invocation must outlive the call that it was
/// made from.
///
/// Only one thread at a time may use an invocation.
@safe public final class Invocation {
  /// The signature of the method.
  public let signature: MethodSignature

  /// The method that is called. It is passed as argument 1 if the signature has
  /// a selector.
  public var selector: MethodSelector {
    // SAFETY: the selector's word follows the receiver's.
    didSet { unsafe storeSelector() }
  }

  private var receiver: Receiver = .none

  private enum Receiver {
    case none
    case object(AnyObject)
    /// A pointer, which is in `head`.
    case pointer
  }

  private var frame: ArgumentFrame

  /// Pointers to all arguments: to the receiver and the selector in `head`, to
  /// the others in the frame.
  private let slots: UnsafeMutablePointer<UnsafeMutableRawPointer>

  private let head: UnsafeMutablePointer<Head>

  /// The words that each call reads or writes. They are in allocated memory, since Swift
  /// checks each access to a stored property for exclusivity.
  @safe private struct Head {
    var receiver: UnsafeRawPointer?
    var selector: UnsafeRawPointer?
    /// How many calls with the arguments are under way.
    var callCount = 0
    /// Whether `replaced` is not empty.
    var hasReplaced = false
  }

  /// Objects whose arguments were set to other values during a call. The call may still
  /// use them, so they are released when it ends.
  private var replaced: [AnyObject] = []

  /// Memory for the result. Zero until there is a result. `keptResult` keeps an
  /// object in it alive.
  private let resultBytes: UnsafeMutableRawPointer
  private let resultSize: Int
  private let resultEncoding: TypeEncoding
  private var keptResult: AnyObject?

  /// Whether there is a result: it has been set, or the invocation has been
  /// invoked.
  public private(set) var hasResult = false

  /// Creates an invocation whose arguments are zero.
  ///
  /// - Throws: `ForwardingError` with the code `noReceiver` if the first
  ///   argument of the signature is not a pointer.
  public convenience init(
    _ selector: MethodSelector, _ signature: MethodSignature, target: AnyObject? = nil
  ) throws(ForwardingError) {
    try self.init(selector, ArgumentFrame(signature), target: target)
  }

  /// Creates an invocation from its arguments without the receiver and the
  /// selector.
  ///
  /// - Throws: `ForwardingError` with the code `noReceiver` if the first
  ///   argument of the frame's signature is not a pointer.
  internal convenience init(
    _ selector: MethodSelector, _ frame: consuming ArgumentFrame, target: AnyObject? = nil
  ) throws(ForwardingError) {
    let signature = frame.signature
    guard signature.hasReceiver else {
      let first = signature.arguments.first.map { "argument 0 is \($0.encoding.inWords)" }
      throw ForwardingError(
        .noReceiver, selector: selector.name, encoding: signature.text,
        expected: first ?? "it has no arguments")
    }
    self.init(checked: selector, frame)
    self.target = target
  }

  /// Creates an invocation of a signature that has a receiver.
  private init(checked selector: MethodSelector, _ frame: consuming ArgumentFrame) {
    let signature = frame.signature
    self.signature = signature
    self.selector = selector
    let layout = signature.resultLayout
    resultSize = layout.size
    resultEncoding = signature.result
    // SAFETY: freed in `deinit`; all of it is initialized. `resultBytes` has
    // room for a word, since the result is loaded as one if it is an object.
    let room = max(layout.size, 16)
    unsafe resultBytes = .allocate(byteCount: room, alignment: max(layout.alignment, 16))
    unsafe resultBytes.initializeMemory(as: UInt8.self, repeating: 0, count: room)
    unsafe head = .allocate(capacity: 1)
    unsafe head.initialize(to: Head())
    unsafe slots = .allocate(capacity: signature.arguments.count)
    for argument in signature.arguments {
      let slot =
        unsafe argument.frameOffset.map { unsafe frame.base + $0 }
        ?? UnsafeMutableRawPointer(head) + argument.index * MemoryLayout<UnsafeRawPointer>.size
      unsafe slots.advanced(by: argument.index).initialize(to: slot)
    }
    self.frame = frame
    // SAFETY: the head was made above.
    unsafe storeSelector()
  }

  /// Creates an invocation from pointers to all arguments of a call. The
  /// signature must have a receiver. The invocation has no target. It keeps
  /// objects alive.
  @unsafe internal convenience init(
    _ selector: MethodSelector, _ signature: MethodSignature,
    copyingArguments arguments: UnsafePointer<UnsafeMutableRawPointer>
  ) {
    var frame = unsafe ArgumentFrame(signature, copying: arguments)
    frame.keepObjects()
    self.init(checked: selector, frame)
  }

  private convenience init(copying other: Invocation) {
    // No check of the signature: `other` has passed it.
    self.init(checked: other.selector, other.frame.copy())
    receiver = other.receiver
    // SAFETY: both have the sizes of the same signature. This invocation
    // retains the references, too.
    unsafe head.pointee.receiver = other.head.pointee.receiver
    unsafe resultBytes.copyMemory(from: other.resultBytes, byteCount: resultSize)
    keptResult = other.keptResult
    hasResult = other.hasResult
  }

  deinit {
    // SAFETY: allocated in `init`, freed once.
    unsafe slots.deallocate()
    unsafe head.deallocate()
    unsafe resultBytes.deallocate()
  }

  /// The shim's handle of the selector.
  @unsafe internal var selectorHandle: OpaquePointer? {
    unsafe OpaquePointer(head.pointee.selector)
  }

  @unsafe private func storeSelector() {
    unsafe head.pointee.selector = UnsafeRawPointer(selector.handle)
  }
}

// MARK: - Target

extension Invocation {
  /// The receiver of the call, which the invocation keeps alive. Nil if the
  /// call has no receiver, or a pointer as its receiver.
  public var target: AnyObject? {
    get {
      if case .object(let object) = receiver { object } else { nil }
    }
    set {
      replaceReceiver(newValue.map { .object($0) } ?? .none)
      // SAFETY: the object is kept by `receiver`.
      unsafe head.pointee.receiver = newValue.map {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque())
      }
    }
  }

  /// The first argument as a pointer, for a receiver that is not a Swift
  /// object, such as a C context. The caller must keep alive what it points to.
  ///
  /// If this is set to nil, `unsafeInvoke` passes a null pointer. If no target
  /// was ever set, `unsafeInvoke` does not call the function.
  @unsafe public var unsafeTarget: UnsafeRawPointer? {
    get { unsafe head.pointee.receiver }
    set {
      replaceReceiver(.pointer)
      // SAFETY: the caller keeps alive what it points to.
      unsafe head.pointee.receiver = newValue
    }
  }

  private func replaceReceiver(_ new: Receiver) {
    // Releasing the old target may run code that uses this invocation, so it
    // must happen after the access to the property.
    let old = receiver
    receiver = new
    withExtendedLifetime(old) {}
  }

  /// Whether a target has been set.
  internal var hasTarget: Bool {
    if case .none = receiver { false } else { true }
  }
}

// MARK: - Arguments

extension Invocation {
  /// Sets an argument.
  ///
  /// The invocation keeps an object alive, and the copy of a `String` or of another
  /// Swift value. It does not keep alive what a pointer points to: see
  /// ``retainArguments()``.
  ///
  /// - Parameters:
  ///   - value: A value of a Swift type that fits the argument's encoding: a
  ///     number of the same size, signedness and kind, a pointer, an object for
  ///     `@`, a `TypeEncodable` struct, and so on.
  ///   - index: The index of the argument. An object at index 0 becomes the
  ///     target.
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`,
  ///   `typeMismatch`; `nullPointer` for no selector; `valueNotRepresentable`
  ///   for a `String` with a NUL in it.
  public func setArgument<Value>(_ value: Value, at index: Int) throws(ForwardingError) {
    guard index >= signature.firstArgumentIndex || index < 0 else {
      return try setHidden(value, at: index)
    }
    do throws(ForwardingError) {
      replace(try frame.replaceArgument(value, at: index))
    } catch {
      throw error.naming(selector.name)
    }
  }

  /// Returns an argument.
  ///
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`;
  ///   `typeMismatch` if the type does not fit the encoding, or the object has
  ///   another class; `nullPointer` if the argument is null and the type is not
  ///   optional; `valueNotRepresentable` if the type has no case for the raw
  ///   value, or if a `Bool` is a byte other than 0 and 1.
  public func argument<Value>(
    at index: Int, as type: Value.Type
  ) throws(ForwardingError) -> Value {
    let argument = try signature.checkedArgument(at: index, selector: selector)
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the slot, which lives as long as the invocation.
      return try unsafe ValueCoder<Value>(for: argument.encoding).decode(from: slots[index])
    } catch {
      throw ForwardingError(
        error, selector: selector, signature: signature, argumentIndex: index)
    }
  }

  private func setHidden<Value>(_ value: Value, at index: Int) throws(ForwardingError) {
    let coder: ValueCoder<Value>
    do throws(ValueMismatch) {
      coder = try ValueCoder(storingIn: signature.arguments[index].encoding)
    } catch {
      throw ForwardingError(
        error, selector: selector, signature: signature, argumentIndex: index)
    }
    // SAFETY: the coder fits the word, and `value` keeps an object alive until
    // `receiver` does.
    try withExtendedLifetime(value) { () throws(ForwardingError) in
      var word: UnsafeRawPointer?
      unsafe withUnsafeMutableBytes(of: &word) { bytes in
        if let start = bytes.baseAddress { unsafe coder.encode(value, into: start) }
      }
      if index == 1 {
        guard let word = unsafe word else {
          throw ForwardingError(
            .nullPointer, selector: selector.name, encoding: signature.text, argumentIndex: 1,
            expected: "MethodSelector", actual: "null")
        }
        // SAFETY: a value for `:` is a selector, which is never freed.
        selector = unsafe MethodSelector(handle: OpaquePointer(word))
      } else if coder.isObject {
        target = unsafe word.map {
          unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        }
      } else {
        unsafe unsafeTarget = word
      }
    }
  }

  /// Sets an argument to bytes. They must be a value of the argument's type: a
  /// live object for `@`, a string that ends with a NUL for `*`. The receiver
  /// and the selector have properties of their own.
  ///
  /// - Throws: `ForwardingError` with the codes `indexOutOfRange`, `wrongSize`.
  @unsafe public func setBytes(_ bytes: RawSpan, at index: Int) throws(ForwardingError) {
    do throws(ForwardingError) {
      // SAFETY: the caller's promise is passed on.
      replace(try unsafe frame.replaceBytes(bytes, at: index))
    } catch {
      throw error.naming(selector.name)
    }
  }

  /// Calls `body` with the bytes of an argument, which are valid until the call
  /// returns or the argument is set.
  ///
  /// - Throws: `ForwardingError` with the code `indexOutOfRange`; what `body`
  ///   throws.
  public func withBytes<Value>(
    ofArgumentAt index: Int, _ body: (RawSpan) throws(ForwardingError) -> Value
  ) throws(ForwardingError) -> Value {
    let argument = try signature.checkedArgument(at: index, selector: selector)
    // SAFETY: the slot has the size of its type and lives as long as the
    // invocation.
    return try withExtendedLifetime(self) { () throws(ForwardingError) in
      try body(
        unsafe UnsafeRawBufferPointer(start: slots[index], count: argument.layout.size).bytes)
    }
  }

  /// Makes the invocation keep its objects and strings alive: retains objects
  /// (`@`) and copies strings (`*`), now and whenever an argument is set. They
  /// are released with the invocation.
  ///
  /// This applies to the arguments themselves, not to members of structs and
  /// not to what pointers point to. So a Swift value that a typed proxy passes by its
  /// address is valid only during the call. Blocks are not copied. The target is
  /// retained in any case, unless it is a pointer.
  ///
  /// - Complexity: O(*n*) in the number of arguments and the length of the
  ///   strings.
  public func retainArguments() {
    if unsafe head.pointee.callCount > 0 {
      for object in frame.keptReferences { replace(object) }
    }
    frame.retainArguments()
  }

  /// Takes over an object that an argument no longer refers to. Releases it when no call
  /// is under way, and after the access to the frame has ended.
  private func replace(_ old: AnyObject?) {
    guard let old, unsafe head.pointee.callCount > 0 else { return }
    replaced.append(old)
    unsafe head.pointee.hasReplaced = true
  }

  /// Whether `retainArguments()` was called.
  internal var argumentsRetained: Bool { frame.argumentsRetained }

  /// Returns an invocation with the same selector, target, arguments and
  /// result. The copy keeps alive what this invocation keeps alive.
  ///
  /// - Parameter retainingArguments: whether to call ``retainArguments()`` of
  ///   the copy. If this invocation retains its arguments, the copy does in any
  ///   case.
  /// - Complexity: O(*n*) in the size of the frame and of the strings.
  public func copy(retainingArguments: Bool = false) -> Invocation {
    let copy = Invocation(copying: self)
    if retainingArguments { copy.retainArguments() }
    return copy
  }
}

// MARK: - Result

extension Invocation {
  /// Returns the result.
  ///
  /// - Throws: `ForwardingError` with the codes `noResult` if there is none
  ///   yet; `typeMismatch`, `nullPointer`, `valueNotRepresentable` as for
  ///   arguments.
  public func result<Value>(as type: Value.Type) throws(ForwardingError) -> Value {
    try checkResult()
    do throws(ValueMismatch) {
      // SAFETY: the coder fits the result's bytes, and `keptResult` keeps an
      // object in them.
      return try unsafe ValueCoder<Value>(for: resultEncoding).decode(from: resultBytes)
    } catch {
      throw ForwardingError(error, selector: selector, signature: signature)
    }
  }

  /// Sets the result. The invocation keeps an object alive.
  ///
  /// - Throws: `ForwardingError` with the code `typeMismatch`.
  public func setResult<Value>(_ value: Value) throws(ForwardingError) {
    let coder: ValueCoder<Value>
    do throws(ValueMismatch) {
      coder = try ValueCoder(storingIn: resultEncoding)
    } catch {
      throw ForwardingError(error, selector: selector, signature: signature)
    }
    // SAFETY: the coder fits the result's bytes, and `value` keeps an object
    // alive until it is kept.
    withExtendedLifetime(value) {
      unsafe coder.encode(value, into: resultBytes)
      unsafe resultChanged(isOwned: false)
    }
  }

  /// Sets the result to bytes, which must be a value of the result's type. If
  /// that is an object, it is retained.
  ///
  /// - Throws: `ForwardingError` with the code `wrongSize`.
  @unsafe public func setResultBytes(_ bytes: RawSpan) throws(ForwardingError) {
    guard bytes.byteCount == resultSize else {
      throw ForwardingError(
        .wrongSize, selector: selector.name, encoding: signature.text,
        expected: resultSize == 1 ? "1 byte" : "\(resultSize) bytes", actual: "\(bytes.byteCount)")
    }
    // SAFETY: the sizes agree; a span into the result may overlap, which
    // copyMemory allows.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: resultBytes, count: resultSize)
        .copyMemory(from: bytes)
    }
    unsafe resultChanged(isOwned: false)
  }

  /// Calls `body` with the bytes of the result, which are valid until the call
  /// returns or the result is set.
  ///
  /// - Throws: `ForwardingError` with the code `noResult`; what `body` throws.
  public func withResultBytes<Value>(
    _ body: (RawSpan) throws(ForwardingError) -> Value
  ) throws(ForwardingError) -> Value {
    try checkResult()
    // SAFETY: the bytes live as long as the invocation.
    return try withExtendedLifetime(self) { () throws(ForwardingError) in
      try body(unsafe UnsafeRawBufferPointer(start: resultBytes, count: resultSize).bytes)
    }
  }

  /// Sets the result to bytes. If they are an object, `isOwned` says whether
  /// the invocation takes over the caller's reference.
  @unsafe internal func unsafeSetResult(from bytes: UnsafeRawPointer, isOwned: Bool) {
    // SAFETY: the caller has a result of this type there.
    unsafe resultBytes.copyMemory(from: bytes, byteCount: resultSize)
    unsafe resultChanged(isOwned: isOwned)
  }

  /// Copies the bytes of the result. Copies zeros if no result was set.
  /// Retains an object for the caller.
  @unsafe internal func unsafeCopyRetainedResult(to room: UnsafeMutableRawPointer) {
    // SAFETY: the caller has room for it; `keptResult` keeps the object.
    unsafe room.copyMemory(from: resultBytes, byteCount: resultSize)
    if let keptResult { _ = unsafe Unmanaged.passRetained(keptResult) }
  }

  private func checkResult() throws(ForwardingError) {
    guard hasResult else {
      throw ForwardingError(.noResult, selector: selector.name, encoding: signature.text)
    }
  }

  /// Must be called after the bytes of the result have changed. If they are an
  /// object, it is alive or null, and `isOwned` says whether the invocation
  /// takes over a reference to it.
  @unsafe private func resultChanged(isOwned: Bool) {
    hasResult = true
    guard signature.returnsObject else { return }
    // SAFETY: `resultBytes` has room for a word, which is an object that is
    // alive, or null.
    let object = unsafe resultBytes.load(as: Unmanaged<AnyObject>?.self)
    let old = keptResult
    keptResult =
      unsafe isOwned ? object?.takeRetainedValue() : object?.takeUnretainedValue()
    // Released after the access to the property, as the receiver is.
    withExtendedLifetime(old) {}
  }
}

// MARK: - Invoking

extension Invocation {
  /// Calls a C function with the target as its receiver, and keeps its result.
  /// If no target was set, the function is not called, and the result is zero.
  ///
  /// If the function returns an object, it must return it retained (+1). The
  /// invocation takes that reference over.
  ///
  /// - Parameter function: a C function pointer of this signature, as a
  ///   `@convention(c)` value or a raw pointer.
  /// - Throws: `ForwardingError` with the codes `nullPointer` for a null
  ///   function; `typeMismatch` if the value is not a function pointer;
  ///   `outOfMemory`.
  @unsafe public func unsafeInvoke<Function: BitwiseCopyable>(
    _ function: Function
  ) throws(ForwardingError) {
    guard hasTarget else {
      // SAFETY: zeros are a value of each type that C returns.
      unsafe resultBytes.initializeMemory(as: UInt8.self, repeating: 0, count: resultSize)
      unsafe resultChanged(isOwned: false)
      return
    }
    let function = try unsafe CFunction(function, selector: selector, signature: signature)
    try unsafe withMutableResult(isOwned: true) { result throws(ForwardingError) in
      try unsafe withArgumentPointers { arguments throws(ForwardingError) in
        try unsafe signature.call(function, arguments, result, selector: selector)
      }
    }
  }

  /// Calls `body` with pointers to all arguments, the receiver and the selector
  /// included. The objects that the arguments refer to stay alive during the
  /// call, even if `body` changes arguments.
  @unsafe internal func withArgumentPointers<Value, Failure: Error>(
    _ body: (UnsafePointer<UnsafeMutableRawPointer>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let kept = target
    beginCall()
    defer { withExtendedLifetime(kept) { endCall() } }
    // SAFETY: the slots live as long as the invocation.
    return try unsafe body(UnsafePointer(slots))
  }

  /// Calls `body` with pointers to the arguments after the receiver and the selector,
  /// and with memory for the result, as `withArgumentPointers` and
  /// `withMutableResult` do. Does not keep the target alive. The invocation takes over
  /// a reference to an object in the result.
  @inline(__always)
  @unsafe internal func withDelivery(
    _ body: (UnsafePointer<UnsafeMutableRawPointer>, UnsafeMutableRawPointer)
      throws(ForwardingError) -> Void
  ) throws(ForwardingError) {
    beginCall()
    defer { endCall() }
    // SAFETY: the slots and the result live as long as the invocation.
    try unsafe body(UnsafePointer(slots) + signature.firstArgumentIndex, resultBytes)
    unsafe resultChanged(isOwned: true)
  }

  /// Keeps alive everything that the arguments refer to until `endCall`.
  @inline(__always)
  private func beginCall() { unsafe head.pointee.callCount += 1 }

  @inline(__always)
  private func endCall() {
    unsafe head.pointee.callCount -= 1
    if unsafe head.pointee.callCount == 0 && head.pointee.hasReplaced { releaseReplaced() }
  }

  @inline(never)
  private func releaseReplaced() {
    let old = replaced
    replaced = []
    unsafe head.pointee.hasReplaced = false
    withExtendedLifetime(old) {}
  }

  /// Calls `body` with memory for the result, and then keeps the result. If
  /// `body` fails, it must not have written anything. `isOwned` says whether
  /// the invocation takes over a reference to an object in the result.
  @unsafe internal func withMutableResult<Failure: Error>(
    isOwned: Bool, _ body: (UnsafeMutableRawPointer) throws(Failure) -> Void
  ) throws(Failure) {
    defer { withExtendedLifetime(self) {} }
    // SAFETY: the bytes live as long as the invocation.
    try unsafe body(resultBytes)
    unsafe resultChanged(isOwned: isOwned)
  }
}
