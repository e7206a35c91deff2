// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingRemote
import Foundation

/// Calls a closure again, for a minute at most, while no server can be reached. The first error
/// is printed to standard error.
public func retrying<Value>(_ body: () async throws -> Value) async throws -> Value {
  let end = Date(timeIntervalSinceNow: 60)
  var isFirst = true
  while true {
    do {
      return try await body()
    } catch let error as RemoteError where error.isTransient && Date() < end {
      if isFirst {
        FileHandle.standardError.write(Data("waiting for the server: \(error)\n".utf8))
      }
      isFirst = false
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
