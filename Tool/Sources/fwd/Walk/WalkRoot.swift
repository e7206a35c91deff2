// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where a walk begins: a directory that can be read, or a link to one, which
/// is all that is met then.
struct WalkRoot {
  /// The path for nftw, as C needs it.
  let walkPath: [UInt8]
  /// Whether it is a link without a slash behind it: `find` would not follow it
  /// either.
  let isLink: Bool
  /// Whether `walkPath` ends in a dot that the user did not write.
  private let hasOwnDot: Bool

  init(_ path: [UInt8]) throws {
    let shownPath = path.isEmpty ? "''" : DisplayText.escaped(path)
    func failure(_ code: Int32) -> Failure {
      Failure(.noInput, "\(shownPath): \(reason(code))")
    }

    // Also the target of a link has to be there.
    var status = stat()
    // SAFETY: the path ends with a NUL; the output is a local variable.
    guard unsafe stat(path.asCString, &status) == 0 else { throw failure(errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw failure(ENOTDIR) }

    let slash = UInt8(ascii: "/")
    var name = path
    while name.count > 1 && name.last == slash { name.removeLast() }
    // SAFETY: as above.
    guard unsafe lstat(name.asCString, &status) == 0 else { throw failure(errno) }
    let meetsLink = status.st_mode & S_IFMT == S_IFLNK
    isLink = meetsLink && path.last != slash
    // nftw takes slashes at the end away, and would then meet the link that a
    // slash asks to follow.
    hasOwnDot = meetsLink && !isLink
    walkPath = hasOwnDot ? path + [UInt8(ascii: ".")] : path
    if isLink { return }
    // SAFETY: as above; the stream is closed at once.
    guard let stream = unsafe opendir(path.asCString) else { throw failure(errno) }
    unsafe closedir(stream)
  }

  /// A path that nftw gave, as the user would write it.
  func shown(_ path: [UInt8]) -> [UInt8] {
    guard hasOwnDot && path.starts(with: walkPath) else { return path }
    return Array(walkPath.dropLast() + path.dropFirst(walkPath.count + 1))
  }
}

extension [UInt8] {
  /// The bytes with a NUL behind them.
  fileprivate var asCString: [CChar] { map { CChar(bitPattern: $0) } + [0] }
}

/// The arguments as bytes: Swift's strings cannot hold those that are no UTF-8.
enum RawArgument {
  /// Gives the bytes of the argument that Swift shows as `text`.
  static func bytes(of text: String) -> [UInt8] {
    let arguments = unsafe CommandLine.unsafeArgv
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // SAFETY: there are argc arguments, each ended by a NUL.
      guard let argument = unsafe arguments[index] else { continue }
      let bytes = unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
      if String(decoding: bytes, as: UTF8.self) == text { return bytes }
    }
    return Array(text.utf8)
  }
}
