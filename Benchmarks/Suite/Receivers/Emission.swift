// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import CFwdBench
internal import Foundation

/// The message that all emissions deliver. It is loaded anew for each.
@inlinable
public func currentMessage() -> (count: Int64, scale: Double) {
  // SAFETY: it is always there.
  let message = unsafe bench_current_message()
  return unsafe (message.pointee.count, message.pointee.scale)
}

/// Emits by a multicast that was written by hand, as often as is asked.
public final class Emitter<List: HandWritten> {
  private var list: List

  /// Takes receivers in, in order.
  public init(_ receivers: [any Receiver]) {
    list = List()
    for receiver in receivers { list.add(receiver) }
  }

  /// Emits.
  @_specialize(where List == WeakBoxes)
  @_specialize(where List == GenericWeakBoxes)
  @_specialize(where List == WeakClassBoxes)
  @_specialize(where List == WeakClosures)
  @_specialize(where List == StrongReferences)
  public func emit(_ iterations: Int) {
    for _ in 0..<iterations {
      let (count, scale) = currentMessage()
      list.notify(count, scale)
    }
  }
}

/// Emits by notifications of Foundation's.
public final class NotificationEmitter {
  private let center = NotificationCenter()
  private let name = Notification.Name("notify")
  private var tokens: [any NSObjectProtocol] = []

  /// Takes receivers in, in order.
  public init(_ receivers: [any Receiver]) {
    tokens = receivers.map { receiver in
      center.addObserver(forName: name, object: nil, queue: nil) { [weak receiver] notification in
        guard let count = notification.userInfo?["count"] as? Int64,
          let scale = notification.userInfo?["scale"] as? Double
        else { return }
        receiver?.notify(count, scale)
      }
    }
  }

  /// Emits.
  public func emit(_ iterations: Int) {
    for _ in 0..<iterations {
      let (count, scale) = currentMessage()
      center.post(name: name, object: nil, userInfo: ["count": count, "scale": scale])
    }
  }
}
