// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension MethodSignature {
  /// Describes how functions of this signature are called: which byte of which
  /// argument goes to which register or stack word, and where the result comes
  /// back. Nil if the package has no plan for the platform or the signature, so
  /// that libffi makes the calls.
  ///
  /// ```swift
  /// let signature = try MethodSignature("d@:{Vector=ddd}i")
  /// print(signature.callPlan!)
  /// // argument 0  bytes 0-7   rdi       object, the receiver
  /// // argument 1  bytes 0-7   rsi       selector
  /// // argument 2  bytes 0-23  stack +0  struct Vector
  /// // argument 3  bytes 0-3   rdx       Int32
  /// // result      bytes 0-7   xmm0      Double
  /// //
  /// // arguments on the stack: 24 bytes
  /// ```
  ///
  /// The text is for people and may change. If the encoding has names of
  /// fields, the last column contains them. A plan is made once, with its
  /// signature, by the rules of the platform's C calling convention; see
  /// <doc:CallPlans>.
  ///
  /// Plans exist on x86-64 and AArch64 Linux, and on x86-64 macOS. Forcing all
  /// calls through libffi (`FWD_CALL=libffi` in the environment) does not
  /// change the plan.
  ///
  /// - Complexity: O(*n* log *n*) in the number of arguments.
  public var callPlan: String? { CallPlan(of: self)?.text(for: self) }
}

/// How functions of a signature are called.
///
/// Arguments and results of size 0 (`void`, the empty struct) are not in a
/// plan: nothing is passed for them.
internal struct CallPlan: Hashable {
  /// Where bytes are at the moment of the call, or of the return.
  internal enum Place: Hashable {
    /// A register, by its name: `rdi`, `xmm0`, `st0`; on AArch64 `x0`, `v0`.
    case register(String)
    /// The stack words of the arguments, with the offset in bytes from the
    /// first.
    case stack(offset: Int)
    /// Memory of the caller's: the function gets its address. Results only.
    case memory
  }

  /// The bytes that the call loads into one register, or copies to the stack.
  internal struct Move: Hashable {
    /// The index of the argument; nil for the address of the memory in which
    /// the result comes back, an argument that C programmers do not see.
    internal let argument: Int?
    /// Which bytes of the argument are moved. Those that are left out are
    /// padding.
    internal let bytes: Range<Int>
    /// Where they go.
    internal let place: Place
    /// Whether the place gets the address of a copy of the bytes, instead of
    /// the bytes: large structs on AArch64. False for the address of the
    /// result.
    internal let isAddressOfCopy: Bool
  }

  /// Where a part of the result is after the call.
  internal struct ResultPlace: Hashable {
    /// Which bytes of the result. Those that are left out are padding.
    internal let bytes: Range<Int>
    /// Where they are.
    internal let place: Place
  }

  /// The loads before the call: the address of the result, if it comes back in memory,
  /// then the arguments in order, each by its bytes.
  internal let moves: [Move]

  /// Where the result is after the call, by its bytes; empty for `void`.
  internal let result: [ResultPlace]

  /// The bytes of stack that the arguments take: a multiple of 8, and 0 if all
  /// are in registers.
  internal let stackSize: Int
}

// MARK: - Reading

extension CallPlan {
  /// The plan of a signature; nil if the package has none.
  internal init?(of signature: MethodSignature) {
    // SAFETY: the signature, and with it the handle, lives during all calls of
    // this function; the arrays have room for as many as the calls are told.
    guard unsafe fwd_plan_exists(signature.handle) else { return nil }
    let count = unsafe fwd_plan_moves(signature.handle, nil, 0)
    var moves = [fwd_plan_move](repeating: fwd_plan_move(), count: count)
    _ = unsafe fwd_plan_moves(signature.handle, &moves, count)
    var places = [fwd_plan_move](repeating: fwd_plan_move(), count: FWD_PLAN_RESULT_PLACES)
    let placeCount = unsafe fwd_plan_result_places(signature.handle, &places)
    stackSize = unsafe fwd_plan_stack_size(signature.handle)
    self.moves = moves.map(Move.init).sorted { left, right in
      (left.argument ?? -1, left.bytes.lowerBound) < (right.argument ?? -1, right.bytes.lowerBound)
    }
    self.result = places.prefix(placeCount).map {
      ResultPlace(bytes: $0.bytes, place: Place($0, isResult: true))
    }
  }
}

