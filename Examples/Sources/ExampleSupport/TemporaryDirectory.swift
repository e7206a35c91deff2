// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// A new directory, which is removed with its contents when the object dies.
public final class TemporaryDirectory {
  public let path: String

  public init() throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    path = directory.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
