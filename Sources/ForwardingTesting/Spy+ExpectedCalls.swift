// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding
internal import Testing

extension Spy {
  /// Takes the calls that ``Spy/verify(sourceLocation:_:)`` expects, in order.
  public struct ExpectedCalls {
    private let spy: Spy
    private let location: SourceLocation
    private var calls: [Call] = []

    private struct Call {
      let text: String
      let matches: (CallLog.Record) -> Bool
    }

    internal init(_ spy: Spy, _ location: SourceLocation) {
      self.spy = spy
      self.location = location
    }

    /// Expects a call with arguments that equal these.
    public mutating func call<Output, each Argument: Equatable>(
      _ key: Method<Output, repeat each Argument>, _ arguments: repeat each Argument
    ) {
      var texts: [String] = []
      repeat texts.append(describe(each arguments))
      let text = "\(key.selector)(\(texts.joined(separator: ", ")))"
      add(key, text) { (received: repeat each Argument) in
        for (one, other) in repeat (each arguments, each received) {
          if one != other { return false }
        }
        return true
      }
    }

    /// Expects a call with any arguments.
    // Disfavored, so that a key without parameters takes the other.
    @_disfavoredOverload
    public mutating func call<Output, each Argument>(
      _ key: Method<Output, repeat each Argument>
    ) {
      add(key, "\(key.selector)(any arguments)") { (_: repeat each Argument) in true }
    }
  }
}

extension Spy.ExpectedCalls {
  // A closure of a pack, and no tuple of one: Swift 6.3 crashes while it compiles
  // closures that take such tuples.
  private mutating func add<Output, each Argument>(
    _ key: Method<Output, repeat each Argument>, _ text: String,
    _ matches: @escaping (repeat each Argument) -> Bool
  ) {
    spy.report(location) { () throws(ForwardingError) in
      let read = try spy.reader(key)
      let index = spy.recorder.index(key.selector)
      let call = Call(text: text) { record in
        if record.method != index { return false }
        do throws(ForwardingError) {
          let received = try read(record)
          return matches(repeat each received)
        } catch {
          return false
        }
      }
      calls.append(call)
    }
  }

  /// Records an issue if the spy has received other calls.
  internal func compare() {
    let records = spy.recorder.records
    let place = zip(calls, records).enumerated().first { !$1.0.matches($1.1) }?.offset
    if place == nil && calls.count == records.count { return }
    let index = place ?? min(calls.count, records.count)
    func named(_ texts: [String]) -> String {
      texts.indices.contains(index) ? texts[index] : "no call"
    }
    let (expected, got) = (calls.map(\.text), records.map(spy.recorder.text))
    func list(_ texts: [String]) -> String {
      texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }
    Issue.record(
      """
      call \(index + 1) is another: expected \(named(expected)), got \(named(got))
      expected: \(list(expected))
      got: \(list(got))
      """, sourceLocation: location)
  }
}
