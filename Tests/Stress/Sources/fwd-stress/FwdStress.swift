// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CStressSupport
internal import Forwarding
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Many threads forward through a proxy while others change its members and let
/// them die, fork, start threads and end them. Each fan-out has a number, by
/// which its deliveries are counted.
@main struct FwdStress {
  static let usage = "usage: fwd-stress [SECONDS] [--threads N] [--seed N]"

  static func main() throws {
    var options = Options()
    do { try options.read(CommandLine.arguments.dropFirst()) } catch {
      say("error: \(error)\n\(usage)")
      exit(2)
    }
    say("\(options.seconds) s, \(options.threads) threads, seed \(options.seed)")
    stopAtSignals()
    // What hangs does not end by itself.
    alarm(UInt32(options.seconds) + 600)

    let begin = ContinuousClock.now
    let tally = try run(options)
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    report(tally, seconds)
    let members = livingMembers.load(ordering: .sequentiallyConsistent)
    let contexts = livingContexts.load(ordering: .sequentiallyConsistent)
    violations.check(members == 0, "\(members) members are left")
    violations.check(contexts == 0, "\(contexts) C contexts are left")
    violations.check(
      notifierSum.load(ordering: .sequentiallyConsistent) == 0,
      "the destroy notifiers that have run are not those that were to run")
    checkVariety(tally)
    say(violations.total == 0 ? "no violation" : "\(violations.total) violations")
    exit(violations.total == 0 ? 0 : 1)
  }

  /// Runs the threads, and gives up all that they used.
  private static func run(_ options: Options) throws -> Tally {
    _ = ExitHandler.early
    let stage = try Stage(threads: options.threads)
    _ = ExitHandler.late
    let total = PosixLock(Tally())
    let main = Worker(workerCount.load(ordering: .relaxed) - 1, stage, seed: options.seed)
    // A child needs no metadata and no global for the first time: see there.
    main.run { main.actAsChild() }
    let threads = Threads(options.threads) { number in
      let worker = Worker(number, stage, seed: options.seed)
      worker.run {
        worker.beginRare()
        while !isOver.load(ordering: .relaxed) {
          // Some mostly forward, the others mostly change.
          if number % 2 == 0 ? !worker.random.isOneOf(32) : worker.random.isOneOf(32) {
            worker.forward()
          } else {
            worker.change()
          }
        }
      }
      total.withLock { $0 += worker.tally }
    }
    let end = ContinuousClock.now + .seconds(options.seconds)
    while ContinuousClock.now < end && !isOver.load(ordering: .relaxed) { usleep(20_000) }
    isOver.store(true, ordering: .relaxed)
    threads.join()
    main.run { stage.end(seed: options.seed) }
    total.withLock { $0 += main.tally }
    return total.withLock { $0 }
  }

  /// Ends at Ctrl-C, with what has been counted; the second time at once.
  private static func stopAtSignals() {
    isOver.store(false, ordering: .relaxed)
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        isOver.store(true, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
    }
    signal(SIGALRM) { _ in
      let words: StaticString = "VIOLATION: the threads do not end\n"
      unsafe write(STDOUT_FILENO, words.utf8Start, words.utf8CodeUnitCount)
      _exit(1)
    }
  }

  /// Checks that the rare operations have run.
  private static func checkVariety(_ tally: Tally) {
    let counts = [
      "nestings": tally.nestings, "children": tally.children, "destroy notifiers": tally.notifiers,
      "short-lived threads": tally.passing, "messages": tally.queued,
      "changes at once": tally.swaps,
    ]
    for (what, count) in counts { violations.check(count > 0, "there were no \(what)") }
    violations.check(
      tally.exits > 0 || stress_has_thread_sanitizer(), "there were no exit handlers")
  }

  private static func report(_ tally: Tally, _ seconds: Double) {
    func line(_ count: Int, _ what: String) {
      say("\(count) \(what), \(Int(Double(count) / seconds)) a second")
    }
    line(tally.fans, "fan-outs (\(tally.nested) inside of others, \(tally.batches) batches)")
    line(tally.deliveries, "deliveries")
    line(tally.joined, "subscriptions")
    line(tally.cancelled, "cancelled")
    line(tally.dropped, "ended by a death")
    line(tally.queued, "messages to queues and actors")
    line(tally.swaps, "changes of several subscriptions at once")
    line(tally.moved, "moves")
    line(tally.blocked, "members blocked for a while")
    line(tally.limited, "members for some deliveries")
    line(tally.intercepted, "interceptions")
    line(tally.targets, "changes of a forward target")
    line(
      tally.nestings,
      "nestings (\(tally.nestingFans) fan-outs inside of others, up to \(tally.deepest) deep)")
    line(tally.children, "children of fork(2)")
    line(tally.notifiers, "destroy notifiers that used their proxy")
    line(tally.passing, "short-lived threads (\(tally.exits) exit handlers)")
  }
}

/// What the command line asks for.
private struct Options {
  var seconds = 60
  var threads = 8
  var seed = UInt64.random(in: 0...UInt64(Int32.max))

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  mutating func read(_ arguments: some Sequence<String>) throws(Fault) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--threads":
        threads = try Self.number(rest.popFirst(), of: argument, in: 1...Worker.limit)
      case "--seed": seed = UInt64(try Self.number(rest.popFirst(), of: argument, in: 0...Int.max))
      default: seconds = try Self.number(argument, of: "seconds", in: 1...1_000_000)
      }
    }
  }

  private static func number(
    _ text: String?, of option: String, in range: ClosedRange<Int>
  ) throws(Fault) -> Int {
    if let text, let number = Int(text), range.contains(number) { return number }
    throw Fault(description: "\(option): \(text ?? "nothing") is no number in \(range)")
  }
}
