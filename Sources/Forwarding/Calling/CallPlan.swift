// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// How functions of a signature are called: which byte of which argument goes
/// to which register or stack word, and where the result comes back.
///
/// ```swift
/// let signature = try MethodSignature("d@:{Vector=ddd}i")
/// print(signature.callPlan!)
/// // argument 0   bytes 0-7   rdi
/// // argument 1   bytes 0-7   rsi
/// // argument 2   bytes 0-23  stack +0
/// // argument 3   bytes 0-3   rdx
/// // result       bytes 0-7   xmm0
/// ```
///
/// A plan is made once, with its signature, by the rules of the platform's C
/// calling convention; see <doc:CallPlans>. This is a description to look at:
/// changing how a call is made is not possible with it.
///
/// Arguments and results of size 0 (`void`, the empty struct) are not in a
/// plan: nothing is passed for them.
public struct CallPlan: Sendable, Hashable {
  /// Where bytes are at the moment of the call, or of the return.
  public enum Place: Sendable, Hashable {
    /// A register, by its name: `rdi`, `xmm0`, `st0`; on AArch64 `x0`, `v0`.
    case register(String)
    /// The stack words of the arguments, with the offset in bytes from the
    /// first.
    case stack(offset: Int)
    /// Memory of the caller's: the function gets its address. Results only.
    case memory
  }

  /// What the call loads into one register, or copies to the stack.
  public struct Move: Sendable, Hashable {
    /// The index of the argument, the receiver and the selector counted; nil
    /// for the address of the memory in which the result comes back, an
    /// argument that C programmers do not see.
    public let argument: Int?
    /// Which bytes of the argument are moved. Those that are left out are
    /// padding.
    public let bytes: Range<Int>
    /// Where they go.
    public let place: Place
    /// Whether the place gets the address of a copy of the bytes, instead of
    /// the bytes: large structs on AArch64. False for the address of the
    /// result, which is not a copy's.
    public let isAddressOfCopy: Bool
  }

  /// Where a part of the result is after the call.
  public struct ResultPlace: Sendable, Hashable {
    /// Which bytes of the result. Those that are left out are padding.
    public let bytes: Range<Int>
    /// Where they are.
    public let place: Place
  }

  /// What is loaded before the call: the address of the result, if it comes
  /// back in memory, then the arguments in order, each by its bytes.
  public let moves: [Move]

  /// Where the result is after the call, by its bytes; empty for `void`.
  public let result: [ResultPlace]

  /// The bytes of stack that the arguments take: a multiple of 8, and 0 if all
  /// are in registers.
  public let stackSize: Int
}

extension MethodSignature {
  /// How functions of this signature are called; nil where the package has no
  /// plan for the platform or the signature, and calls go through libffi.
  ///
  /// Plans exist on x86-64 and AArch64 Linux, and on x86-64 macOS. That all
  /// calls are made through libffi at the moment (`FWD_CALL=libffi` in the
  /// environment) does not change the plan.
  ///
  /// - Complexity: O(*n* log *n*) in the number of arguments.
  public var callPlan: CallPlan? { CallPlan(of: self) }
}

// MARK: - Reading

extension CallPlan {
  fileprivate init?(of signature: MethodSignature) {
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

// MARK: - Conformances

extension CallPlan: CustomStringConvertible {
  /// A line for each move and for each place of the result.
  ///
  /// - Complexity: O(*n*) in their number.
  public var description: String {
    let lines =
      moves.map { move in
        guard let argument = move.argument else { return ("result", "address", "\(move.place)") }
        return (
          "argument \(argument)", Self.text(move.bytes),
          (move.isAddressOfCopy ? "address of a copy in " : "") + "\(move.place)"
        )
      } + result.map { ("result", Self.text($0.bytes), "\($0.place)") }
    let first = lines.map(\.0.count).max() ?? 0
    let second = lines.map(\.1.count).max() ?? 0
    return lines.map { what, which, place in
      Self.padded(what, first) + "  " + Self.padded(which, second) + "  " + place
    }.joined(separator: "\n")
  }

  /// `bytes 0-7`
  private static func text(_ bytes: Range<Int>) -> String {
    "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: width - text.count)
  }
}

extension CallPlan.Place: CustomStringConvertible {
  /// The register's name, `stack +16`, or `memory`.
  public var description: String {
    switch self {
    case .register(let name): name
    case .stack(let offset): "stack +\(offset)"
    case .memory: "memory"
    }
  }
}
