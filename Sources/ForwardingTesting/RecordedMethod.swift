// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// How the calls of one method are recorded: which bytes of which argument stand where
/// in a record.
@safe internal final class RecordedMethod: Sendable {
  internal let requirement: ProtocolTable.Requirement
  /// Whether the method has a result that the spy can give.
  internal let hasResult: Bool
  /// Whether the method gives its result, or throws its error, in a way that only the
  /// typed proxy knows. A spy that responded would keep others from doing so.
  internal let isResultHidden: Bool
  /// The size of a record, a multiple of `CallLog.alignment`.
  internal let size: Int
  /// The arguments, with their places in a record.
  internal let steps: [Step]
  /// The types of the values that are copied by their types.
  private let copiers: [ValueCopier]
  private let pointerCount: Int

  /// The way to record one argument.
  internal struct Step: Sendable {
    enum Form: Sendable {
      /// The bytes are copied.
      case bytes
      /// A word is copied.
      case word
      /// The object is retained.
      case object
      /// The C string is copied: behind the slot if it is short, see `KeptString`.
      case string
      /// The value that the argument is the address of is copied.
      case value
    }

    let form: Form
    /// The index among all arguments, the receiver included.
    let index: Int
    let offset: Int
    let size: Int
    /// The index of the type of a value.
    let copier: Int
  }

  internal var selector: MethodSelector { requirement.selector }

  internal init(_ requirement: ProtocolTable.Requirement) {
    self.requirement = requirement
    let signature = requirement.signature
    isResultHidden = requirement.swiftTypes?.isResultHidden ?? false
    hasResult = !isResultHidden && signature.result.kind != .void
    pointerCount = signature.arguments.count
    var (steps, copiers): ([Step], [ValueCopier]) = ([], [])
    var end = CallLog.headerSize
    let hidden = signature.firstArgumentIndex
    let values = requirement.swiftTypes?.values ?? []
    // Behind the arguments of a typed proxy's method is room for its result and error.
    let count = requirement.swiftTypes?.values.count ?? signature.arguments.count
    for (index, argument) in signature.arguments.enumerated().dropFirst(hidden).prefix(count) {
      let place = index - hidden
      let type = requirement.parameterTypes.flatMap { $0.indices.contains(place) ? $0[place] : nil }
      var form = Step.Form.bytes
      var (size, alignment) = (argument.layout.size, argument.layout.alignment)
      if values.indices.contains(place), let value = values[place] {
        let copier = ValueCopier.of(value)
        copiers.append(copier)
        form = .value
        // The last byte says whether there is a value.
        (size, alignment) = (copier.size + 1, copier.alignment)
      } else if argument.encoding.kind == .object {
        form = .object
      } else if argument.encoding.kind == .cString, let type, ValueCopier.isString(type) {
        form = .string
        size = KeptString.size
      } else if size == 8 && alignment <= 8 {
        form = .word
      }
      let offset = (end + alignment - 1) / alignment * alignment
      steps.append(
        Step(
          form: form, index: index, offset: offset, size: size, copier: copiers.count - 1))
      end = offset + size
    }
    self.steps = steps
    self.copiers = copiers
    size = (end + CallLog.alignment - 1) / CallLog.alignment * CallLog.alignment
  }
}

/// Stores a copy of a C string in a record. The slot has the address of the copy, or null.
/// A string of up to 23 bytes is copied to the bytes after the address, so it needs no
/// allocation. The address stays valid because records never move.
@safe private enum KeptString {
  private static let room = 24
  static let size = unsafe MemoryLayout<UnsafeRawPointer>.size + room

  @unsafe static func keep(_ text: UnsafePointer<CChar>?, in place: UnsafeMutableRawPointer) {
    var copy: UnsafeMutablePointer<CChar>?
    if let text = unsafe text {
      // SAFETY: a NUL ends the string. There is room behind the slot.
      let count = unsafe strnlen(text, room) + 1
      if count <= room {
        let inner = unsafe inside(place)
        unsafe inner.copyMemory(from: text, byteCount: count)
        unsafe copy = inner.assumingMemoryBound(to: CChar.self)
      } else {
        unsafe copy = strdup(text)
      }
    }
    unsafe place.storeBytes(of: copy, as: UnsafeMutablePointer<CChar>?.self)
  }

  @unsafe static func destroy(_ place: UnsafeMutableRawPointer) {
    // SAFETY: `keep` has stored the address.
    let copy = unsafe place.load(as: UnsafeMutableRawPointer?.self)
    if unsafe copy != inside(place) { unsafe free(copy) }
  }

  @unsafe private static func inside(_ place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe place + MemoryLayout<UnsafeRawPointer>.size
  }
}

// MARK: - Writing

