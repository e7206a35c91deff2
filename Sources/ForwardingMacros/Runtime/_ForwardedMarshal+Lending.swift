// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  // Lends an argument to a listener. The value is neither copied nor retained,
  // since the caller keeps it during the call.

  extension _ForwardedMarshal {
    /// Calls `body` with the value in a word.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: _ForwardedDirect>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      // SAFETY: the argument has the type's encoding, and is at most as wide as
      // a word. Its bytes are the first bytes of the word, since these
      // processors are little-endian.
      try unsafe withUnsafePointer(to: word.littleEndian) { slot throws(_ForwardedMismatch) in
        guard let value = unsafe Value._read(UnsafeRawPointer(slot)) else {
          throw unsafe _ForwardedMismatch(index, type, in: UnsafeRawPointer(slot))
        }
        try body(value)
      }
    }
    /// Calls `body` with the argument of a C function as a `Bool`.
    @inlinable
    @inline(__always)
    @unsafe public static func lend(
      _ byte: UInt8, as type: Bool.Type, _ index: Int,
      _ body: (Bool) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      try unsafe lend(UInt(byte), as: type, index, body)
    }
    /// Lets a C function compile if the user has a type with the name `Bool`.
    /// `_ForwardedMethod` does not use such a C function.
    @inlinable
    @unsafe public static func lend<Value>(
      _: UInt8, as _: Value.Type, _: Int, _: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      preconditionFailure("a C function of other types than the method's")
    }
    /// Calls `body` with an object. Its class is checked, since the encoding does
    /// not name it.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw _ForwardedMismatch(index, type)
      }
      try unsafe check(word, as: type, index)
      // SAFETY: the word is an object of the class, which the caller keeps
      // alive.
      // `_withUnsafeGuaranteedRef` has no typed errors.
      var mismatch: _ForwardedMismatch?
      unsafe Unmanaged<Value>.fromOpaque(pointer)._withUnsafeGuaranteedRef { value in
        do throws(_ForwardedMismatch) { try body(value) } catch { mismatch = error }
      }
      if let mismatch { throw mismatch }
    }
    /// Calls `body` with an object or nil.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value: AnyObject>(
      _ word: UInt, as type: Value?.Type, _ index: Int,
      _ body: (Value?) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else { return try body(nil) }
      try unsafe check(word, as: Value.self, index)
      // SAFETY: as above.
      // `_withUnsafeGuaranteedRef` has no typed errors.
      var mismatch: _ForwardedMismatch?
      unsafe Unmanaged<Value>.fromOpaque(pointer)._withUnsafeGuaranteedRef { value in
        do throws(_ForwardedMismatch) { try body(value) } catch { mismatch = error }
      }
      if let mismatch { throw mismatch }
    }
    /// Calls `body` with the value at an address.
    @inlinable
    @inline(__always)
    @unsafe public static func lend<Value>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      guard let address = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw _ForwardedMismatch(index, type)
      }
      // SAFETY: the argument's encoding names the type, and the table has compared
      // encodings.
      let pointer = unsafe address.assumingMemoryBound(to: Value.self)
      #if canImport(ObjectiveC)
        // Objective-C's weak references must not be copied byte by byte.
        try unsafe body(pointer.pointee)
      #else
        // The bytes are copied without retaining what they refer to, and never
        // destroyed: the caller keeps the value during the call.
        var mismatch: _ForwardedMismatch?
        unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { room in
          let copy = unsafe room.baseAddress.unsafelyUnwrapped
          unsafe UnsafeMutableRawPointer(copy).copyMemory(
            from: pointer, byteCount: MemoryLayout<Value>.size)
          let value = unsafe copy.move()
          do throws(_ForwardedMismatch) { try body(value) } catch { mismatch = error }
          unsafe copy.initialize(to: consume value)
        }
        if let mismatch { throw mismatch }
      #endif
    }

    /// Calls `body` with the address of an `inout` value.
    @inlinable
    @inline(__always)
    @unsafe public static func lendInout<Value: ~Copyable>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (UnsafeMutablePointer<Value>) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word) else {
        throw _ForwardedMismatch(index, type)
      }
      // SAFETY: as above.
      try unsafe body(address.assumingMemoryBound(to: Value.self))
    }
    /// Calls `body` with the address of an `inout` object.
    @inlinable
    @inline(__always)
    @unsafe public static func lendInout<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int,
      _ body: (UnsafeMutablePointer<Value>) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      // SAFETY: the word is the address of an object, or null.
      guard let address = unsafe UnsafeMutableRawPointer(bitPattern: word),
        let object = unsafe address.load(as: UInt?.self), object != 0
      else { throw _ForwardedMismatch(index, type) }
      try unsafe check(object, as: type, index)
      try unsafe body(address.assumingMemoryBound(to: Value.self))
    }

    /// Checks the class of an object.
    @inlinable
    @inline(__always)
    @unsafe internal static func check<Value: AnyObject>(
      _ object: UInt, as type: Value.Type, _ index: Int
    ) throws(_ForwardedMismatch) {
      if unsafe Self.type(of: object) == UInt(bitPattern: ObjectIdentifier(type)) { return }
      try unsafe checkInherited(object, as: type, index)
    }

    @usableFromInline
    @inline(never)
    @unsafe internal static func checkInherited<Value: AnyObject>(
      _ word: UInt, as type: Value.Type, _ index: Int
    ) throws(_ForwardedMismatch) {
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else {
        throw _ForwardedMismatch(index, type)
      }
      let object = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
      guard object is Value else { throw _ForwardedMismatch(index, type, is: object) }
    }
  }

  extension _ForwardedArguments {
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public func lend<Value: _ForwardedDirect>(
      _ index: Int, as type: Value.Type,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      try body(unsafe take(index, as: type))
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public func lend<Value: AnyObject>(
      _ index: Int, as type: Value.Type,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      try unsafe _ForwardedMarshal.lend(bits(index), as: type, index, body)
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public func lend<Value: AnyObject>(
      _ index: Int, as type: Value?.Type,
      _ body: (Value?) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      try unsafe _ForwardedMarshal.lend(bits(index), as: type, index, body)
    }
    /// Calls `body` with the value of an argument behind a pointer.
    @inlinable
    @inline(__always)
    @unsafe public func lend<Value>(
      _ index: Int, as type: Value.Type,
      _ body: (Value) throws(_ForwardedMismatch) -> Void
    ) throws(_ForwardedMismatch) {
      try unsafe _ForwardedMarshal.lend(bits(index), as: type, index, body)
    }
  }
#endif
