// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// The registry is the process's, so each test has names of its own.
@Suite struct ProtocolTableRegistryTests {
  private func table(
    _ name: String, inheriting parents: [ProtocolTable] = [],
    _ build: (inout ProtocolTable.Builder) -> Void = { $0.required("a:", "v@:i") }
  ) throws -> ProtocolTable {
    try ProtocolTable("RegistryTests.\(name)", inheriting: parents, build)
  }

  @Test func `a registered table is found by its name`() throws {
    let made = try table("Found")
    #expect(ProtocolTable.named(made.name) == nil)
    #expect(try made.register() === made)
    #expect(ProtocolTable.named("RegistryTests.Found") === made)
    #expect(ProtocolTable.named("RegistryTests.found") == nil)
    #expect(ProtocolTable.named("") == nil)
  }

  @Test func `the same table may be registered again, and gives the first`() throws {
    let build: (inout ProtocolTable.Builder) -> Void = {
      $0.required("a:", "v@:i")
      $0.optional("b:", "i@:*")
    }
    let first = try table("Same", build).register()
    #expect(try first.register() === first)
    #expect(try table("Same", build).register() === first)
    // In another order, spelled differently, with another policy: the same methods.
    let other = try table("Same") {
      $0.optional("b:", "i24@0:8r*16", result: .callAll(pick: .last), default: Int32(3))
      $0.required("a:", "v@:i")
    }
    #expect(try other.register() === first)
    #expect(ProtocolTable.named(first.name) === first)
  }

  struct Difference: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let build: @Sendable (inout ProtocolTable.Builder) -> Void

    init(_ name: String, _ build: @escaping @Sendable (inout ProtocolTable.Builder) -> Void) {
      testDescription = name
      self.build = build
    }
  }

  static let differences = [
    Difference("another type") { $0.required("a:", "v@:q") },
    Difference("another result") { $0.required("a:", "i@:i") },
    Difference("optional") { $0.optional("a:", "v@:i") },
    Difference("another selector") { $0.required("b:", "v@:i") },
    Difference("one more") {
      $0.required("a:", "v@:i")
      $0.optional("b", "v@:")
    },
    Difference("none") { _ in },
  ]

  @Test("another table of the name is a conflict that names both", arguments: differences)
  func conflict(_ difference: Difference) throws {
    let name = "Conflict \(difference.testDescription)"
    let first = try table(name).register()
    let second = try table(name, difference.build)
    let error = #expect(throws: ForwardingError.self) { try second.register() }
    #expect(error?.code == .conflict)
    #expect(error?.table == first.name)
    #expect(error?.description.contains(first.description) == true)
    #expect(error?.description.contains(second.description) == true)
    #expect(ProtocolTable.named(first.name) === first)
  }

  @Test func `other parents are another table`() throws {
    let (left, right) = (try table("Left") { _ in }, try table("Right") { _ in })
    let first = try table("Child", inheriting: [left]).register()
    #expect(try table("Child", inheriting: [left]).register() === first)
    let error = #expect(throws: ForwardingError.self) {
      try table("Child", inheriting: [right]).register()
    }
    #expect(error?.code == .conflict)
    #expect(throws: ForwardingError.self) { try table("Child").register() }
  }

  @Test func `threads that register at once agree`() throws {
    let results = Box<[ObjectIdentifier]>([])
    onThreads(4) { thread in
      for number in 0..<50 {
        let made = try? ProtocolTable("RegistryTests.Race \(number)") { $0.required("a", "v@:") }
          .register()
        guard let made else { continue }
        let identifier = ObjectIdentifier(made)
        if number == 7 { results.update { $0.append(identifier) } }
      }
    }
    #expect(results.value.count == 4 && Set(results.value).count == 1)
  }

  @Test func `a table that is not registered is given up`() throws {
    weak var tracked: ProtocolTable?
    do {
      let first = try table("Kept").register()
      let second = try table("Kept")
      tracked = second
      #expect(try second.register() === first)
    }
    #expect(tracked == nil)
    #expect(ProtocolTable.named("RegistryTests.Kept") != nil)
  }
}
