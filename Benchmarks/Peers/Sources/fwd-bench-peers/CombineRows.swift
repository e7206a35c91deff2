// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Dispatch
internal import Forwarding
internal import FwdBenchDriver
internal import FwdBenchReceivers
internal import FwdBenchRows
internal import OpenCombine
internal import OpenCombineDispatch

/// OpenCombine, which is Combine for systems that do not have it.
enum CombineRows {
  static func rows(_ stage: Stage) -> [Row] {
    [
      .fanOut(Way.openCombineWeak, stage.size, stage.sideTabled) {
        let subject = Subject(stage.crowdWithSideTables.receivers) { receiver in
          { [weak receiver] in receiver?.notify($0.count, $0.scale) }
        }
        return { subject.emit($0) }
      },
      .fanOut("OpenCombine: PassthroughSubject, strong sinks", stage.size, stage.plain) {
        let subject = Subject(stage.crowd.receivers) { receiver in
          { receiver.notify($0.count, $0.scale) }
        }
        return { subject.emit($0) }
      },
    ]
  }

  /// Deliveries on a queue.
  static var delivery: Row { DeliveryRows.row(DeliveryRows.openCombine) { try QueueLine() } }

  private final class QueueLine: DeliveryLine, @unchecked Sendable {
    // Sendable: immutable, and the subject locks itself.
    let sink = DeliverySink()
    private let feed: DeliveryFeed
    private let subject = PassthroughSubject<(Int64, String), Never>()
    private let kept: [Any]

    init() throws {
      let (feed, subject, sink) = (try DeliveryFeed(), subject, sink)
      self.feed = feed
      let subscription = subject.receive(on: DispatchQueue(label: "line").ocombine)
        .sink { number, text in sink.take(number, text) }
      nonisolated(unsafe) let sending = subject
      let token = try feed.proxy.subscribe {
        $0.on(DeliveryFeed.tick) { number, text in unsafe sending.send((number, text)) }
      }
      kept = [subscription, token]
    }

    func send(_ number: Int64) { feed.send(number) }
  }

  private final class Subject {
    typealias Message = (count: Int64, scale: Double)

    private let subject = PassthroughSubject<Message, Never>()
    private var subscriptions: [AnyCancellable] = []

    init(_ receivers: [any Receiver], _ sink: (any Receiver) -> (Message) -> Void) {
      subscriptions = receivers.map { subject.sink(receiveValue: sink($0)) }
    }

    func emit(_ iterations: Int) -> Int64 {
      for _ in 0..<iterations { subject.send(currentMessage()) }
      return 0
    }
  }
}
