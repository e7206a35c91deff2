// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// Converts between values of a type and the arguments and results of calls.
  /// It does at run time what the overloads of `_ForwardedMarshal` do at compile
  /// time, for generic code that does not know the type.
  internal struct ForwardedCoder<Value>: Sendable {
    private enum Form: Sendable {
      case nothing
      /// A value of a type that C has, too.
      case direct(ForwardedReader<Value>)
      /// A class, `AnyObject`, or an optional of either.
      case object(isOptional: Bool)
      case indirect
    }

    private let form: Form
    private let encoding: String

    internal init() {
      if Value.self == Void.self {
        (form, encoding) = (.nothing, "v")
      } else if let direct = Value.self as? any _ForwardedDirect.Type {
        (form, encoding) = (.direct(Self.reader(direct)), direct._encoding)
      } else if Self.isObject(Value.self) {
        (form, encoding) = (.object(isOptional: false), "@")
      } else if let wrapped = (Value.self as? any WrappingType.Type)?.wrappedType,
        Self.isObject(wrapped)
      {
        (form, encoding) = (.object(isOptional: true), "@")
      } else {
        (form, encoding) = (.indirect, ForwardedEncoding.indirect(Value.self))
      }
    }

    private static func isObject(_ type: Any.Type) -> Bool {
      type is AnyClass || type == AnyObject.self
    }

    private static func reader<Direct: _ForwardedDirect>(
      _: Direct.Type
    ) -> ForwardedReader<Value> {
      DirectReader<Value, Direct>()
    }

    /// The encoding of an argument of the type, and the type's name for
    /// messages.
    internal var description: (encoding: String, name: String) {
      // `Void` as an argument is passed like any other tuple.
      let isNothing = if case .nothing = form { true } else { false }
      return (
        isNothing ? ForwardedEncoding.indirect(Value.self) : encoding,
        isNothing ? "Void" : String(reflecting: Value.self)
      )
    }

    /// Whether a value of the type is returned in the same way as a method's
    /// result.
    internal func matches(_ result: _ForwardedResult) -> Bool {
      if case .indirect = form {
        return result.out == ForwardedEncoding.indirect(Value?.self)
      }
      return result.out == nil && result.encoding == encoding
    }
  }

  /// Reads values of a type that C has, too.
  private class ForwardedReader<Value>: @unchecked Sendable {
    // Sendable: without state.

    @unsafe func read(_ bytes: UnsafeRawPointer) -> Value? { nil }

    /// Says why a slot has no value. `byte` is its first.
    func mismatch(_ index: Int, _ byte: UInt8) -> RawMismatch { .byte(index, byte) }
  }

  /// Reads values of a `_ForwardedDirect` type. `Direct` and `Value` are the
  /// same type, which the compiler cannot know.
  private final class DirectReader<Value, Direct: _ForwardedDirect>: ForwardedReader<Value>,
    @unchecked Sendable
  {
    @unsafe override func read(_ bytes: UnsafeRawPointer) -> Value? {
      // SAFETY: they are the same type.
      unsafe unsafeBitCast(Direct._read(bytes), to: Value?.self)
    }

    override func mismatch(_ index: Int, _ byte: UInt8) -> RawMismatch {
      Direct._mismatch(index, byte)
    }
  }

  /// Gives the wrapped type of an optional type.
  private protocol WrappingType {
    static var wrappedType: Any.Type { get }
  }

  extension Swift.Optional: WrappingType {
    fileprivate static var wrappedType: Any.Type { Wrapped.self }
  }

  // MARK: - Values

  extension ForwardedCoder {
    /// Reads an argument.
    @unsafe internal func take(
      _ arguments: _ForwardedArguments, _ index: Int
    ) throws(RawMismatch) -> Value {
      switch form {
      case .direct(let reader):
        // SAFETY: the argument has the type's encoding.
        let slot = unsafe arguments.pointers[index]
        guard let value = unsafe reader.read(slot) else {
          throw unsafe reader.mismatch(index, slot.load(as: UInt8.self))
        }
        return value
      case .object(let isOptional):
        // SAFETY: the argument is an object that is alive, or null.
        guard let object = unsafe arguments.pointers[index].load(as: AnyObject?.self) else {
          if !isOptional { throw null(index) }
          // SAFETY: null is nil.
          return unsafe arguments.pointers[index].load(as: Value.self)
        }
        guard let value = object as? Value else {
          let wrapping = Value.self as? any WrappingType.Type
          throw RawMismatch.object(index, object, expected: wrapping?.wrappedType ?? Value.self)
        }
        return value
      case .nothing, .indirect:
        guard let address = unsafe arguments.word(index) else { throw null(index) }
        // SAFETY: the argument is the address of such a value: its encoding
        // names the type.
        return unsafe address.assumingMemoryBound(to: Value.self).pointee
      }
    }

    private func null(_ index: Int) -> RawMismatch {
      .null(index, expected: String(describing: Value.self))
    }

    /// Writes a result, retained for the caller, to the result register, or to the
    /// caller's memory.
    @unsafe internal func give(_ value: Value, _ arguments: _ForwardedArguments) {
      switch form {
      case .nothing: break
      case .direct, .object: unsafe _ForwardedMarshal.store(value, arguments.result)
      case .indirect: unsafe arguments.give(value, as: Value.self)
      }
    }
  }
#endif
