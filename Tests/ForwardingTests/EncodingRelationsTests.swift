// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

/// `==`, `isEquivalent(to:)` and `isCompatible(with:)` of encodings and
/// signatures.
@Suite struct EncodingRelationsTests {
  @Test func `equality is transitive where names are left out`() throws {
    let texts = ["{A=i}", "{?=i}", "{B=i}"]
    let types = try texts.map { try TypeEncoding($0) }
    #expect(types[0] != types[1] && types[1] != types[2] && types[0] != types[2])
    #expect(Set(types).count == 3)
    #expect(types[0].isEquivalent(to: types[1]) && types[1].isEquivalent(to: types[2]))
    #expect(!types[0].isEquivalent(to: types[2]))
    let signatures = try texts.map { try MethodSignature("v@:\($0)") }
    #expect(Set(signatures).count == 3)
    #expect(signatures[0].isEquivalent(to: signatures[1]))
    #expect(!signatures[0].isEquivalent(to: signatures[2]))
  }

  /// What only `isEquivalent(to:)` takes for the same, or not even it.
  static let pairs: [(String, String, equal: Bool, equivalent: Bool)] = [
    ("{P=dd}", "{?=dd}", false, true), ("(U=id)", "(?=id)", false, true),
    ("{P=dd}", "{P}", false, false), ("{P=}", "{P}", false, false),
    ("^{P=dd}", "^{P}", false, true), ("^{P=dd}", "^{P=}", false, true),
    ("^{P=}", "^{P}", false, true), ("^{P}", "^{Q}", false, false),
    ("@?", "@?<v@?>", false, true), ("@?<v@?>", "@?<v@?i>", false, false),
    ("{S=b3}", "{S=b0I3}", false, true), ("{S=b0i3}", "{S=b0I3}", false, false),
    ("Ai", "i", false, true), ("A{S=[16c]}", "{S=[16c]}", false, false),
    ("{S=A{T=ii}}", "{S={T=ii}}", false, false), ("A^{S=i}", "^{S=i}", false, true),
    ("ri", "i", true, true), ("nri", "Nri", true, true), (#"@"A""#, #"@"B""#, true, true),
    (#"{P="x"d"y"d}"#, "{P=dd}", true, true), ("{=i}", "{?=i}", true, true),
    ("[007i]", "[7i]", true, true), ("[7i]", "[8i]", false, false), ("^v", "^i", false, false),
  ]

  @Test("tells equal from equivalent", arguments: pairs)
  func pair(left: String, right: String, equal: Bool, equivalent: Bool) throws {
    let (left, right) = (try TypeEncoding(left), try TypeEncoding(right))
    #expect((left == right) == equal && (right == left) == equal)
    #expect(left.isEquivalent(to: right) == equivalent)
    #expect(right.isEquivalent(to: left) == equivalent)
    #expect(!equal || left.hashValue == right.hashValue)
  }

  @Test func `a stated layout is part of the type`() throws {
    let packed = StatedLayout("P", size: 5, alignment: 1)
    let natural = StatedLayout("P", size: 8, alignment: 4)
    let plain = try TypeEncoding("{P=ci}")
    #expect(try TypeEncoding("{P=ci}", stating: [packed]) != plain)
    #expect(try !TypeEncoding("{P=ci}", stating: [packed]).isEquivalent(to: plain))
    #expect(try TypeEncoding("{P=ci}", stating: [natural]) == plain)
    let aligned = StatedLayout("P", size: 8, alignment: 4, memberAlignment: 4)
    let stated = try TypeEncoding("{P=ci}", stating: [aligned])
    #expect(stated != plain && stated.isEquivalent(to: plain))
  }

  @Test func `the relations hold for random encodings`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SplitMix(seed)
    for round in 0..<60 {
      // Few names and shapes, so that many are nearly the same.
      let texts = (0..<24).map { _ in Self.encoding(depth: 0, using: &random) }
      let types = try texts.map { try TypeEncoding($0) }
      for (i, left) in types.enumerated() {
        for (j, right) in types.enumerated() {
          let place: Comment = "\(texts[i]) and \(texts[j]), seed \(seed), round \(round)"
          let equal = left == right
          let equivalent = left.isEquivalent(to: right)
          if i == j { #expect(equal && equivalent && left.isCompatible(with: right), place) }
          #expect(equal == (right == left), place)
          #expect(equivalent == right.isEquivalent(to: left), place)
          if equal { #expect(equivalent && left.hashValue == right.hashValue, place) }
          if equivalent { #expect(left.isCompatible(with: right), place) }
          guard equal else { continue }
          // Transitive, and so equal types are related to the same ones.
          for (k, third) in types.enumerated() {
            #expect((left == third) == (right == third), "\(place) against \(texts[k])")
          }
        }
      }
    }
  }

  /// A random type, in which what `==` ignores, and what it must not, differ
  /// often.
  private static func encoding(depth: Int, using random: inout SplitMix) -> String {
    func pick(_ choices: String...) -> String { choices.randomElement(using: &random)! }
    func inner() -> String { encoding(depth: depth + 1, using: &random) }
    if depth > 2 { return pick("i", "ri", "c", "@", "^v", "Aq") }
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return "^" + inner()
    case 1:
      let name = pick("A", "B", "?", "")
      return pick("", "r", "n") + "{\(name)=\(inner())}"
    case 2: return "^{" + pick("A", "B", "?", "A=", "B=", "A=i", "?=i", "B=c") + "}"
    case 3: return "(" + pick("A", "?") + "=" + inner() + inner() + ")"
    case 4: return "[" + pick("2", "02", "3") + inner() + "]"
    case 5: return pick("@?", "@?<v@?>", "@?<i@?>", "@", #"@"A""#, #"@"B""#)
    case 6: return "{" + pick("A", "?") + "=" + pick("b3", "b0I3", "b0i3", "b00I3") + "}"
    case 7: return "{A=" + pick("", #""x""#, #""y""#) + pick("i", "c", "Ai") + "}"
    default: return pick("i", "ri", "c", "^i", "*", "Ai", "@?")
    }
  }
}

// MARK: - Where the relations are used

extension EncodingRelationsTests {
  @Test func `a table registered in another spelling is the same`() throws {
    func table(_ encoding: String) throws -> ProtocolTable {
      try ProtocolTable("RelationsTests.Spelling") { $0.required("a:", encoding) }
    }
    let first = try table("v@:{A=i}").register()
    #expect(try table("v@:{?=i}").register() === first)
    let error = #expect(throws: ForwardingError.self) { try table("v@:{B=i}").register() }
    #expect(error?.code == .conflict)
  }

  @Test(
    "whether tables can be joined does not depend on their order",
    arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func joined(order: [Int]) throws {
    let tables = try ["v@:{A=i}", "v@:{?=i}", "v@:{B=i}"].enumerated().map { index, encoding in
      try ProtocolTable("Relations \(index)") { $0.required("a:", encoding) }
    }
    let error = #expect(throws: ForwardingError.self) {
      try ProtocolTable.merge(order.map { tables[$0] })
    }
    #expect(error?.code == .conflict)
    #expect(error?.description.contains("{A=i}") == true)
    #expect(error?.description.contains("{B=i}") == true)
    #expect(try ProtocolTable.merge([tables[0], tables[1]]).count == 1)
  }

  @Test func `a type that leaves its name out is passed where the name is known`() throws {
    struct Pair: TypeEncodable {
      static var typeEncoding: String { "{?=ii}" }
      var first: Int32
      var second: Int32
    }
    let invocation = try Invocation("a:", MethodSignature("v@:{Pair=ii}"))
    try invocation.setArgument(Pair(first: 1, second: 2), at: 2)
    #expect(try invocation.argument(at: 2, as: Pair.self).second == 2)
  }
}
