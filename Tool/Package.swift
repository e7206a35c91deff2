// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

// The command line's -warnings-as-errors would reach swift-argument-parser too,
// where it contradicts the package manager's own flags.
let strict = Context.environment["FWD_WARNINGS_AS_ERRORS"] != nil

let swiftSettings: [SwiftSetting] =
  [
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
  name: "fwd",
  products: [
    .executable(name: "fwd", targets: ["fwd"])
  ],
  dependencies: [
    .package(name: "swift-forwarding", path: "..", traits: ["Journal"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .target(
      name: "CFileWalk",
      dependencies: [.product(name: "CForwarding", package: "swift-forwarding")],
      cSettings: strict ? [.treatAllWarnings(as: .error)] : []),
    .target(
      name: "CClangIndex",
      cSettings: strict ? [.treatAllWarnings(as: .error)] : []),
    .executableTarget(
      name: "fwd",
      dependencies: [
        "CClangIndex",
        "CFileWalk",
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "ForwardingJournal", package: "swift-forwarding"),
        .product(name: "ForwardingWire", package: "swift-forwarding"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "fwdTests",
      dependencies: [
        "fwd",
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "ForwardingJournal", package: "swift-forwarding"),
        .product(name: "ForwardingWire", package: "swift-forwarding"),
      ], swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
