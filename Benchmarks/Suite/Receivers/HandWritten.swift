// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A multicast as it is written by hand.
public protocol HandWritten {
  /// Makes one without receivers.
  init()
  /// Adds a receiver at the end.
  mutating func add(_ receiver: any Receiver)
  /// Delivers to all that live.
  func notify(_ count: Int64, _ scale: Double)
}

/// A loop over boxes with `weak` references: what most people write.
public struct WeakBoxes: HandWritten {
  /// Holds one weakly. `Value` is a protocol's existential, which `weak` takes
  /// only where its name stands.
  struct WeakBox {
    weak var value: (any Receiver)?
  }

  private var boxes: [WeakBox] = []

  /// Makes one without receivers.
  public init() {}

  /// Makes one by adding receivers one by one.
  public init(holding receivers: [any Receiver]) {
    for receiver in receivers { add(receiver) }
  }

  /// How many boxes there are.
  public var count: Int { boxes.count }

  /// Adds a receiver at the end.
  public mutating func add(_ receiver: any Receiver) { boxes.append(WeakBox(value: receiver)) }

  /// Delivers to all that live.
  public func notify(_ count: Int64, _ scale: Double) {
    for box in boxes { box.value?.notify(count, scale) }
  }
}

/// The same with a generic box, whose value is cast at each delivery.
public struct GenericWeakBoxes: HandWritten {
  struct WeakBox<Value> {
    private weak var object: AnyObject?

    init(_ value: Value) { object = value as AnyObject }

    var value: Value? { object as? Value }
  }

  private var boxes: [WeakBox<any Receiver>] = []

  /// Makes one without receivers.
  public init() {}

  /// Adds a receiver at the end.
  public mutating func add(_ receiver: any Receiver) { boxes.append(WeakBox(receiver)) }

  /// Delivers to all that live.
  public func notify(_ count: Int64, _ scale: Double) {
    for box in boxes { box.value?.notify(count, scale) }
  }
}

/// A loop over boxes that are objects.
public struct WeakClassBoxes: HandWritten {
  private final class WeakBox {
    private(set) weak var value: (any Receiver)?

    init(_ value: any Receiver) { self.value = value }
  }

  private var boxes: [WeakBox] = []

  /// Makes one without receivers.
  public init() {}

  /// Adds a receiver at the end.
  public mutating func add(_ receiver: any Receiver) { boxes.append(WeakBox(receiver)) }

  /// Delivers to all that live.
  public func notify(_ count: Int64, _ scale: Double) {
    for box in boxes { box.value?.notify(count, scale) }
  }
}

/// A loop over closures that capture the receiver weakly.
public struct WeakClosures: HandWritten {
  private var closures: [(Int64, Double) -> Void] = []

  /// Makes one without receivers.
  public init() {}

  /// Adds a receiver at the end.
  public mutating func add(_ receiver: any Receiver) {
    closures.append { [weak receiver] count, scale in receiver?.notify(count, scale) }
  }

  /// Delivers to all that live.
  public func notify(_ count: Int64, _ scale: Double) {
    for closure in closures { closure(count, scale) }
  }
}

/// A loop over the receivers, which it keeps alive.
public struct StrongReferences: HandWritten {
  private var receivers: [any Receiver] = []

  /// Makes one without receivers.
  public init() {}

  /// Adds a receiver at the end.
  public mutating func add(_ receiver: any Receiver) { receivers.append(receiver) }

  /// Delivers to all.
  public func notify(_ count: Int64, _ scale: Double) {
    for receiver in receivers { receiver.notify(count, scale) }
  }
}
