// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol with `@Forwarded`: its table, and the function tables of the
  /// classes whose objects have subscribed. For generated code, which creates one for
  /// each protocol.
  @_documentation(visibility: internal)
  public final class _ForwardedProtocol<Listener>: _ForwardedFamily, @unchecked Sendable {
    // Sendable: all state is immutable or behind a lock.

    /// Tells for each optional method whether a listener has it.
    private let optionals: @Sendable (Listener) -> [Bool]
    private let parents: [ForwardedParent<Listener>]
    /// Whether any thread may call the proxies, and so listeners that are called
    /// directly.
    private let isSendable: Bool
    /// The function tables by class. Typed proxies have nil, since their
    /// untyped proxies are subscribed instead.
    private let tables = Lock<[ObjectIdentifier: FunctionTable?]>([:])

    /// Creates the description of the protocol of a proxy's class, which declares the
    /// methods.
    public convenience init<Proxy: _ForwardedDescription>(_ proxy: Proxy.Type)
    where Proxy._Conformer == Listener {
      // Listeners of such a proxy are `any Listener & Sendable`.
      self.init(of: proxy, isConfined: !(proxy is any DeliveringProxy.Type))
    }

    /// Creates the description of a protocol that inherits from `Sendable`.
    public convenience init<Proxy: _ForwardedDescription>(_ proxy: Proxy.Type)
    where Proxy._Conformer == Listener, Listener: Sendable {
      self.init(of: proxy, isConfined: false)
    }

    private init<Proxy: _ForwardedDescription>(of proxy: Proxy.Type, isConfined: Bool)
    where Proxy._Conformer == Listener {
      precondition(
        MemoryLayout<Listener>.size == 2 * MemoryLayout<UInt>.size,
        "\(Listener.self) is not a protocol of classes")
      var declarations = _ForwardedDeclarations<Listener>()
      Proxy._declare(in: &declarations)
      optionals = declarations.presence
      parents = declarations.parents
      isSendable = proxy is any DeliveringProxy.Type
      super.init(
        SwiftTypeName.of(Listener.self), declarations.methods, parents.map(\.family),
        isConfined: isConfined)
    }

    /// Whether a call of a method would reach a listener or, if the listener is a
    /// typed proxy, one of that proxy's listeners.
    internal func responds(_ listener: Listener, to method: Int) -> Bool {
      let proxy = Words(listener).object as? any _ForwardedBase
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

    /// The function table for calling a listener directly; nil for a typed proxy.
    ///
    /// - Throws: `ForwardingError` with the code `typeMismatch` if the class conforms on a
    ///   global actor, but any thread may call it.
    internal func directTable(
      for listener: Listener
    ) throws(ForwardingError) -> FunctionTable? {
      // The compiler accepts such a class as `any Protocol & Sendable`.
      if isSendable, ForwardedImplementation.isIsolated(Words(listener).conformance) {
        throw ForwardingError(
          .typeMismatch,
          """
          \(type(of: Words(listener).object)) conforms to \(Listener.self) on a global actor only, but \
          any thread may call the proxy: expected subscribe(_:on:) with that actor
          """)
      }
      return functionTable(for: listener)
    }

    /// The function table of a listener's class; nil for a typed proxy.
    internal func functionTable(for listener: Listener) -> FunctionTable? {
      let words = Words(listener)
      let key = ObjectIdentifier(type(of: words.object))
      if let found = tables.withLock({ $0[key] }) { return found }
      // Not under the lock, since casts and metadata accessors may run other
      // code.
      let made: FunctionTable? =
        words.object is any _ForwardedBase ? nil : makeTable(implementations(listener))
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
      let own = methods.filter { method in method.optionalIndex.map { present[$0] } ?? true }
      return own.map { ForwardedImplementation(method: $0, conformance: conformance) }
        + parents.flatMap { $0.implementations(listener) }
    }

    internal func makeTable(_ implementations: [ForwardedImplementation]) -> FunctionTable {
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

  extension _ForwardedProtocol {
    /// The two words of an existential of a class protocol: the object and the
    /// witness table of its conformance.
    internal struct Words {
      let object: AnyObject
      let conformance: UInt

      init(_ listener: Listener) {
        // SAFETY: the existential has these two words, as
        // `_ForwardedProtocol.init` has checked by its size. The witness table
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
      return (object as? any _ForwardedBase)?.untyped ?? object
    }
  }

  extension _ForwardedBase {
    fileprivate var untyped: DynamicProxy { _forwarding.proxy }
  }

  // MARK: - For thunks

  extension _ForwardedProtocol {
    /// Reports an argument that is not a value of its type, for a packed
    /// function.
    ///
    /// - Returns: the status that the packed function returns.
    @inline(never)
    @unsafe public func report(
      _ mismatch: _ForwardedMismatch, _ error: UInt, _ method: Int
    ) -> UInt32 {
      unsafe ThunkFailure.fill(error, failure(mismatch, method))
    }

    /// Reports an argument that is not a value of its type, for a C function,
    /// which returns nothing.
    @inline(never)
    @unsafe public func report(_ mismatch: _ForwardedMismatch, _ method: Int) {
      unsafe ThunkFailure.fail(failure(mismatch, method))
    }

    private func failure(_ mismatch: _ForwardedMismatch, _ method: Int) -> ForwardingError {
      mismatch.raw.forwardingError(of: methods[method].selector)
    }
  }
#endif
