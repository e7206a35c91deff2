// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if GRDB
  import Forwarding
  import ForwardingDelivery
  import GRDB

  /// Writes readings to a database, many in one transaction. It loses none, unless the
  /// database fails.
  actor Archive {
    private struct Reading {
      let sensor: Int32
      let value: Double
      let unit: String
    }

    private let database: DatabaseQueue
    private var waiting: [Reading] = []
    /// The error that has ended writing.
    private(set) var failure: (any Error)?
    /// The readings that came after it, and those that it kept from being written.
    private(set) var lostCount = 0

    /// - Parameter pageLimit: the number of pages that the database may have; nil for
    ///   no limit.
    init(_ path: String, pageLimit: Int? = nil) throws {
      database = try DatabaseQueue(path: path)
      try database.write { database in
        try database.execute(
          sql:
            "CREATE TABLE readings (id INTEGER PRIMARY KEY, sensor INTEGER, value REAL, unit TEXT)"
        )
      }
      if let pageLimit {
        try database.writeWithoutTransaction { database in
          try database.execute(sql: "PRAGMA max_page_count = \(pageLimit)")
        }
      }
    }

    /// Subscribes to the readings.
    nonisolated func observe(_ readings: DynamicProxy) throws -> DynamicProxy.QueuedSubscription {
      try readings.subscribe(actor: self, to: SensorKey.measured) {
        (archive: isolated Archive, sensor: Int32, value: Double, unit: String) in
        archive.add(Reading(sensor: sensor, value: value, unit: unit))
      }
    }

    private func add(_ reading: Reading) {
      waiting.append(reading)
      if waiting.count == 1000 { write() }
    }

    /// Writes the readings that wait. The actor is busy meanwhile, and its mailbox takes what comes.
    func write() {
      defer { waiting = [] }
      guard failure == nil else {
        lostCount += waiting.count
        return
      }
      do {
        try database.write { database in
          let insert = try database.cachedStatement(
            sql: "INSERT INTO readings (sensor, value, unit) VALUES (?, ?, ?)")
          for reading in waiting {
            try insert.execute(arguments: [reading.sensor, reading.value, reading.unit])
          }
        }
      } catch {
        failure = error
        lostCount += waiting.count
      }
    }

    /// The number of readings in the database.
    func count() throws -> Int {
      try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM readings") ?? 0 }
    }

    /// The values of a sensor, in the order in which they were written.
    func values(of sensor: Int32) throws -> [Double] {
      try database.read {
        try Double.fetchAll(
          $0, sql: "SELECT value FROM readings WHERE sensor = ? ORDER BY id", arguments: [sensor])
      }
    }

    /// The latest reading, as the dashboard shows it.
    func latest() throws -> String? {
      try database.read {
        try Row.fetchOne($0, sql: "SELECT * FROM readings ORDER BY id DESC LIMIT 1")
      }.map { row in
        "sensor \(row["sensor"] as Int32): \(row["value"] as Double) \(row["unit"] as String)"
      }
    }
  }
#endif