extension fwd_plan_move {
  fileprivate var bytes: Range<Int> { Int(offset)..<Int(offset) + Int(size) }
}

extension CallPlan.Move {
  fileprivate init(_ move: fwd_plan_move) {
    argument = move.argument == FWD_PLAN_RESULT_ADDRESS ? nil : Int(move.argument)
    bytes = move.bytes
    place = CallPlan.Place(move, isResult: false)
    isAddressOfCopy = move.is_address
  }
}

extension CallPlan.Place {
  fileprivate init(_ move: fwd_plan_move, isResult: Bool) {
    switch move.kind {
    case FWD_PLACE_STACK: self = .stack(offset: Int(move.index))
    case FWD_PLACE_MEMORY: self = .memory
    default:
      // SAFETY: the name is a constant of the shim's.
      self = .register(
        unsafe String(cString: fwd_plan_register_name(move.kind, move.index, isResult)))
    }
  }
}

// MARK: - Text

extension CallPlan {
  /// A line for each move and for each place of the result, then the size of
  /// the arguments on the stack.
  fileprivate func text(for signature: MethodSignature) -> String {
    var rows = moves.map { move in
      guard let index = move.argument else {
        return ["result", "address", "\(move.place)", "where the function writes its result"]
      }
      let argument = signature.arguments[index]
      let contents = argument.encoding.contents(argument.layout.size, move.bytes)
      return [
        "argument \(index)", Self.text(move.bytes),
        (move.isAddressOfCopy ? "address of a copy in " : "") + "\(move.place)",
        index == 0 && signature.hasReceiver ? contents + ", the receiver" : contents,
      ]
    }
    rows += result.map { part in
      [
        "result", Self.text(part.bytes), "\(part.place)",
        signature.result.contents(signature.resultLayout.size, part.bytes),
      ]
    }
    if rows.isEmpty { return "nothing is passed, and nothing comes back" }
    let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count) + "  "
      }.joined() + row[3]
    }
    if stackSize > 0 { lines += ["", "arguments on the stack: \(stackSize) bytes"] }
    return lines.joined(separator: "\n")
  }

  /// `bytes 0-7`
  private static func text(_ bytes: Range<Int>) -> String {
    "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)"
  }
}

extension TypeEncoding {
  /// Describes some bytes of a value: by the type, or for a part of a struct, and for
  /// a struct in one register, by the fields in it.
  fileprivate func contents(_ size: Int, _ bytes: Range<Int>) -> String {
    if kind == .structure && (bytes.count < size || size <= 8) {
      let fields = fields(in: bytes, offset: 0, path: "")
      if !fields.isEmpty { return fields.joined(separator: ", ") }
    }
    return typeName
  }

  /// The fields, down to those that are no structs, of which some byte is in
  /// the range.
  private func fields(in bytes: Range<Int>, offset: Int, path: String) -> [String] {
    fields.flatMap { field -> [String] in
      guard let layout = try? field.layout() else { return [] }
      let start = offset + layout.offset
      guard bytes.overlaps(start..<start + layout.size) else { return [] }
      let name = path + (field.fieldName ?? "")
      if field.kind == .structure {
        return field.fields(in: bytes, offset: start, path: name.isEmpty ? "" : name + ".")
      }
      let isNamed = !name.isEmpty && !name.hasSuffix(".")
      return [isNamed ? "\(name): \(field.typeName)" : field.typeName]
    }
  }
}

extension CallPlan.Place: CustomStringConvertible {
  /// The register's name, `stack +16`, or `memory`.
  internal var description: String {
    switch self {
    case .register(let name): name
    case .stack(let offset): "stack +\(offset)"
    case .memory: "memory"
    }
  }
}
