// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser
import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `fwd call`: a C function of a library.
struct CallCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Calls a C function of a shared library.",
    discussion: """
      The signature is an encoding or a C declaration:

        fwd call libm.so.6 pow ddd 2 10
        fwd call libm.so.6 'double pow(double, double)' 2 10
        fwd call libc.so.6 'int printf(const char *, ...)' '"%s: %d\\n"' answer 42

      With a declaration of a function, its name is the symbol. The arguments are numbers, 'a' or 0xff for \
      an integer, true and false, strings, null, {1, 2.5} for a struct, and [1, 2] for an array, also for \
      one that a pointer points to: such arrays are shown after the call, since the function may have \
      changed them. In quotes, "null" is a string, and \\n ends a line. The unnamed arguments of a variadic \
      function are ints, longs, doubles or strings, by what they look like, unless an encoding gives their \
      types: i*...d. Options come before the library.

      Nobody can check that the function has this signature. If it has another, the call may do anything.

      The library - is the program itself, with the C library. The exit status is 0 for every result.
      """)

  @Argument(help: "A library's name or file, or -.")
  var library: String

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp(
      "The symbol and an encoding, or a C declaration; then the arguments.",
      valueName: "symbol-signature-arguments"))
  var rest: [String] = []

  @Flag(name: .customLong("errno"), help: "Say what errno is after the call.")
  var showsErrno = false

  func validate() throws {
    if rest.first.map({ !Self.isDeclaration($0) && rest.count < 2 }) ?? true {
      throw ValidationError("Give a symbol and its encoding, or a C declaration.")
    }
  }

  /// Whether a word is C, and not a symbol.
  private static func isDeclaration(_ text: String) -> Bool {
    text.contains { "(* ;".contains($0) }
  }

  func run() throws {
    try reporting {
      let call = try prepared()
      let memory = CallMemory()
      let written = try memory.write(call.arguments, of: call.signature, symbol: call.symbol)
      let address: UnsafeRawPointer
      do throws(ForwardingError) {
        unsafe address = try unsafe Library(library == "-" ? nil : library).symbol(call.symbol)
      } catch {
        throw Failure(.unavailable, error.description)
      }
      try unsafe perform(call.signature, address, written, memory)
    }
  }
}

// MARK: - What to call

extension CallCommand {
  private struct Prepared {
    let symbol: String
    let signature: MethodSignature
    let arguments: [String]
  }

  private func prepared() throws -> Prepared {
    if Self.isDeclaration(rest[0]) {
      return try prepared(rest[0], symbol: nil, arguments: Array(rest.dropFirst()))
    }
    let arguments = Array(rest.dropFirst(2))
    do throws(ForwardingError) {
      let signature = try MethodSignature(rest[1])
      return Prepared(symbol: rest[0], signature: signature, arguments: arguments)
    } catch {
      guard Self.isDeclaration(rest[1]) else {
        throw Failure(
          .dataError,
          "\(error.description)\n  expected the types of \(rest[0]) behind its name: an encoding such as dd, "
            + "or a declaration such as 'double \(rest[0])(double)' in its place")
      }
      return try prepared(rest[1], symbol: rest[0], arguments: arguments)
    }
  }

  private func prepared(
    _ declaration: String, symbol: String?, arguments: [String]
  ) throws -> Prepared {
    var found = EncodedDeclarations()
    try found.add(
      declaration: declaration, Clang.load(), Source.Options(), spellsPointees: true)
    // A declaration may need others before it, such as a typedef.
    let declared = found.functions.filter { $0.kind == .function }
    let named = declared.last { symbol == nil || $0.name == symbol }
    guard let function = named ?? declared.last ?? found.functions.first else {
      throw Failure(.dataError, "\"\(declaration)\" is no function")
    }
    guard case .success(let (encoding, stated)) = function.encoding else {
      throw Failure(.dataError, function.encoding.problem ?? "")
    }
    var text = encoding
    if function.isVariadic {
      text += arguments.dropFirst(function.parameters.count).map(Self.encoding).joined()
    }
    guard
      let symbol = symbol ?? (function.kind == .function ? function.symbol ?? function.name : nil)
    else {
      throw Failure(.dataError, "\"\(declaration)\" is a type: name the symbol before it")
    }
    do throws(ForwardingError) {
      let signature = try MethodSignature(text, stating: stated.map(\.layout))
      return Prepared(symbol: symbol, signature: signature, arguments: arguments)
    } catch {
      throw Failure(.dataError, error.description)
    }
  }

  /// The encoding of an unnamed argument, by what it looks like.
  private static func encoding(of argument: String) -> String {
    if CallMemory.integer(argument, Int32.self) != nil { return "i" }
    if CallMemory.integer(argument, Int64.self) != nil { return "q" }
    if CallMemory.integer(argument, UInt64.self) != nil { return "Q" }
    if argument == "true" || argument == "false" { return "B" }
    let isNumber = argument.contains { $0.isNumber } && Double(argument) != nil
    return isNumber ? "d" : "*"
  }
}

// MARK: - The call

extension CallMemory {
  /// The arguments of a call.
  @safe fileprivate struct Arguments {
    var addresses: [UnsafeMutableRawPointer] = unsafe []
    /// The arrays that arguments point to.
    var arrays: [(index: Int, array: Pointed)] = []
  }

  /// Writes the arguments of a call.
  fileprivate func write(
    _ texts: [String], of signature: MethodSignature, symbol: String
  ) throws -> Arguments {
    let expected = signature.arguments.count
    guard texts.count == expected else {
      throw Failure(
        .dataError,
        "\(symbol) \"\(signature)\" takes "
          + "\(expected == 1 ? "1 argument" : "\(expected) arguments"), got \(texts.count)")
    }
    var arguments = Arguments()
    for (index, (text, argument)) in zip(texts, signature.arguments).enumerated() {
      let place = unsafe room(argument.layout)
      unsafe arguments.addresses.append(place)
      do {
        let literal = try Literal(text)
        if let array = try unsafe write(literal, as: argument.encoding, to: place) {
          arguments.arrays.append((index, array))
        }
      } catch {
        throw Failure(.dataError, "parameter \(index + 1) of \(symbol) \"\(signature)\": \(error)")
      }
    }
    return arguments
  }
}

extension CallCommand {
  private func perform(
    _ signature: MethodSignature, _ address: UnsafeRawPointer, _ arguments: CallMemory.Arguments,
    _ memory: CallMemory
  ) throws {
    let result = unsafe memory.room(signature.resultLayout)
    errno = 0
    try unsafe arguments.addresses.withUnsafeBufferPointer { pointers in
      try unsafe signature.unsafeCall(
        address, argumentPointers: pointers.baseAddress, result: result)
    }
    let number = errno
    // What the function printed comes before what it returned.
    fflush(nil)
    var text = ""
    if signature.result.kind != .void {
      unsafe text += CallMemory.text(signature.result, at: result) + "\n"
    }
    for (index, array) in arguments.arrays {
      let elements = unsafe CallMemory.elements(array.element, array.count, at: array.start)
      text += "parameter \(index + 1): \(elements)\n"
    }
    if showsErrno { text += "errno: \(number)\(number == 0 ? "" : " (\(reason(number)))")\n" }
    try printOutput(text)
  }
}
