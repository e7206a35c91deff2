// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

// The examples are a separate package, so users of the library do not need these C libraries. scripts/examples installs
// the libraries, builds the programs, and runs each on real data.

let forwarding: Target.Dependency = .product(name: "Forwarding", package: "swift-forwarding")
let delivery: Target.Dependency = .product(
  name: "ForwardingDelivery", package: "swift-forwarding")

/// The measuring part of the library's own benchmarks.
let benchmarks: Target.Dependency = .product(
  name: "_Benchmarks", package: "swift-forwarding", condition: .when(traits: ["Benchmark"]))

let package = Package(
  name: "forwarding-examples",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(
      name: "GRDB",
      description: "The programs grdb-hooks and uv-sensors. Fetches GRDB.swift and builds it."),
    .trait(
      name: "AsyncAlgorithms",
      description: "The program signal-operators. Fetches swift-async-algorithms and builds it."),
    .trait(name: "Benchmark", description: "The program examples-bench."),
    .default(enabledTraits: ["GRDB", "AsyncAlgorithms"]),
  ],
  dependencies: [
    // `sqlite-journal` uses the trait `Journal`, which needs SQLite.
    .package(name: "swift-forwarding", path: "..", traits: ["Journal"]),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
  ],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(
      name: "CLibXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
    .target(name: "ExampleSupport"),
    .target(name: "SharedSQLite", dependencies: ["CSQLite", "ExampleSupport", forwarding]),
    .target(name: "SharedUV", dependencies: ["CUV", "ExampleSupport", forwarding]),
    .target(name: "SharedExpat", dependencies: ["CExpat", "ExampleSupport", forwarding]),
    .executableTarget(
      name: "sqlite-hooks", dependencies: ["CSQLite", "ExampleSupport", "SharedSQLite", forwarding]),
    .executableTarget(
      name: "sqlite-journal",
      dependencies: [
        "CSQLite", "ExampleSupport", "SharedSQLite", forwarding,
        .product(name: "ForwardingJournal", package: "swift-forwarding"),
        .product(name: "ForwardingWire", package: "swift-forwarding"),
      ]),
    .executableTarget(
      name: "expat-observers",
      dependencies: ["CExpat", "ExampleSupport", "SharedExpat", forwarding]),
    .executableTarget(
      name: "libxml-observers", dependencies: ["CLibXML", "ExampleSupport", forwarding]),
    .executableTarget(
      name: "uv-observers", dependencies: ["CUV", "ExampleSupport", "SharedUV", forwarding]),
    .executableTarget(
      name: "uv-sensors",
      dependencies: [
        "CUV", "ExampleSupport", "SharedUV", forwarding, delivery,
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
    .executableTarget(
      name: "signal-operators",
      dependencies: [
        "ExampleSupport", forwarding,
        .product(
          name: "AsyncAlgorithms", package: "swift-async-algorithms",
          condition: .when(traits: ["AsyncAlgorithms"])),
      ]),
    .target(
      name: "CExampleBench",
      dependencies: [.product(name: "CForwarding", package: "swift-forwarding"), benchmarks]),
    .executableTarget(
      name: "examples-bench",
      dependencies: [
        .target(name: "CExampleBench", condition: .when(traits: ["Benchmark"])), "CExpat",
        "CSQLite", "ExampleSupport", "SharedExpat", "SharedSQLite", forwarding, benchmarks,
      ]),
    .executableTarget(
      name: "grdb-hooks",
      dependencies: [
        "ExampleSupport", "SharedSQLite", forwarding,
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
