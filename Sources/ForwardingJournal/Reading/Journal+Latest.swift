// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  public import Forwarding
  public import ForwardingWire

  extension Journal {
    /// Subscribes to a proxy, and delivers the last recorded call of each chosen method to
    /// the new subscriber only.
    ///
    /// ```swift
    /// try journal.subscribe(to: proxy, schema, startingWithLast: ["price:"]) { proxy in
    ///   try proxy.subscribe(label) { $0.on(price) { label, value in label.show(value) } }
    /// }
    /// ```
    ///
    /// `subscribe` is called twice: with your proxy, and then with a temporary proxy of the
    /// same methods, which forwards the last calls.
    ///
    /// If no other thread forwards meanwhile, the subscriber gets the last recorded call of
    /// each method, and then every later call, none missing and none duplicated. The
    /// calls come in the order of their positions. If other threads forward meanwhile:
    ///
    /// - No call is missing. A call that the new subscriber does not get when it is made is
    ///   recorded before the last calls are read. The subscriber then gets that call, or a
    ///   later one of the same method.
    /// - A call that is made during this function may be delivered twice: when it is made,
    ///   and as the last one.
    /// - A last call may arrive after a later call. Then the later one is delivered again,
    ///   so that the subscriber ends with the last call. If calls come all the time, this
    ///   stops after a hundred of them.
    ///
    /// All of this requires that this journal records the proxy. A call is recorded before
    /// it is delivered. If the journal records other proxies too, record each with another
    /// producer, or the last call may be another proxy's: see ``record(_:_:producer:)``.
    ///
    /// - Parameters:
    ///   - proxy: the proxy.
    ///   - schema: the proxy's methods.
    ///   - methods: the methods whose last calls are delivered. A method that has never
    ///     been recorded is left out.
    ///   - producers: the producers whose calls are delivered, one call of each method. Nil
    ///     means the producers with which this journal records the proxy, or all producers
    ///     if it does not record the proxy at present.
    ///   - subscribe: subscribes to the given proxy, both times in the same way.
    /// - Returns: what `subscribe` has returned for your proxy.
    /// - Throws: what `subscribe` throws. `JournalError`: `invalidArgument` if the schema
    ///   does not have a method; `schemaMismatch`, `notForwarded`, `damaged`, and as
    ///   ``entries(_:_:)``. The result of `subscribe` is then released, which cancels a
    ///   token. With `invalidArgument`, `subscribe` has not been called.
    public func subscribe<Result>(
      to proxy: DynamicProxy, _ schema: WireSchema, startingWithLast methods: Set<String>,
      producers: Set<UInt32>? = nil, _ subscribe: (DynamicProxy) throws -> Result
    ) throws -> Result {
      let known = Set(schema.methodNames)
      if let name = methods.sorted().first(where: { !known.contains($0) }) {
        throw JournalError(.invalidArgument, path, "the schema has no method \"\(name)\"")
      }
      let producers = producers ?? self.producers(of: proxy)
      let result = try subscribe(proxy)
      // The observers of the proxy are not told of this one.
      var configuration = proxy.configuration
      configuration.onMembershipChange = nil
      configuration.onCapabilityChange = nil
      let late = try DynamicProxy(adopting: proxy.protocols, configuration: configuration)
      let subscription = try subscribe(late)
      var delivered: [Int] = []
      // Repeats while new calls are recorded. If it stopped too early, no call would be missing,
      // but an older call could be the last one that the subscriber gets.
      for _ in 0..<100 {
        let positions = try lastPositions(of: methods, producers)
        if positions == delivered { break }
        for position in positions where !delivered.contains(position) {
          // The table of last positions is as hostile as the records.
          let filter = Filter(
            methods: methods, producers: producers, positions: position...position)
          var entries = try entries(schema, filter)
          guard let entry = try entries.next() else {
            throw JournalError(
              .damaged, path, "the file is damaged: the last call of a method is missing",
              position: position)
          }
          do throws(WireError) {
            try entry.record.forward(to: late)
          } catch {
            throw JournalError(
              .notForwarded, path, error.description, position: position, wireError: error)
          }
        }
        delivered = positions
      }
      withExtendedLifetime(subscription) {}
      return result
    }

    /// Returns the producers with which this journal records a proxy; nil if it does not
    /// record the proxy.
    private func producers(of proxy: DynamicProxy) -> Set<UInt32>? {
      guard let producers = recorder?.producers(of: proxy), !producers.isEmpty else { return nil }
      return producers
    }

    /// The positions of the last records of some methods, in order.
    private func lastPositions(
      of methods: Set<String>, _ producers: Set<UInt32>?
    ) throws(JournalError) -> [Int] {
      try flushToRead()
      let tables = try JournalFile.openForReading(path)
      var positions: [Int] = []
      for method in methods {
        // A damaged file may have any number.
        if let position = try tables.lastPosition(of: method, producers), position > 0 {
          positions.append(position)
        }
      }
      return positions.sorted()
    }
  }
#endif
