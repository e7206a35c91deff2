// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Synchronization

/// What is derived from the selector and the Swift types of a method key, once.
@usableFromInline
internal class DerivedMethod: @unchecked Sendable {
  // Sendable: immutable, but for an atomic.

  /// The signature, or why the types have none.
  internal let signature: Result<MethodSignature, ForwardingError>

  /// The places of the arguments in a tuple of them, if a send may use such a
  /// tuple as its argument frame; nil if some argument needs more than a copy of
  /// its bytes, or the result has no room in `SendResult`.
  internal let directPlaces: [Place]?

  /// Where an argument stands.
  internal struct Place: Equatable {
    let offset: Int
    let size: Int
  }

  /// The index that the method has in the proxy that a send last looked it up in.
  /// Most keys are used with proxies of one protocol, where it saves the look-up.
  internal let index = Atomic(0)

  fileprivate init(_ signature: Result<MethodSignature, ForwardingError>, _ directPlaces: [Place]?)
  {
    self.signature = signature
    self.directPlaces = directPlaces
  }
}

/// The same, with how the result is read.
internal final class TypedDerivedMethod<Output>: DerivedMethod, @unchecked Sendable {
  /// Nil if the types have no signature.
  internal let result: ValueCoder<Output>?

  fileprivate init(
    _ signature: Result<MethodSignature, ForwardingError>, _ directPlaces: [Place]?,
    _ result: ValueCoder<Output>?
  ) {
    self.result = result
    super.init(signature, directPlaces)
  }
}

// MARK: - Interning

extension DerivedMethod {
  private struct Key: Hashable {
    let selector: MethodSelector
    let type: ObjectIdentifier
  }

  // Keys are constants of a program, as selectors are, and both are kept: a key
  // is then two words that count no reference, and two keys are compared by one.
  private static let all = Lock<[Key: DerivedMethod]>([:])

  /// The object of a selector and types.
  internal static func interned<Output, each Argument>(
    _ selector: MethodSelector, _: Output.Type, _: repeat (each Argument).Type
  ) -> DerivedMethod {
    let key = Key(
      selector: selector, type: ObjectIdentifier(((repeat each Argument) -> Output).self))
    if let found = all.withLock({ $0[key] }) { return found }
    // Not under the lock: `TypeEncodable` is foreign code.
    let made = make(selector, Output.self, repeat (each Argument).self)
    return all.withLock { all in
      if let found = all[key] { return found }
      all[key] = made
      return made
    }
  }
}

// MARK: - Deriving

extension DerivedMethod {
  private static func make<Output, each Argument>(
    _ selector: MethodSelector, _: Output.Type, _: repeat (each Argument).Type
  ) -> DerivedMethod {
    do throws(ForwardingError) {
      let signature = try derive(selector, Output.self, repeat (each Argument).self)
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
      return TypedDerivedMethod(.success(signature), directPlaces(coders, signature), result)
    } catch {
      return TypedDerivedMethod<Output>(.failure(error), nil, nil)
    }
  }

  private static func derive<Output, each Argument>(
    _ selector: MethodSelector, _: Output.Type, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> MethodSignature {
    var types: [Any.Type] = []
    repeat types.append((each Argument).self)
    let result = try encoding(of: Output.self, selector, "the result")
    var text = result.text + "@"
    var stated = result.statedLayouts
    for (index, type) in types.enumerated() {
      let derived = try encoding(of: type, selector, "parameter \(index + 1)")
      // A selector behind the receiver is the method's own.
      if index == 0 && derived.text == ":" { text += ":" }
      text += derived.text
      for layout in derived.statedLayouts where !stated.contains(layout) { stated.append(layout) }
    }
    do throws(ForwardingError) {
      return try MethodSignature(text, stating: stated)
    } catch {
      throw ForwardingError(
        .noEncoding, selector: selector.name,
        "the types of the method key \"\(selector)\" give no signature: \(error)",
        encodingError: error)
    }
  }

  private static func encoding(
    of type: Any.Type, _ selector: MethodSelector, _ place: String
  ) throws(ForwardingError) -> DerivedEncoding {
    do throws(ValueMismatch) {
      return try DerivedEncoding(of: type)
    } catch {
      throw ForwardingError(
        .noEncoding, selector: selector.name,
        "\(place) of the method key \"\(selector)\" is \(error.actual), expected \(error.expected)")
    }
  }
}

// MARK: - Direct sends

extension DerivedMethod {
  private static func directPlaces<each Argument>(
    _ coders: ArgumentCoders<repeat each Argument>, _ signature: MethodSignature
  ) -> [Place]? {
    let result = signature.resultLayout
    guard result.size <= MemoryLayout<SendResult>.size,
      result.alignment <= MemoryLayout<SendResult>.alignment
    else { return nil }
    var places: [Place] = []
    var end = 0
    for (type, coder) in repeat ((each Argument).self, each coders.coders) {
      guard coder.copiesBytes else { return nil }
      places.append(place(type, behind: &end))
    }
    // Swift aligns the elements of a tuple as C does the members of a struct, but
    // may put one into the padding at the end of the one before it.
    let isFrame = places == signature.framePlaces
    return isFrame && end == MemoryLayout<(repeat each Argument)>.size ? places : nil
  }

  /// The place of the next element of a tuple.
  private static func place<Value>(_: Value.Type, behind end: inout Int) -> Place {
    let mask = MemoryLayout<Value>.alignment - 1
    let offset = (end + mask) & ~mask
    end = offset + MemoryLayout<Value>.size
    return Place(offset: offset, size: MemoryLayout<Value>.size)
  }

  /// Whether the arguments of this key stand in a frame of a signature as in a
  /// tuple of them. The types fit.
  internal func isDirect(for signature: MethodSignature) -> Bool {
    directPlaces == signature.framePlaces
  }
}

extension MethodSignature {
  /// Where the arguments stand in a frame.
  fileprivate var framePlaces: [DerivedMethod.Place] {
    arguments.compactMap { argument in
      argument.frameOffset.map {
        DerivedMethod.Place(offset: $0, size: argument.layout.size)
      }
    }
  }
}

extension ValueCoder {
  /// Whether encoding copies the value's bytes.
  fileprivate var copiesBytes: Bool {
    if case .translated(let translator) = form { !translator.translatesEncoding } else { true }
  }
}
