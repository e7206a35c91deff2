// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Finds names that a misspelt one may stand for: those that differ in few
/// letters, the nearest first.
///
/// - Returns: at most three names.
/// - Complexity: O(*n*) in the number of names. Only names of up to 128 bytes
///   are compared.
internal func nearNames(to name: String, among names: some Sequence<String>) -> [String] {
  let letters = Array(name.utf8)
  guard letters.count <= 128 else { return [] }
  // A third of the letters may be wrong, or two.
  let limit = max(2, letters.count / 3)
  var found: [(distance: Int, name: String)] = []
  for candidate in names {
    let other = Array(candidate.utf8)
    guard other.count <= 128, abs(other.count - letters.count) <= limit else { continue }
    let distance = editDistance(letters, other)
    // Names of one or two letters would be near to every other.
    if distance <= limit && distance < max(letters.count, other.count) {
      found.append((distance, candidate))
    }
  }
  found.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
  return found.prefix(3).map(\.name)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours that
/// make one text of another.
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...second.count)
  for i in first.indices {
    var row = [i + 1]
    for j in second.indices {
      var best = min(row[j], last[j + 1]) + 1
      best = min(best, last[j] + (first[i] == second[j] ? 0 : 1))
      if i > 0 && j > 0 && first[i] == second[j - 1] && first[i - 1] == second[j] {
        best = min(best, beforeLast[j - 1] + 1)
      }
      row.append(best)
    }
    (beforeLast, last) = (last, row)
  }
  return last[second.count]
}
