// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import CFwdMeasure

/// Rows that are compared with one another, and have a table of goals.
public struct RowGroup {
  /// What `--goals` calls it.
  public let name: String
  /// Gives the rows. They are prepared when they first run.
  public let rows: () -> [Row]
  /// Gives the goals.
  public let goals: () -> [Goal]
  /// What each row's ratio to is a column of the table.
  public let comparisons: [Comparison]
  /// Whether all rows start threads, of which `Row.threads` may not tell.
  public let startsThreads: Bool

  /// Makes a group.
  public init(
    name: String, comparisons: [Comparison] = [], startsThreads: Bool = false,
    rows: @escaping () -> [Row], goals: @escaping () -> [Goal]
  ) {
    self.name = name
    self.comparisons = comparisons
    self.startsThreads = startsThreads
    self.rows = rows
    self.goals = goals
  }
}

/// A way to do the same, to which all others of the same size are compared.
public struct Comparison {
  /// The head of the column.
  public let title: String
  /// The way.
  public let way: String

  /// Makes a comparison.
  public init(title: String, way: String) {
    self.title = title
    self.way = way
  }
}

/// Something that is measured.
public struct Row {
  /// The name of its group.
  public let group: String
  /// What is done.
  public let way: String
  /// To how many; nil where there is no number.
  public let size: Int?
  /// How many of what is measured one iteration does: deliveries, or calls.
  public let deliveries: Int
  /// On how many threads at once each iteration is done.
  public let threads: Int
  /// For several threads: the name of the row that does the same on one.
  public let onOneThread: String?
  /// The share that it gets of the time that a row runs in a round, for those
  /// that have to prepare each iteration.
  public let share: Double
  /// Whether it runs in every round, even if an iteration takes more than 3 ms.
  public let isInEachRound: Bool
  /// Does it a number of times, as fast as it can, and looks at nothing.
  public let run: (Int) -> Sample
  /// Does it a number of times, and looks at everything. The time means nothing.
  public let verify: (Int) -> Sample

  /// Makes a row; verified by running it, if nothing else is given.
  public init(
    group: String, way: String, size: Int? = nil, deliveries: Int = 1, threads: Int = 1,
    onOneThread: String? = nil, share: Double = 1, isInEachRound: Bool = false,
    run: @escaping (Int) -> Sample,
    verify: ((Int) -> Sample)? = nil
  ) {
    self.group = group
    self.way = way
    self.size = size
    self.deliveries = deliveries
    self.threads = threads
    self.onOneThread = onOneThread
    self.share = share
    self.isInEachRound = isInEachRound
    self.run = run
    self.verify = verify ?? run
  }

  /// Names it among all rows.
  public var name: String { Row.name(way, size) }

  /// The name of a way with so many to deliver to.
  public static func name(_ way: String, _ size: Int?) -> String {
    size.map { "\(way), N = \($0)" } ?? way
  }
}

/// What doing something a number of times took.
public struct Sample {
  /// CPU time of the thread; of several threads the mean.
  public let nanoseconds: UInt64
  /// Nil where allocations cannot be counted.
  public let allocations: UInt64?
  /// Nil where locks cannot be counted.
  public let locks: UInt64?
  /// The memory that it made and left behind; nil where nobody asks.
  public let bytes: Int?
  /// Whether the sums are those that had to come out.
  public let isRight: Bool

  /// Takes what was measured in C. It is wrong if something else is.
  public init(_ sample: bench_sample, bytes: Int? = nil, isRight: Bool = true) {
    self.bytes = bytes
    nanoseconds = sample.nanoseconds
    allocations = sample.allocations == .max ? nil : sample.allocations
    locks = sample.locks == .max ? nil : sample.locks
    self.isRight = isRight && sample.sum == sample.expected_sum
  }
}
