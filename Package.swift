// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("StrictMemorySafety", as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "swift-forwarding",
  products: [
    .library(name: "Forwarding", targets: ["Forwarding"]),
    // forwarding.h for C targets. Proxies need the Swift module at link time; calls and closures do not.
    .library(name: "CForwarding", targets: ["CForwarding"]),
    // For Benchmarks/Peers only, a package of its own. The names of its targets are among those of every client.
    .library(
      name: "_Benchmarks",
      targets: [
        "FwdBenchDriver", "FwdBenchReceivers", "FwdBenchRows", "CFwdBench", "CFwdMeasure",
      ]),
  ],
  targets: [
    .systemLibrary(
      name: "CLibFFI", path: "CLibFFI", pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"]), .brew(["libffi"])]),
    .target(name: "CForwarding", dependencies: ["CLibFFI"], path: "CShims"),
    .target(name: "Forwarding", dependencies: ["CForwarding"], swiftSettings: swiftSettings),
    .target(
      name: "CTestFixtures", dependencies: ["CForwarding"], path: "Tests/Support/CTestFixtures"),
    .testTarget(
      name: "ForwardingTests", dependencies: ["Forwarding", "CForwarding", "CTestFixtures"],
      swiftSettings: swiftSettings),
    .target(name: "CFwdMeasure", path: "Benchmarks/Driver/CFwdMeasure"),
    .target(
      name: "FwdBenchDriver", dependencies: ["CFwdMeasure"], path: "Benchmarks/Driver",
      exclude: ["CFwdMeasure"], swiftSettings: swiftSettings),
    .target(
      name: "CFwdBench", dependencies: ["CForwarding", "CLibFFI", "CFwdMeasure"],
      path: "Benchmarks/Suite/CFwdBench"),
    .target(
      name: "FwdBenchReceivers", dependencies: ["CFwdBench", "Forwarding"],
      path: "Benchmarks/Suite/Receivers", swiftSettings: swiftSettings),
    .target(
      name: "FwdBenchRows",
      dependencies: [
        "FwdBenchDriver", "FwdBenchReceivers", "CFwdBench", "CForwarding", "CFwdMeasure",
        "Forwarding",
      ],
      path: "Benchmarks/Suite/Rows", swiftSettings: swiftSettings),
    .executableTarget(
      name: "fwd-bench", dependencies: ["FwdBenchDriver", "FwdBenchRows"],
      path: "Benchmarks/Suite", exclude: ["CFwdBench", "Receivers", "Rows"],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
