// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import Forwarding

/// The C types of libuv's callbacks. `fwd encode --header uv.h --swift` writes such keys for all of them.
///
/// libuv has no context. It passes the handle as the first parameter. If the
/// observers do not need the handle, the key leaves it out, and the function
/// pointer ignores it as it would ignore a context: `context: .first`.
public enum UVKey {
  // void (*)(uv_timer_t *)
  public static let ticked = Method("ticked", (() -> Void).self)
  // void (*)(uv_fs_event_t *, const char *filename, int events, int status)
  public static let fileChanged = Method(
    "fileChanged:events:status:", ((String?, Int32, Int32) -> Void).self)
  // void (*)(uv_stream_t *server, int status)
  public static let connected = Method(
    "connected:status:", ((UnsafeMutablePointer<uv_stream_t>, Int32) -> Void).self)
  // void (*)(uv_stream_t *, ssize_t count, const uv_buf_t *): a negative count is an error or the end.
  public static let received = Method(
    "received:count:buffer:",
    ((UnsafeMutablePointer<uv_stream_t>, Int, UnsafePointer<uv_buf_t>) -> Void).self)
}
