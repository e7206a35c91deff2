// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  public import Forwarding

  extension _ForwardedMarshal {
    /// The key of a method without a result.
    @unsafe public static func key<Proxy: _ForwardedDescription, each Argument>(
      _ proxy: Proxy.Type, _ method: Int, _: Void.Type, _ arguments: repeat (each Argument).Type
    ) -> Forwarding.Method<Void, repeat each Argument> {
      proxy._protocol.key(method, Void.self, repeat each arguments)
    }
    /// The key of a method whose result is a number, a `Bool` or a pointer.
    @unsafe
    public static func key<Proxy: _ForwardedDescription, Output: _ForwardedDirect, each Argument>(
      _ proxy: Proxy.Type, _ method: Int, _ result: Output.Type,
      _ arguments: repeat (each Argument).Type
    ) -> Forwarding.Method<Output, repeat each Argument> {
      proxy._protocol.key(method, result, repeat each arguments)
    }
    /// The key of a method whose result is an object.
    @unsafe public static func key<Proxy: _ForwardedDescription, Output: AnyObject, each Argument>(
      _ proxy: Proxy.Type, _ method: Int, _ result: Output.Type,
      _ arguments: repeat (each Argument).Type
    ) -> Forwarding.Method<Output, repeat each Argument> {
      proxy._protocol.key(method, result, repeat each arguments)
    }
    /// The key of a method whose result is an object or nil.
    @unsafe public static func key<Proxy: _ForwardedDescription, Output: AnyObject, each Argument>(
      _ proxy: Proxy.Type, _ method: Int, _ result: Output?.Type,
      _ arguments: repeat (each Argument).Type
    ) -> Forwarding.Method<Output?, repeat each Argument> {
      proxy._protocol.key(method, result, repeat each arguments)
    }
    /// Stands for the key of a method whose result is returned in memory.
    @_disfavoredOverload
    @unsafe public static func key<Proxy: _ForwardedDescription, Output, each Argument>(
      _: Proxy.Type, _: Int, _: Output.Type, _: repeat (each Argument).Type
    ) -> ForwardedInMemory<Output> {
      ForwardedInMemory()
    }
  }

  extension _ForwardedFamily {
    /// The key of a method, with the encoding that the table declares.
    internal func key<Output, each Argument>(
      _ method: Int, _ result: Output.Type, _ arguments: repeat (each Argument).Type
    ) -> Forwarding.Method<Output, repeat each Argument> {
      Forwarding.Method(
        methods[method].selector, stating: methods[method].encoding, result,
        repeat each arguments)
    }
  }
#endif
