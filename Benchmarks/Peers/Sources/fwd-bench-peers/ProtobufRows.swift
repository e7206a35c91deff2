// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdMeasure
internal import FwdBenchDriver
internal import FwdBenchRows
internal import SwiftProtobuf

/// swift-protobuf, which makes bytes of messages whose types are generated from a schema.
enum ProtobufRows {
  static var rows: [Row] {
    let tick = Tick(number: DataRows.number, price: DataRows.price, symbol: DataRows.symbol)
    // Three tags, a variable-length integer of two bytes, a double, and a length with its
    // text.
    let size = 3 + 2 + 8 + 1 + DataRows.symbol.utf8.count
    return [
      DataRows.row(DataRows.protobufEncoded) { iterations in
        var sum = 0
        let start = bench_start()
        for _ in 0..<iterations {
          let bytes: [UInt8] = try tick.serializedBytes()
          sum += bytes.count
        }
        return bench_finish(start, UInt64(sum), UInt64(iterations * size))
      },
      DataRows.row(DataRows.protobufDecoded) { iterations in
        let bytes: [UInt8] = try tick.serializedBytes()
        var sum: Int64 = 0
        let start = bench_start()
        for _ in 0..<iterations { sum &+= try Tick(serializedBytes: bytes).number }
        return bench_finish(start, UInt64(sum), UInt64(Int64(iterations) * DataRows.number))
      },
    ]
  }
}

/// The message of this schema, with what the library's compiler would generate for it:
///
///     message Tick { int64 number = 1; double price = 2; string symbol = 3; }
private struct Tick: Message, Equatable {
  var number: Int64 = 0
  var price: Double = 0
  var symbol = ""
  var unknownFields = UnknownStorage()

  static let protoMessageName = "Tick"

  init() {}

  init(number: Int64, price: Double, symbol: String) {
    self.number = number
    self.price = price
    self.symbol = symbol
  }

  mutating func decodeMessage<Source: Decoder>(decoder: inout Source) throws {
    while let field = try decoder.nextFieldNumber() {
      switch field {
      case 1: try decoder.decodeSingularInt64Field(value: &number)
      case 2: try decoder.decodeSingularDoubleField(value: &price)
      case 3: try decoder.decodeSingularStringField(value: &symbol)
      default: break
      }
    }
  }

  func traverse<Target: Visitor>(visitor: inout Target) throws {
    if number != 0 { try visitor.visitSingularInt64Field(value: number, fieldNumber: 1) }
    if price != 0 { try visitor.visitSingularDoubleField(value: price, fieldNumber: 2) }
    if !symbol.isEmpty { try visitor.visitSingularStringField(value: symbol, fieldNumber: 3) }
    try unknownFields.traverse(visitor: &visitor)
  }

  func isEqualTo(message: any Message) -> Bool { (message as? Tick) == self }
}
