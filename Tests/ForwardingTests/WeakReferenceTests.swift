// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CForwardingInternal
import Synchronization
import Testing

@testable import Forwarding

/// The shim's weak references beside Swift's: they give the same answers.
@Suite struct WeakReferenceTests {
  /// A weak reference of the shim.
  @safe private final class ShimReference: @unchecked Sendable {
    // Sendable: the word is immutable, and the shim's calls are atomic.
    private let word: fwd_weak

    init(_ object: AnyObject, _ kind: fwd_weak_kind) {
      word = unsafe fwd_weak_create(Unmanaged.passUnretained(object).toOpaque(), kind)
    }

    deinit { fwd_weak_destroy(word) }

    var isDead: Bool { fwd_weak_has_died(word) }

    /// What a fan-out gets, as Swift's reference would give it.
    var value: AnyObject? {
      guard let taken = unsafe fwd_weak_take(word) else { return nil }
      return unsafe Unmanaged<AnyObject>.fromOpaque(taken).takeRetainedValue()
    }
  }

  private static let kinds = [FWD_WEAK_UNOWNED, FWD_WEAK_STOCK]

  private final class Dying: Sendable {
    let onDeath: @Sendable (Dying) -> Void
    init(_ onDeath: @escaping @Sendable (Dying) -> Void) { self.onDeath = onDeath }
    deinit { onDeath(self) }
  }

  private class Base: @unchecked Sendable {
    let padding = (0, 0, 0)
  }
  private final class Derived: Base, @unchecked Sendable {
    let more = [1, 2, 3]
  }

  /// Objects with different histories of their reference counts.
  private static func objects() -> [AnyObject] {
    let withUnowned = Bystander()
    unowned let unowned = withUnowned
    _ = unowned
    let retained = Bystander()
    for _ in 0..<100 { _ = unsafe Unmanaged.passRetained(retained) }
    for _ in 0..<100 { unsafe Unmanaged.passUnretained(retained).release() }
    return [Bystander(), Derived(), withUnowned, retained, Population().make()]
  }

  @Test("gives what Swift's gives", arguments: kinds, [false, true])
  func differential(kind: fwd_weak_kind, hadWeak: Bool) {
    for isKept in [false, true] { compare(kind, hadWeak, isKept) }
  }

  private func compare(_ kind: fwd_weak_kind, _ hadWeak: Bool, _ isKept: Bool) {
    for index in Self.objects().indices {
      var object: AnyObject? = Self.objects()[index]
      weak var early = hadWeak ? object : nil
      let reference = object.map { ShimReference($0, kind) }
      // Made now, it moves the counts to a side table while the reference is there.
      weak var late = object
      #expect(reference?.value === late && late != nil)
      #expect(reference?.isDead == false)
      #expect((early != nil) == hadWeak)
      let kept = isKept ? object : nil
      object = nil
      #expect(reference?.value === late)
      #expect((late != nil) == isKept)
      #expect(reference?.isDead == !isKept)
      withExtendedLifetime(kept) {}
      early = nil
      late = nil
    }
  }

  @Test("is nil in deinit, as Swift's is", arguments: kinds, [false, true])
  func deinitialisation(kind: fwd_weak_kind, hasSideTable: Bool) {
    let answers = Box<[Bool]>([])
    let holder = Box<ShimReference?>(nil)
    do {
      let object = Dying { object in
        weak let swift: Dying? = hasSideTable ? object : nil
        let shim = holder.value
        answers.value = [swift == nil, shim?.value == nil, shim?.isDead == true]
      }
      weak var early: Dying?
      if hasSideTable { early = object }
      holder.value = ShimReference(object, kind)
      #expect(holder.value?.value === object)
      withExtendedLifetime(early) {}
    }
    #expect(answers.value == [true, true, true])
    #expect(holder.value?.value == nil)
  }

  @Test("a reference taken keeps the object until it is dropped", arguments: kinds)
  func taking(kind: fwd_weak_kind) {
    weak var tracked: Bystander?
    var object: Bystander? = Bystander()
    tracked = object
    let word = unsafe fwd_weak_create(Unmanaged.passUnretained(object!).toOpaque(), kind)
    let taken = unsafe fwd_weak_take(word)
    object = nil
    #expect(tracked != nil)
    unsafe fwd_object_release(taken)
    #expect(tracked == nil)
    let again = unsafe fwd_weak_take(word)
    #expect(unsafe again == nil)
    fwd_weak_destroy(word)
  }

  @Test("many references to one object count alike", arguments: kinds)
  func counting(kind: fwd_weak_kind) {
    let object = Bystander()
    weak let swift: Bystander? = object
    var references = (0..<1000).map { _ in ShimReference(object, kind) }
    #expect(references.allSatisfy { $0.value === swift })
    references.removeAll()
    #expect(swift != nil)
  }

  @Test("names the object as long as it is there", arguments: kinds)
  func naming(kind: fwd_weak_kind) {
    var object: Bystander? = Bystander()
    let address = unsafe Unmanaged.passUnretained(object!).toOpaque()
    let word = unsafe fwd_weak_create(address, kind)
    object = nil
    // The memory is not used again.
    let others = (0..<1000).map { _ in Bystander() }
    for other in others {
      let isAnother = unsafe Unmanaged.passUnretained(other).toOpaque() != address
      #expect(isAnother)
    }
    let named = unsafe fwd_weak_address(word)
    #expect(unsafe named == address)
    fwd_weak_destroy(word)
  }

  @Test("threads see an object alive as long as Swift's reference does", arguments: kinds)
  func races(kind: fwd_weak_kind) {
    final class Round: @unchecked Sendable {
      // Written before the threads start.
      weak let swift: Bystander?
      let shim: ShimReference
      let object: Box<Bystander?>
      init(_ object: Bystander, _ kind: fwd_weak_kind) {
        swift = object
        shim = ShimReference(object, kind)
        self.object = Box(object)
      }
    }
    let rounds = (0..<20_000).map { _ in Round(Bystander(), kind) }
    onThreads(3) { thread in
      for round in rounds {
        if thread == 0 {
          round.object.value = nil
          #expect(round.shim.value == nil || round.swift != nil || round.shim.value == nil)
        } else {
          // Dead by one is dead by the other from then on.
          if round.shim.value == nil { #expect(round.swift == nil) }
          if round.swift == nil { #expect(round.shim.value == nil) }
        }
      }
    }
    #expect(rounds.allSatisfy { $0.shim.value == nil && $0.swift == nil })
  }
}
