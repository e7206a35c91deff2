// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Synchronization
import Testing

@testable import Forwarding

/// The shim's weak references beside Swift's: they give the same answers.
@Suite struct WeakReferenceTests {
  /// A reference of the shim, held as a subscription holds its subscriber.
  @safe private final class ShimReference: @unchecked Sendable {
    // Sendable: the pointer is immutable, and the shim's calls are atomic.
    private let object: UnsafeMutableRawPointer

    init(_ object: AnyObject) {
      unsafe self.object = Unmanaged.passUnretained(object).toOpaque()
      unsafe fwd_reference_begin(self.object, FWD_HOLD_WEAK)
    }

    deinit { unsafe fwd_reference_end(object, FWD_HOLD_WEAK) }

    var isDead: Bool { unsafe fwd_reference_is_dead(object, FWD_HOLD_WEAK) }

    /// What a fan-out gets, as Swift's reference would give it.
    var value: AnyObject? {
      guard let taken = unsafe fwd_reference_take(object, FWD_HOLD_WEAK) else { return nil }
      defer { unsafe fwd_reference_drop(taken, FWD_HOLD_WEAK) }
      return unsafe Unmanaged<AnyObject>.fromOpaque(taken).takeUnretainedValue()
    }
  }

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

  @Test("gives what Swift's gives", arguments: [false, true], [false, true])
  func differential(hadWeak: Bool, isKept: Bool) {
    for index in Self.objects().indices {
      var object: AnyObject? = Self.objects()[index]
      weak var early = hadWeak ? object : nil
      let reference = object.map { ShimReference($0) }
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

  @Test("is nil in deinit, as Swift's is", arguments: [false, true])
  func deinitialisation(hasSideTable: Bool) {
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
      holder.value = ShimReference(object)
      #expect(holder.value?.value === object)
      withExtendedLifetime(early) {}
    }
    #expect(answers.value == [true, true, true])
    #expect(holder.value?.value == nil)
  }

  @Test func `a reference taken keeps the object until it is dropped`() {
    weak var tracked: Bystander?
    var object: Bystander? = Bystander()
    tracked = object
    let word = unsafe Unmanaged.passUnretained(object!).toOpaque()
    unsafe fwd_reference_begin(word, FWD_HOLD_WEAK)
    let taken = unsafe fwd_reference_take(word, FWD_HOLD_WEAK)
    object = nil
    #expect(tracked != nil)
    unsafe fwd_reference_drop(taken, FWD_HOLD_WEAK)
    #expect(tracked == nil)
    #expect(unsafe fwd_reference_take(word, FWD_HOLD_WEAK) == nil)
    unsafe fwd_reference_end(word, FWD_HOLD_WEAK)
  }

  @Test func `many references to one object count alike`() {
    let object = Bystander()
    weak let swift: Bystander? = object
    var references = (0..<1000).map { _ in ShimReference(object) }
    #expect(references.allSatisfy { $0.value === swift })
    references.removeAll()
    #expect(swift != nil)
  }

  @Test func `a strong hold keeps, a C pointer is left alone`() {
    weak var tracked: Bystander?
    let word: UnsafeMutableRawPointer
    do {
      let object = Bystander()
      tracked = object
      unsafe word = Unmanaged.passUnretained(object).toOpaque()
      unsafe fwd_reference_begin(word, FWD_HOLD_STRONG)
    }
    #expect(tracked != nil)
    let taken = unsafe fwd_reference_take(word, FWD_HOLD_STRONG)
    #expect(unsafe taken == word)
    unsafe fwd_reference_drop(taken, FWD_HOLD_STRONG)
    #expect(tracked != nil)
    #expect(unsafe !fwd_reference_is_dead(word, FWD_HOLD_STRONG))
    unsafe fwd_reference_end(word, FWD_HOLD_STRONG)
    #expect(tracked == nil)
    // No object at all.
    let pointer = unsafe UnsafeMutableRawPointer(bitPattern: 16)
    unsafe fwd_reference_begin(pointer, FWD_HOLD_NONE)
    #expect(unsafe fwd_reference_take(pointer, FWD_HOLD_NONE) == pointer)
    #expect(unsafe fwd_reference_take(nil, FWD_HOLD_NONE) == nil)
    #expect(unsafe !fwd_reference_is_dead(pointer, FWD_HOLD_NONE))
    unsafe fwd_reference_drop(pointer, FWD_HOLD_NONE)
    unsafe fwd_reference_end(pointer, FWD_HOLD_NONE)
  }

  @Test func `threads see an object alive as long as Swift's reference does`() {
    final class Round: @unchecked Sendable {
      // Written before the threads start.
      weak let swift: Bystander?
      let shim: ShimReference
      let object: Box<Bystander?>
      init(_ object: Bystander) {
        swift = object
        shim = ShimReference(object)
        self.object = Box(object)
      }
    }
    let rounds = (0..<2000).map { _ in Round(Bystander()) }
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
