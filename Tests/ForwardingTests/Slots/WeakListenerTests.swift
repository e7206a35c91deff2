// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

private protocol Named: AnyObject { var name: String { get } }
private protocol Counted: AnyObject { var count: Int { get } }
private protocol Sized<Size>: AnyObject {
  associatedtype Size
  var size: Size { get }
}

private class Object: Named, Counted, Sized, @unchecked Sendable {
  // Sendable: immutable.
  let name = "name"
  let count = 3
  let size = 4
  let tracked: Population.Tracked
  init(_ population: Population) { tracked = population.make() }
}

/// Its first word is an object, as in an existential of classes.
private struct TwoWords {
  let object: Object
  let text: [String]
}

private struct ThreeWords {
  let object: Object
  let text: [String]
  let tracked: Population.Tracked
}

/// A slot of values that are no objects.
private final class ValueProxy: SlotProxy {
  typealias Listener = ThreeWords
  let forwardingProxy: DynamicProxy
  init() {
    do { forwardingProxy = try .pinging() } catch { fatalError("\(error)") }
  }
  var asListener: ThreeWords { fatalError("a value is no proxy") }
  func subscribeListener(
    _ listener: ThreeWords, at position: DynamicProxy.Position, lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> DynamicProxy.Subscription {
    throw ForwardingError(.typeMismatch, "a value is no listener")
  }
  static func object(of listener: ThreeWords) -> AnyObject { listener.object }
}

private final class ValueSlot {
  @DelegateSlot(ValueProxy()) var delegate: ThreeWords?
}

@Suite struct WeakListenerTests {
  let population = Population()

  /// Checks that a reference to a class, or to `any` of a protocol of classes, is
  /// weak.
  private func expectWeak<Listener>(
    _ make: (Object) -> Listener, _ name: (Listener) -> String,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    var object: Object? = Object(population)
    let reference = object.map { WeakListener(make($0), $0) }
    for _ in 0..<3 {
      #expect(reference?.listener.map(name) == "name", sourceLocation: location)
    }
    object = nil
    #expect(reference?.listener == nil && population.living == 0, sourceLocation: location)
  }

  @Test func `classes and existentials of classes are referenced weakly`() {
    expectWeak({ $0 }, { $0.name })
    expectWeak({ $0 as AnyObject }, { ($0 as? Object)?.name ?? "" })
    expectWeak({ $0 as any AnyObject & Sendable }, { ($0 as? Object)?.name ?? "" })
    expectWeak({ $0 as any Named }, { $0.name })
    expectWeak({ $0 as any Named & Counted }, { String($0.name.dropFirst(0).prefix($0.count + 1)) })
    expectWeak({ $0 as any Named & Counted & Sized }, { $0.name })
    expectWeak({ $0 as any Sized<Int> }, { $0.size == 4 ? "name" : "" })
    expectWeak({ $0 as any Object & Named }, { $0.name })
    expectWeak({ $0 as Object? }, { $0?.name ?? "" })
  }

  @Test func `a struct whose first word is the object is kept, with all its words`() {
    func twoWords() -> WeakListener<TwoWords> {
      let object = Object(population)
      return WeakListener(
        TwoWords(object: object, text: ["two", String(population.living)]), object)
    }
    func threeWords() -> WeakListener<ThreeWords> {
      let object = Object(population)
      return WeakListener(
        ThreeWords(
          object: object, text: ["three", String(population.living)], tracked: population.make()),
        object)
    }
    do {
      let (two, three) = (twoWords(), threeWords())
      for _ in 0..<3 {
        #expect(two.listener?.text == ["two", "1"])
        #expect(three.listener?.text == ["three", "2"])
      }
      #expect(population.living == 3)
    }
    #expect(population.living == 0)
  }

  @Test func `a value in a delegate slot can be read again and again`() {
    let slot = ValueSlot()
    do {
      let object = Object(population)
      slot.delegate = ThreeWords(
        object: object, text: [String(repeating: "long", count: 10)], tracked: population.make())
    }
    for _ in 0..<3 {
      #expect(slot.delegate?.text == [String(repeating: "long", count: 10)])
      #expect(slot.delegate?.object.name == "name")
    }
    slot.delegate = nil
    #expect(population.living == 0)
  }
}
