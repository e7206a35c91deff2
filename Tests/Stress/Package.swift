// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

let strict = Context.environment["FWD_WARNINGS_AS_ERRORS"] != nil

// A package of its own, so that nobody who uses the library builds it.
let package = Package(
  name: "forwarding-stress",
  dependencies: [
    .package(name: "swift-forwarding", path: "../..")
  ],
  targets: [
    .target(
      name: "CStressSupport",
      dependencies: [.product(name: "CForwarding", package: "swift-forwarding")]),
    .executableTarget(
      name: "fwd-stress",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "ForwardingDelivery", package: "swift-forwarding"),
        .product(name: "CForwarding", package: "swift-forwarding"),
        "CStressSupport",
      ],
      swiftSettings: [
        .strictMemorySafety(),
        .treatWarning("StrictMemorySafety", as: .error),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ] + (strict ? [.treatAllWarnings(as: .error)] : [])),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)
