// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How the arguments of a Swift function stand in a call of one signature.
internal struct ArgumentCoders<each Argument>: Sendable {
  let selector: MethodSelector
  let signature: MethodSignature
  let coders: (repeat ValueCoder<each Argument>)

  /// Finds the coders.
  ///
  /// - Throws: `InvocationError` if the number of arguments, or the type of
  ///   one, is not the signature's.
  init(_ selector: MethodSelector, _ signature: MethodSignature) throws(InvocationError) {
    self.selector = selector
    self.signature = signature
    var given = 0
    repeat Self.count((each Argument).self, &given)
    let expected = signature.arguments.count - signature.firstArgumentIndex
    guard given == expected else {
      throw InvocationError(
        .wrongArgumentCount, selector: selector.name, encoding: signature.text,
        expected: "\(expected) argument\(expected == 1 ? "" : "s") (\(signature))",
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
  ) throws(InvocationError) -> ValueCoder<Value> {
    defer { index += 1 }
    do throws(ValueMismatch) {
      return try ValueCoder<Value>(for: signature.arguments[index].encoding)
    } catch {
      throw InvocationError(
        error, selector: selector, signature: signature, argumentIndex: index)
    }
  }
}

extension ValueCoder {
  /// Finds how the result of a Swift function stands in a call of a signature.
  ///
  /// - Throws: `InvocationError` if the type is not the signature's.
  init(
    resultOf selector: MethodSelector, _ signature: MethodSignature
  ) throws(InvocationError) {
    do throws(ValueMismatch) {
      self = try ValueCoder(for: signature.result)
    } catch {
      throw InvocationError(error, selector: selector, signature: signature)
    }
  }
}

// MARK: - Decoding and encoding

extension ArgumentCoders {
  /// Reads the arguments behind pointers, one after another.
  @safe struct Reader {
    let selector: MethodSelector
    let signature: MethodSignature
    let pointers: UnsafePointer<UnsafeMutableRawPointer>
    var index: Int

    mutating func next<Value>(_ coder: ValueCoder<Value>) throws(InvocationError) -> Value {
      defer { index += 1 }
      do throws(ValueMismatch) {
        // SAFETY: whoever made the reader gave as many pointers as the
        // signature has arguments, each to a value of its type; there are as
        // many coders.
        return try unsafe coder.decode(from: pointers[index])
      } catch {
        throw InvocationError(
          error, selector: selector, signature: signature, argumentIndex: index)
      }
    }
  }

  @unsafe func reader(_ pointers: UnsafePointer<UnsafeMutableRawPointer>) -> Reader {
    unsafe Reader(
      selector: selector, signature: signature, pointers: pointers,
      index: signature.firstArgumentIndex)
  }

  /// Writes the arguments to an argument frame, one after another. Objects are
  /// not retained.
  @unsafe func encode(_ values: repeat each Argument, into frame: UnsafeMutableRawPointer) {
    var index = signature.firstArgumentIndex
    repeat unsafe Self.write(each values, each coders, frame, signature, &index)
  }

  @unsafe private static func write<Value>(
    _ value: Value, _ coder: ValueCoder<Value>, _ frame: UnsafeMutableRawPointer,
    _ signature: MethodSignature, _ index: inout Int
  ) {
    // SAFETY: the offset of an argument that is in the frame is below the
    // frame's size.
    unsafe coder.encode(value, into: frame + (signature.arguments[index].frameOffset ?? 0))
    index += 1
  }
}
