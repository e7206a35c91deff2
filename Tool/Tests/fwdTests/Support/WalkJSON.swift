// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// What `fwd walk --json` prints.
struct WalkJSON: Decodable, Equatable {
  struct Bin: Decodable, Equatable {
    let from: UInt64
    let below: UInt64?
    let files: UInt64
    let bytes: UInt64
  }

  struct File: Decodable, Equatable {
    let size: UInt64
    let path: String
    let pathHex: String?
  }

  struct Extension: Decodable, Equatable {
    let `extension`: String
    let extensionHex: String?
    let files: UInt64
    let bytes: UInt64
  }

  let directory: String
  let directoryHex: String?
  let entries: UInt64
  let files: UInt64
  let directories: UInt64
  let links: UInt64
  let others: UInt64
  let unknown: UInt64
  let unreadable: UInt64
  let bytes: UInt64
  let stopped: String?
  let left: [String: UInt64]
  let histogram: [Bin]?
  let largest: [File]?
  let extensions: [Extension]?

  init(_ run: ToolRun) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    self = try decoder.decode(WalkJSON.self, from: run.outputData)
  }
}

/// What `find` says of the same tree: the reference.
struct FindListing {
  struct Entry {
    let kind: Character
    let size: UInt64
    let path: [UInt8]

    /// The bytes behind the last dot of the name.
    var pathExtension: [UInt8] {
      let name = path.suffix(from: path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)
      guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
        return []
      }
      return Array(name[(dot + 1)...])
    }
  }

  let entries: [Entry]

  init(_ directory: String, as user: String = "") throws {
    let run = try ToolRun.shell(
      "\(user) find '\(directory)' -printf '%y %s %p\\0' 2>/dev/null; true")
    entries = run.outputData.split(separator: 0).map { line in
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      return Entry(
        kind: Character(Unicode.Scalar(parts[0].first!)),
        size: UInt64(String(decoding: parts[1], as: UTF8.self))!, path: Array(parts[2]))
    }
  }

  var files: [Entry] { entries.filter { $0.kind == "f" } }
  var bytes: UInt64 { files.reduce(0) { $0 + $1.size } }

  func count(_ kind: Character) -> UInt64 { UInt64(entries.count { $0.kind == kind }) }
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }

  /// The digits of the bytes, if they are no UTF-8.
  var hexIfInvalid: String? {
    String(validating: self, as: UTF8.self) == nil
      ? map { String(format: "%02x", $0) }.joined() : nil
  }
}
