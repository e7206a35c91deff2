// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// How the parameters and the result of a closure stand in calls of a method
  /// of a typed proxy: found once, with all checks of types.
  ///
  /// Behind a method's own arguments stands the place of the result, if C has no
  /// type for it, and last that of the error, if it throws.
  internal struct ForwardedHandler<each Argument, Output>: Sendable {
    private let arguments: (repeat ForwardedCoder<each Argument>)
    private let result: ForwardedCoder<Output>
    /// The place of a result that is not in the register.
    private let out: Int
    /// The place of the error; 0 for methods that do not throw.
    private let errorIndex: Int
    private let hasResult: Bool

    /// Compares the types with a method's.
    ///
    /// - Parameters:
    ///   - method: of the protocol.
    ///   - mayThrow: whether the closure throws.
    ///   - hint: what to do about a result that the closure does not give.
    internal init(
      _ method: ForwardedMethod, mayThrow: Bool, hint: String = ""
    ) throws(ForwardingError) {
      if method.isAsync {
        throw Self.mismatch(method, "cannot be: the method is async, which only listeners answer")
      }
      var (index, fault): (Int, String?) = (0, nil)
      repeat Self.count((each Argument).self, &index)
      let count = method.arguments.count
      if index > count {
        throw Self.mismatch(method, "has \(index) parameters, but the method has \(count)")
      }
      index = 0
      repeat Self.check((each Argument).self, method, &index, &fault)
      if let fault { throw Self.mismatch(method, fault) }
      let expected = method.result
      let result = ForwardedCoder<Output>()
      guard result.matches(expected) else {
        let gives = Self.inWords(expected.out ?? expected.encoding)
        throw Self.mismatch(
          method, "gives \(result.description.name), but the method gives \(gives)\(hint)")
      }
      if mayThrow && !method.isThrowing {
        throw Self.mismatch(method, "throws, but the method does not")
      }
      // Last: what throws with a tuple of a pack made crashes this compiler.
      self.result = result
      hasResult = expected.encoding != "v"
      out = 1 + count
      errorIndex = method.isThrowing ? out + (expected.out == nil ? 0 : 1) : 0
      arguments = (repeat ForwardedCoder<each Argument>())
    }

    private static func mismatch(_ method: ForwardedMethod, _ text: String) -> ForwardingError {
      ForwardingError(
        .signatureMismatch, selector: method.selector.name,
        "the closure for \"\(method.selector)\" \(text)")
    }

    private static func count<Value>(_: Value.Type, _ count: inout Int) { count += 1 }

    /// Says what is wrong with a parameter, if nothing was with those before it.
    private static func check<Value>(
      _: Value.Type, _ method: ForwardedMethod, _ index: inout Int, _ fault: inout String?
    ) {
      let expected = method.arguments[index]
      index += 1
      let (encoding, name) = ForwardedCoder<Value>().description
      if encoding == expected || fault != nil { return }
      fault = "has \(name) as parameter \(index), but the method has \(inWords(expected))"
    }

    /// What an encoding that the macro has made stands for.
    private static func inWords(_ encoding: String) -> String {
      switch encoding {
      case "@": return "a class"
      case "v": return "no result"
      case _ where encoding.hasPrefix("^{"): return String(encoding.dropFirst(2).dropLast())
      default: return (try? TypeEncoding(encoding).typeName) ?? encoding
      }
    }
  }

  // MARK: - Deliveries

  extension ForwardedHandler {
    /// Calls a closure with the arguments of a delivery, and gives its result or
    /// its error back.
    @unsafe internal func run<Failure: Error>(
      _ delivery: RawDelivery, _ body: (repeat each Argument) throws(Failure) -> Output
    ) throws(RawMismatch) {
      let pointers = unsafe ForwardedArguments(
        UInt(bitPattern: delivery.arguments), errorAt: errorIndex)
      // An earlier responder has thrown.
      if unsafe errorIndex != 0 && pointers.hasFailed { return }
      var index = 1
      let values = try unsafe (repeat Self.next(each arguments, pointers, &index))
      let room = unsafe UInt(bitPattern: delivery.result)
      do throws(Failure) {
        unsafe result.give(try body(repeat each values), room, pointers, out)
      } catch {
        // Without a result, what is in the register says that it has thrown.
        if hasResult {
          unsafe pointers.fail(error)
        } else {
          unsafe pointers.fail(error, room, by: nil)
        }
      }
    }

    @unsafe private static func next<Value>(
      _ coder: ForwardedCoder<Value>, _ pointers: ForwardedArguments, _ index: inout Int
    ) throws(RawMismatch) -> Value {
      defer { index += 1 }
      return try unsafe coder.take(pointers, index)
    }
  }
#endif
