// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  // How an argument reaches a listener that came in a register. Nothing is
  // copied and no reference is counted: whoever forwards has the value during the
  // call.

  extension ForwardedSlot {
    /// Calls `body` with the value in a word.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: ForwardedDirect>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      // SAFETY: the table has found that the slot is of the type's encoding, and
      // it is no wider than the word. The low bytes come first.
      let value = unsafe withUnsafePointer(to: word.littleEndian) {
        unsafe Value._read(UnsafeRawPointer($0))
      }
      guard let value else { throw ForwardedMismatch(index, type) }
      try body(value)
    }
    /// Calls `body` with an object, whose class is checked: the encoding does not
    /// tell it.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw ForwardedMismatch(index, type)
      }
      try unsafe check(word, as: type, index)
      // SAFETY: an object of the class, which the caller has.
      // That it is lent knows no typed errors.
      var mismatch: ForwardedMismatch?
      unsafe Unmanaged<Value>.fromOpaque(pointer)._withUnsafeGuaranteedRef { value in
        do throws(ForwardedMismatch) { try body(value) } catch { mismatch = error }
      }
      if let mismatch { throw mismatch }
    }
    /// Calls `body` with an object or nil.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ word: UInt, as type: Value?.Type, _ index: Int,
      _ body: (Value?) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else { return try body(nil) }
      try unsafe check(word, as: Value.self, index)
      // SAFETY: as above.
      // That it is lent knows no typed errors.
      var mismatch: ForwardedMismatch?
      unsafe Unmanaged<Value>.fromOpaque(pointer)._withUnsafeGuaranteedRef { value in
        do throws(ForwardedMismatch) { try body(value) } catch { mismatch = error }
      }
      if let mismatch { throw mismatch }
    }
    /// Calls `body` with the value at an address.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      guard let address = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw ForwardedMismatch(index, type)
      }
      // SAFETY: the table has found that the slot is the address of such a
      // value, by the name of the type.
      let pointer = unsafe address.assumingMemoryBound(to: Value.self)
      #if canImport(ObjectiveC)
        // There some values must not be copied byte by byte.
        try unsafe body(pointer.pointee)
      #else
        // A copy that counts no reference, and is given up as such: whoever
        // forwards keeps the value during the call.
        var mismatch: ForwardedMismatch?
        unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { room in
          let copy = unsafe room.baseAddress.unsafelyUnwrapped
          unsafe UnsafeMutableRawPointer(copy).copyMemory(
            from: pointer, byteCount: MemoryLayout<Value>.size)
          let value = unsafe copy.move()
          do throws(ForwardedMismatch) { try body(value) } catch { mismatch = error }
          unsafe copy.initialize(to: consume value)
        }
        if let mismatch { throw mismatch }
      #endif
    }

    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: ForwardedDirect>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      try body(unsafe take(arguments, index, as: type))
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      try unsafe lend(arguments.bits(index), as: type, index, body)
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value?.Type,
      _ body: (Value?) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      try unsafe lend(arguments.bits(index), as: type, index, body)
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value>(
      _ arguments: ForwardedArguments, _ index: Int, as type: Value.Type,
      _ body: (Value) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      try unsafe lend(arguments.bits(index), as: type, index, body)
    }

    /// Calls `body` with the place of a value that may be changed.
    @inlinable
    @inline(__always)
    @unsafe public static func lendInout<Value>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (UnsafeMutablePointer<Value>) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word) else {
        throw ForwardedMismatch(index, type)
      }
      // SAFETY: as above.
      try unsafe body(address.assumingMemoryBound(to: Value.self))
    }
    /// Calls `body` with the place of an object that may be changed.
    @inlinable
    @inline(__always)
    @unsafe public static func lendInout<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (UnsafeMutablePointer<Value>) throws(ForwardedMismatch) -> Void
    ) throws(ForwardedMismatch) {
      // SAFETY: the word is the address of an object or null.
      guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word),
        let object = unsafe address.load(as: UInt?.self), object != 0
      else { throw ForwardedMismatch(index, type) }
      try unsafe check(object, as: type, index)
      try unsafe body(address.assumingMemoryBound(to: Value.self))
    }

    /// Checks the class of an object.
    @inlinable
    @inline(__always)
    @unsafe internal static func check<Value: AnyObject>(
      _ object: UInt, as type: Value.Type, _ index: Int
    ) throws(ForwardedMismatch) {
      if unsafe Self.type(of: object) == UInt(bitPattern: ObjectIdentifier(type)) { return }
      try unsafe checkInherited(object, as: type, index)
    }

    @usableFromInline
    @inline(never)
    @unsafe internal static func checkInherited<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int
    ) throws(ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw ForwardedMismatch(index, type)
      }
      let object = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
      guard object is Value else { throw ForwardedMismatch(index, type, is: ofClass(object)) }
    }
  }
#endif
