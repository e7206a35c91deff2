// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A reference to a listener that does not keep it alive.
///
/// Swift's `weak` needs a type that is known to be a class. `Listener` is a
/// generic parameter, usually `any` of a protocol of classes. A value that is
/// neither a class nor an existential of classes, such as a struct, cannot be
/// referenced weakly. It is kept, with everything that it refers to.
@safe internal struct WeakListener<Listener>: @unchecked Sendable {
  // Sendable: `DelegateHub` and `DelegateSlot` decide who may use the listener.

  /// How the listener is made again from its object.
  private enum Form {
    /// The type is a class or an existential of classes, whose words after the
    /// object are these witness tables.
    case words(UInt, UInt)
    /// The type is a class or an existential of classes with another layout: a
    /// dynamic cast makes it.
    case cast
    /// The type is something else.
    case kept(Listener)
  }

  /// The object that the listener is; nil once it has died.
  internal private(set) weak var object: AnyObject?
  private let form: Form

  internal init(_ listener: Listener, _ object: AnyObject) {
    self.object = object
    form = Self.form(of: listener, object)
  }

  private static func form(of listener: Listener, _ object: AnyObject) -> Form {
    guard let count = witnessTableCount, count <= 2 else {
      return (object as? Listener) == nil ? .kept(listener) : .cast
    }
    let word = MemoryLayout<UInt>.size
    // SAFETY: the metadata says that the value is one reference followed by
    // `count` words.
    return unsafe withUnsafeBytes(of: listener) { bytes in
      let first = unsafe bytes.load(as: UInt.self)
      guard unsafe first == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) else {
        // `SlotProxy.object(of:)` has named another object.
        return .kept(listener)
      }
      return unsafe .words(
        count > 0 ? bytes.load(fromByteOffset: word, as: UInt.self) : 0,
        count > 1 ? bytes.load(fromByteOffset: 2 * word, as: UInt.self) : 0)
    }
  }

  /// Whether the value is kept, since it cannot be referenced weakly.
  internal var isKept: Bool {
    if case .kept = form { true } else { false }
  }

  /// The listener, if its object lives.
  internal var listener: Listener? {
    guard let object else { return nil }
    switch form {
    case .kept(let listener): return listener
    case .cast: return object as? Listener
    case .words(let first, let second):
      defer { extendLifetime(object) }
      var words = unsafe (
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), first, second
      )
      // SAFETY: these are the words of a live listener, which is copied. The
      // only reference among them is the object; witness tables live as long as
      // the process.
      return unsafe withUnsafeBytes(of: &words) { bytes in
        unsafe bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: Listener.self).pointee
      }
    }
  }
}

// MARK: - Metadata

extension WeakListener {
  /// The number of witness tables behind the reference if the type's metadata
  /// proves that a value is one native reference followed by witness tables;
  /// nil for all other types.
  ///
  /// From Swift's ABI, `docs/ABI/TypeMetadata.rst`: the first word of a metadata
  /// record is its kind. 0 is a class. 0x303 is an existential, whose next 32
  /// bits hold the number of witness tables (bits 0 to 23), and bit 31, which
  /// is clear for protocols of classes. Marker protocols such as `Sendable` have
  /// no witness table. Constrained existentials, such as `any P<Int>`, have
  /// another kind and take the cast.
  private static var witnessTableCount: Int? {
    // SAFETY: a metatype is the address of the type's metadata, and a record
    // of kind 0x303 has the flags.
    let metadata = unsafe unsafeBitCast(Listener.self as Any.Type, to: UnsafeRawPointer.self)
    let word = MemoryLayout<UInt>.size
    let count: Int
    switch unsafe metadata.load(as: UInt.self) {
    case 0: count = 0
    case 0x303:
      let flags = unsafe metadata.load(fromByteOffset: word, as: UInt32.self)
      guard flags & 0x8000_0000 == 0 else { return nil }
      count = Int(flags & 0x00FF_FFFF)
    default: return nil
    }
    return MemoryLayout<Listener>.size == (1 + count) * word ? count : nil
  }
}
