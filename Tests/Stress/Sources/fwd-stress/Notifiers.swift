// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

/// A proxy whose C subscribers have destroy notifiers that use it.
@safe final class NotifierProxy: @unchecked Sendable {
  // Sendable: what changes is atomic. Notifiers use the handle only while the
  // proxy exists, at the latest inside its last release.

  static let count = 8

  /// A subscription that any thread may take and end, or 0.
  final class Place: Sendable {
    private let subscription = Atomic<fwd_subscription>(0)

    func exchange(_ new: fwd_subscription) -> fwd_subscription {
      subscription.exchange(new, ordering: .sequentiallyConsistent)
    }
  }

  @unsafe let handle: OpaquePointer
  /// The members that stay in the proxy.
  let least: Int
  let places: [Place]
  /// The subscriptions that have begun, and the notifiers that have run.
  let begun = Atomic<Int>(0)
  let notified = Atomic<Int>(0)
  /// Whether the last reference to the proxy is being released.
  let isDying = Atomic<Bool>(false)

  init(_ proxy: DynamicProxy, least: Int) {
    unsafe handle = proxy.unsafeHandle
    self.least = least
    places = (0..<Self.count).map { _ in Place() }
  }

  func somePlace(_ random: inout Random) -> Place { places[random.below(Self.count)] }

  /// Subscribes a member with a notifier. Fails with `FWD_DEAD` only if the
  /// proxy is dying.
  func subscribe() -> (member: Member, subscription: fwd_subscription) {
    let notifier = Notifier(self)
    let member = Member(notifier: notifier)
    begun.add(1, ordering: .sequentiallyConsistent)
    notifierSum.wrappingAdd(notifier.mark, ordering: .relaxed)
    // SAFETY: the proxy is there.
    let (status, subscription) = unsafe member.subscribeAsContext(to: handle) { context in
      // SAFETY: the context is a member, with a reference for the notifier.
      let member = unsafe Unmanaged<Member>.fromOpaque(context!).takeRetainedValue()
      guard let worker = Worker.current else {
        return violations.note("a destroy notifier ran after the end of all threads")
      }
      worker.runNotifier(of: member)
    }
    if !check(status, "a C context with a notifier could not be subscribed") {
      begun.subtract(1, ordering: .sequentiallyConsistent)
      notifierSum.wrappingSubtract(notifier.mark, ordering: .relaxed)
    }
    return (member, subscription)
  }

  /// Ends a subscription that this thread has taken from its place.
  func unsubscribe(_ subscription: fwd_subscription) {
    guard subscription != 0 else { return }
    // SAFETY: the proxy is there.
    let status = unsafe fwd_proxy_unsubscribe(handle, subscription)
    check(status, "a C context with a notifier could not be unsubscribed")
  }

  /// Checks a status: a dying proxy does nothing. Returns whether it was done.
  @discardableResult
  func check(_ status: fwd_status, _ what: String) -> Bool {
    let isDying = isDying.load(ordering: .sequentiallyConsistent)
    violations.check(status == (isDying ? FWD_DEAD : FWD_OK), "\(what): \(status)")
    return status == FWD_OK
  }

  /// Ends all subscriptions in places.
  func end() {
    for place in places { unsubscribe(place.exchange(0)) }
  }
}

/// What is known of one destroy notifier.
final class Notifier: Sendable {
  let proxy: NotifierProxy
  /// A random-looking number of its own.
  let mark: UInt64
  private let count = Atomic<Int>(0)

  /// How often the notifier has run.
  var runs: Int { count.load(ordering: .sequentiallyConsistent) }

  init(_ proxy: NotifierProxy) {
    self.proxy = proxy
    var random = Random(seed: notifierNumbers.add(1, ordering: .relaxed).newValue)
    mark = random.next()
  }

  fileprivate func run() {
    let runs = count.add(1, ordering: .sequentiallyConsistent).newValue
    violations.check(runs == 1, "a destroy notifier ran \(runs) times")
    proxy.notified.add(1, ordering: .sequentiallyConsistent)
    notifierSum.wrappingSubtract(mark, ordering: .relaxed)
    livingContexts.subtract(1, ordering: .relaxed)
  }
}

private let notifierNumbers = Atomic<UInt64>(0)

/// The sum of the marks of all subscriptions that have begun, minus the marks of
/// all notifiers that have run. It is 0 at the end if each notifier has run once.
/// A count would not show a notifier that ran twice and another that never ran.
let notifierSum = Atomic<UInt64>(0)

