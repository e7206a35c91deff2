// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import CFwdBench
internal import Forwarding
public import FwdBenchReceivers

#if Macros
  internal import ForwardingMacros
#endif

/// What fan-outs of one size are measured on. Each part is made when a row
/// first needs it.
public final class Stage {
  /// How many receivers there are.
  public let size: Int

  /// Makes a stage without its parts.
  public init(_ size: Int) {
    self.size = size
  }

  // MARK: - Receivers

  /// Receivers to which no `weak` reference refers.
  public private(set) lazy var crowd = Crowd(size)
  /// Receivers for those who refer to them by `weak`.
  public private(set) lazy var crowdWithSideTables = Crowd(size, hasSideTables: true)
  /// Receivers written in C.
  public private(set) lazy var cCrowd = CCrowd(size)

  /// `crowd`, for a row.
  public var plain: Kept<any SummedCrowd> { Kept { self.crowd } }
  /// `crowdWithSideTables`, for a row.
  public var sideTabled: Kept<any SummedCrowd> { Kept { self.crowdWithSideTables } }
  /// `cCrowd`, for a row.
  public var inC: Kept<any SummedCrowd> { Kept { self.cCrowd } }

  /// The receivers in an order that has nothing to do with where they lie; the
  /// same in each run.
  var shuffledReceivers: [any Receiver] {
    var generator = SplitMix64(state: 0x5EED)
    return crowd.receivers.shuffled(using: &generator)
  }

  // MARK: - Proxies

  /// Subscribers are held weakly, in the order in which they lie in memory.
  private(set) lazy var weak = Kept { try Stage.proxy(of: self.crowd.receivers) }
  private(set) lazy var withSideTables = Kept {
    try Stage.proxy(of: self.crowdWithSideTables.receivers)
  }
  private(set) lazy var strong = Kept {
    try Stage.proxy(of: self.crowd.receivers, lifetime: .strong)
  }
  private(set) lazy var shuffled = Kept { try Stage.proxy(of: self.shuffledReceivers) }
  private(set) lazy var closures = Kept {
    let proxy = try Stage.emptyProxy()
    for receiver in self.crowd.receivers {
      if let tally = receiver as? Tally {
        try proxy.subscribe(tally, table: Tally.closureTable)
      } else if let ledger = receiver as? Ledger {
        try proxy.subscribe(ledger, table: Ledger.closureTable)
      }
    }
    return proxy
  }
  private(set) lazy var cSubscribers = Kept {
    let proxy = try Stage.emptyProxy()
    guard unsafe bench_crowd_subscribe(self.cCrowd.unsafeHandle, proxy.unsafeHandle) else {
      throw EmissionFailure()
    }
    return proxy
  }

  #if Macros
    private(set) lazy var typed = Kept {
      let proxy = TypedReceiverProxy()
      for receiver in self.crowd.receivers {
        if let receiver = receiver as? any TypedReceiver { try proxy.subscribe(receiver) }
      }
      return proxy
    }
  #endif

  #if Macros
    /// All listeners are called, whether there is a result or not.
    private static func kindsConfiguration() -> DynamicProxy.Configuration {
      var configuration = DynamicProxy.Configuration()
      for name in [TypedKindsProxy.Requirement.answerScale, .made] {
        configuration.results[TypedKindsProxy.selector(for: name)] = .callAll(pick: .last)
      }
      return configuration
    }
    private(set) lazy var typedKinds = Kept {
      let proxy = try TypedKindsProxy(configuration: Stage.kindsConfiguration())
      for receiver in self.crowd.receivers {
        if let receiver = receiver as? any TypedKinds { try proxy.subscribe(receiver) }
      }
      return proxy
    }
    private(set) lazy var untypedKinds = Kept {
      let proxy = try DynamicProxy(
        adopting: TypedKindsProxy.protocolTable, configuration: Stage.kindsConfiguration())
      for receiver in self.crowd.receivers {
        if let tally = receiver as? Tally {
          try proxy.subscribe(tally, table: Tally.kindsTable)
        } else if let ledger = receiver as? Ledger {
          try proxy.subscribe(ledger, table: Ledger.kindsTable)
        }
      }
      return proxy
    }
  #endif

  static func emptyProxy() throws -> DynamicProxy {
    try DynamicProxy(adopting: Message.protocolTable())
  }

  static func proxy(
    of receivers: [any Receiver], lifetime: DynamicProxy.Lifetime = .weak
  ) throws -> DynamicProxy {
    let proxy = try emptyProxy()
    for receiver in receivers { try proxy.subscribe(receiver, lifetime: lifetime) }
    return proxy
  }
}

/// Random numbers that are the same in each run.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
