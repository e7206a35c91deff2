// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  /// The base of typed proxies. It does not have the associated types of
  /// `ForwardedProxy`, whose names could hide types that methods use. For generated code.
  @_documentation(visibility: internal)
  public protocol _ForwardedBase: AnyObject {
    /// The state that the generated code uses.
    var _forwarding: _ForwardedCore { get }
  }
#endif
