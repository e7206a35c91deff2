// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

/// A subscriber that checks its deliveries, in whatever way it is subscribed.
@safe final class Member: DynamicProxy.Subscriber, @unchecked Sendable {
  // Sendable: what changes is atomic, or of one thread.

  /// Its number among those that stay.
  let steady: Int?
  /// Whether it implements `strike:fan:` only.
  let isPartial: Bool
  /// When its subscription had begun, when its end began, and when that had
  /// happened; 0 before that.
  let joinedAt = Atomic<Int>(0)
  let endingAt = Atomic<Int>(0)
  let endedAt = Atomic<Int>(0)
  /// What is known of its destroy notifier, if that uses the proxy.
  let notifier: Notifier?
  /// The calls of all threads.
  let deliveries = Atomic<Int>(0)
  /// The last fan-out of each thread and depth.
  private let seen: UnsafeMutablePointer<Int64>
  /// Something else once it has gone.
  private var mark = Member.alive

  private static let alive: UInt64 = 0xA11F_EBA1_1FEB_A11F

  init(steady: Int? = nil, isPartial: Bool = false, notifier: Notifier? = nil) {
    self.steady = steady
    self.isPartial = isPartial
    self.notifier = notifier
    let count = workerCount.load(ordering: .relaxed) * Worker.depthLimit
    unsafe seen = .allocate(capacity: count)
    unsafe seen.initialize(repeating: 0, count: count)
    livingMembers.add(1, ordering: .relaxed)
  }

  deinit {
    mark = 0
    unsafe seen.deallocate()
    livingMembers.subtract(1, ordering: .relaxed)
  }

  func implements(_ method: Fan.Method) -> Bool { method == .strike || !isPartial }

  /// Whether the fan-out, which is this thread's, has called it.
  func hasSeen(_ fan: Fan) -> Bool { unsafe seen[place(fan)] == fan.ticket }

  private func place(_ fan: Fan) -> Int { fan.worker.number * Worker.depthLimit + fan.depth }

  /// Whether the subscription was there from the beginning of the fan-out until
  /// now.
  func wasThere(_ fan: Fan) -> Bool {
    let joined = joinedAt.load(ordering: .sequentiallyConsistent)
    return joined != 0 && joined <= fan.joinedBy
      && endingAt.load(ordering: .sequentiallyConsistent) == 0
  }

  fileprivate func take(_ ticket: Int64, _ address: Int64, _ method: Fan.Method) {
    let fan = Fan.at(address)
    violations.check(mark == Self.alive, "a delivery to a member that is gone")
    violations.check(fan.ticket == ticket && fan.method == method, "arguments were mixed up")
    violations.check(!hasSeen(fan), "a member was called twice by one fan-out")
    violations.check(implements(method), "a method was called that is not implemented")
    let ended = endedAt.load(ordering: .sequentiallyConsistent)
    violations.check(
      ended == 0 || ended > fan.begin,
      "a member was called by a fan-out that began after its subscription had ended")
    if let notifier {
      violations.check(notifier.runs == 0, "a member was called after its destroy notifier")
    }
    unsafe seen[place(fan)] = ticket
    deliveries.add(1, ordering: .sequentiallyConsistent)
    fan.note(self)
    if steady == nil { fan.worker.mayActInside(fan) }
  }

  /// Takes a delivery of a nesting, and makes the fan-outs of its next level.
  fileprivate func takeNested(_ ticket: Int64, _ address: Int64, _ level: Int64) -> Int32 {
    take(ticket, address, .nest)
    let fan = Fan.at(address)
    violations.check(fan.nesting.map { Int64($0.level) } == level, "a level was mixed up")
    return Int32(1 + fan.worker.forwardAgain(from: self, in: fan))
  }
}

// MARK: - Tables

extension Member {
  static let protocolTable: ProtocolTable = {
    do {
      return try ProtocolTable("Striking") {
        $0.required("strike:fan:", "v@:qq")
        $0.optional("weigh:fan:", "i@:qq", result: .reduce(Int32(0), +))
        $0.optional("shade:fan:depth:", "v@:qqd")
        $0.optional("claim:fan:", "q@:qq")
        $0.optional("nest:fan:level:", "i@:qqq", result: .reduce(Int32(0), +))
      }
    } catch {
      fatalError("\(error)")
    }
  }()

  /// C functions, which the proxy calls without a closure.
  static let functionTable = FunctionTable(for: Member.self) {
    // SAFETY: the functions have these types.
    unsafe $0.function("strike:fan:", "v@:qq", calling: strike)
    unsafe $0.function("weigh:fan:", "i@:qq", calling: weigh)
    unsafe $0.function("shade:fan:depth:", "v@:qqd", calling: shade)
    unsafe $0.function("claim:fan:", "q@:qq", calling: claim)
    unsafe $0.function("nest:fan:level:", "i@:qqq", calling: nest)
  }

  /// Closures.
  static let closureTable = FunctionTable(for: Member.self, addClosures)

