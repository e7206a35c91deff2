// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingWire
public import ForwardingWire
internal import Foundation

/// Decodes damaged and hostile records. Forwards those that a reader with a schema accepts to a
/// subscriber that reads everything that their pointers point to. Also decodes the same bytes by their
/// recorded schemas, as `fwd journal` does to show them, and writes each record as JSON.
public struct WireFuzzer {
  /// What has happened to the records.
  public struct Counts: Sendable {
    /// Records that were decoded, or refused.
    public var records = 0
    /// Records that were forwarded.
    public var accepted = 0
    /// Records that were forwarded although the recorded schema does not fit, since their own
    /// methods do.
    public var acceptedBeforeMisfits = 0
    /// Streams of a schema with stated layouts that the decoder has refused, by code.
    public var refusedStated: [WireError.Code: Int] = [:]
    /// Streams that the decoder has refused, by code.
    public var refused: [WireError.Code: Int] = [:]
    /// Records that were shown by their recorded schema.
    public var shown = 0
    /// Records that were shown by a recorded schema that the reader refuses.
    public var shownByForged = 0
    /// Streams of which some record could not be shown, by code.
    public var notShown: [WireError.Code: Int] = [:]
  }

  /// A stream that the decoder should have accepted or has changed.
  public struct Fault: Error, CustomStringConvertible {
    public let description: String
  }

  private var random: Random
  public private(set) var counts = Counts()

  public init(seed: UInt64) { random = Random(seed) }

  /// Makes streams until they have `count` records.
  public mutating func run(count: Int) throws {
    while counts.records < count {
      let subject = try FuzzedSchema(&random)
      // One schema serves for some streams, since it is dear.
      for _ in 0..<50 { try runStream(subject) }
    }
  }

  private mutating func runStream(_ subject: FuzzedSchema) throws {
    let stream = try subject.makeStream(&random)
    counts.records += stream.starts.count
    switch random.below(8) {
    case 0:
      // A whole stream must be accepted, with its values.
      subject.reader.sum = 0
      guard try subject.replay(stream.bytes) == stream.starts.count - 1 else {
        throw Fault(description: "a whole stream has lost records")
      }
      let once = subject.reader.sum
      subject.reader.sum = 0
      _ = try subject.replay(stream.bytes)
      guard subject.reader.sum == once else {
        throw Fault(description: "a stream has been decoded in two ways")
      }
      counts.accepted += stream.starts.count - 1
      var shown: [String] = []
      try FuzzedSchema.show(stream.bytes) { shown.append($0) }
      guard try shown == subject.json(stream.bytes) else {
        throw Fault(description: "a stream is shown in two ways")
      }
    case let way:
      var bytes = stream.bytes
      for _ in 0...random.below(3) { mutate(&bytes, stream.starts) }
      if way < 5 { seal(&bytes, stream.starts) }
      var code: WireError.Code?
      do {
        counts.accepted += try subject.replay(bytes)
      } catch let error as WireError {
        code = error.code
        counts.refused[error.code, default: 0] += 1
        if subject.hasStatedLayouts { counts.refusedStated[error.code, default: 0] += 1 }
        try checkPlace(error, bytes)
      }
      try replayPieces(bytes, subject, isRefused: code == .schemaMismatch || code == .unknownMethod)
      try show(bytes, isForged: code == .schemaMismatch || code == .unknownMethod)
    }
  }

  /// Replays a stream as a journal does.
  ///
  /// - Parameter isRefused: whether the decoder of a stream has refused the recorded schema.
  private mutating func replayPieces(
    _ bytes: [UInt8], _ subject: FuzzedSchema, isRefused: Bool
  ) throws {
    do {
      let count = try subject.replayPieces(bytes, isFiltered: random.below(2) == 0)
      if isRefused { counts.acceptedBeforeMisfits += count }
    } catch let error as WireError {
      try checkPlace(error, bytes)
    }
  }

