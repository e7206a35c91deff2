// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding
  internal import ForwardingMacros

  // What `TypedKinds` has, without the macro: beside it typed deliveries are
  // measured.

  private typealias This = UnsafeMutableRawPointer
  private typealias ObjectFunction = @convention(c) (This, UnsafeRawPointer, Double) -> Void
  private typealias MaybeFunction = @convention(c) (This, UnsafeRawPointer?, Double) -> Void
  private typealias PointerFunction = @convention(c) (This, UnsafePointer<Int64>, Double) -> Void
  private typealias AddressFunction = @convention(c) (This, UnsafeRawPointer, Double) -> Void
  private typealias PairFunction = @convention(c) (This, UnsafeRawPointer) -> Void
  private typealias MadeFunction =
    @convention(c) (This, UnsafeRawPointer, Double) -> UnsafeMutableRawPointer?
  private typealias CheckFunction =
    @convention(c) (This, Int64, Double, UnsafeRawPointer?) -> Bool

  extension FunctionTable.Builder {
    @unsafe fileprivate mutating func add<Function: BitwiseCopyable>(
      _ name: TypedKindsProxy.Requirement, _ function: Function
    ) {
      let requirement = TypedKindsProxy.protocolTable.requirements[name.rawValue]
      unsafe self.function(
        requirement.selector.name, requirement.signature.text, calling: function)
    }
  }

  extension Tally {
    /// The methods as C functions.
    public static let kindsTable = FunctionTable(for: Tally.self) {
      // SAFETY: the functions have the types that the protocol's table says, and
      // a receiver is an object of the class, alive during the call.
      unsafe $0.add(
        .object,
        { this, token, scale in
          unsafe Tally.of(this) { receiver in
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef {
              receiver.object($0, scale)
            }
          }
        } as ObjectFunction)
      unsafe $0.add(
        .maybe,
        { this, token, scale in
          unsafe Tally.of(this) { receiver in
            guard let token = unsafe token else { return receiver.maybe(nil, scale) }
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef {
              receiver.maybe($0, scale)
            }
          }
        } as MaybeFunction)
      unsafe $0.add(
        .pointer,
        { this, count, scale in unsafe Tally.of(this) { unsafe $0.pointer(count, scale) } }
          as PointerFunction)
      unsafe $0.add(
        .list,
        { this, list, scale in
          unsafe Tally.of(this) { unsafe $0.list(list.load(as: [Int64].self), scale) }
        } as AddressFunction)
      unsafe $0.add(
        .pair,
        { this, pair in
          unsafe Tally.of(this) { unsafe $0.pair(pair.load(as: (Int64, Double).self)) }
        }
          as PairFunction)
      unsafe $0.add(
        .answerScale,
        { this, count, scale in unsafe Tally.of(this) { $0.answer(count, scale: scale) } }
          as AnswerFunction)
      unsafe $0.add(
        .made,
        { this, token, scale in
          unsafe Tally.of(this) { receiver in
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef { token in
              unsafe receiver.made(token, scale).map {
                unsafe Unmanaged.passRetained($0).toOpaque()
              }
            }
          }
        } as MadeFunction)
      unsafe $0.add(
        .check,
        { this, count, scale, _ in
          unsafe Tally.of(this) { receiver in
            do { try receiver.check(count, scale) } catch { return true }
            return false
          }
        } as CheckFunction)
    }
  }

  extension Ledger {
    /// The methods as C functions.
    public static let kindsTable = FunctionTable(for: Ledger.self) {
      // SAFETY: the functions have the types that the protocol's table says, and
      // a receiver is an object of the class, alive during the call.
      unsafe $0.add(
        .object,
        { this, token, scale in
          unsafe Ledger.of(this) { receiver in
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef {
              receiver.object($0, scale)
            }
          }
        } as ObjectFunction)
      unsafe $0.add(
        .maybe,
        { this, token, scale in
          unsafe Ledger.of(this) { receiver in
            guard let token = unsafe token else { return receiver.maybe(nil, scale) }
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef {
              receiver.maybe($0, scale)
            }
          }
        } as MaybeFunction)
      unsafe $0.add(
        .pointer,
        { this, count, scale in unsafe Ledger.of(this) { unsafe $0.pointer(count, scale) } }
          as PointerFunction)
      unsafe $0.add(
        .list,
        { this, list, scale in
          unsafe Ledger.of(this) { unsafe $0.list(list.load(as: [Int64].self), scale) }
        } as AddressFunction)
      unsafe $0.add(
        .pair,
        { this, pair in
          unsafe Ledger.of(this) { unsafe $0.pair(pair.load(as: (Int64, Double).self)) }
        }
          as PairFunction)
      unsafe $0.add(
        .answerScale,
        { this, count, scale in unsafe Ledger.of(this) { $0.answer(count, scale: scale) } }
          as AnswerFunction)
      unsafe $0.add(
        .made,
        { this, token, scale in
          unsafe Ledger.of(this) { receiver in
            unsafe Unmanaged<Token>.fromOpaque(token)._withUnsafeGuaranteedRef { token in
              unsafe receiver.made(token, scale).map {
                unsafe Unmanaged.passRetained($0).toOpaque()
              }
            }
          }
        } as MadeFunction)
      unsafe $0.add(
        .check,
        { this, count, scale, _ in
          unsafe Ledger.of(this) { receiver in
            do { try receiver.check(count, scale) } catch { return true }
            return false
          }
        } as CheckFunction)
    }
  }
#endif
