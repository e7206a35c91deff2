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
    .target(
      name: "CBenchmarks", dependencies: ["CForwarding", "CLibFFI"],
      path: "Benchmarks/Suite/CBenchmarks"),
    .executableTarget(
      name: "fwd-bench", dependencies: ["CBenchmarks"], path: "Benchmarks/Suite",
      exclude: ["CBenchmarks"], swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
