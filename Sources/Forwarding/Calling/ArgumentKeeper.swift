// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Keeps alive what the arguments of a frame refer to.
///
/// An object that was set as such is always kept, so that reading it back is
/// safe. What came as bytes, and C strings, are the caller's to keep until
/// `retain` is called: from then on objects are retained and strings copied,
/// those that are set later included.
@safe internal struct ArgumentKeeper {
  /// By index of the argument: an object, or the owner of the copy that the slot
  /// points to (a `CStringBox`, or the box of a Swift value). Empty until it is needed.
  private var kept: [AnyObject?] = []

  /// Whether all arguments are kept.
  internal private(set) var retains = false

  /// The kept objects. Hold them during a call that may set arguments anew.
  internal var contents: [AnyObject?] { kept }

  /// Takes note of a new value in a slot. `isObject` says that it is an object,
  /// and alive. Gives what was kept for the old value: its end may run code
  /// that comes back to the frame's owner, so it has to wait until the access
  /// is over.
  internal mutating func slotChanged(
    _ slot: UnsafeMutableRawPointer, of argument: MethodSignature.Argument, isObject: Bool,
    count: Int
  ) -> AnyObject? {
    var object: AnyObject?
    if isObject || (retains && argument.encoding.kind == .object) {
      // SAFETY: the slot holds an object or null: the caller says so, or
      // promised it with `setBytes`.
      object = unsafe slot.load(as: AnyObject?.self)
    } else if retains && argument.encoding.kind == .cString {
      // SAFETY: the slot holds a string that ends with a NUL, or null, by the
      // meaning of `*`.
      if let string = unsafe slot.load(as: UnsafePointer<CChar>?.self) {
        let box = unsafe CStringBox(copying: string)
        unsafe slot.storeBytes(of: box.start, as: UnsafeMutablePointer<CChar>.self)
        object = box
      }
    }
    if kept.isEmpty {
      if object == nil { return nil }
      kept = Array(repeating: nil, count: count)
    }
    swap(&object, &kept[argument.index])
    return object
  }

  /// Keeps what a slot points to. Gives what was kept for the old value.
  internal mutating func keep(
    _ object: AnyObject, for argument: MethodSignature.Argument, count: Int
  ) -> AnyObject? {
    if kept.isEmpty { kept = Array(repeating: nil, count: count) }
    var object: AnyObject? = object
    swap(&object, &kept[argument.index])
    return object
  }

  /// Keeps the arguments in the frame at `base` from now on. Does nothing the
  /// second time.
  internal mutating func retain(_ signature: MethodSignature, frame base: UnsafeMutableRawPointer) {
    if retains { return }
    retains = true
    // SAFETY: `base` is the frame's, of this signature.
    unsafe refresh(signature, frame: base)
  }

  /// Keeps the objects in the slots, and copies of the strings. The copies of Swift values
  /// are kept already, and stay.
  private mutating func refresh(_ signature: MethodSignature, frame base: UnsafeMutableRawPointer) {
    for argument in signature.arguments
    where argument.encoding.kind == .object || argument.encoding.kind == .cString {
      guard let offset = argument.frameOffset else { continue }
      // SAFETY: the offset lies in the frame.
      _ = unsafe slotChanged(
        base + offset, of: argument, isObject: false, count: signature.arguments.count)
    }
  }

  /// Keeps for a frame whose bytes were copied from this one's.
  internal func copy(
    _ signature: MethodSignature, frame base: UnsafeMutableRawPointer
  ) -> ArgumentKeeper {
    var copy = self
    // A string belongs to one frame, since the callee may write to it.
    if retains { unsafe copy.refresh(signature, frame: base) }
    return copy
  }
}

/// Owns a copy of a C string.
@safe internal final class CStringBox {
  internal let start: UnsafeMutablePointer<CChar>

  internal init(copying string: UnsafePointer<CChar>) {
    // SAFETY: the string ends with a NUL, which is copied too.
    var count = 1
    while unsafe string[count - 1] != 0 { count += 1 }
    unsafe start = .allocate(capacity: count)
    unsafe start.initialize(from: string, count: count)
  }

  deinit {
    // SAFETY: allocated in `init`, freed once.
    unsafe start.deallocate()
  }
}
