// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Testing

@Suite struct MethodSelectorTests {
  @Test func `equal names give equal selectors`() throws {
    let literal: MethodSelector = "visit:kind:"
    let made = try MethodSelector(validating: ["visit", "kind", ""].joined(separator: ":"))
    #expect(literal == made)
    #expect(literal.hashValue == made.hashValue)
    #expect(made.name == "visit:kind:")
    #expect("\(made)" == "visit:kind:")
    #expect(literal != "visit:kinds:")
  }

  @Test(
    "refuses names that C cannot have",
    arguments: ["", "a\0b", String(repeating: "x", count: 65_536)])
  func invalid(name: String) {
    let error = #expect(throws: ForwardingError.self) { try MethodSelector(validating: name) }
    #expect(error?.code == .invalidName)
    #expect((error?.description.count ?? 0) < 200)
  }

  @Test func `takes names up to the limit and in any script`() throws {
    let long = String(repeating: "x", count: 65_535)
    #expect(try MethodSelector(validating: long).name == long)
    #expect(try MethodSelector(validating: "größe:時:").name == "größe:時:")
  }

  @Test func `a bad literal traps`() async {
    await #expect(processExitsWith: .failure) { _ = MethodSelector("") }
  }
}
