// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct InvocationErrorTests {
  static let sentences: [(InvocationError, String)] = [
    (
      InvocationError(
        .indexOutOfRange, selector: "a:", argumentIndex: 3, expected: "it has 3 arguments"),
      #"there is no argument 3 of "a:": it has 3 arguments"#
    ),
    (
      InvocationError(
        .wrongArgumentCount, selector: "a:", expected: "1 argument", actual: "2"),
      #""a:" takes 1 argument, got 2"#
    ),
    (
      InvocationError(
        .typeMismatch, selector: "move:by:", encoding: "v@:id", argumentIndex: 2,
        expected: "'d' (Double)", actual: "Int32"),
      #"argument 2 of "move:by:" is 'd' (Double), got Int32"#
    ),
    (
      InvocationError(.typeMismatch, encoding: "dd", expected: "'d' (Double)", actual: "Int32"),
      #"the result of "dd" is 'd' (Double), got Int32"#
    ),
    (
      InvocationError(
        .wrongSize, encoding: "v@:d", expected: "8 bytes", actual: "4", subject: "the frame"),
      #"the frame of "v@:d" takes 8 bytes, got 4"#
    ),
    (
      InvocationError(.noReceiver, encoding: "v", expected: "it has no arguments"),
      #""v" cannot take a receiver: it has no arguments"#
    ),
    (InvocationError(.receiverMissing, selector: "a"), #""a" has no target"#),
    (InvocationError(.noResult, selector: "a"), #""a" has no result yet"#),
    (
      InvocationError(.nullPointer, selector: "a:", argumentIndex: 2, expected: "Robot"),
      #"argument 2 of "a:" is null, expected Robot"#
    ),
    (
      InvocationError(
        .valueNotRepresentable, selector: "a:", argumentIndex: 2, expected: "Color",
        actual: "raw value 7"),
      #"argument 2 of "a:" has raw value 7, which is no Color"#
    ),
    (
      InvocationError(.invalidName, expected: "1 to 65535 bytes", actual: "\"\""),
      #"a selector's name is 1 to 65535 bytes, got """#
    ),
    (
      InvocationError(.outOfMemory, selector: "a", actual: "no memory for a closure"),
      #""a": no memory for a closure"#
    ),
    (
      InvocationError(.noExecutableMemory, actual: "no executable memory"),
      "the call: no executable memory"
    ),
  ]

  @Test("says what was given, what was expected and where", arguments: sentences)
  func sentence(error: InvocationError, expected: String) {
    #expect(error.description == expected)
    #expect("\(error)" == expected)
  }

  @Test func `errors are equal if all their parts are`() {
    let error = InvocationError(.noResult, selector: "a")
    #expect(error == InvocationError(.noResult, selector: "a"))
    #expect(error != InvocationError(.noResult, selector: "b"))
    #expect(error != InvocationError(.receiverMissing, selector: "a"))
    #expect(error.code.description == "noResult")
  }
}
