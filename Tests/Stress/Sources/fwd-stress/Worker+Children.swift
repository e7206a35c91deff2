// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CStressSupport
internal import Forwarding
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension Worker {
  /// How long a child may take. It takes milliseconds on a quiet machine.
  private static let patience: UInt32 = 120

  /// Forks a child that uses the proxies, while the parent's other threads
  /// change them, and waits for it.
  func forkChild() {
    let proxy = stress_has_thread_sanitizer() ? stage.still : stage.plain
    let plain = unsafe proxy.unsafeHandle
    let ticket = nextTicket()
    let number = UInt32(truncatingIfNeeded: random.next())
    // The child ends itself later than the parent would.
    let child = stress_fork(Self.patience + 10)
    if child == 0 {
      let isRight = unsafe stress_act_plain(plain, ticket, number)
      if stress_has_thread_sanitizer() { _exit(isRight ? 0 : 1) }
      isChild.store(true, ordering: .relaxed)
      violations.beginChild()
      violations.check(isRight, "a call, a closure, a signature or a fan-out to C was wrong")
      actAsChild()
      _exit(violations.total == 0 ? 0 : 1)
    }
    guard child > 0 else { return violations.note("fork(2) failed: \(errno)") }
    tally.children += 1
    var detail: Int32 = 0
    switch unsafe stress_wait(child, Self.patience, &detail) {
    case STRESS_RIGHT: break
    case STRESS_WRONG: violations.note("a child failed")
    case STRESS_ABORTED: violations.note("a child was aborted by signal \(detail)")
    case STRESS_HUNG: violations.note("a child hung")
    default: violations.note("a child was lost")
    }
  }

  /// What a child does in Swift. It takes no lock of the test, which another
  /// thread of the parent may have held.
  ///
  /// The Swift runtime takes a lock when it uses metadata or a global for the
  /// first time. So that a child needs none of these locks, the parent does the
  /// same before there are threads. Under the thread sanitizer the runtime takes
  /// the lock at every use, and a child would hang if another thread had it
  /// while the process forked. There a child runs C code only. It forwards to a
  /// proxy that no thread changes: if a subscription had ended, the fan-out would
  /// call Swift to remove it from the list.
  func actAsChild() {
    for kind in Membership.Kind.allCases { followOne(kind) }
    forwardByFunction()
    forwardBatch()
    nest()
    followNotifiers()
    forwardToPassingProxy()
    violations.unfailing("a signature") {
      _ = try MethodSignature("v@:i^[\(1 + random.below(5000))d]")
    }
  }
}
