// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

// Subscribers in other processes and on other machines. A separate package, so that users of the library do not need
// the NATS client. scripts/remote installs it with the server, builds this package and runs its tests.

let swiftSettings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("StrictMemorySafety", as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let forwarding: Target.Dependency = .product(name: "Forwarding", package: "swift-forwarding")
let wire: Target.Dependency = .product(name: "ForwardingWire", package: "swift-forwarding")

let package = Package(
  name: "forwarding-remote",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "ForwardingRemote", targets: ["ForwardingRemote"])
  ],
  dependencies: [
    // The trait for the tests and the documentation: nothing else here uses the journal.
    .package(name: "swift-forwarding", path: "..", traits: ["Journal"])
  ],
  targets: [
    .systemLibrary(
      name: "CNATS", path: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .systemLibrary(
      name: "CRemoteSQLite", path: "CRemoteSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "ForwardingRemote", dependencies: ["CNATS", forwarding, wire],
      swiftSettings: swiftSettings),
    .target(
      name: "RemoteSupport", dependencies: ["ForwardingRemote"], path: "Tests/RemoteSupport",
      exclude: ["credentials.py"], swiftSettings: swiftSettings),
    // Kills publishers, servers and consumers, and counts what arrives.
    .executableTarget(
      name: "remote-simulation",
      dependencies: ["ForwardingRemote", "RemoteSupport", "CRemoteSQLite", forwarding, wire],
      path: "Simulation", swiftSettings: swiftSettings),
    // Two processes that share what happens in a database. scripts/remote kills both, and compares.
    .executableTarget(
      name: "sqlite-mirror",
      dependencies: ["ForwardingRemote", "RemoteSupport", "CRemoteSQLite", forwarding, wire],
      path: "Examples/sqlite-mirror", swiftSettings: swiftSettings),
    .target(
      name: "CRawNATS", dependencies: ["CNATS"], path: "Benchmarks/CRawNATS",
      cSettings: [.define("_POSIX_C_SOURCE", to: "200809L")]),
    .executableTarget(
      name: "remote-bench",
      dependencies: ["ForwardingRemote", "RemoteSupport", "CRawNATS", forwarding, wire],
      path: "Benchmarks/remote-bench", swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingRemoteTests",
      dependencies: [
        "ForwardingRemote", "RemoteSupport", forwarding, wire,
        .product(name: "ForwardingJournal", package: "swift-forwarding"),
      ],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
