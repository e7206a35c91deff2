// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import Forwarding

  /// A protocol that `@Forwarded` stands at: its table, and the functions of the
  /// classes whose objects have subscribed. The macro's code makes one for each
  /// protocol.
  @_documentation(visibility: internal)
  public final class ForwardedProtocol<Listener, Conformer>: Sendable {
    /// The methods in order.
    internal let methods: [ForwardedMethod]
    /// The protocol for untyped callers and subscribers.
    internal let table: ProtocolTable
    /// Per optional method, whether a listener has it.
    private let optionals: @Sendable (Listener) -> [Bool]
    /// By class; nil for typed proxies, which forward further.
    private let tables = Lock<[ObjectIdentifier: FunctionTable?]>([:])

    /// Describes a protocol.
    ///
    /// - Parameters:
    ///   - methods: in order.
    ///   - optionals: says which optional methods a listener has, in order.
    public init(
      _ methods: [ForwardedMethod],
      optionals: @escaping @Sendable (Listener) -> [Bool] = { _ in [] }
    ) {
      precondition(
        MemoryLayout<Listener>.size == 2 * MemoryLayout<UInt>.size
          && MemoryLayout<Conformer>.size == 2 * MemoryLayout<UInt>.size,
        "\(Listener.self) is not a protocol of classes")
      let name = ForwardedEncoding.name(of: Listener.self)
      self.methods = methods
      self.optionals = optionals
      do throws(TableError) {
        table = try ProtocolTable(name) { builder in
          for method in methods { method.declare(in: &builder) }
        }
      } catch {
        // The macro makes the names, and `ForwardedSlot` the encodings.
        preconditionFailure("the table of \(name): \(error)")
      }
    }

    /// Whether a listener has a method.
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
        words.object is any ForwardedProxy
        ? nil : makeTable(optionals(listener), words.conformance)
      return tables.withLock { tables in
        let table = tables[key] ?? made
        tables[key] = .some(table)
        return table
      }
    }

    private func makeTable(_ present: [Bool], _ conformance: UInt) -> FunctionTable {
      FunctionTable(for: AnyObject.self) { builder in
        for method in methods where method.optionalIndex.map({ present[$0] }) ?? true {
          method.implement(in: &builder, conformance)
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
      unsafe unsafeBitCast((ForwardedSlot.type(of: receiver), conformance), to: Conformer.self)
    }

    /// Says that an argument is none of its type.
    ///
    /// - Returns: a status of the shim.
    @inline(never)
    @unsafe public func report(
      _ mismatch: ForwardedMismatch, _ error: UInt, _ method: Int
    ) -> UInt32 {
      unsafe ThunkFailure.fill(
        error,
        """
        argument \(mismatch.index) of "\(methods[method].selector)" is \(mismatch.actual), \
        expected \(mismatch.expected)
        """)
    }
  }
#endif
