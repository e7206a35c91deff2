// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One walk of nftw(3) and the observers of its one callback.
final class TreeWalk {
  /// The listeners that the user may choose. `Totals` is always there.
  enum ObserverName: String, CaseIterable {
    case totals, histogram, largest, extensions
  }

  struct Configuration {
    var observers: Set<ObserverName> = Set(ObserverName.allCases)
    var largestCount = 10
    var maximumFileCount: UInt64?
    /// The listeners that unsubscribe, and after how many files.
    var leaving: [ObserverName: UInt64] = [:]
    var showsProgress = false
  }

  enum End {
    case complete
    case stopped(StopReason)
    /// nftw could not go on; an `errno`.
    case failed(Int32)
  }

  private let proxy: DynamicProxy
  private let fault = FirstFault()
  private let interruption = Interruption()
  private let limit: FileLimit?
  private let progress: ProgressLine?

  let totals = Totals()
  let histogram: SizeHistogram?
  let largest: LargestFiles?
  let extensions: ExtensionCounts?

  /// Subscribes the observers, all weakly but the one in C, whose subscription
  /// ends with its owner.
  init(_ configuration: Configuration) throws {
    let fault = fault
    var proxyConfiguration = DynamicProxy.Configuration()
    proxyConfiguration.onError = { fault.keep($0) }
    proxy = try DynamicProxy(adopting: FileVisitor.register(), configuration: proxyConfiguration)

    func make<Observer>(_ name: ObserverName, _ body: (UInt64?) throws -> Observer) rethrows
      -> Observer?
    {
      configuration.observers.contains(name) ? try body(configuration.leaving[name]) : nil
    }
    limit = configuration.maximumFileCount.map { FileLimit($0) }
    progress = configuration.showsProgress ? ProgressLine() : nil
    histogram = make(.histogram) { SizeHistogram(leavingAfter: $0) }
    largest = make(.largest) { LargestFiles(configuration.largestCount, leavingAfter: $0) }
    let proxy = proxy

    try totals.subscribe(to: proxy)
    try histogram?.subscribe(to: proxy)
    try largest?.subscribe(to: proxy)
    extensions = try make(.extensions) {
      try ExtensionCounts(subscribedTo: proxy, leavingAfter: $0)
    }
    try progress?.subscribe(to: proxy)
    // Each of these asks for the first place.
    try limit?.subscribe(to: proxy)
    try interruption.subscribe(to: proxy)
  }

  /// What a call of nftw's callback would do now.
  var explanation: String { proxy.explain(FileVisitor.visit).description }

  /// Walks; `directory` is a path in the file system's own encoding.
  func run(_ directory: [UInt8]) throws -> End {
    let function = try proxy.functionPointer(for: FileVisitor.visit)
    // SAFETY: this is the C type of the protocol's method without its receiver
    // and selector, and the function pointer lives until after the walk.
    let result = withExtendedLifetime(function) {
      let visitor = unsafe function.unsafeCast(to: file_visitor.self)
      return unsafe directory.withCString { unsafe file_walk($0, visitor) }
    }
    let code = errno
    try proxy.send(Method(FileVisitor.finished), totals.counts.entries)
    if let fault = fault.first { throw Failure(.software, fault.description) }
    if extensions?.hasFailed == true { throw Failure(.software, "no memory to count extensions") }
    switch result {
    case 0: return .complete
    case -1: return .failed(code)
    default: return .stopped(StopReason(rawValue: result) ?? .none)
    }
  }
}

extension [UInt8] {
  /// Calls `body` with the bytes as a C string.
  fileprivate func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // SAFETY: a NUL ends the bytes, which live during the call.
    unsafe (self + [0]).withUnsafeBytes { bytes in
      unsafe body(bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
    }
  }
}

/// The first thing that a fan-out could not do.
private final class FirstFault: Sendable {
  private let state = Mutex<ForwardingError?>(nil)

  var first: ForwardingError? { state.withLock { $0 } }

  func keep(_ error: ForwardingError) {
    state.withLock { $0 = $0 ?? error }
  }
}
