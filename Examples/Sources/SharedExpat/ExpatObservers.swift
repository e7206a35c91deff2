// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

// Expat calls its handlers on the thread that parses, so observers need no locks, and it is honest to say
// `@unchecked Sendable`.

/// Counts elements.
public final class ElementCounter: DynamicProxy.Subscriber, @unchecked Sendable {
  public private(set) var count = 0
  public private(set) var attributeCount = 0

  public init() {}

  public func started(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    count += 1
    if attributes?[0] != nil { attributeCount += 1 }
  }

  public static let functionTable = FunctionTable(for: ElementCounter.self) {
    $0.on(ExpatKey.started) { elements, _, attributes in elements.started(attributes) }
  }
}

/// Measures how deep elements are nested.
public final class DepthMeter: DynamicProxy.Subscriber, @unchecked Sendable {
  public private(set) var depth = 0
  public private(set) var deepest = 0

  public init() {}

  public func started() {
    depth += 1
    deepest = max(deepest, depth)
  }

  public func ended() { depth -= 1 }

  public static let functionTable = FunctionTable(for: DepthMeter.self) {
    $0.on(ExpatKey.started) { depth, _, _ in depth.started() }
    $0.on(ExpatKey.ended) { depth, _ in depth.ended() }
  }
}

/// Counts the bytes of text.
public final class TextMeter: DynamicProxy.Subscriber, @unchecked Sendable {
  public private(set) var byteCount = 0

  public init() {}

  public func add(_ length: Int32) { byteCount += Int(length) }

  public static let functionTable = FunctionTable(for: TextMeter.self) {
    $0.on(ExpatKey.text) { text, _, length in text.add(length) }
  }
}
