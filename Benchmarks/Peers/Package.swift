// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import PackageDescription

// A package of its own, so that nobody who uses the library resolves what it is compared with. What is not
// installed is left out: the C and C++ files look for the headers. scripts/bench installs it all.

/// The flags that find the header-only libraries; see scripts/bench.
let headers = ["sigslot/include", "nod/include", "nano-signal-slot"].flatMap { directory in
  Context.environment["FWD_BENCH_HEADERS"].map { ["-isystem", "\($0)/\(directory)"] } ?? []
}

/// The directory of the compiler's Objective-C headers, if GNUstep was found; see scripts/bench.
let gnustep = Context.environment["FWD_BENCH_GNUSTEP"]
let gnustepFlags =
  gnustep.map {
    [
      "-DFWD_BENCH_GNUSTEP", "-fobjc-runtime=gcc", "-fconstant-string-class=NSConstantString",
      "-fexceptions", "-fobjc-exceptions", "-fno-blocks", "-DGNUSTEP", "-DGNU_RUNTIME=1",
      "-DGNUSTEP_BASE_LIBRARY=1", "-isystem", "/usr/include/GNUstep", "-isystem", $0,
    ]
  } ?? []

let package = Package(
  name: "fwd-bench-peers",
  dependencies: [
    .package(name: "swift-forwarding", path: "../.."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CGObject", pkgConfig: "gobject-2.0", providers: [.apt(["libglib2.0-dev"])]),
    .systemLibrary(name: "CQtCore", pkgConfig: "Qt5Core", providers: [.apt(["qtbase5-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "CPeers",
      dependencies: [
        "CGObject", "CQtCore", "CSQLite",
        .product(name: "_Benchmarks", package: "swift-forwarding"),
      ],
      cSettings: [.unsafeFlags(gnustepFlags)],
      cxxSettings: [.unsafeFlags(headers)],
      linkerSettings: gnustep != nil
        ? [.linkedLibrary("gnustep-base"), .linkedLibrary("objc")] : []),
    .executableTarget(
      name: "fwd-bench-peers",
      dependencies: [
        "CPeers", "OpenCombine", .product(name: "OpenCombineDispatch", package: "OpenCombine"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "_Benchmarks", package: "swift-forwarding"),
      ],
      swiftSettings: [
        .strictMemorySafety(),
        .treatWarning("StrictMemorySafety", as: .error),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)