  /// Decodes a stream by its recorded schemas.
  ///
  /// - Parameter isForged: whether a reader with a schema refuses a recorded one.
  private mutating func show(_ bytes: [UInt8], isForged: Bool) throws {
    do {
      try FuzzedSchema.show(bytes) { text in
        counts.shown += 1
        if isForged { counts.shownByForged += 1 }
        guard isRecord(text) || isRecord(text.replacing(/[eE][-+]?[0-9]+/, with: "")) else {
          throw Fault(description: "no JSON: \(text)")
        }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 }) {
          throw Fault(description: "JSON with a control character: \(text.debugDescription)")
        }
      }
    } catch let error as WireError {
      counts.notShown[error.code, default: 0] += 1
      try checkPlace(error, bytes)
    }
  }

  /// Foundation does not parse the number 1e999, which is JSON.
  private func isRecord(_ text: String) -> Bool {
    let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    return (object as? [String: Any])?["arguments"] is [Any]
  }

  private func checkPlace(_ error: WireError, _ bytes: [UInt8]) throws {
    guard error.code == .notDecodable || error.offset.map({ $0 < max(bytes.count, 1) }) == true
    else { throw Fault(description: "an error without a place: \(error)") }
  }

  // MARK: Mutations

  /// Numbers at which programs err.
  private static let edges: [UInt64] = [
    0, 1, 7, 8, 9, 16, 40, 48, 56, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000,
    0xFFFF_FFF8, 0xFFFF_FFFF, 0x1_0000_0000, 1 << 60, 1 << 63, .max - 7, .max,
  ]

  private mutating func mutate(_ bytes: inout [UInt8], _ starts: [Int]) {
    if bytes.isEmpty { return }
    let at = random.below(bytes.count)
    switch random.below(13) {
    case 0: bytes[at] ^= 1 << UInt8(random.below(8))
    case 1: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    case 2: bytes.removeLast(random.below(bytes.count))
    case 3: bytes.removeSubrange(at..<min(bytes.count, at + 8))
    case 4: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 8)], at: at)
    case 5: store(random.next(), 8, &bytes, at & ~7)
    case 6...8: forge(&bytes, starts)
    default:
      // A field of a header, or a slot or a size behind it.
      let start = starts[random.below(starts.count)]
      let offset = start + 4 * random.below(24)
      let edge = Self.edges[random.below(Self.edges.count)]
      store(edge &+ UInt64(random.below(3)) &- 1, random.below(2) == 0 ? 4 : 8, &bytes, offset)
    }
  }

  /// What types are written with. Many have the same size, so that records still fit.
  private static let letters = Array("cCsSiIlLqQtTdfBv*^r{}[]()?=@#:bj0123456789".utf8)

  /// Changes the text or a rule of the schema.
  private mutating func forge(_ bytes: inout [UInt8], _ starts: [Int]) {
    let end = min(starts.count > 1 ? starts[1] : bytes.count, bytes.count)
    guard end > 56 else { return }
    let at = 56 + random.below(end - 56)
    switch random.below(4) {
    case 0, 1:
      // A type of the same size is shown by another way.
      let texts = (at..<end).first { Self.letters.contains(bytes[$0]) }
      if let texts { bytes[texts] = Self.letters[random.below(Self.letters.count)] }
    case 2:
      // A number of a stated layout.
      let digit = (at..<end).first { (48...57).contains(bytes[$0]) }
      if let digit { bytes[digit] = UInt8(48 + random.below(10)) }
    default: store(UInt64(random.below(6)), 2, &bytes, at & ~1)
    }
  }

  private func store(_ value: UInt64, _ size: Int, _ bytes: inout [UInt8], _ offset: Int) {
    for index in 0..<size where bytes.indices.contains(offset + index) {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
    }
  }

  /// Gives each record the right checksum, and schema records the right identifier. Mostly gives
  /// records the identifier of the first schema, so that they are shown by it if it was forged.
  private mutating func seal(_ bytes: inout [UInt8], _ starts: [Int]) {
    let adopts = random.below(4) > 0
    for start in starts where start + 40 <= bytes.count {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
      guard length >= 40, start + length <= bytes.count else { continue }
      let end = start + length
      if bytes[start + 8] == 1 {
        store(UInt64(checksum(0, bytes[(start + 40)..<end])), 4, &bytes, start + 12)
      } else if adopts {
        for byte in 12..<16 { bytes[start + byte] = bytes[byte] }
      }
      let sum = checksum(UInt32(truncatingIfNeeded: length), bytes[(start + 8)..<end])
      store(UInt64(sum), 4, &bytes, start + 4)
    }
  }

  private func checksum(_ beginning: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
    unsafe bytes.withUnsafeBytes { unsafe fwd_wire_checksum(beginning, $0.baseAddress, $0.count) }
  }
}

/// SplitMix64, whose sequence a seed determines.
internal struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 to below `bound`, which is positive.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