// MARK: - What notifiers do

extension Worker {
  /// The destroy notifier of a member: uses the proxy that it was subscribed to.
  fileprivate func runNotifier(of member: Member) {
    guard let notifier = member.notifier else {
      return violations.note("a destroy notifier got another's context")
    }
    notifier.run()
    tally.notifiers += 1
    let proxy = notifier.proxy
    notifierDepth += 1
    defer { notifierDepth -= 1 }
    // The subscription that a notifier ends may run the next notifier, and so on.
    switch notifierDepth < 4 ? random.below(4) : 0 {
    case 0: countMembers(proxy)
    case 1 where !stage.isEnding.load(ordering: .sequentiallyConsistent):
      subscribeToPlace(proxy)
    case 2:
      let other = proxy.somePlace(&random).exchange(0)
      if other == 0 { countMembers(proxy) } else { proxy.unsubscribe(other) }
    default:
      if depth < Self.depthLimit { forward(to: proxy) } else { countMembers(proxy) }
    }
  }

  /// Subscribes a member, and ends the one before it in its place.
  private func subscribeToPlace(_ proxy: NotifierProxy) {
    let made = proxy.subscribe().subscription
    tally.joined += made == 0 ? 0 : 1
    proxy.unsubscribe(proxy.somePlace(&random).exchange(made))
  }

  private func countMembers(_ proxy: NotifierProxy) {
    // SAFETY: the proxy is there, or in its last release.
    let count = unsafe fwd_proxy_subscriber_count(proxy.handle)
    if proxy.isDying.load(ordering: .sequentiallyConsistent) {
      violations.check(count == 0, "a dying proxy counts \(count) members")
    } else if !stage.isEnding.load(ordering: .sequentiallyConsistent) {
      violations.check(count >= proxy.least, "the proxy counts \(count) members in a notifier")
    }
  }

  private func forward(to proxy: NotifierProxy) {
    let body = { (fan: Fan) in
      unsafe fan.withFrame { frame in
        // SAFETY: the proxy is there, or in its last release.
        let status = unsafe fwd_forward(
          proxy.handle, fwd_selector_register("strike:fan:"), frame.baseAddress, frame.count, nil, 0
        )
        proxy.check(status, "a destroy notifier could not forward")
      }
    }
    if proxy === stage.notifying { fan(.strike, body) } else { run(Fan(self, .strike), body) }
  }
}

// MARK: - Operations

extension Worker {
  /// Subscribes a member with a notifier to the main proxy, or ends one.
  func changeNotifier() {
    let left = stage.notifying.somePlace(&random).exchange(0)
    if left == 0 {
      subscribeToPlace(stage.notifying)
    } else {
      stage.notifying.unsubscribe(left)
      tally.cancelled += 1
    }
  }

  /// Follows members with notifiers from beginning to end in a proxy that no
  /// other thread uses: there a notifier runs in the call that ends its
  /// subscription, and those that are left run in the proxy's last release.
  func followNotifiers() {
    violations.unfailing("a proxy with destroy notifiers") {
      let proxy = try followNotifiers(3 + random.below(3))
      let begun = proxy.begun.load(ordering: .sequentiallyConsistent)
      let notified = proxy.notified.load(ordering: .sequentiallyConsistent)
      violations.check(
        begun == notified, "\(notified) notifiers of \(begun) have run when their proxy is gone")
    }
  }

  private func followNotifiers(_ count: Int) throws -> NotifierProxy {
    let dynamic = try DynamicProxy(adopting: Member.protocolTable)
    let proxy = NotifierProxy(dynamic, least: 0)
    withExtendedLifetime(dynamic) {
      let first = proxy.subscribe()
      let members = (1..<count).map { number in
        let made = proxy.subscribe()
        _ = proxy.places[number].exchange(made.subscription)
        return made.member
      }
      tally.joined += count
      run(Fan(self, .strike)) { fan in
        try unsafe fan.withFrame {
          try unsafe dynamic.method(for: "strike:fan:").forward(frame: $0)
        }
        for member in members + [first.member] {
          violations.check(member.hasSeen(fan), "a member with a notifier was not called")
        }
      }
      violations.check(first.member.notifier?.runs == 0, "a destroy notifier ran too early")
      proxy.unsubscribe(first.subscription)
      tally.cancelled += 1
      violations.check(first.member.notifier?.runs == 1, "a destroy notifier did not run")
      proxy.isDying.store(true, ordering: .sequentiallyConsistent)
    }
    return proxy
  }
}
