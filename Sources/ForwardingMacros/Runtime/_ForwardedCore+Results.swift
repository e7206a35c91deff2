// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  // MARK: - Errors

  extension _ForwardedCore {
    @inlinable
    @inline(__always)
    internal func noting<Value>(_ body: () throws(ForwardingError) -> Value?) -> Value? {
      do throws(ForwardingError) {
        return try body()
      } catch {
        note(error)
        return nil
      }
    }

    /// Calls `body` with the address of an optional error. If there is an error
    /// afterwards, throws it and drops the result.
    @inlinable
    @inline(__always)
    @unsafe internal func catching<Value>(
      _ body: (UInt) throws(ForwardingError) -> Value?
    ) throws -> Value? {
      var thrown: (any Error)?
      var value: Value?
      do throws(ForwardingError) {
        value = try unsafe withUnsafeMutablePointer(to: &thrown) { thrown throws(ForwardingError) in
          try body(UInt(bitPattern: thrown))
        }
      } catch {
        if thrown == nil && error.code != .noResponder { throw error }
      }
      if let thrown { throw thrown }
      return value
    }
  }

  // MARK: - By the kind of a result

  extension _ForwardedCore {
    /// Forwards for a result of a type that C has, too. `tail` comes behind the
    /// frame.
    @inlinable
    @inline(__always)
    @unsafe internal func direct<Frame, Tail, Value: _ForwardedDirect>(
      _ method: Int, _ frame: Frame, _ tail: Tail, as type: Value.Type
    ) throws(ForwardingError) -> Value {
      var first: UInt8 = 0
      let value: Value? = try unsafe register(method, (frame, tail)) { bytes in
        first = unsafe bytes.load(as: UInt8.self)
        return unsafe Value._read(bytes)
      }
      guard let value else { throw mismatch(method, type, first) }
      return value
    }

    /// Forwards for a result that is an object; nil if it is null. Checks the
    /// object's class, which the encoding does not contain.
    @inlinable
    @inline(__always)
    @unsafe internal func object<Frame, Tail, Value: AnyObject>(
      _ method: Int, _ frame: Frame, _ tail: Tail, as type: Value.Type
    ) throws(ForwardingError) -> Value? {
      // SAFETY: a result is null or an object with a reference for the caller.
      let object: AnyObject? = try unsafe register(method, (frame, tail)) { bytes in
        unsafe bytes.load(as: Unmanaged<AnyObject>?.self)?.takeRetainedValue()
      }
      guard let object else { return nil }
      guard let value = object as? Value else {
        throw mismatch(method, type, object)
      }
      return value
    }

    /// Forwards for a result that the responder assigns to an optional in
    /// memory; nil if none has.
    @inlinable
    @inline(__always)
    @unsafe internal func indirect<Frame, Tail, Value>(
      _ method: Int, _ frame: Frame, _ tail: Tail, as _: Value.Type
    ) throws(ForwardingError) -> Value? {
      var value: Value?
      try unsafe withUnsafeMutablePointer(to: &value) { value throws(ForwardingError) in
        try unsafe register(method, (frame, UInt(bitPattern: value), tail)) { _ in }
      }
      return value
    }

    /// Forwards a frame and reads the result from the register.
    @inlinable
    @inline(__always)
    @unsafe internal func register<Frame, Output>(
      _ method: Int, _ frame: Frame, _ read: (UnsafeRawPointer) -> Output
    ) throws(ForwardingError) -> Output {
      var room: UInt64 = 0
      return try unsafe withUnsafeMutablePointer(to: &room) { room throws(ForwardingError) in
        let isDone = unsafe withUnsafePointer(to: frame) { unsafe forward(method, $0, room) }
        if !isDone { throw lastError(method) }
        return unsafe read(UnsafeRawPointer(room))
      }
    }
  }
#endif
