// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import CFwdMeasure
public import FwdBenchDriver
public import FwdBenchReceivers

/// Made when it is first asked for, and kept until the process ends.
public final class Kept<Value> {
  private let make: () throws -> Value
  private var made: Value?

  /// Makes it later.
  public init(_ make: @escaping () throws -> Value) {
    self.make = make
  }

  /// Gives it.
  public func get() throws -> Value {
    if let made { return made }
    let value = try make()
    made = value
    return value
  }
}

/// Emits a number of times and gives the sum of the results.
public typealias Emissions = (Int) throws -> Int64

extension Row {
  /// A row of fan-outs to a crowd.
  ///
  /// - Parameters:
  ///   - deliveries: of one emission.
  ///   - received: how many of them arrive; all, if it is not given.
  ///   - answers: the sum of the results of one emission.
  ///   - emissions: prepares, once, and gives the loop to be measured.
  public static func fanOut(
    _ way: String, _ size: Int, _ crowd: Kept<any SummedCrowd>, deliveries: Int? = nil,
    received: Int? = nil, answers: Int64 = 0, _ emissions: @escaping () throws -> Emissions
  ) -> Row {
    let emit = Kept(emissions)
    let deliveries = deliveries ?? size
    let received = received ?? deliveries
    let run = { (iterations: Int) in
      orWrong {
        let emit = try emit.get()
        let crowd = try crowd.get()
        let before = crowd.sum
        let start = bench_start()
        let sum = try emit(iterations)
        let sample = bench_finish(start, 0, 0)
        let expected = Int64(iterations * received) * Int64(BENCH_MESSAGE_SUM)
        return Sample(
          sample,
          isRight: crowd.sum &- before == expected && sum == answers &* Int64(iterations))
      }
    }
    return Row(group: FanOutRows.name, way: way, size: size, deliveries: deliveries, run: run) {
      iterations in
      orWrong {
        let crowd = try crowd.get()
        _ = crowd.isEven(0)
        let sample = run(iterations)
        // A row that delivers to the first only has no more to show.
        let isEven = received % size != 0 || crowd.isEven(iterations * received / size)
        return isEven ? sample : .wrong
      }
    }
  }
}

extension Sample {
  /// Of what could not be done.
  static var wrong: Sample { Sample(bench_sample(), isRight: false) }
}

/// What failed has the wrong sum.
public func orWrong(_ body: () throws -> Sample) -> Sample {
  do {
    return try body()
  } catch {
    print("error: \(error)")
    return .wrong
  }
}

/// An emission or its preparation failed, where nobody says why.
public struct EmissionFailure: Error {
  /// Makes one.
  public init() {}
}
