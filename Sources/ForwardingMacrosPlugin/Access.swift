// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  internal import SwiftSyntax

  extension DeclModifierListSyntax {
    /// The access of what is made beside a type: `public ` and the like, with the
    /// space.
    ///
    /// A type at file scope that is private may be used in the whole file, but
    /// members must say so. Nobody inherits from what is made.
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
