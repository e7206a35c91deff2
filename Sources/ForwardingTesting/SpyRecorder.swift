// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import Testing

/// The subscriber of a spy: records each call, and replies as the test says.
@usableFromInline
internal final class SpyRecorder: Sendable {
  internal let methods: [RecordedMethod]
  /// Where the spy was created.
  private let location: SourceLocation
  private let state: SpyLock<State>

  fileprivate struct State: Sendable {
    var log = CallLog()
    /// By the index of the method.
    var replies: [Replies]
    var expectations: [Expectation] = []
    /// Calls and failures that no issue tells of yet.
    var problems: [Problem] = []
  }

  /// The results that callers of one method get.
  fileprivate struct Replies: Sendable {
    /// Replies to the first calls, in order.
    var script: [RawClosure] = []
    var used = 0
    /// Where the script was stated last; nil if its remaining replies are no issue.
    var location: SourceLocation?
    /// The reply to all other calls.
    var stub: RawClosure?
  }

  /// How often a method should be called.
  fileprivate struct Expectation: Sendable {
    let method: Int
    let count: Int
    let location: SourceLocation
  }

  fileprivate enum Problem: Sendable {
    case unexpected(CallLog.Record, scripted: Int)
    case failed(ForwardingError)
  }

  internal init(_ requirements: [ProtocolTable.Requirement], _ location: SourceLocation) {
    self.location = location
    methods = requirements.map(RecordedMethod.init)
    state = SpyLock(State(replies: .init(repeating: Replies(), count: requirements.count)))
  }

  deinit {
    // Of calls that came after the spy had died.
    report()
    let methods = methods
    state.withLock { $0.log.deallocate(methods) }
  }

  /// Subscribes the recorder to a proxy of its methods.
  ///
  /// - Returns: tokens to be kept as long as calls shall be recorded.
  internal func subscribe(
    to proxy: DynamicProxy, _ lifetime: DynamicProxy.Lifetime
  ) throws(ForwardingError) -> [DynamicProxy.Token] {
    // The functions do not capture the recorder: they live as long as the
    // subscription, which would then never end.
    // SAFETY: a recorder reads and writes what the signatures of its methods say. The
    // subscriber is the recorder, which the fan-out keeps alive during the call.
    try unsafe proxy.unsafeSubscribe(
      self, lifetime: lifetime,
      methods.enumerated().filter { !$0.element.isResultHidden }.map { index, method in
        (
          method.selector,
          { subscriber, delivery in
            unsafe Unmanaged<SpyRecorder>.fromOpaque(subscriber)._withUnsafeGuaranteedRef {
              unsafe $0.receive(index, delivery)
            }
          }
        )
      })
    var tokens: [DynamicProxy.Token] = []
    for (index, method) in methods.enumerated() where method.isResultHidden {
      // SAFETY: as above. Nothing is written, since the method has no result here.
      let token = try unsafe proxy.unsafeTap(method.selector, isAfter: false, times: nil) {
        [self] delivery in unsafe receive(index, delivery)
      }
      tokens.append(token)
    }
    return tokens
  }
}

// MARK: - Calls

extension SpyRecorder {
  fileprivate enum Reply {
    case none, standard
    case closure(RawClosure)
  }

  /// Records a call and writes its result.
  @unsafe private func receive(_ index: Int, _ delivery: RawDelivery) {
    let method = methods[index]
    let reply = state.withLock { state in
      let record = state.log.append(index, size: method.size)
      unsafe method.write(delivery, to: record.start)
      return state.reply(to: record, method)
    }
    switch reply {
    case .none: break
    case .standard where method.isResultHidden: break
    case .standard: unsafe method.requirement.copyDefault(to: delivery.result)
    case .closure(let closure):
      do throws(ForwardingError) {
        try unsafe closure.call(self, delivery)
      } catch {
        state.withLock { $0.problems.append(.failed(error)) }
      }
    }
  }
}

