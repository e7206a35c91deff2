// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import Forwarding
internal import ForwardingWire
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// Fan-outs that are recorded, and fan-outs of recorded invocations.
enum RecordingRows {
  /// As for interceptors: the cost is one of the emission.
  private static let sizeLimit = 512

  static func rows(_ stage: Stage) -> [Row] {
    if stage.size > sizeLimit { return [] }
    return [
      .fanOut(Way.recorded, stage.size, stage.plain) {
        let proxy = try Stage.proxy(of: stage.crowd.receivers)
        let encoder = WireEncoder(try schema(of: proxy))
        let token = try proxy.record(with: encoder) { _ in }
        let method = try proxy.method(for: selector)
        let arguments = Arguments(.notify)
        return { iterations in
          // SAFETY: the frame is that of the message.
          for _ in 0..<iterations { try unsafe method.forward(frame: arguments.frame) }
          return withExtendedLifetime(token) { 0 }
        }
      },
      .fanOut(Way.replayed, stage.size, stage.plain) {
        let proxy = try stage.weak.get()
        let schema = try schema(of: proxy)
        let bytes = try records(schema, proxy)
        return { iterations in
          var left = iterations
          while left > 0 {
            var decoder = WireDecoder(bytes, schema: schema)
            while left > 0, let record = try decoder.next() {
              try record.forward(to: proxy)
              left -= 1
            }
          }
          return 0
        }
      },
    ]
  }

  /// That of `Message.notify`.
  private static let selector = Message.notify.selector

  /// The schema of one message.
  private static func schema(of proxy: DynamicProxy) throws -> WireSchema {
    try WireSchema(of: proxy) { rules in
      for message in Message.allCases where message != .notify { rules.leaveOut(message.rawValue) }
    }
  }

  /// 1024 records of the message.
  private static func records(_ schema: WireSchema, _ proxy: DynamicProxy) throws -> [UInt8] {
    let (count, scale) = currentMessage()
    let invocation = try Invocation(selector, proxy.method(for: selector).signature)
    try invocation.setArgument(count, at: 1)
    try invocation.setArgument(scale, at: 2)
    let encoder = WireEncoder(schema)
    var bytes = schema.bytes
    for _ in 0..<1024 { try encoder.encode(invocation, into: &bytes) }
    return bytes
  }
}
