// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import ForwardingMacros

  /// An argument that is an object.
  public final class Token: Sendable {
    /// The number in it.
    public let count: Int64

    /// Puts a number in.
    public init(_ count: Int64) { self.count = count }
  }

  /// Arguments of the kinds that a typed proxy passes differently.
  @Forwarded
  public protocol TypedKinds: AnyObject, Sendable {
    /// Takes an object.
    func object(_ token: Token, _ scale: Double)
    /// Takes an object or nil.
    func maybe(_ token: Token?, _ scale: Double)
    /// Takes a pointer.
    func pointer(_ count: UnsafePointer<Int64>, _ scale: Double)
    /// Takes what C has no type for.
    func list(_ list: [Int64], _ scale: Double)
    /// Takes a struct of words.
    func pair(_ pair: (Int64, Double))
    /// Gives a number.
    func answer(_ count: Int64, scale: Double) -> Int64
    /// Gives an object.
    func made(_ token: Token, _ scale: Double) -> Token?
    /// Does not throw, but might.
    func check(_ count: Int64, _ scale: Double) throws
  }

  extension TypedKinds where Self: Receiver {
    public func object(_ token: Token, _ scale: Double) { notify(token.count, scale) }
    public func maybe(_ token: Token?, _ scale: Double) { notify(token?.count ?? 0, scale) }
    public func pointer(_ count: UnsafePointer<Int64>, _ scale: Double) {
      notify(unsafe count.pointee, scale)
    }
    public func list(_ list: [Int64], _ scale: Double) { notify(list[0], scale) }
    public func pair(_ pair: (Int64, Double)) { notify(pair.0, pair.1) }
    public func answer(_ count: Int64, scale: Double) -> Int64 { answer(count, scale) }
    public func made(_ token: Token, _ scale: Double) -> Token? {
      notify(token.count, scale)
      return token
    }
    public func check(_ count: Int64, _ scale: Double) throws { notify(count, scale) }
  }

  extension Tally: TypedKinds {}
  extension Ledger: TypedKinds {}
#endif
