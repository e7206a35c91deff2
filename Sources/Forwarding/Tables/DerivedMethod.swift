// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal
internal import Synchronization

/// The signature and the frame plan of a method key, derived once from its selector
/// and its Swift types.
@usableFromInline
internal class DerivedMethod: @unchecked Sendable {
  // Sendable: immutable, but for an atomic.

  /// The name of the method.
  internal let selector: MethodSelector

  /// The type of a Swift function with the key's types.
  internal let type: ObjectIdentifier

  /// The Swift types of the parameters.
  internal let parameters: [Any.Type]

  /// The length of the name in UTF-8.
  internal let nameLength: Int

  /// The signature, or why the types have none.
  internal let signature: Result<MethodSignature, ForwardingError>

  /// How a send makes an argument frame from a tuple of its arguments; nil if it
  /// cannot, or if the result has no room in `SendResult`.
  internal let frames: FramePlan?

  /// The index that the method has in the proxy that a send last looked it up in.
  /// Most keys are used with proxies of one protocol, where it saves the look-up.
  internal let index = Atomic(0)

  fileprivate init(
    _ key: Key, _ parameters: [Any.Type], _ signature: Result<MethodSignature, ForwardingError>,
    _ frames: FramePlan?
  ) {
    self.parameters = parameters
    selector = key.selector
    type = key.type
    nameLength = key.selector.name.utf8.count
    self.signature = signature
    self.frames = frames
  }
}

/// The same, with how the result is read.
internal final class TypedDerivedMethod<Output>: DerivedMethod, @unchecked Sendable {
  /// Nil if the types have no signature.
  internal let result: ValueCoder<Output>?

  fileprivate init(
    _ key: Key, _ parameters: [Any.Type], _ signature: Result<MethodSignature, ForwardingError>,
    _ frames: FramePlan?, _ result: ValueCoder<Output>?
  ) {
    self.result = result
    super.init(key, parameters, signature, frames)
  }
}

// MARK: - Interning

extension DerivedMethod {
  fileprivate struct Key: Hashable {
    let selector: MethodSelector
    let type: ObjectIdentifier
    /// The encoding that a table has declared; nil if it is derived from the types.
    let encoding: String?
  }

  // Keys are constants of a program, as selectors are, and both are kept: a key
  // is then two words that count no reference, and two keys are compared by one.
  private static let all = Lock<[Key: DerivedMethod]>([:])

  /// The object of a selector and types.
  @usableFromInline
  internal static func interned<Output, each Argument>(
    _ selector: MethodSelector, _: Output.Type, _: repeat (each Argument).Type
  ) -> Unmanaged<DerivedMethod> {
    unsafe interned(selector, stating: nil, Output.self, repeat (each Argument).self)
  }

  /// The object of a selector, an encoding and types that fit it.
  internal static func interned<Output, each Argument>(
    _ selector: MethodSelector, stating encoding: String?, _: Output.Type,
    _: repeat (each Argument).Type
  ) -> Unmanaged<DerivedMethod> {
    let key = Key(
      selector: selector, type: ObjectIdentifier(((repeat each Argument) -> Output).self),
      encoding: encoding)
    if let found = all.withLock({ $0[key] }) { return unsafe .passUnretained(found) }
    // Not under the lock: `TypeEncodable` is foreign code.
    let made = make(key, Output.self, repeat (each Argument).self)
    let kept = all.withLock { all in
      if let found = all[key] { return found }
      all[key] = made
      return made
    }
    return unsafe .passUnretained(kept)
  }
}

// MARK: - Literals

/// The objects that literals have found, by the addresses of the literal and of
/// the type. A literal is looked up at each use, without a lock. Two literals of
/// one slot take turns, and look in the table of all keys each time.
@safe private struct LiteralCache: ~Copyable, @unchecked Sendable {
  // Sendable: the slots are atomic.

  private static let bits = 10

  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  fileprivate init() {
    // Kept as long as the process, as what the slots refer to.
    unsafe slots = .allocate(capacity: 1 << Self.bits)
    for index in 0..<(1 << Self.bits) { unsafe (slots + index).initialize(to: Atomic(0)) }
  }

  fileprivate func slot(
    _ name: StaticString, _ type: ObjectIdentifier
  ) -> UnsafeMutablePointer<Atomic<UInt>> {
    // SAFETY: the address is mixed, not read.
    let addresses = unsafe UInt(bitPattern: name.utf8Start) ^ UInt(bitPattern: type).byteSwapped
    let mixed = addresses &* UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64)
    return unsafe slots + Int(mixed >> UInt(UInt.bitWidth - Self.bits))
  }
}

