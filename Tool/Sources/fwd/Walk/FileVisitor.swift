// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The protocol table that all observers of a walk implement: nftw's own
/// arguments and result, so that the proxy's function pointer can be handed to
/// it as it is.
enum FileVisitor {
  static let visit: MethodSelector = "visit:status:kind:position:"
  static let finished: MethodSelector = "finished:"

  /// The result is nftw's: 0 goes on. The fan-out ends with the first observer
  /// who wants to stop, so that those behind it do not see the file at which
  /// the walk stops.
  static let visitEncoding = "i@:*^{stat=}i^{FTW=ii}"

  /// Registers the table by its name, at startup.
  static func register() throws(ForwardingError) -> ProtocolTable {
    try ProtocolTable("FileVisitor") {
      $0.required(
        visit.name, visitEncoding, result: .until { (code: Int32) in code != 0 },
        default: StopReason.none)
      $0.optional(finished.name, "v@:Q")
    }.register()
  }
}

/// What an observer answers: nftw stops for everything but 0, and gives it to
/// its caller.
enum StopReason: Int32 {
  case none = 0
  case limit = 1
  case interrupt = 2
}

/// One call of nftw's callback.
@safe struct VisitedFile {
  let kind: file_kind
  private let status: UnsafePointer<stat>
  private let pathPointer: UnsafePointer<CChar>

  /// The pointers must be those that nftw gave, and the value not outlive the
  /// call.
  @unsafe init(path: UnsafePointer<CChar>, status: UnsafePointer<stat>, kind: Int32) {
    self.kind = unsafe file_kind_of(kind, status)
    unsafe self.status = status
    unsafe pathPointer = path
  }

  var isRegular: Bool { kind == FILE_KIND_REGULAR }

  /// The size that the system states, in bytes.
  var size: UInt64 {
    // SAFETY: nftw's pointer is valid during its call.
    kind == FILE_KIND_UNKNOWN ? 0 : UInt64(clamping: unsafe status.pointee.st_size)
  }

  /// The path as nftw has it, in whatever encoding the file system has.
  var path: [UInt8] {
    // SAFETY: nftw's string ends with a NUL and is valid during its call.
    unsafe Array(UnsafeRawBufferPointer(start: pathPointer, count: strlen(pathPointer)))
  }
}

extension FunctionTable.Builder where Owner: AnyObject {
  /// Adds `visit:status:kind:position:` as a typed closure. `OpaquePointer`
  /// stands for nftw's `struct FTW *`, which glibc hides from Swift.
  mutating func onVisit(_ body: @escaping @Sendable (Owner, VisitedFile) -> StopReason) {
    unsafe on(Forwarding.Method(FileVisitor.visit)) {
      (
        self: Owner, path: UnsafePointer<CChar>, status: UnsafePointer<stat>, kind: Int32,
        _: OpaquePointer
      ) -> StopReason in
      // SAFETY: these are nftw's own pointers, and the value ends with the
      // call.
      body(self, unsafe VisitedFile(path: path, status: status, kind: kind))
    }
  }
}
