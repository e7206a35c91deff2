// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol that `@Forwarded` stands at: its table, and the functions of the
  /// classes whose objects have subscribed. The macro's code makes one for each
  /// protocol.
  @_documentation(visibility: internal)
  public final class ForwardedProtocol<Listener, Conformer>: ForwardedFamily, @unchecked Sendable {
    // Sendable: all is immutable, or behind a lock.

    /// Per optional method, whether a listener has it.
    private let optionals: @Sendable (Listener) -> [Bool]
    private let parents: [ForwardedParent<Listener>]
    /// By class; nil for typed proxies, which forward further.
    private let tables = Lock<[ObjectIdentifier: FunctionTable?]>([:])

    /// Describes a protocol.
    ///
    /// - Parameters:
    ///   - proxy: the class that the macro has made of it.
    ///   - parents: the protocols that it inherits from.
    ///   - optionals: tells which optional methods a listener has, in order.
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

    /// The functions for a listener; nil for a typed proxy.
    internal func functionTable(for listener: Listener) -> FunctionTable? {
      let words = Words(listener)
      let key = ObjectIdentifier(type(of: words.object))
      if let found = tables.withLock({ $0[key] }) { return found }
      // Casts and metadata run code of their own, under no lock.
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
      // One that several protocols declare is one.
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
    /// What an existential of a protocol of classes is made of.
    internal struct Words {
      let object: AnyObject
      let conformance: UInt

      init(_ listener: Listener) {
        // SAFETY: it is an object and the table of its conformance, which lives
        // as long as the process; `ForwardedProtocol.init` has checked the size.
        unsafe (object, conformance) = withUnsafeBytes(of: listener) { bytes in
          unsafe (
            bytes.load(as: AnyObject.self),
            bytes.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
          )
        }
      }
    }

    /// What stands in a proxy's list for a listener.
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
    /// The class of the listener of a delivery, with its conformance.
    // A metatype, since the reference in an existential of the listener would be
    // counted: a generic function opens it, and takes the listener by its address.
    @inlinable
    @inline(__always)
    @unsafe public static func conformer(_ receiver: UInt, _ conformance: UInt) -> Conformer {
      // SAFETY: such a metatype is these two words, as `init` has checked, and
      // the context of a table's thunks is the conformance of its class.
      unsafe unsafeBitCast((ForwardedMarshal.type(of: receiver), conformance), to: Conformer.self)
    }

    /// Says that an argument is none of its type.
    ///
    /// - Returns: a status of the shim.
    @inline(never)
    @unsafe public func report(
      _ mismatch: ForwardedMismatch, _ error: UInt, _ method: Int
    ) -> UInt32 {
      unsafe ThunkFailure.fill(error, describe(mismatch, method))
    }

    /// Says so where a C function delivers, that has nothing to return.
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