extension DerivedMethod {
  private static let literals = LiteralCache()

  /// The object that a literal and a type have found before.
  ///
  /// The addresses only choose the slot. The name is compared, since a library
  /// that is loaded in the place of another one has other literals.
  @usableFromInline
  internal static func known(
    _ name: StaticString, _ type: ObjectIdentifier
  ) -> Unmanaged<DerivedMethod>? {
    guard name.hasPointerRepresentation else { return nil }
    // Acquire: the object was made by another thread.
    let address = unsafe literals.slot(name, type).pointee.load(ordering: .acquiring)
    // SAFETY: interned objects are never freed.
    guard let known = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    let derived = unsafe Unmanaged<DerivedMethod>.fromOpaque(known)
    let fits = unsafe derived._withUnsafeGuaranteedRef { derived in
      if derived.type != type || derived.nameLength != name.utf8CodeUnitCount { return false }
      let interned = unsafe UnsafeRawPointer(fwd_selector_name(derived.selector.handle))
      return unsafe areEqual(interned, UnsafeRawPointer(name.utf8Start), derived.nameLength)
    }
    return unsafe fits ? derived : nil
  }

  private static func areEqual(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int
  ) -> Bool {
    var offset = 0
    while offset + 8 <= count {
      let words = unsafe (
        left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      )
      if words.0 != words.1 { return false }
      offset += 8
    }
    while offset < count {
      let bytes = unsafe (
        left.load(fromByteOffset: offset, as: UInt8.self),
        right.load(fromByteOffset: offset, as: UInt8.self)
      )
      if bytes.0 != bytes.1 { return false }
      offset += 1
    }
    return true
  }

  /// Keeps the object that a literal and a type have found.
  @usableFromInline
  internal static func remember(
    _ name: StaticString, _ type: ObjectIdentifier, _ derived: Unmanaged<DerivedMethod>
  ) {
    guard name.hasPointerRepresentation else { return }
    unsafe literals.slot(name, type).pointee.store(
      UInt(bitPattern: derived.toOpaque()), ordering: .releasing)
  }
}

// MARK: - Deriving

extension DerivedMethod {
  private static func make<Output, each Argument>(
    _ key: Key, _: Output.Type, _: repeat (each Argument).Type
  ) -> DerivedMethod {
    let selector = key.selector
    var parameters: [Any.Type] = []
    repeat parameters.append((each Argument).self)
    do throws(ForwardingError) {
      let signature =
        if let encoding = key.encoding {
          try MethodSignature(encoding)
        } else {
          try derive(selector, Output.self, repeat (each Argument).self)
        }
      let coders: ArgumentCoders<repeat each Argument>
      let result: ValueCoder<Output>
      do throws(ForwardingError) {
        // Finds types whose stated encoding is not theirs.
        coders = try ArgumentCoders(selector, signature)
        // Unlike `init(resultOf:)`, refuses a String, which a sender could read,
        // but a closure could not give.
        result = try ValueCoder(ofClosure: selector, signature)
      } catch {
        throw ForwardingError(
          .noEncoding, selector: selector.name, "the method key \"\(selector)\": \(error)")
      }
      return TypedDerivedMethod(
        key, parameters, .success(signature),
        signature.hasSendResult ? FramePlan(coders) : nil, result)
    } catch {
      return TypedDerivedMethod<Output>(key, parameters, .failure(error), nil, nil)
    }
  }

  private static func derive<Output, each Argument>(
    _ selector: MethodSelector, _: Output.Type, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> MethodSignature {
    var types: [Any.Type] = []
    repeat types.append((each Argument).self)
    let derived = try DerivedEncodings(
      Output.self, types, of: "the method key \"\(selector)\"", selector: selector.name)
    // A selector behind the receiver is the method's own.
    let own = derived.parameters.first == ":" ? ":" : ""
    let text = derived.result + "@" + own + derived.parameters.joined()
    do throws(ForwardingError) {
      return try MethodSignature(text, stating: derived.statedLayouts)
    } catch {
      throw ForwardingError(
        .noEncoding, selector: selector.name,
        "the types of the method key \"\(selector)\" give no signature: \(error)",
        encodingError: error)
    }
  }
}

extension MethodSignature {
  /// Whether `SendResult` has room for the result.
  fileprivate var hasSendResult: Bool {
    resultLayout.size <= MemoryLayout<SendResult>.size
      && resultLayout.alignment <= MemoryLayout<SendResult>.alignment
  }
}
