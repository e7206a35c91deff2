// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The coders of a Swift function's arguments for calls of one signature.
@usableFromInline
internal struct ArgumentCoders<each Argument>: Sendable {
  @usableFromInline internal let selector: MethodSelector
  @usableFromInline internal let signature: MethodSignature
  @usableFromInline internal let coders: (repeat ValueCoder<each Argument>)
  /// The first argument behind the receiver and the selector.
  @usableFromInline internal let first: Int

  /// Finds the coders: of all arguments, or of the first few.
  ///
  /// - Throws: `ForwardingError` if the number of arguments, or the type of
  ///   one, is not the signature's.
  init(
    _ selector: MethodSelector, _ signature: MethodSignature, mayBeFewer: Bool = false
  ) throws(ForwardingError) {
    self.selector = selector
    self.signature = signature
    first = signature.firstArgumentIndex
    var given = 0
    repeat Self.count((each Argument).self, &given)
    let expected = signature.arguments.count - signature.firstArgumentIndex
    guard given == expected || (mayBeFewer && given < expected) else {
      throw ForwardingError(
        .wrongArgumentCount, selector: selector.name, encoding: signature.text,
        expected: (mayBeFewer ? "at most " : "")
          + "\(expected) argument\(expected == 1 ? "" : "s") (\(signature))",
        actual: "\(given)")
    }
    var index = signature.firstArgumentIndex
    coders = (repeat try Self.next((each Argument).self, selector, signature, &index))
  }

  private static func count<Value>(_: Value.Type, _ count: inout Int) {
    count += 1
  }

  private static func next<Value>(
    _: Value.Type, _ selector: MethodSelector, _ signature: MethodSignature, _ index: inout Int
  ) throws(ForwardingError) -> ValueCoder<Value> {
    defer { index += 1 }
    do throws(ValueMismatch) {
      return try ValueCoder<Value>(for: signature.arguments[index].encoding)
    } catch {
      throw ForwardingError(
        error, selector: selector, signature: signature, argumentIndex: index,
        parameter: index - signature.firstArgumentIndex + 1)
    }
  }
}

extension ValueCoder {
  /// Finds how the result of a Swift function stands in a call of a signature.
  ///
  /// - Throws: `ForwardingError` if the type is not the signature's.
  init(
    resultOf selector: MethodSelector, _ signature: MethodSignature
  ) throws(ForwardingError) {
    do throws(ValueMismatch) {
      self = try ValueCoder(for: signature.result)
    } catch {
      throw ForwardingError(error, selector: selector, signature: signature)
    }
  }

  /// Finds how the result of a closure that implements a method is stored. The
  /// closure of a void method may have any result, which is dropped: that of
  /// its last expression often is one by accident, such as `Optional<()>`.
  ///
  /// - Throws: `ForwardingError` if the method has a result, and the type is not
  ///   the signature's.
  @usableFromInline
  init(
    ofClosure selector: MethodSelector, _ signature: MethodSignature
  ) throws(ForwardingError) {
    if signature.result.kind == .void && Value.self != Void.self {
      self.init(.translated(DroppingTranslator()))
    } else {
      do throws(ValueMismatch) {
        self = try ValueCoder(storingIn: signature.result)
      } catch {
        throw ForwardingError(error, selector: selector, signature: signature)
      }
    }
  }
}

/// Stores nothing for a value. The caller's own reference to it is the last.
private final class DroppingTranslator<Value>: ValueTranslator<Value>, @unchecked Sendable {
  // Sendable: no state.

  // `encode` of the superclass writes nothing.
  override var translatesEncoding: Bool { true }
}

// MARK: - Decoding and encoding

extension ArgumentCoders {
  /// Reads one of the arguments behind pointers, and goes on to the next.
  @inlinable
  @inline(__always)
  @unsafe internal func next<Value>(
    _ coder: ValueCoder<Value>, _ pointers: UnsafePointer<UnsafeMutableRawPointer>,
    _ index: inout Int
  ) throws(ForwardingError) -> Value {
    defer { index += 1 }
    do throws(ValueMismatch) {
      // SAFETY: the caller gives as many pointers as the signature has
      // arguments, each to a value of its type; there are as many coders.
      return try unsafe coder.decode(from: pointers[index])
    } catch {
      throw completed(error, at: index)
    }
  }

  @usableFromInline
  @inline(never) internal func completed(_ error: ValueMismatch, at index: Int) -> ForwardingError {
    ForwardingError(
      error, selector: selector, signature: signature, argumentIndex: index,
      parameter: index - first + 1)
  }

  /// Writes the arguments to an argument frame, one after another. Objects are
  /// not retained.
  ///
  /// - Returns: the copies of strings, to be kept as long as the frame is read.
  /// - Throws: `ForwardingError` with the code `valueNotRepresentable` for a
  ///   string that C cannot have.
  @unsafe func encode(
    _ values: repeat each Argument, into frame: UnsafeMutableRawPointer
  ) throws(ForwardingError) -> [AnyObject] {
    var index = signature.firstArgumentIndex
    var copies: [AnyObject] = []
    repeat try unsafe write(each values, each coders, frame, &index, &copies)
    return copies
  }

  @unsafe private func write<Value>(
    _ value: Value, _ coder: ValueCoder<Value>, _ frame: UnsafeMutableRawPointer,
    _ index: inout Int, _ copies: inout [AnyObject]
  ) throws(ForwardingError) {
    do throws(ValueMismatch) {
      // SAFETY: the offset of an argument that is in the frame is below the
      // frame's size.
      let copy = try unsafe coder.encodeCopying(
        value, into: frame + (signature.arguments[index].frameOffset ?? 0))
      if let copy { copies.append(copy) }
    } catch {
      throw completed(error, at: index)
    }
    index += 1
  }
}
