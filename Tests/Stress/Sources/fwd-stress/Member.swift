// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

/// A subscriber that checks its deliveries, in whatever way it is subscribed.
@safe final class Member: Subscriber, @unchecked Sendable {
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
  /// The calls of all threads.
  let deliveries = Atomic<Int>(0)
  /// The last fan-out of each thread and depth.
  private let seen: UnsafeMutablePointer<Int64>
  /// Something else once it has gone.
  private var mark = Member.alive

  private static let alive: UInt64 = 0xA11F_EBA1_1FEB_A11F

  init(steady: Int? = nil, isPartial: Bool = false) {
    self.steady = steady
    self.isPartial = isPartial
    unsafe seen = .allocate(capacity: Worker.limit * Worker.depthLimit)
    unsafe seen.initialize(repeating: 0, count: Worker.limit * Worker.depthLimit)
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
    unsafe seen[place(fan)] = ticket
    deliveries.add(1, ordering: .sequentiallyConsistent)
    fan.note(self)
    if steady == nil { fan.worker.mayActInside(fan) }
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
  }

  /// Subscribes the member as a C context, with a reference that its end gives
  /// up.
  func subscribeAsContext(to proxy: DynamicProxy) -> fwd_subscription {
    var subscription: fwd_subscription = 0
    livingContexts.add(1, ordering: .relaxed)
    // SAFETY: the functions have the types that the encodings say; the names
    // are constants.
    let status = unsafe contextMethods.withUnsafeBufferPointer { methods in
      unsafe fwd_proxy_subscribe(
        proxy.unsafeHandle, Unmanaged.passRetained(self).toOpaque(), methods.baseAddress,
        methods.count,
        { context in
          livingContexts.subtract(1, ordering: .relaxed)
          unsafe Unmanaged<Member>.fromOpaque(context!).release()
        }, nil, &subscription, nil)
    }
    violations.check(status == FWD_OK, "a C context could not be subscribed: \(status)")
    return subscription
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
  ]
}()
