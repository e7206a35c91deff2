// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a send makes an argument frame from a tuple of its arguments. It is made once
/// for each key, where the types are known. A send is compiled into its caller, has the
/// tuple on the stack, and needs to know no types.
///
/// ```text
///   tuple   │ String "ab" (16 bytes) │ Color (1 byte) │ Double │
///                │ a copy                 │ its raw value  │ as it is
///                ▼                        ▼                ▼
///   frame   │ the copy's address     │ Int32          │ Double │ "ab" and a NUL
/// ```
///
/// For most keys the tuple is the frame. A frame is made for strings, enums, Swift
/// values that are passed by address, and types whose elements Swift puts elsewhere than
/// C puts members of a struct.
internal struct FramePlan: Sendable {
  /// One argument on its way from the tuple to the frame.
  private struct Step: Sendable {
    let source: Int
    let destination: Int
    let conversion: FrameConversion
  }

  /// Where the arguments stand in the frame.
  private let places: [ArgumentPlace]

  /// Whether the tuple is the frame.
  internal let isTuple: Bool

  private let steps: [Step]
  private let size: Int
  private let alignment: Int

  /// - Returns: nil if a value cannot be written without its type.
  internal init?<each Argument>(_ coders: ArgumentCoders<repeat each Argument>) {
    let signature = coders.signature
    places = signature.framePlaces
    size = signature.frameSize
    alignment = signature.frameAlignment
    var steps: [Step] = []
    var inTuple: [ArgumentPlace] = []
    var end = 0
    for (type, coder) in repeat ((each Argument).self, each coders.coders) {
      let place = Self.place(type, behind: &end)
      guard let conversion = coder.frameConversion else { return nil }
      let destination = places[inTuple.count].offset
      steps.append(Step(source: place.offset, destination: destination, conversion: conversion))
      inTuple.append(place)
    }
    // The compiler has the elements where they are expected.
    guard end == MemoryLayout<(repeat each Argument)>.size else { return nil }
    self.steps = steps
    // Swift aligns the elements of a tuple as C does the members of a struct, but may put one
    // into the padding at the end of the one before it.
    isTuple = steps.allSatisfy(\.conversion.isCopy) && inTuple == places
  }

  /// The place of the next element of a tuple.
  private static func place<Value>(_: Value.Type, behind end: inout Int) -> ArgumentPlace {
    let mask = MemoryLayout<Value>.alignment - 1
    let offset = (end + mask) & ~mask
    end = offset + MemoryLayout<Value>.size
    return ArgumentPlace(offset: offset, size: MemoryLayout<Value>.size)
  }

  /// Whether a frame for a method with other coders of the same types is the same. The
  /// method may have an argument elsewhere, or pass it in another way.
  internal func isEquivalent<each Argument>(
    for coders: ArgumentCoders<repeat each Argument>
  ) -> Bool {
    guard let other = FramePlan(coders) else { return false }
    return places == other.places
      && zip(steps, other.steps).allSatisfy { $0.conversion.isAlike($1.conversion) }
  }

  /// Makes the frame of a tuple, on the stack if it is small.
  ///
  /// - Parameter body: gets the frame, which is valid during the call.
  /// - Returns: what `body` returns; nil if a string has a NUL in it, or if a raw value is
  ///   longer when it is read for the second time. Then each argument has to be written
  ///   with its type.
  @unsafe internal func withFrame<Output>(
    of tuple: UnsafeRawPointer, _ body: (UnsafeRawPointer) -> Output
  ) -> Output? {
    var end = size
    for step in steps {
      // SAFETY: the plan was made for the tuple's types.
      if let text = unsafe step.conversion.text(tuple + step.source) { end += text.utf8.count + 1 }
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: max(end, 1), alignment: alignment) {
      memory -> Output? in
      let frame = memory.baseAddress!
      // For the padding.
      unsafe UnsafeMutableRawBufferPointer(rebasing: memory.prefix(size))
        .initializeMemory(as: UInt8.self, repeating: 0)
      var texts = size
      for step in steps {
        let slot = unsafe frame + step.destination
        let source = unsafe tuple + step.source
        switch step.conversion {
        case .copy(let count): unsafe slot.copyMemory(from: source, byteCount: count)
        case .address: unsafe slot.storeBytes(of: source, as: UnsafeRawPointer.self)
        case .encoded(let encode): unsafe encode(source, slot)
        case .string, .text:
          guard let text = unsafe step.conversion.text(source) else {
            unsafe slot.storeBytes(of: nil, as: UnsafeRawPointer?.self)
            continue
          }
          let start = unsafe frame + texts
          // A raw value is computed by the program's own code, which need not give the same
          // text twice.
          guard unsafe Self.copy(text, to: start, room: end - texts) else { return nil }
          unsafe slot.storeBytes(of: start, as: UnsafeMutableRawPointer.self)
          texts += text.utf8.count + 1
        }
      }
      return unsafe body(UnsafeRawPointer(frame))
    }
  }

