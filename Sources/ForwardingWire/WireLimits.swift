// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The limits of the wire form.
///
/// An encoder makes no record that exceeds one, and a decoder refuses such a
/// record before it reads further. So the memory that a record can make a reader
/// use is bounded by the length of the bytes.
public enum WireLimits {
  /// The longest record in bytes, header included: 32 MiB.
  public static let recordLength = 1 << 25

  /// The largest heap of one record in bytes, which holds strings, buffers and
  /// Swift values: 16 MiB.
  public static let heapSize = 1 << 24

  /// The longest C string in bytes, its NUL included: 1 MiB.
  public static let stringLength = 1 << 20

  /// The largest argument frame in bytes: 64 KiB.
  public static let frameSize = 1 << 16

  /// The greatest number of methods in one schema: 4096.
  public static let methodCount = 4096

  /// The greatest number of pointer arguments in one method: 16.
  public static let pointerCount = 16
}
