// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// The part of a typed proxy that describes its protocol, and that needs no
  /// isolation. For generated code.
  ///
  /// A proxy of a global actor conforms to `ForwardedProxy` on that actor only, so that
  /// the compiler refuses to subscribe a listener elsewhere. Its protocol is described,
  /// and calls are delivered, on any thread.
  @_documentation(visibility: internal)
  public protocol _ForwardedDescription: _ForwardedBase {
    /// The existential type of the protocol alone.
    associatedtype _Conformer

    /// Declares the methods of the protocol, in order.
    static func _declare(in methods: inout _ForwardedDeclarations<_Conformer>)
    /// The protocol.
    static var _protocol: _ForwardedProtocol<_Conformer> { get }
  }
#endif
