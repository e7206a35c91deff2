// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire

/// A method with random arguments.
internal struct FuzzedMethod: Sendable {
  enum Argument: Sendable {
    case number(String)
    case string
    /// A buffer of elements of a size, which the next argument counts.
    case counted(Int, String)
    case count
    /// A buffer of a size in bytes: so many elements.
    case fixed(Int, String, Int)
    case value
  }

  let name: String
  let arguments: [Argument]
  let encoding: String
  /// The layouts of the encoding's types whose names begin with "S".
  let layouts: [StatedLayout]
  private let signature: MethodSignature

  private static let numbers = [
    "c", "S", "i", "q", "d", "f", "B", "t", "{P=cdi}", "(U=id)", "jd", "{SPacked=ci}",
    "{SAligned=ci}", "{SBits=b3b5i}", "(SUnion=ic)", "{P={SPacked=ci}c}", "{SWide=[3c]d}",
  ]
  private static let elements = [
    ("v", 1), ("i", 4), ("{P=dd}", 16), ("{T=ccc}", 3), ("s", 2), ("{SPacked=ci}", 5),
    ("{SAligned=ci}", 16), ("{SBits=b3b5i}", 8), ("[2{SPacked=ci}]", 10),
  ]
  private static let statedLayouts = [
    // Packed, with and without members.
    "SPacked": StatedLayout("SPacked", size: 5, alignment: 1),
    "SWide": StatedLayout("SWide", size: 11, alignment: 1, members: [.offset(0), .offset(3)]),
    "SAligned": StatedLayout(
      "SAligned", size: 16, alignment: 8, members: [.offset(0), .offset(8)], memberAlignment: 8),
    "SBits": StatedLayout(
      "SBits", size: 8, alignment: 4, members: [.bit(0), .bit(3), .offset(4)]),
    "SUnion": StatedLayout("SUnion", size: 8, alignment: 4, members: [.offset(0), .offset(0)]),
  ]

  init(_ name: String, _ random: inout Random) {
    var arguments: [Argument] = []
    for _ in 0..<random.below(6) {
      let (letter, size) = Self.elements[random.below(Self.elements.count)]
      switch random.below(12) {
      case 0...4: arguments.append(.number(Self.numbers[random.below(Self.numbers.count)]))
      case 5...7: arguments.append(.string)
      case 8, 9: arguments += [.counted(size, letter), .count]
      case 10:
        let count = 1 + random.below(5)
        arguments.append(.fixed(size * count, letter, count))
      default: arguments.append(.value)
      }
    }
    self.name = name
    self.arguments = arguments
    let encoding = "v@:" + arguments.map(\.letter).joined()
    self.encoding = encoding
    layouts = Self.statedLayouts.keys.sorted().filter { encoding.contains($0 + "=") }.compactMap {
      Self.statedLayouts[$0]
    }
    // The letters above are an encoding.
    signature = (try? MethodSignature(encoding, stating: layouts))!
  }

  /// Calls `body` with an invocation whose arguments are random.
  func withInvocation(_ random: inout Random, _ body: (Invocation) throws -> Void) throws {
    let invocation = try Invocation(MethodSelector(validating: name), signature)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
    defer { unsafe room.deallocate() }
    for index in room.indices { unsafe room[index] = UInt8(truncatingIfNeeded: random.next() | 1) }
    unsafe room[4095] = 0
    let start = room.baseAddress!
    var list = (0..<random.below(4)).map { _ in Int(truncatingIfNeeded: random.next()) }
    try unsafe withUnsafePointer(to: &list) { list in
      for (index, argument) in arguments.enumerated() {
        let place = index + 2
        let isNull = random.below(8) == 0
        let offset = 4080 - 16 * random.below(random.below(4) == 0 ? 200 : 4)
        switch argument {
        case .number:
          let size = signature.arguments[place].layout.size
          let isBool = signature.arguments[place].encoding.kind == .bool
          let bytes = (0..<size).map { _ in
            UInt8(truncatingIfNeeded: random.next()) & (isBool ? 1 : 255)
          }
          try unsafe bytes.withUnsafeBytes { try unsafe invocation.setBytes($0.bytes, at: place) }
        case .string, .fixed:
          try unsafe set(isNull ? nil : UnsafeRawPointer(start + offset), invocation, place)
        case .counted(let size, _):
          try unsafe set(isNull ? nil : UnsafeRawPointer(start + offset), invocation, place)
          try invocation.setArgument(Int32(random.below(64 / size + 1)), at: place + 1)
        case .count: break
        case .value: try unsafe set(isNull ? nil : UnsafeRawPointer(list), invocation, place)
        }
      }
      try body(invocation)
    }
  }

  private func set(_ target: UnsafeRawPointer?, _ invocation: Invocation, _ place: Int) throws {
    var word = UInt(bitPattern: target)
    try unsafe withUnsafeBytes(of: &word) { try unsafe invocation.setBytes($0.bytes, at: place) }
  }
}

extension FuzzedMethod.Argument {
  fileprivate var letter: String {
    switch self {
    case .number(let letter): letter
    case .string: "r*"
    case .counted(_, let letter), .fixed(_, let letter, _): "^" + letter
    case .count: "i"
    case .value: "^{Swift.Array<Swift.Int>}"
    }
  }

  /// The rule that a schema needs for the argument of an index.
  func rule(_ index: Int) -> WirePointerRule? {
    switch self {
    case .number, .string, .count: nil
    case .counted: .counted(by: index + 1)
    case .fixed(_, _, let count): .fixed(count: count)
    case .value: .codable([Int].self)
    }
  }
}