  /// Copies a text and a NUL. False if there is a NUL in it, or no room.
  @unsafe private static func copy(
    _ text: String, to start: UnsafeMutableRawPointer, room: Int
  ) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      if unsafe bytes.count >= room || bytes.contains(0) { return false }
      if let source = bytes.baseAddress {
        unsafe start.copyMemory(from: source, byteCount: bytes.count)
      }
      unsafe (start + bytes.count).storeBytes(of: 0, as: UInt8.self)
      return true
    }
  }
}

/// Where an argument stands in a tuple or a frame.
private struct ArgumentPlace: Equatable, Sendable {
  let offset: Int
  let size: Int
}

extension MethodSignature {
  /// Where the arguments stand in a frame.
  fileprivate var framePlaces: [ArgumentPlace] {
    arguments.compactMap { argument in
      argument.frameOffset.map { ArgumentPlace(offset: $0, size: argument.layout.size) }
    }
  }
}

// MARK: - One argument

/// How the value behind a pointer becomes the contents of a slot, without its type.
@safe internal enum FrameConversion: Sendable {
  /// Copies as many bytes.
  case copy(Int)
  /// Writes the address of the value.
  case address
  /// Writes the value in another form.
  case encoded(@Sendable (UnsafeRawPointer, UnsafeMutableRawPointer) -> Void)
  /// Writes the address of a copy of a `String`.
  case string
  /// Writes the address of a copy of the text that is read, or null.
  case text(@Sendable (UnsafeRawPointer) -> String?)

  fileprivate var isCopy: Bool {
    if case .copy = self { true } else { false }
  }

  /// Whether both write the same, for values of one type and slots of one size.
  fileprivate func isAlike(_ other: FrameConversion) -> Bool {
    switch (self, other) {
    case (.copy, .copy), (.address, .address), (.encoded, .encoded), (.string, .string),
      (.text, .text):
      true
    default: false
    }
  }

  /// The text that is to be copied.
  @unsafe fileprivate func text(_ source: UnsafeRawPointer) -> String? {
    switch self {
    case .string: unsafe source.assumingMemoryBound(to: String.self).pointee
    case .text(let read): unsafe read(source)
    default: nil
    }
  }
}

extension ValueCoder {
  /// How a value behind a pointer becomes the contents of a slot.
  fileprivate var frameConversion: FrameConversion? {
    if case .translated(let translator) = form, translator.translatesEncoding {
      return translator.frameConversion
    }
    return .copy(MemoryLayout<Value>.size)
  }
}

extension ValueTranslator {
  fileprivate var frameConversion: FrameConversion? {
    if passesAddress { return .address }
    if Value.self == String.self { return .string }
    if isText {
      // SAFETY: the callers give the address of a value.
      return unsafe .text { unsafe self.text(of: $0.assumingMemoryBound(to: Value.self).pointee) }
    }
    if isCopied { return nil }
    // SAFETY: likewise, and of a slot of the encoding.
    return unsafe .encoded { value, slot in
      unsafe self.encode(value.assumingMemoryBound(to: Value.self).pointee, into: slot)
    }
  }
}
