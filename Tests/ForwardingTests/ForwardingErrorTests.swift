// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

@Suite struct ForwardingErrorTests {
  static let sentences: [(ForwardingError, String)] = [
    (
      ForwardingError(
        .indexOutOfRange, selector: "a:", argumentIndex: 3, expected: "it has 3 arguments"),
      #"there is no argument 3 of "a:": it has 3 arguments"#
    ),
    (
      ForwardingError(
        .wrongArgumentCount, selector: "a:", expected: "1 argument", actual: "2"),
      #""a:" takes 1 argument, got 2"#
    ),
    (
      ForwardingError(
        .typeMismatch, selector: "move:by:", encoding: "v@:id", argumentIndex: 2,
        expected: "'d' (Double)", actual: "Int32"),
      #"argument 2 of "move:by:" is 'd' (Double), got Int32"#
    ),
    (
      ForwardingError(.typeMismatch, encoding: "dd", expected: "'d' (Double)", actual: "Int32"),
      #"the result of "dd" is 'd' (Double), got Int32"#
    ),
    (
      ForwardingError(
        .wrongSize, encoding: "v@:d", expected: "8 bytes", actual: "4", subject: "the frame"),
      #"the frame of "v@:d" takes 8 bytes, got 4"#
    ),
    (
      ForwardingError(.noReceiver, encoding: "v", expected: "it has no arguments"),
      #""v" cannot take a receiver: it has no arguments"#
    ),
    (ForwardingError(.receiverMissing, selector: "a"), #""a" has no target"#),
    (ForwardingError(.noResult, selector: "a"), #""a" has no result yet"#),
    (
      ForwardingError(.nullPointer, selector: "a:", argumentIndex: 2, expected: "Robot"),
      #"argument 2 of "a:" is null, expected Robot"#
    ),
    (
      ForwardingError(
        .valueNotRepresentable, selector: "a:", argumentIndex: 2, expected: "Color",
        actual: "raw value 7"),
      #"argument 2 of "a:" has raw value 7, which is no Color"#
    ),
    (
      ForwardingError(
        .nullPointer, selector: "a:", argumentIndex: 2, expected: "Robot", subject: "parameter 1"),
      #"parameter 1 of "a:" is null, expected Robot"#
    ),
    (
      ForwardingError(.invalidName, expected: "1 to 65535 bytes", actual: "\"\""),
      #"a selector's name is 1 to 65535 bytes, got """#
    ),
    (
      ForwardingError(.outOfMemory, selector: "a", actual: "no memory for a closure"),
      #""a": no memory for a closure"#
    ),
    (
      ForwardingError(.noExecutableMemory, actual: "no executable memory"),
      "the call: no executable memory"
    ),
  ]

  @Test("says what was given, what was expected and where", arguments: sentences)
  func sentence(error: ForwardingError, expected: String) {
    #expect(error.description == expected)
    #expect("\(error)" == expected)
  }

  @Test func `errors are equal if all their parts are`() {
    let error = ForwardingError(.noResult, selector: "a")
    #expect(error == ForwardingError(.noResult, selector: "a"))
    #expect(error != ForwardingError(.noResult, selector: "b"))
    #expect(error != ForwardingError(.receiverMissing, selector: "a"))
    #expect("\(error.code)" == "noResult" && error.code.rawValue == "noResult")
  }

  @Test func `an error is passed in registers`() {
    // Every function that passes an error on has room for it on its stack, and
    // sends are nested.
    #expect(MemoryLayout<ForwardingError>.size <= 16)
  }

  @Test func `an error has the place of the error that it explains`() {
    let cause = #expect(throws: ForwardingError.self) { _ = try MethodSignature("v@:{") }
    let error = ForwardingError(
      .malformed, table: "T", selector: "a", "the function for \"a\"", encodingError: cause)
    #expect(error.table == "T" && error.selector == "a")
    #expect(error.encoding == "v@:{" && error.offset == 4)
    #expect(error.description == "the function for \"a\"")
    #expect(ForwardingError(.noResult).naming("b").description == #""b" has no result yet"#)
  }

  @Test func `each code has a status for C`() {
    for code in ForwardingError.Code.allCases { #expect(code.status != FWD_OK) }
    #expect(ForwardingError.Code.duplicate.status != ForwardingError.Code.duplicate.tableStatus)
    #expect(ForwardingError.Code.conflict.tableStatus == ForwardingError.Code.conflict.status)
  }

  @Test func `the default handler prints an error once, however often it occurs in a row`() {
    var lines = ErrorLines()
    let error = ForwardingError(.noResult, selector: "a")
    #expect(lines.next(error) == "Forwarding: \(error)")
    #expect(lines.next(error)?.hasPrefix("Forwarding: the same error again") == true)
    #expect(lines.next(error) == nil)
    let other = ForwardingError(.noResult, selector: "b\u{1B}[2J")
    #expect(lines.next(other) == #"Forwarding: "b?[2J" has no result yet"#)
    #expect(lines.next(error) == "Forwarding: \(error)")
  }
}
