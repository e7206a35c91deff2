// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension DeclModifierListSyntax {
    /// The access modifier for the declarations that a macro generates beside a
    /// type, with a space: `public `, for example.
    ///
    /// A private type at file scope can be used in the whole file, so its
    /// generated members are `fileprivate`. `open` becomes `public`, since
    /// nothing inherits from generated classes.
    internal var access: String {
      for modifier in self {
        switch modifier.name.tokenKind {
        case .keyword(.public), .keyword(.open): return "public "
        case .keyword(.package): return "package "
        case .keyword(.fileprivate), .keyword(.private): return "fileprivate "
        default: continue
        }
      }
      return ""
    }
  }
#endif
