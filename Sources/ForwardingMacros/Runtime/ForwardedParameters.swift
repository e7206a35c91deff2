// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Reads the arguments of a method of a typed proxy for a closure.
  internal struct ForwardedParameters<each Argument>: Sendable {
    private let coders: (repeat ForwardedCoder<each Argument>)

    /// Creates the readers. `check` must have compared the types with the
    /// method's.
    internal init() { coders = (repeat ForwardedCoder<each Argument>()) }

    /// Compares the types with those of all arguments of a method, or of the
    /// first few.
    // Not in `init`: the Swift 6.3 compiler crashes if an initializer throws
    // after it has made a tuple from a parameter pack.
    internal static func check(
      _ method: ForwardedMethod, mayBeFewer: Bool = true
    ) throws(ForwardingError) {
      try method.checkClosures()
      var (index, fault): (Int, String?) = (0, nil)
      repeat count((each Argument).self, &index)
      let count = method.arguments.count
      if index > count || (index < count && !mayBeFewer) {
        let parameters = index == 1 ? "1 parameter" : "\(index) parameters"
        throw method.mismatch("has \(parameters), but the method has \(count)")
      }
      index = 0
      repeat check((each Argument).self, method, &index, &fault)
      if let fault { throw method.mismatch(fault) }
    }

    private static func count<Value>(_: Value.Type, _ count: inout Int) { count += 1 }

    /// Sets `fault` if a parameter does not fit and no earlier one has set it.
    private static func check<Value>(
      _: Value.Type, _ method: ForwardedMethod, _ index: inout Int, _ fault: inout String?
    ) {
      let (expected, type) = (method.arguments[index], method.values[index])
      index += 1
      let (encoding, name) = ForwardedCoder<Value>().description
      // The encoding has the type's name. Some types share one: those of functions whose
      // parameters are escaping or not.
      if fault != nil || (encoding == expected && (type == nil || type == Value.self)) { return }
      let words = ForwardedEncoding.inWords(expected)
      fault = "has \(name) as parameter \(index), but the method has \(words)"
      if expected.hasPrefix("N") { fault! += ", which only listeners take" }
    }

    /// Reads the arguments of a delivery.
    @unsafe internal func take(
      _ pointers: _ForwardedArguments
    ) throws(RawMismatch) -> (repeat each Argument) {
      var index = 1
      return try unsafe (repeat Self.next(each coders, pointers, &index))
    }

    @unsafe private static func next<Value>(
      _ coder: ForwardedCoder<Value>, _ pointers: _ForwardedArguments, _ index: inout Int
    ) throws(RawMismatch) -> Value {
      defer { index += 1 }
      return try unsafe coder.take(pointers, index)
    }
  }

  extension ForwardedMethod {
    /// Throws an error if closures cannot handle the method, since the untyped
    /// proxy does not forward it.
    internal func checkClosures() throws(ForwardingError) {
      if isAsync {
        throw mismatch("cannot be: the method is async, which only listeners answer")
      }
    }

    internal func mismatch(_ text: String) -> ForwardingError {
      ForwardingError(
        .signatureMismatch, selector: selector.name, "the closure for \"\(selector)\" \(text)")
    }
  }

  extension ForwardedEncoding {
    /// The type that an encoding from the macro describes, for messages.
    static func inWords(_ encoding: String) -> String {
      // `inout`, with the encoding of a pointer.
      if encoding == "N*" { return "inout Swift.Int8" }
      if encoding.hasPrefix("N") {
        return "inout " + inWords(String(encoding.dropFirst(encoding.hasPrefix("N^{") ? 1 : 2)))
      }
      switch encoding {
      case "@": return "a class"
      case "v": return "no result"
      case _ where encoding.hasPrefix("^{"): return String(encoding.dropFirst(2).dropLast())
      default: return (try? TypeEncoding(encoding).typeName) ?? encoding
      }
    }
  }
#endif
