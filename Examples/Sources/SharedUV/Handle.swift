// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV

/// A handle of libuv that the main thread keeps, and only the loop's thread uses.
public struct Handle<Type>: @unchecked Sendable {
  public let pointer: UnsafeMutablePointer<Type>

  public init(_ pointer: UnsafeMutablePointer<Type>) { self.pointer = pointer }

  public var handle: UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
  }

  public var stream: UnsafeMutablePointer<uv_stream_t> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_stream_t.self)
  }
}
