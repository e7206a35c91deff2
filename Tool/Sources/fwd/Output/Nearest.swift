// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The name that differs in the fewest characters, if most are the same.
func nearest(to name: String, among names: [String]) -> String? {
  let near = Set(names).map { (changes: $0.difference(from: name).count, name: $0) }
    .min { ($0.changes, $0.name) < ($1.changes, $1.name) }
  return near.flatMap { $0.changes <= max(2, name.count / 2) ? $0.name : nil }
}