extension RecordedMethod {
  /// Copies the arguments of a delivery into a record.
  @unsafe internal func write(_ delivery: RawDelivery, to record: UnsafeMutableRawPointer) {
    for step in steps {
      // SAFETY: the delivery has a pointer to each argument of the signature, and the
      // record has room for what the step stores.
      let source = unsafe UnsafeRawPointer(delivery.arguments[step.index])
      let target = unsafe record + step.offset
      switch step.form {
      case .word: unsafe target.copyMemory(from: source, byteCount: 8)
      case .bytes: unsafe target.copyMemory(from: source, byteCount: step.size)
      case .object:
        let object = unsafe source.load(as: Unmanaged<AnyObject>?.self)
        _ = unsafe object?.retain()
        unsafe target.storeBytes(of: object, as: Unmanaged<AnyObject>?.self)
      case .string:
        unsafe KeptString.keep(source.load(as: UnsafePointer<CChar>?.self), in: target)
      case .value:
        let address = unsafe source.load(as: UnsafeRawPointer?.self)
        if let address = unsafe address {
          unsafe copiers[step.copier].copy(address, to: target)
        }
        let isPresent: UInt8 = unsafe address == nil ? 0 : 1
        unsafe target.storeBytes(of: isPresent, toByteOffset: step.size - 1, as: UInt8.self)
      }
    }
  }

  /// Releases what a record holds.
  @unsafe internal func destroy(_ record: UnsafeMutableRawPointer) {
    for step in steps {
      // SAFETY: `write` has stored this, and it is destroyed once.
      let place = unsafe record + step.offset
      switch step.form {
      case .bytes, .word: break
      case .object: unsafe place.load(as: Unmanaged<AnyObject>?.self)?.release()
      case .string: unsafe KeptString.destroy(place)
      case .value:
        if unsafe isPresent(step, place) { unsafe copiers[step.copier].destroy(place) }
      }
    }
  }

  @unsafe private func isPresent(_ step: Step, _ place: UnsafeRawPointer) -> Bool {
    unsafe place.load(fromByteOffset: step.size - 1, as: UInt8.self) != 0
  }
}

// MARK: - Reading

extension RecordedMethod {
  /// Calls `body` with pointers to all arguments, as a delivery has them. Those to the
  /// receiver and the selector point to zero.
  @unsafe internal func withArguments<Value, Failure: Error>(
    of record: UnsafeMutableRawPointer,
    _ body: (UnsafePointer<UnsafeMutableRawPointer>) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    // The word behind the last is that of the receiver.
    let words = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(
      capacity: pointerCount + 1)
    let pointers = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(
      capacity: max(pointerCount, 1))
    defer {
      unsafe words.deallocate()
      unsafe pointers.deallocate()
    }
    unsafe words.initialize(repeating: nil, count: pointerCount + 1)
    unsafe pointers.initialize(
      repeating: UnsafeMutableRawPointer(words + pointerCount), count: max(pointerCount, 1))
    for step in steps {
      let place = unsafe record + step.offset
      if step.form == .value {
        // The argument is the address of the value.
        unsafe words[step.index] = isPresent(step, place) ? place : nil
        unsafe pointers[step.index] = UnsafeMutableRawPointer(words + step.index)
      } else {
        unsafe pointers[step.index] = place
      }
    }
    return try unsafe body(pointers)
  }

  /// Says why the arguments cannot be read as values of some types; nil if they can.
  ///
  /// A pointer is recorded as an address. What it points to may be gone, so it is not
  /// read as anything else.
  internal func refusal(of types: [Any.Type]) -> String? {
    if let mismatch = mismatch(of: types) { return mismatch }
    for (step, type) in zip(steps, types) where step.form == .word {
      let encoding = requirement.signature.arguments[step.index].encoding
      guard encoding.kind == .cString || encoding.kind == .pointer,
        encoding.pointee?.kind != .unknown, !ValueCopier.isAddress(type)
      else { continue }
      return """
        parameter \(step.index - requirement.signature.firstArgumentIndex + 1) of "\(selector)" was recorded as an address, not as a value of \
        \(type): declare the method by a key of that type, or record a pointer
        """
    }
    return nil
  }

  /// Says why the values that a typed proxy passes by address are not of some types; nil
  /// if they are. The encoding has the name of a type, which some types share.
  private func mismatch(of types: [Any.Type]) -> String? {
    for (index, (type, value)) in zip(types, requirement.swiftTypes?.values ?? []).enumerated() {
      guard let value, value != type else { continue }
      return """
        parameter \(index + 1) of "\(selector)" has the type \(value), not \(type)
        """
    }
    return nil
  }

  /// The call as text, such as `move:by:(7, 0.5)`.
  @unsafe internal func text(of record: UnsafeMutableRawPointer) -> String {
    let arguments = steps.map { step -> String in
      let place = unsafe record + step.offset
      switch step.form {
      case .object:
        let object = unsafe place.load(as: Unmanaged<AnyObject>?.self)
        return unsafe object.map { String(describing: unsafe $0.takeUnretainedValue()) } ?? "nil"
      case .string:
        let text = unsafe place.load(as: UnsafeMutablePointer<CChar>?.self)
        return unsafe text.map { "\"\(unsafe String(cString: $0))\"" } ?? "nil"
      case .value:
        return unsafe isPresent(step, place) ? copiers[step.copier].text(place) : "nil"
      case .bytes, .word:
        return unsafe requirement.signature.arguments[step.index].encoding.text(of: place)
      }
    }
    return "\(selector)(\(arguments.joined(separator: ", ")))"
  }
}
