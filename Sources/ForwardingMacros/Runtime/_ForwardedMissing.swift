// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  /// The result type of an optional method that a conformer leaves out. For
  /// generated code.
  @_documentation(visibility: internal)
  public struct _ForwardedMissing: Sendable {
    /// Makes the result.
    public init() {}

    /// The error of an optional method that is left out.
    public static func error(_ selector: String) -> ForwardingError {
      ForwardingError(
        .noResponder, selector: selector,
        "\"\(selector)\" is optional, and this class leaves it out")
    }
  }
#endif