extension SpyRecorder.State {
  /// The reply to a call that has been recorded.
  fileprivate mutating func reply(
    to record: CallLog.Record, _ method: RecordedMethod
  ) -> SpyRecorder.Reply {
    let index = record.method
    let scripted = replies[index].script.count
    if replies[index].used < scripted {
      defer { replies[index].used += 1 }
      return .closure(replies[index].script[replies[index].used])
    }
    if let stub = replies[index].stub { return .closure(stub) }
    if scripted > 0 || (method.hasResult && !method.requirement.hasDefault) {
      problems.append(.unexpected(record, scripted: scripted))
    }
    return method.requirement.hasDefault ? .standard : .none
  }
}

// MARK: - Replies and expectations

extension SpyRecorder {
  /// Sets the closure that replies to all calls without a scripted reply.
  internal func stub(_ index: Int, _ closure: RawClosure) {
    let old = state.withLock { state in
      defer { state.replies[index].stub = closure }
      return state.replies[index].stub
    }
    withExtendedLifetime(old) {}
  }

  /// Adds replies to the next calls without one.
  internal func script(_ index: Int, _ closures: [RawClosure], _ location: SourceLocation) {
    state.withLock { state in
      state.replies[index].script += closures
      state.replies[index].location = location
    }
  }

  internal func expect(_ index: Int, _ count: Int, _ location: SourceLocation) {
    state.withLock {
      $0.expectations.append(Expectation(method: index, count: count, location: location))
    }
  }

  /// The index of a method that a protocol declares.
  internal func index(_ selector: MethodSelector) -> Int {
    methods.firstIndex { $0.selector == selector } ?? 0
  }
}

// MARK: - Reports

extension SpyRecorder {
  /// All calls, in order.
  internal var records: [CallLog.Record] {
    let methods = methods
    return state.withLock { $0.log.records(methods) }
  }

  /// A call as text.
  internal func text(_ record: CallLog.Record) -> String {
    // SAFETY: the record is of the method whose index it has.
    unsafe methods[record.method].text(of: record.start)
  }

  /// Some calls as text.
  internal func text(_ records: [CallLog.Record]) -> String {
    records.isEmpty ? "none" : records.map(text).joined(separator: ", ")
  }

  /// Records issues for what has not come as it should, each once.
  ///
  /// - Parameter location: the place of issues with calls; by default where the spy
  ///   was created.
  internal func report(_ location: SourceLocation? = nil) {
    let location = location ?? self.location
    let (problems, expectations, scripts) = state.withLock { state in
      defer {
        state.problems = []
        state.expectations = []
        for index in state.replies.indices { state.replies[index].location = nil }
      }
      return (state.problems, state.expectations, state.replies.map(\.unused))
    }
    for problem in problems { Issue.record(comment(problem), sourceLocation: location) }
    if expectations.isEmpty && scripts.allSatisfy({ $0 == nil }) { return }
    let records = records
    for expectation in expectations {
      let calls = records.filter { $0.method == expectation.method }
      if calls.count == expectation.count { continue }
      let selector = methods[expectation.method].selector
      Issue.record(
        """
        expected \(counted(expectation.count)) of "\(selector)", got \(calls.count): \(text(calls))
        """, sourceLocation: expectation.location)
    }
    for (method, script) in zip(methods, scripts) {
      guard let script else { continue }
      Issue.record(
        """
        expected \(counted(script.count)) of "\(method.selector)", one for each result of its \
        script, got \(script.used)
        """, sourceLocation: script.location)
    }
  }

  private func counted(_ count: Int) -> String { count == 1 ? "1 call" : "\(count) calls" }

  private func comment(_ problem: Problem) -> Comment {
    switch problem {
    case .failed(let error): "the spy could not reply: \(error)"
    case .unexpected(let record, scripted: 0):
      """
      unexpected call \(text(record)): the method has a result, and the spy has no stub, script or \
      default for it; the caller got zero
      """
    case .unexpected(let record, let scripted):
      """
      unexpected call \(text(record)): the script of the method had \(scripted) \
      result\(scripted == 1 ? "" : "s"), and there is no stub
      """
    }
  }
}

extension SpyRecorder.Replies {
  /// How far a script got that has replies left; nil if it has none, or an issue
  /// tells of them already.
  fileprivate var unused: (count: Int, used: Int, location: SourceLocation)? {
    guard let location, used < script.count else { return nil }
    return (script.count, used, location)
  }
}
