// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A reference to a listener that does not keep it alive: `weak` is for types
/// that are known to be classes, which `any` of a generic parameter is not.
@safe internal struct WeakListener<Listener>: @unchecked Sendable {
  // Sendable: who may use the listener is the concern of who asks for it.

  internal private(set) weak var object: AnyObject?
  /// The words behind the reference, the conformances of an existential; nil if
  /// the value is not made so, and has to be cast.
  private var conformances: (UInt, UInt)?

  internal init(_ listener: Listener, _ object: AnyObject) {
    self.object = object
    let word = MemoryLayout<UInt>.size
    let size = MemoryLayout<Listener>.size
    guard size % word == 0, size >= word, size <= 3 * word else { return }
    // SAFETY: as many words are read as the value has. The first is the object
    // in a class, and in an existential of classes.
    unsafe withUnsafeBytes(of: listener) { bytes in
      let first = unsafe bytes.load(as: UInt.self)
      guard unsafe first == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else {
        return
      }
      conformances = unsafe (
        size > word ? bytes.load(fromByteOffset: word, as: UInt.self) : 0,
        size > 2 * word ? bytes.load(fromByteOffset: 2 * word, as: UInt.self) : 0
      )
    }
  }

  /// The listener, if it lives.
  internal var listener: Listener? {
    guard let object else { return nil }
    guard let conformances else { return object as? Listener }
    defer { extendLifetime(object) }
    var words = unsafe (
      UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), conformances.0, conformances.1
    )
    // SAFETY: these are the words of a listener that lives, which is copied.
    return unsafe withUnsafeBytes(of: &words) { bytes in
      unsafe bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Listener.self).pointee
    }
  }
}
