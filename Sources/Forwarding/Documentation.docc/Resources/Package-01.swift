// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "downloads",
  dependencies: [
    .package(name: "swift-forwarding", path: "../swift-forwarding")
  ],
  targets: [
    .executableTarget(
      name: "downloads",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding")
      ])
  ]
)
