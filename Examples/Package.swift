// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

// The examples are a separate package, so users of the library do not need these C libraries. scripts/examples installs
// the libraries, builds the programs, and runs each on real data.

let forwarding: Target.Dependency = .product(name: "Forwarding", package: "swift-forwarding")

let package = Package(
  name: "forwarding-examples",
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .executableTarget(name: "sqlite-hooks", dependencies: ["CSQLite", forwarding]),
    .executableTarget(name: "expat-observers", dependencies: ["CExpat", forwarding]),
  ],
  swiftLanguageModes: [.v6]
)