  static func addClosures(_ builder: inout FunctionTable.Builder<Member>) {
    builder.on("strike:fan:") { (self: Member, ticket: Int64, fan: Int64) in
      self.take(ticket, fan, .strike)
    }
    builder.on("weigh:fan:") { (self: Member, ticket: Int64, fan: Int64) -> Int32 in
      self.take(ticket, fan, .weigh)
      return 1
    }
    builder.on("shade:fan:depth:") { (self: Member, ticket: Int64, fan: Int64, depth: Double) in
      violations.check(depth == 0.5, "an argument was mixed up")
      self.take(ticket, fan, .shade)
    }
    builder.on("claim:fan:") { (self: Member, ticket: Int64, fan: Int64) -> Int64 in
      self.take(ticket, fan, .claim)
      return ticket
    }
    builder.on("nest:fan:level:") {
      (self: Member, ticket: Int64, fan: Int64, level: Int64) -> Int32 in
      self.takeNested(ticket, fan, level)
    }
  }

  /// One method only.
  static let partialTable = FunctionTable(for: Member.self) {
    $0.on("strike:fan:") { (self: Member, ticket: Int64, fan: Int64) in
      self.take(ticket, fan, .strike)
    }
  }

  /// Closures that have the member, for a token.
  func addCaptures(_ builder: inout FunctionTable.Builder<Void>) {
    builder.on("strike:fan:") { (ticket: Int64, fan: Int64) in self.take(ticket, fan, .strike) }
    builder.on("weigh:fan:") { (ticket: Int64, fan: Int64) -> Int32 in
      self.take(ticket, fan, .weigh)
      return 1
    }
    builder.on("shade:fan:depth:") { (ticket: Int64, fan: Int64, depth: Double) in
      violations.check(depth == 0.5, "an argument was mixed up")
      self.take(ticket, fan, .shade)
    }
    builder.on("claim:fan:") { (ticket: Int64, fan: Int64) -> Int64 in
      self.take(ticket, fan, .claim)
      return ticket
    }
    builder.on("nest:fan:level:") { (ticket: Int64, fan: Int64, level: Int64) -> Int32 in
      self.takeNested(ticket, fan, level)
    }
  }

  /// Subscribes the member as a C context, with a reference that its end gives
  /// up.
  func subscribeAsContext(to proxy: DynamicProxy) -> fwd_subscription {
    let (status, subscription) = unsafe subscribeAsContext(to: proxy.unsafeHandle) { context in
      livingContexts.subtract(1, ordering: .relaxed)
      unsafe Unmanaged<Member>.fromOpaque(context!).release()
    }
    violations.check(status == FWD_OK, "a C context could not be subscribed: \(status)")
    return subscription
  }

  /// Does the same with another destroy notifier, which gets the reference.
  @unsafe func subscribeAsContext(
    to handle: OpaquePointer, _ destroy: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
  ) -> (status: fwd_status, subscription: fwd_subscription) {
    var subscription: fwd_subscription = 0
    livingContexts.add(1, ordering: .relaxed)
    // SAFETY: the functions have the types that the encodings say; the names
    // are constants.
    let context = unsafe Unmanaged.passRetained(self)
    let status = unsafe contextMethods.withUnsafeBufferPointer { methods in
      unsafe fwd_proxy_subscribe(
        handle, context.toOpaque(), methods.baseAddress, methods.count, destroy, nil,
        &subscription, nil)
    }
    if status != FWD_OK {
      livingContexts.subtract(1, ordering: .relaxed)
      unsafe context.release()
    }
    return (status, subscription)
  }
}

// MARK: - C functions

private func member(_ receiver: UnsafeRawPointer) -> Member {
  // SAFETY: receivers are members, which live during their deliveries.
  unsafe Unmanaged<Member>.fromOpaque(receiver).takeUnretainedValue()
}

private let strike: @convention(c) (UnsafeRawPointer, OpaquePointer, Int64, Int64) -> Void = {
  unsafe member($0).take($2, $3, .strike)
}
private let weigh: @convention(c) (UnsafeRawPointer, OpaquePointer, Int64, Int64) -> Int32 = {
  unsafe member($0).take($2, $3, .weigh)
  return 1
}
private let shade: @convention(c) (UnsafeRawPointer, OpaquePointer, Int64, Int64, Double) -> Void =
  {
    violations.check($4 == 0.5, "an argument was mixed up")
    unsafe member($0).take($2, $3, .shade)
  }
private let claim: @convention(c) (UnsafeRawPointer, OpaquePointer, Int64, Int64) -> Int64 = {
  unsafe member($0).take($2, $3, .claim)
  return $2
}
private let nest: @convention(c) (UnsafeRawPointer, OpaquePointer, Int64, Int64, Int64) -> Int32 =
  { unsafe member($0).takeNested($2, $3, $4) }

/// The same functions for C contexts.
private nonisolated(unsafe) let contextMethods: [fwd_method] = {
  func method<Function>(
    _ selector: StaticString, _ encoding: StaticString, _ function: Function
  ) -> fwd_method {
    // SAFETY: a C function is its address; the strings are constants.
    unsafe fwd_method(
      selector: UnsafeRawPointer(selector.utf8Start).assumingMemoryBound(to: CChar.self),
      encoding: UnsafeRawPointer(encoding.utf8Start).assumingMemoryBound(to: CChar.self),
      function: unsafeBitCast(function, to: (@convention(c) () -> Void).self))
  }
  return unsafe [
    method("strike:fan:", "v^v:qq", strike), method("weigh:fan:", "i^v:qq", weigh),
    method("shade:fan:depth:", "v^v:qqd", shade), method("claim:fan:", "q^v:qq", claim),
    method("nest:fan:level:", "i^v:qqq", nest),
  ]
}()
