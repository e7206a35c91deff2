// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyLifetimesTests {
  let journal = Journal()

  // MARK: Weak subscribers

  @Test func `a subscriber is not kept alive, and not called after its death`() throws {
    let proxy = try DynamicProxy.pinging()
    let b = Listener("b", journal)
    weak var tracked: Listener?
    let subscription: DynamicProxy.Subscription
    do {
      let a = Listener("a", journal)
      tracked = a
      subscription = try proxy.subscribe(a)
      try proxy.subscribe(b)
      try proxy.ping()
      #expect(subscription.isLive)
    }
    #expect(tracked == nil)
    #expect(!subscription.isLive)
    #expect(journal.take() == ["a1", "b1"])
    #expect(proxy.count == 1)
    #expect(proxy.liveSubscribers.first === b && proxy.liveSubscribers.count == 1)
    try proxy.ping()
    #expect(journal.take() == ["b1"])
    // Its death has ended the subscription.
    #expect(!subscription.cancel())
  }

  @Test func `cancelling what death has ended does nothing, seen or not`() throws {
    let proxy = try DynamicProxy.pinging()
    let unseen = try proxy.subscribe(Listener("a", journal))
    #expect(!unseen.cancel())
    let seen = try proxy.subscribe(Listener("b", journal))
    try proxy.ping()
    #expect(!seen.cancel())
  }

  @Test func `a subscriber that drops itself is kept alive until the end of its call`() throws {
    let proxy = try DynamicProxy.pinging()
    let (holder, journal) = (Box<Listener?>(nil), journal)
    weak var tracked: Listener?
    do {
      let a = Listener("a", journal) { _ in
        holder.value = nil
        journal.note("dropped")
      }
      a.onDeath.value = { journal.note("died") }
      holder.value = a
      tracked = a
      try proxy.subscribe(a)
    }
    let b = Listener("b", journal)
    try proxy.subscribe(b)
    #expect(tracked != nil)
    try proxy.ping()
    #expect(tracked == nil)
    #expect(journal.take() == ["a1", "dropped", "died", "b1"])
  }

  @Test func `one that dies in another's call is not called`() throws {
    let proxy = try DynamicProxy.pinging()
    let (holder, journal) = (Box<[Listener]>([]), journal)
    let a = Listener("a", journal) { _ in holder.value = [] }
    holder.value = ["b", "c"].map { Listener($0, journal) }
    for listener in holder.value { listener.onDeath.value = { journal.note("died") } }
    let d = Listener("d", journal)
    try proxy.subscribe(a)
    for listener in holder.value { try proxy.subscribe(listener) }
    try proxy.subscribe(d)
    try proxy.ping()
    #expect(journal.take() == ["a1", "died", "died", "d1"])
    #expect(proxy.count == 2)
  }

  @Test func `one that was called already may die in another's call`() throws {
    let proxy = try DynamicProxy.pinging()
    let (holder, journal) = (Box<Listener?>(nil), journal)
    holder.value = Listener("a", journal)
    try proxy.subscribe(holder.value!)
    let b = Listener("b", journal) { _ in holder.value = nil }
    try proxy.subscribe(b)
    try proxy.ping()
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1", "b1"])
  }

  @Test func `an object with a weak reference of Swift's is like any other`() throws {
    let proxy = try DynamicProxy.pinging()
    // The reference makes the runtime move the counts to a side table, before or after subscribing.
    for isFirst in [true, false] {
      weak var before: Listener?
      weak var after: Listener?
      do {
        let a = Listener("a", journal)
        if isFirst { before = a }
        try proxy.subscribe(a)
        after = a
        try proxy.ping()
        #expect(journal.take() == ["a1"])
        #expect(after === a && (before === a) == isFirst)
      }
      #expect(before == nil && after == nil)
      try proxy.ping()
      #expect(journal.take().isEmpty)
      #expect(proxy.count == 0)
    }
  }

  // MARK: In deinit

  @Test func `a subscriber may unsubscribe in its deinit`() throws {
    let proxy = try DynamicProxy.pinging()
    for _ in 0..<3 {
      let journal = journal
      do {
        let a = Listener("a", journal)
        let key = Box<Bool>(false)
        let subscription = try proxy.subscribe(a)
        a.onDeath.value = { [weak proxy] in
          subscription.cancel()
          key.value = proxy?.count == 0
        }
        _ = consume a
        #expect(key.value)
      }
      try proxy.ping()
      #expect(journal.take().isEmpty)
    }
    #expect(proxy.count == 0)
  }

  @Test func `unsubscribing by object works in the object's deinit`() throws {
    final class Leaver: DynamicProxy.Subscriber {
      let proxy: DynamicProxy
      let result: Box<[Bool]>
      init(_ proxy: DynamicProxy, _ result: Box<[Bool]>) {
        self.proxy = proxy
        self.result = result
      }
      deinit {
        let contained = proxy.contains(self)
        let left = proxy.unsubscribe(self)
        let still = proxy.contains(self)
        result.value = [contained, left, still]
      }
      static let functionTable = FunctionTable(for: Leaver.self) {
        $0.on("ping:") { (_: Leaver, _: Int32) in }
      }
    }
    let proxy = try DynamicProxy.pinging()
    let result = Box<[Bool]>([])
    do {
      let leaver = Leaver(proxy, result)
      try proxy.subscribe(leaver)
      try proxy.ping()
    }
    #expect(result.value == [true, true, false])
    #expect(proxy.count == 0)
  }

  @Test func `a subscriber that forwards in its deinit is not called`() throws {
    let proxy = try DynamicProxy.pinging()
    let (b, journal) = (Listener("b", journal), journal)
    do {
      let a = Listener("a", journal)
      try proxy.subscribe(a)
      try proxy.subscribe(b)
      a.onDeath.value = {
        journal.note("dying")
        #expect(throws: Never.self) { try proxy.ping(2) }
      }
    }
    #expect(journal.take() == ["dying", "b2"])
  }

  @Test func `a subscription made in deinit is never called`() throws {
    final class Late: DynamicProxy.Subscriber {
      let proxy: DynamicProxy
      let journal: Journal
      init(_ proxy: DynamicProxy, _ journal: Journal) {
        self.proxy = proxy
        self.journal = journal
      }
      deinit {
        do throws(ForwardingError) {
          try proxy.subscribe(self)
          journal.note("subscribed")
        } catch {
          journal.note("\(error.code)")
        }
      }
      static let functionTable = FunctionTable(for: Late.self) {
        $0.on("ping:") { (self: Late, _: Int32) in self.journal.note("called") }
      }
    }
    let proxy = try DynamicProxy.pinging()
    do { _ = Late(proxy, journal) }
    #expect(journal.take() == ["dead"])
    try proxy.ping()
    #expect(journal.take().isEmpty)
    #expect(proxy.count == 0)
  }

  // MARK: Strong subscribers

  @Test func `a strong subscription keeps its subscriber until it ends`() throws {
    let proxy = try DynamicProxy.pinging()
    weak var tracked: Listener?
    let subscription: DynamicProxy.Subscription
    do {
      let a = Listener("a", journal)
      tracked = a
      subscription = try proxy.subscribe(a, lifetime: .strong)
    }
    #expect(tracked != nil)
    try proxy.ping()
    #expect(journal.take() == ["a1"])
    #expect(subscription.cancel())
    #expect(tracked == nil)
  }

  @Test func `a strong subscriber dies with the proxy`() throws {
    weak var tracked: Listener?
    weak var owner: Bystander?
    do {
      let proxy = try DynamicProxy.pinging()
      let (a, o) = (Listener("a", journal), Bystander())
      (tracked, owner) = (a, o)
      try proxy.subscribe(a, lifetime: .strong)
      try proxy.subscribe(o, lifetime: .strong) { $0.on("ping:") { (_: Bystander, _: Int32) in } }
    }
    #expect(tracked == nil && owner == nil)
  }

  @Test func `a strong subscriber that leaves in its own call lives until the end of it`() throws {
    let proxy = try DynamicProxy.pinging()
    let journal = journal
    do {
      let a = Listener("a", journal) { listener in
        proxy.unsubscribe(listener)
        journal.note("left")
      }
      a.onDeath.value = { journal.note("died") }
      try proxy.subscribe(a, lifetime: .strong)
    }
    try proxy.ping()
    #expect(journal.take() == ["a1", "left", "died"])
  }

  @Test func `moving a strong subscriber does not drop it`() throws {
    let proxy = try DynamicProxy.pinging()
    let b = Listener("b", journal)
    weak var tracked: Listener?
    do {
      let a = Listener("a", journal)
      tracked = a
      try proxy.subscribe(b)
      try proxy.subscribe(a, lifetime: .strong)
      try proxy.subscribe(a, at: .first, lifetime: .strong)
    }
    #expect(tracked != nil)
    try proxy.ping()
    #expect(journal.take() == ["a1", "b1"])
    proxy.unsubscribeAll()
    #expect(tracked == nil)
  }

  // MARK: Closures and their owners

  @Test func `closures are called with their owner, as long as it lives`() throws {
    let proxy = try DynamicProxy.pinging()
    let (population, journal) = (Population(), journal)
    weak var tracked: Bystander?
    do {
      let owner = Bystander()
      tracked = owner
      let captured = population.make()
      try proxy.subscribe(owner) {
        $0.on("ping:") { (self: Bystander, number: Int32) in
          withExtendedLifetime(captured) { journal.note("\(type(of: self))\(number)") }
        }
      }
      try proxy.ping()
      #expect(journal.take() == ["Bystander1"])
    }
    #expect(tracked == nil)
    try proxy.ping()
    #expect(journal.take().isEmpty)
    // The fan-out has met the dead one, and given up what belonged to it.
    #expect(population.living == 0)
  }

  @Test func `each call is a subscription of its own`() throws {
    let proxy = try DynamicProxy.pinging()
    let (owner, journal) = (Bystander(), journal)
    let subscriptions = try ["x", "y"].map { name in
      try proxy.subscribe(owner) {
        $0.on("ping:") { (_: Bystander, number: Int32) in journal.note("\(name)\(number)") }
      }
    }
    try proxy.ping()
    #expect(journal.take() == ["x1", "y1"])
    subscriptions[0].cancel()
    try proxy.ping()
    #expect(journal.take() == ["y1"])
  }

  @Test(
    "what closures capture is given up when they end",
    arguments: [
      "cancel", "unsubscribe", "unsubscribeAll", "proxy dies", "refused",
    ])
  func captures(end: String) throws {
    let population = Population()
    let owner = Bystander()
    do {
      let proxy = try DynamicProxy.pinging()
      let captured = population.make()
      let build: @Sendable (inout FunctionTable.Builder<Bystander>) -> Void = {
        $0.on("ping:") { [captured] (_: Bystander, _: Int32) in withExtendedLifetime(captured) {} }
        if end == "refused" { $0.on("score:") { (_: Bystander) in } }
      }
      if end == "refused" {
        #expect(throws: ForwardingError.self) { try proxy.subscribe(owner, build) }
      } else {
        let subscription = try proxy.subscribe(owner, build)
        switch end {
        case "cancel": #expect(subscription.cancel())
        case "unsubscribe": #expect(proxy.unsubscribe(owner))
        case "unsubscribeAll": proxy.unsubscribeAll()
        default: break
        }
      }
      try proxy.ping()
    }
    #expect(population.living == 0)
  }

  @Test func `a table of one's own is given up with its last subscriber`() throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    let owners = [Bystander(), Bystander()]
    defer { withExtendedLifetime(owners) {} }
    weak var tracked: FunctionTable?
    do {
      let captured = population.make()
      let table = FunctionTable(for: Bystander.self) {
        $0.on("ping:") { (_: Bystander, _: Int32) in withExtendedLifetime(captured) {} }
      }
      tracked = table
      for owner in owners { try proxy.subscribe(owner, table: table) }
      try proxy.ping()
    }
    proxy.unsubscribe(owners[0])
    try proxy.ping()
    #expect(population.living == 1)
    proxy.unsubscribe(owners[1])
    #expect(population.living == 0)
    #expect(tracked == nil)
  }

  @Test func `a new table is not taken for one that was freed`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let owner = Bystander()
    for number in Int32(0)..<300 {
      // The allocator hands the same addresses out again.
      let table = FunctionTable(for: Bystander.self) {
        $0.on("score:") { (_: Bystander, _: Int32) -> Int32 in number }
      }
      let subscription = try proxy.subscribe(owner, table: table)
      #expect(try proxy.send("score:", Int32(0)) == number)
      if number.isMultiple(of: 3) {
        proxy.unsubscribeAll()
      } else {
        subscription.cancel()
      }
    }
  }

  @Test func `closures that end in their own call live until the end of it`() throws {
    let proxy = try DynamicProxy.pinging()
    let population = Population()
    let (owner, journal) = (Bystander(), journal)
    do {
      let captured = population.make()
      try proxy.subscribe(owner) {
        $0.on("ping:") { (self: Bystander, _: Int32) in
          proxy.unsubscribe(self)
          journal.note("\(population.living)")
          withExtendedLifetime(captured) {}
        }
      }
    }
    try proxy.ping()
    #expect(journal.take() == ["1"])
    #expect(population.living == 0)
  }

  // MARK: Tokens

  @Test func `a token's closures are called until it dies`() throws {
    let proxy = try DynamicProxy.pinging()
    let (population, journal) = (Population(), journal)
    weak var tracked: DynamicProxy.Token?
    do {
      let captured = population.make()
      let token = try proxy.subscribe {
        $0.on("ping:") { (number: Int32) in
          withExtendedLifetime(captured) { journal.note("\(number)") }
        }
      }
      tracked = token
      #expect(token.isLive)
      try proxy.ping()
      try proxy.ping(2)
      #expect(journal.take() == ["1", "2"])
      #expect(proxy.count == 1)
      withExtendedLifetime(token) {}
    }
    #expect(tracked == nil)
    #expect(population.living == 0)
    #expect(proxy.count == 0)
    try proxy.ping()
    #expect(journal.take().isEmpty)
  }

  @Test func `a token is cancelled by hand, once`() throws {
    let proxy = try DynamicProxy.pinging()
    let journal = journal
    let token = try proxy.subscribe { $0.on("ping:") { (_: Int32) in journal.note("called") } }
    #expect(token.subscription?.isLive == true)
    #expect(token.cancel())
    #expect(!token.isLive)
    #expect(!token.cancel())
    try proxy.ping()
    #expect(journal.take().isEmpty)
  }

  @Test func `a token may die or be cancelled in its own call`() throws {
    let proxy = try DynamicProxy.pinging()
    let (holder, population, journal) = (Box<DynamicProxy.Token?>(nil), Population(), journal)
    for isCancelled in [true, false] {
      do {
        let captured = population.make()
        holder.value = try proxy.subscribe {
          $0.on("ping:") { (_: Int32) in
            if isCancelled { holder.value?.cancel() }
            holder.value = nil
            journal.note("\(population.living)")
            withExtendedLifetime(captured) {}
          }
        }
      }
      try proxy.ping()
      #expect(journal.take() == ["1"])
      #expect(population.living == 0)
      try proxy.ping()
      #expect(journal.take().isEmpty)
    }
  }

  @Test func `a token that outlives its proxy is harmless`() throws {
    var token: DynamicProxy.Token?
    let population = Population()
    do {
      let proxy = try DynamicProxy.pinging()
      let captured = population.make()
      token = try proxy.subscribe {
        $0.on("ping:") { (_: Int32) in withExtendedLifetime(captured) {} }
      }
      try proxy.ping()
    }
    #expect(population.living == 0)
    #expect(token?.isLive == false)
    #expect(token?.cancel() == false)
    token = nil
  }

  // MARK: The proxy

  @Test func `a subscription does not find a proxy that was made after its own died`() throws {
    let listener = Listener("a", journal)
    var early: [DynamicProxy.Subscription] = []
    for _ in 0..<100 {
      let proxy = try DynamicProxy.pinging()
      early.append(try proxy.subscribe(listener))
      #expect(early.allSatisfy { $0.isLive == ($0 == early.last) })
    }
    let proxies = try (0..<40).map { _ in try DynamicProxy.pinging() }
    let late = try proxies.map { try $0.subscribe(listener) }
    for subscription in early {
      #expect(subscription.proxy == nil && subscription.subscriber == nil)
      #expect(!subscription.isLive && !subscription.cancel())
    }
    for (proxy, subscription) in zip(proxies, late) {
      #expect(subscription.proxy === proxy && subscription.isLive)
      #expect(subscription.cancel() && !subscription.cancel())
    }
  }

  @Test func `a subscription that is made while its proxy dies finds nothing`() throws {
    let journal = journal
    var proxy: DynamicProxy? = try .pinging()
    let subscription = Box<DynamicProxy.Subscription?>(nil)
    var listener: Listener? = Listener("a", journal)
    unowned(unsafe) let dying = proxy!
    listener?.onDeath.value = {
      // SAFETY: the proxy's deinitialiser has begun, and has not returned.
      subscription.value = unsafe DynamicProxy.Subscription(
        reference: ProxyReference(dying), identifier: 1)
      #expect(subscription.value?.proxy == nil && subscription.value?.cancel() == false)
      journal.note("died")
    }
    try proxy!.subscribe(listener!, lifetime: .strong)
    listener = nil
    proxy = nil
    #expect(journal.take() == ["died"])
    let later = try (0..<40).map { _ in try DynamicProxy.pinging() }
    #expect(subscription.value?.proxy == nil)
    withExtendedLifetime(later) {}
  }

  @Test func `a proxy is given up, whoever is subscribed`() throws {
    let owner = Bystander()
    let a = Listener("a", journal)
    weak var tracked: DynamicProxy?
    let subscription: DynamicProxy.Subscription
    let token: DynamicProxy.Token
    do {
      let proxy = try DynamicProxy.pinging()
      tracked = proxy
      subscription = try proxy.subscribe(a)
      token = try proxy.subscribe { $0.on("ping:") { (_: Int32) in } }
      try proxy.subscribe(owner) { $0.on("ping:") { (_: Bystander, _: Int32) in } }
      try proxy.ping()
    }
    #expect(tracked == nil)
    #expect(!subscription.isLive && !subscription.cancel())
    #expect(!token.isLive)
  }

  @Test func `a proxy may be dropped in a fan-out of its own`() throws {
    let holder = Box<DynamicProxy?>(nil)
    weak var tracked: DynamicProxy?
    let (a, b) = (Listener("a", journal) { _ in holder.value = nil }, Listener("b", journal))
    holder.value = try DynamicProxy.pinging()
    tracked = holder.value
    try holder.value!.subscribe(a)
    try holder.value!.subscribe(b)
    try holder.value!.ping()
    #expect(journal.take() == ["a1", "b1"])
    #expect(tracked == nil)
  }

  @Test func `a resolved method keeps its proxy`() throws {
    let a = Listener("a", journal)
    weak var tracked: DynamicProxy?
    do {
      let method: ResolvedMethod
      do {
        let proxy = try DynamicProxy.pinging()
        tracked = proxy
        try proxy.subscribe(a)
        method = try proxy.method(for: "ping:")
      }
      #expect(tracked != nil)
      var number: Int32 = 5
      try unsafe withUnsafeBytes(of: &number) { try unsafe method.forward(frame: $0) }
      #expect(journal.take() == ["a5"])
    }
    #expect(tracked == nil)
  }

  @Test func `default results and folds are given up with the proxy and its protocol`() throws {
    let population = Population()
    do {
      let (first, second) = (population.make(), population.make())
      let table = try ProtocolTable("Given") {
        $0.optional("object", "@@:", default: first)
        $0.optional(
          "score:", "i@:i",
          result: .reduce(0) { (a: Int32, b: Int32) in withExtendedLifetime(second) { a + b } })
      }
      let proxy = try DynamicProxy(adopting: table)
      let given: Population.Tracked = try proxy.send("object")
      #expect(given === first)
      #expect(try proxy.send("score:", Int32(1)) == Int32(0))
    }
    #expect(population.living == 0)
  }

  // MARK: Arguments

  @Test func `objects that are sent are neither leaked nor released too often`() throws {
    let proxy = try DynamicProxy(
      adopting: .table("Taking") { $0.required("take:", "v@:@") })
    let population = Population()
    let kept = Box<Population.Tracked?>(nil)
    let token = try proxy.subscribe {
      $0.on("take:") { (object: Population.Tracked) in kept.value = object }
    }
    for _ in 0..<10 { try proxy.send("take:", population.make()) }
    #expect(population.living == 1)
    kept.value = nil
    #expect(population.living == 0)
    withExtendedLifetime(token) {}
  }
}
