// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol with `@Forwarded`: its table, and the function tables of the
  /// classes whose objects have subscribed. Generated code creates one for each
  /// protocol.
  @_documentation(visibility: internal)
  public final class ForwardedProtocol<Listener, Conformer>: ForwardedFamily, @unchecked Sendable {
    // Sendable: all state is immutable or behind a lock.

    /// Tells for each optional method whether a listener has it.
    private let optionals: @Sendable (Listener) -> [Bool]
    private let parents: [ForwardedParent<Listener>]
    /// The function tables by class. Typed proxies have nil, since their
    /// untyped proxies are subscribed instead.
    private let tables = Lock<[ObjectIdentifier: FunctionTable?]>([:])

    /// Creates the description of a protocol.
    ///
    /// - Parameters:
    ///   - proxy: the class that the macro has generated for the protocol.
    ///   - parents: the protocols that it inherits from.
    ///   - optionals: tells for each optional method, in order, whether a
    ///     listener has it.
    public init<Proxy: ForwardedProxy>(
      _ proxy: Proxy.Type, parents: [ForwardedParent<Listener>] = [],
      optionals: @escaping @Sendable (Listener) -> [Bool] = { _ in [] }
    ) where Proxy.Listener == Listener, Proxy.Conformer == Conformer {
      precondition(
        MemoryLayout<Listener>.size == 2 * MemoryLayout<UInt>.size
          && MemoryLayout<Conformer>.size == 2 * MemoryLayout<UInt>.size,
        "\(Listener.self) is not a protocol of classes")
      self.optionals = optionals
      self.parents = parents
      super.init(
        ForwardedEncoding.name(of: Listener.self), Proxy._methods(), parents.compactMap(\.family))
    }

    /// Whether a call of a method would reach a listener or, if the listener is a
    /// typed proxy, one of that proxy's listeners.
    internal func responds(_ listener: Listener, to method: Int) -> Bool {
      let proxy = Words(listener).object as? any ForwardedProxy
      guard let core = proxy?._forwarding, core.family.includes(self) else {
        return implements(listener, method)
      }
      return core.responds(to: method, of: self)
    }

    /// Whether the class of a listener has a method.
    internal func implements(_ listener: Listener, _ method: Int) -> Bool {
      guard let index = methods[method].optionalIndex else { return true }
      return optionals(listener)[index]
    }

    /// The function table of a listener's class; nil for a typed proxy.
    internal func functionTable(for listener: Listener) -> FunctionTable? {
      let words = Words(listener)
      let key = ObjectIdentifier(type(of: words.object))
      if let found = tables.withLock({ $0[key] }) { return found }
      // Not under the lock, since casts and metadata accessors may run other
      // code.
      let made: FunctionTable? =
        words.object is any ForwardedProxy ? nil : makeTable(implementations(listener))
      return tables.withLock { tables in
        let table = tables[key] ?? made
        tables[key] = .some(table)
        return table
      }
    }

    /// The methods that a listener has, each with the conformance to the protocol
    /// that declares it.
    internal func implementations(_ listener: Listener) -> [ForwardedImplementation] {
      let conformance = Words(listener).conformance
      let present = optionals(listener)
      let own = methods.filter { method in
        !method.isAsync && (method.optionalIndex.map { present[$0] } ?? true)
      }
      return own.map { ForwardedImplementation(method: $0, conformance: conformance) }
        + parents.flatMap { $0.implementations(listener) }
    }

    private func makeTable(_ implementations: [ForwardedImplementation]) -> FunctionTable {
      // A method that several protocols declare is added once.
      var seen: Set<MethodSelector> = []
      let unique = implementations.filter { seen.insert($0.method.selector).inserted }
      return FunctionTable(for: AnyObject.self) { builder in
        for implementation in unique {
          implementation.method.implement(in: &builder, implementation.conformance)
        }
      }
    }
  }

  // MARK: - Existentials

  extension ForwardedProtocol {
    /// The two words of an existential of a class protocol: the object and the
    /// witness table of its conformance.
    internal struct Words {
      let object: AnyObject
      let conformance: UInt

      init(_ listener: Listener) {
        // SAFETY: the existential has these two words, as
        // `ForwardedProtocol.init` has checked by its size. The witness table
        // lives as long as the process.
        unsafe (object, conformance) = withUnsafeBytes(of: listener) { bytes in
          unsafe (
            bytes.load(as: AnyObject.self),
            bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
          )
        }
      }
    }

    /// The object that is subscribed for a listener: the listener itself, or
    /// the untyped proxy of a typed proxy.
    internal func subscriber(_ listener: Listener) -> AnyObject {
      let object = Words(listener).object
      return (object as? any ForwardedProxy)?.untyped ?? object
    }
  }

  extension ForwardedProxy {
    fileprivate var untyped: DynamicProxy { _forwarding.proxy }
  }

  // MARK: - For thunks

  extension ForwardedProtocol {
    /// The class of a delivery's listener, with its conformance.
    // A metatype instead of an existential of the listener, which would retain
    // the listener. A generic function opens the metatype and gets the
    // listener's address.
    @inlinable
    @inline(__always)
    @unsafe public static func conformer(_ receiver: UInt, _ conformance: UInt) -> Conformer {
      // SAFETY: an existential metatype has these two words, as `init` has
      // checked by its size. The context of a thunk is the conformance of the
      // table's class.
      unsafe unsafeBitCast((ForwardedMarshal.type(of: receiver), conformance), to: Conformer.self)
    }

    /// Reports an argument that is not a value of its type, for a packed
    /// function.
    ///
    /// - Returns: the status that the packed function returns.
    @inline(never)
    @unsafe public func report(
      _ mismatch: ForwardedMismatch, _ error: UInt, _ method: Int
    ) -> UInt32 {
      unsafe ThunkFailure.fill(error, describe(mismatch, method))
    }

    /// Reports an argument that is not a value of its type, for a C function,
    /// which returns nothing.
    @inline(never)
    @unsafe public func report(_ mismatch: ForwardedMismatch, _ method: Int) {
      unsafe ThunkFailure.fail(describe(mismatch, method))
    }

    private func describe(_ mismatch: ForwardedMismatch, _ method: Int) -> String {
      """
      argument \(mismatch.index) of "\(methods[method].selector)" is \(mismatch.actual), \
      expected \(mismatch.expected)
      """
    }
  }
#endif
