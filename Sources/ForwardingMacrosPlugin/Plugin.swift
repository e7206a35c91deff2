// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftCompilerPlugin
  internal import SwiftSyntaxMacros

  @main
  internal struct Plugin: CompilerPlugin {
    internal let providingMacros: [any Macro.Type] = [
      ForwardedMacro.self, OptionalMacro.self, DefaultResultMacro.self,
      ReplyOnceMacro.self,
      ForwardingClassMacro.self, NotForwardedMacro.self,
    ]
  }
#else
  /// Without the trait there is no macro, and nothing of swift-syntax.
  @main
  internal enum Plugin {
    internal static func main() {}
  }
#endif
