// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// An error of a test program, with a sentence.
public struct Failure: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) { self.description = description }
}
