// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// A thread that stores the queue's transactions until the queue is closed.
  @safe internal final class WriterThread: @unchecked Sendable {
    // Sendable: `thread` is set in `init` only.
    private var thread: pthread_t
    private let job: Job

    /// The thread's data. It does not keep the journal alive.
    private final class Job: @unchecked Sendable {
      // Sendable: the writer is used on the thread only, and the reports lie behind a lock.
      var writer: JournalWriter?
      let reports = Lock<[Report]>([])
      /// Signalled when the writer has stored everything, or has failed.
      let end = ConditionLock()
      var hasEnded = false

      init(_ writer: JournalWriter) { self.writer = writer }
    }

    private struct Report: Sendable {
      weak var token: DynamicProxy.Token?
      let report: @Sendable (ForwardingError) -> Void
    }

    /// - Throws: `JournalError` with the code `cannotOpen` if the system makes no thread.
    internal init(_ writer: sending JournalWriter, _ path: String) throws(JournalError) {
      job = Job(writer)
      #if canImport(Darwin)
        var made: pthread_t?
      #else
        var made = pthread_t()
      #endif
      let context = unsafe Unmanaged.passRetained(job).toOpaque()
      let status = unsafe pthread_create(
        &made, nil,
        { context in
          #if canImport(Darwin)
            let address = unsafe context
          #else
            let address = unsafe context.unsafelyUnwrapped
          #endif
          // SAFETY: the address is that of the job, retained for the thread.
          let job = unsafe Unmanaged<Job>.fromOpaque(address).takeRetainedValue()
          WriterThread.run(job)
          return nil
        }, context)
      #if canImport(Darwin)
        let thread = made
      #else
        let thread = Optional(made)
      #endif
      guard status == 0, let thread else {
        unsafe Unmanaged<Job>.fromOpaque(context).release()
        throw JournalError(
          .cannotOpen, path, "no thread can be made to write it: \(systemReason(status))")
      }
      self.thread = thread
    }

    private static func run(_ job: Job) {
      let failure = job.writer?.run()
      // Closes the file.
      job.writer = nil
      job.end.lock()
      job.hasEnded = true
      job.end.broadcastChange()
      job.end.unlock()
      guard let failure else { return }
      for report in job.reports.withLock({ $0 }) where report.token?.isLive == true {
        report.report(ForwardingError(.deliveryFailed, failure.description))
      }
    }

    /// Adds a closure that is called if the journal fails while a recording lasts.
    internal func report(
      _ token: DynamicProxy.Token, _ report: @escaping @Sendable (ForwardingError) -> Void
    ) {
      job.reports.withLock { reports in
        reports.removeAll { $0.token == nil }
        reports.append(Report(token: token, report: report))
      }
    }

    /// Waits until the thread has stored everything, or has failed. A report may call this
    /// on the thread itself, since `hasEnded` is set before reports are made.
    internal func waitForEnd() {
      job.end.lock()
      while !job.hasEnded { job.end.waitForChange() }
      job.end.unlock()
    }

    /// Waits until the thread has ended.
    internal func join() {
      // If a report releases the journal, this runs on the thread, which cannot join itself.
      if pthread_equal(thread, pthread_self()) != 0 {
        _ = pthread_detach(thread)
      } else {
        _ = pthread_join(thread, nil)
      }
    }
  }
#endif
