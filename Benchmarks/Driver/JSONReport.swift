// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Foundation

/// The same as the tables, for programs.
struct JSONReport: Encodable {
  struct Times: Encodable {
    let minimum: Double
    let lowerQuartile: Double
    let median: Double
    let upperQuartile: Double
    let maximum: Double
  }

  struct Row: Encodable {
    let group: String
    let name: String
    let way: String
    let size: Int?
    let deliveries: Int
    let threads: Int
    /// For one delivery.
    let nanoseconds: Times
    let rounds: Int
    let iterations: Int
    /// The medians of the ratios to what the rows of the group are compared
    /// with.
    let ratios: [String: Double]
    let speedUp: Double?
    let allocations: Double?
    let locks: Double?
    let bytes: Double?
    let sumsAreRight: Bool
  }

  struct Goal: Encodable {
    let group: String
    let title: String
    let detail: String
    let rows: [String]
    let unit: String
    let limit: Double
    let isAtLeast: Bool
    let measured: Double?
    let verdict: String
  }

  let date: String
  let machine: String
  let isQuick: Bool
  let rows: [Row]
  let goals: [Goal]

  init(_ report: Report, isQuick: Bool) {
    date = Date().formatted(.iso8601)
    machine = Machine.description
    self.isQuick = isQuick
    rows = report.measurements.map { measurement in
      let times = measurement.summary
      return Row(
        group: measurement.row.group, name: measurement.row.name, way: measurement.row.way,
        size: measurement.row.size, deliveries: measurement.row.deliveries,
        threads: measurement.row.threads,
        nanoseconds: Times(
          minimum: times.minimum, lowerQuartile: times.lowerQuartile, median: times.median,
          upperQuartile: times.upperQuartile, maximum: times.maximum),
        rounds: measurement.times.count, iterations: measurement.iterations,
        ratios: Dictionary(
          report.ratios(measurement).compactMap { title, ratio in ratio.map { (title, $0.median) } }
        ) { first, _ in first },
        speedUp: report.speedUp(measurement), allocations: measurement.allocations,
        locks: measurement.locks, bytes: measurement.bytes, sumsAreRight: measurement.isRight)
    }
    goals = report.goals.flatMap { goal, judgements in
      zip(goal.bounds, judgements).map { bound, judgement in
        Goal(
          group: goal.group, title: goal.title, detail: bound.detail, rows: bound.rows,
          unit: bound.unit, limit: bound.limit, isAtLeast: bound.isAtLeast,
          measured: judgement.value, verdict: judgement.verdict.rawValue)
      }
    }
  }

  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

/// What the numbers come from.
enum Machine {
  static var description: String {
    let processInfo = ProcessInfo.processInfo
    return "\(processor ?? "unknown processor"), \(processInfo.activeProcessorCount) cores, "
      + processInfo.operatingSystemVersionString
  }

  /// As Linux names it.
  private static var processor: String? {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
