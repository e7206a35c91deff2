// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The operators of swift-async-algorithms over signals: debounce, merge, combineLatest and chunks of what C callbacks bring.

#if AsyncAlgorithms
  import AsyncAlgorithms
  import ExampleSupport
  import Forwarding

  enum Key {
    static let typed = Method("typed:", ((String) -> Void).self)
    static let bid = Method("bid:", ((Double) -> Void).self)
    static let ask = Method("ask:", ((Double) -> Void).self)
  }

  let proxy = try DynamicProxy("Feed") {
    $0.optional(Key.typed)
    $0.optional(Key.bid)
    $0.optional(Key.ask)
  }

  // Each makes its signals first: what is sent before a task takes elements waits for it.

  func debounced() async throws {
    let texts = try proxy.signal(for: Key.typed)
    for text in ["a", "ab", "abc"] { try proxy.send(Key.typed, text) }
    // The sequence ends after three texts, so the last one comes at once. A program with a user has no such end, and
    // shorter pauses: about 300 ms.
    let last = await Array(texts.prefix(3).debounce(for: .seconds(60)))
    check(last, is: ["abc"], "what was typed last")
  }

  func merged() async throws {
    let bids = try proxy.signal(for: Key.bid)
    let asks = try proxy.signal(for: Key.ask)
    for price in 1...3 {
      try proxy.send(Key.bid, Double(price))
      try proxy.send(Key.ask, Double(price) + 0.5)
    }
    let prices = await Array(merge(bids, asks).prefix(6))
    check(prices.sorted(), is: [1, 1.5, 2, 2.5, 3, 3.5], "the merged prices")
    check(prices.filter { $0 == $0.rounded() }, is: [1, 2, 3], "the bids, in order")
  }

  func combined() async throws {
    let bids = try proxy.signal(for: Key.bid)
    let asks = try proxy.signal(for: Key.ask)
    try proxy.send(Key.bid, 10)
    try proxy.send(Key.ask, 10.5)
    for await (bid, ask) in combineLatest(bids, asks).prefix(1) {
      check(ask - bid, is: 0.5, "the spread")
    }
  }

  func chunked() async throws {
    let bids = try proxy.signal(for: Key.bid, overflow: .dropOldest(limit: 1000))
    for price in 0..<2000 { try proxy.send(Key.bid, Double(price)) }
    var chunks: [[Double]] = []
    for await chunk in bids.chunks(ofCount: 100).prefix(10) { chunks.append(chunk) }
    check(chunks.flatMap { $0 }, is: (1000..<2000).map(Double.init), "the last thousand prices")
  }

  try await debounced()
  try await merged()
  try await combined()
  try await chunked()
  // The operators end their tasks after they have returned.
  wait(until: "no subscription is left") { proxy.count == 0 }
  print("debounce, merge, combineLatest and chunks of signals")
  printCheckCount()
#else
  print("built without the trait AsyncAlgorithms, so there is nothing to show")
#endif
