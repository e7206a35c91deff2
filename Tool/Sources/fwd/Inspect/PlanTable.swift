// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// The drawing of a call plan: which byte of which argument goes to which
/// register or stack word, and where the result comes back.
struct PlanTable {
  private let signature: MethodSignature
  private let plan: CallPlan?

  init(_ signature: MethodSignature) {
    self.signature = signature
    plan = signature.callPlan
  }

  /// The drawing as text.
  func text(style: Style) -> String {
    let title = style.bold("call plan") + " " + DisplayText.escaped(signature.text) + "\n\n"
    guard let plan else {
      return title + "  none on this platform: calls go through libffi\n"
    }
    var table = TextTable([.left, .left, .left, .left])
    for move in plan.moves {
      guard let argument = move.argument else {
        table.add(["result", "address", "\(move.place)", "where the function writes its result"])
        continue
      }
      table.add([
        "argument \(argument)", Self.text(move.bytes), Self.text(move),
        contents(of: move, argument),
      ])
    }
    for place in plan.result {
      table.add([
        "result", Self.text(place.bytes), "\(place.place)",
        Self.contents(of: signature.result, signature.resultLayout.size, place.bytes),
      ])
    }
    var text = title + table.lines()
    if plan.moves.isEmpty && plan.result.isEmpty {
      text += "  nothing is passed, and nothing comes back\n"
    }
    if plan.stackSize > 0 {
      text +=
        "\narguments on the stack: \(DisplayText.count(UInt64(plan.stackSize), "byte"))\n"
    }
    if environment("FWD_CALL") == "libffi" {
      text += "\nFWD_CALL=libffi is set: calls go through libffi all the same\n"
    }
    return text
  }

  /// "bytes 0-7"
  private static func text(_ bytes: Range<Int>) -> String {
    "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)"
  }

  private static func text(_ move: CallPlan.Move) -> String {
    move.isAddressOfCopy ? "\(move.place), the address of a copy" : "\(move.place)"
  }
}

// MARK: - What the bytes are

extension PlanTable {
  private func contents(of move: CallPlan.Move, _ index: Int) -> String {
    let argument = signature.arguments[index]
    let text = Self.contents(of: argument.encoding, argument.layout.size, move.bytes)
    return index == 0 && signature.hasReceiver ? text + ", the receiver" : text
  }

  /// The type; for a part of a struct, and for a struct in one register, the
  /// fields in it.
  private static func contents(of type: TypeEncoding, _ size: Int, _ bytes: Range<Int>) -> String {
    if type.kind == .structure && (bytes.count < size || size <= 8) {
      let fields = fields(of: type, offset: 0, path: "", in: bytes)
      if !fields.isEmpty { return fields.joined(separator: ", ") }
    }
    return DisplayText.escaped(type.typeName)
  }

  /// The fields, down to those that are no structs, of which some byte is in
  /// the range.
  private static func fields(
    of type: TypeEncoding, offset: Int, path: String, in bytes: Range<Int>
  ) -> [String] {
    type.fields.flatMap { field -> [String] in
      guard let layout = try? field.layout() else { return [] }
      let start = offset + layout.offset
      guard bytes.overlaps(start..<start + layout.size) else { return [] }
      let name = path + (field.fieldName.map(DisplayText.escaped) ?? "")
      if field.kind == .structure {
        return fields(of: field, offset: start, path: name.isEmpty ? "" : name + ".", in: bytes)
      }
      let typeName = DisplayText.escaped(field.typeName)
      return [name.isEmpty || name.hasSuffix(".") ? typeName : "\(name): \(typeName)"]
    }
  }
}
