// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser

/// A time of day in UTC.
struct RecordedTime: ExpressibleByArgument, CustomStringConvertible {
  /// Since 1970.
  let nanoseconds: Int64

  init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Reads `2026-11-23`, `2026-11-23T15:04:05.678Z` with or without its last parts, or
  /// nanoseconds since 1970.
  init?(argument: String) {
    if let number = Int64(argument) {
      nanoseconds = number
      return
    }
    let pattern =
      /(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?Z?/
    guard let match = argument.wholeMatch(of: pattern) else { return nil }
    let (hour, minute, second) = (
      Int64(match.4 ?? "0") ?? 0, Int64(match.5 ?? "0") ?? 0, Int64(match.6 ?? "0") ?? 0
    )
    guard let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3),
      hour < 24, minute < 60, second < 61
    else { return nil }
    let days = Self.days(year, month, day)
    // A day that there is not would be another one.
    guard Self.date(days) == (year, month, day) else { return nil }
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    let fraction = Int64((match.7.map(String.init) ?? "").padded(to: 9)) ?? 0
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflows) = whole.addingReportingOverflow(fraction)
    guard !overflow, !overflows else { return nil }
    nanoseconds = sum
  }

  /// For example `2026-11-23T15:04:05.678Z`.
  var description: String {
    // Towards the past, also before 1970.
    let milliseconds = nanoseconds / 1_000_000 - (nanoseconds % 1_000_000 < 0 ? 1 : 0)
    let seconds = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    let days = seconds / 86400 - (seconds % 86400 < 0 ? 1 : 0)
    let rest = seconds - days * 86400
    let (year, month, day) = Self.date(days)
    func digits(_ number: Int64, _ count: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    let clock = [rest / 3600, rest / 60 % 60, rest % 60].map { digits($0, 2) }
    return "\(date)T\(clock.joined(separator: ":")).\(digits(milliseconds - seconds * 1000, 3))Z"
  }

  // The Gregorian calendar, with years that begin in March, so that the leap day is the
  // last one: http://howardhinnant.github.io/date_algorithms.html

  /// The days since 1970 until a date.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date of a day, counted from 1970.
  private static func date(_ days: Int64) -> (Int64, Int64, Int64) {
    let days = days + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, day)
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: "0", count: max(0, count - self.count))
  }
}
