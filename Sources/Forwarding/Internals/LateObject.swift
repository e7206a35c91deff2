// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// An object that is made when it is first needed, once. Any thread may ask for
/// it, without a lock.
///
/// An object that a layer above stores is of type `AnyObject & Sendable` here.
///
/// `Synchronization.AtomicLazyReference` does the same. It is not inlinable, and
/// looks its metadata up in each call, which takes longer than to make the object.
@safe internal struct LateObject<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  /// The address, which counts one reference; 0 before there is an object.
  private let address = Atomic<UInt>(0)

  internal init() {}

  deinit { unsafe reference(address.load(ordering: .acquiring))?.release() }

  /// The object, if there is one.
  internal var existing: Object? {
    // Acquire: a thread that sees the address sees the object.
    unsafe reference(address.load(ordering: .acquiring))?.takeUnretainedValue()
  }

  /// The object. If there is none, it is `make`'s, unless another thread is
  /// faster.
  internal func object<Failure: Error>(
    _ make: () throws(Failure) -> Object
  ) throws(Failure) -> Object {
    if let existing { return existing }
    let made = try make()
    let reference = unsafe Unmanaged.passRetained(made)
    let (isFirst, found) = address.compareExchange(
      expected: 0, desired: unsafe UInt(bitPattern: reference.toOpaque()),
      ordering: .acquiringAndReleasing)
    if isFirst { return made }
    unsafe reference.release()
    return unsafe self.reference(found)!.takeUnretainedValue()
  }

  private func reference(_ address: UInt) -> Unmanaged<Object>? {
    // SAFETY: only addresses of objects that this one retains are stored.
    unsafe UnsafeRawPointer(bitPattern: address).map { unsafe .fromOpaque($0) }
  }
}
