// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers

#if Macros
  internal import ForwardingMacros
#endif

/// Typed deliveries of each kind of argument and result, beside untyped ones of the
/// same by a resolved method. An iteration loads the message anew, as elsewhere.
enum TypedRows {
  #if Macros
    static let kinds = [
      "object", "object or nil", "pointer", "array", "tuple", "number as result",
      "object as result", "throwing",
    ]

    static func typedName(_ kind: String) -> String { "\(Way.typedProxy): \(kind)" }
    static func untypedName(_ kind: String) -> String { "\(Way.resolved), \(kind)" }

    static func rows(_ stage: Stage) -> [Row] {
      let (count, scale) = currentMessage()
      let token = Token(count)
      let list = [count]
      // Kept until the process ends.
      let address = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
      unsafe address.initialize(to: count)
      let lists = UnsafeMutablePointer<[Int64]>.allocate(capacity: 1)
      unsafe lists.initialize(to: list)
      let pairs = UnsafeMutablePointer<(Int64, Double)>.allocate(capacity: 1)
      unsafe pairs.initialize(to: (count, scale))
      let object = UInt(bitPattern: unsafe Unmanaged.passRetained(token).toOpaque())
      let (listAddress, pairAddress) = (UInt(bitPattern: lists), UInt(bitPattern: pairs))
      let number = UInt(bitPattern: address)
      let pointer = unsafe UnsafePointer(address)
      return [
        typed("object", stage) { $0.object(token, currentMessage().scale) },
        untyped("object", .object, stage) { (object, currentMessage().scale) },
        typed("object or nil", stage) { $0.maybe(token, currentMessage().scale) },
        untyped("object or nil", .maybe, stage) { (object, currentMessage().scale) },
        typed("pointer", stage) { unsafe $0.pointer(pointer, currentMessage().scale) },
        untyped("pointer", .pointer, stage) { (number, currentMessage().scale) },
        typed("array", stage) { $0.list(list, currentMessage().scale) },
        untyped("array", .list, stage) { (listAddress, currentMessage().scale) },
        typed("tuple", stage) { $0.pair(currentMessage()) },
        untyped("tuple", .pair, stage) { pairAddress },
        typed("number as result", stage) { $0.answer(count, scale: currentMessage().scale) },
        untyped("number as result", .answerScale, stage, size: 8) {
          (count, currentMessage().scale)
        },
        typed("object as result", stage) { $0.made(token, currentMessage().scale) },
        untyped("object as result", .made, stage, size: 8, releasing: true) {
          (object, currentMessage().scale)
        },
        typed("throwing", stage) { try $0.check(count, currentMessage().scale) },
        untyped("throwing", .check, stage, size: 1) { (count, currentMessage().scale, 0) },
      ]
    }

    private static func typed<Result>(
      _ kind: String, _ stage: Stage, _ emit: @escaping (TypedKindsProxy) throws -> Result
    ) -> Row {
      .fanOut(typedName(kind), stage.size, stage.plain) {
        let proxy = try stage.typedKinds.get()
        return { iterations in
          for _ in 0..<iterations { _ = try emit(proxy) }
          return 0
        }
      }
    }

    private static func untyped<Frame>(
      _ kind: String, _ name: TypedKindsProxy.Requirement, _ stage: Stage,
      size: Int = 0, releasing isObject: Bool = false, _ frame: @escaping () -> Frame
    ) -> Row {
      .fanOut(untypedName(kind), stage.size, stage.plain) {
        let method = try stage.untypedKinds.get().method(for: TypedKindsProxy.selector(for: name))
        let room = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        let result = unsafe UnsafeMutableRawBufferPointer(start: room, count: size)
        return { iterations in
          for _ in 0..<iterations {
            let values = frame()
            // SAFETY: the frame is that of the method, and the room its result's.
            try unsafe withUnsafeBytes(of: values) {
              if size == 0 {
                try unsafe method.forward(frame: $0)
              } else {
                try unsafe method.forward(frame: $0, result: result)
              }
            }
            if isObject { unsafe room.load(as: Unmanaged<Token>?.self)?.release() }
          }
          return 0
        }
      }
    }
  #else
    static func rows(_ stage: Stage) -> [Row] { [] }
  #endif
}
