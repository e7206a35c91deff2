// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A receiver of a signal's elements: an iterator's channel, or a subscription of
/// a publisher.
package protocol SignalSink<Element>: AnyObject, Sendable {
  associatedtype Element: Sendable

  /// Receives an element, on the emitting thread and under no lock.
  func receive(_ element: Element)

  /// Says that no more elements come: the subscription has ended.
  func finish()
}
