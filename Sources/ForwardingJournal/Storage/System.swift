// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  internal import Forwarding

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// Returns the system's message for an `errno`.
  internal func systemReason(_ number: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
      unsafe room.initialize(repeating: 0)
      // SAFETY: the system writes at most as many bytes, and a NUL.
      _ = unsafe strerror_r(number, room.baseAddress.unsafelyUnwrapped, room.count)
      return unsafe String(cString: room.baseAddress.unsafelyUnwrapped)
    }
  }

  /// Returns the path of a file without symbolic links; nil if there is no such file.
  internal func realPath(_ path: String) -> String? {
    // SAFETY: the path ends with a NUL. The system allocates the result.
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Identifies a file, by whatever path it is found.
  internal struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Nil if there is no such file.
    internal init?(_ path: String) {
      var status = stat()
      // SAFETY: the path ends with a NUL.
      guard unsafe stat(path, &status) == 0 else { return nil }
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// Returns the nanoseconds of a clock that is never set. On Linux it also runs while the
  /// system sleeps.
  internal func steadyTime() -> Int {
    var now = timespec()
    #if os(Linux)
      unsafe clock_gettime(CLOCK_BOOTTIME, &now)
    #else
      unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &now)
    #endif
    return now.tv_sec * 1_000_000_000 + now.tv_nsec
  }

  /// The lock that keeps a second `Journal` from recording into a file. The system releases
  /// it when the process ends or is killed.
  ///
  /// The lock is on a separate file. On the database itself, closing the descriptor would
  /// also release SQLite's locks, which belong to the process. It is found by the real path of
  /// the journal, which two symbolic links share. Two hard links do not share it, so this
  /// process also notes the files themselves.
  internal final class WriterClaim: Sendable {
    /// The files that this process records into.
    private static let claimed = Lock<Set<FileIdentity>>([])

    private let descriptor: Int32
    private let file: FileIdentity

    /// - Parameter path: a file that exists, since a symbolic link to a missing file has no
    ///   real path.
    /// - Throws: `JournalError` with the codes `cannotOpen`, `inUse`.
    internal init(_ path: String) throws(JournalError) {
      guard let path = realPath(path), let file = FileIdentity(path) else {
        throw JournalError(.cannotOpen, path, "the file cannot be opened: \(systemReason(ENOENT))")
      }
      // An initialiser that throws here does not run `deinit`, since a property has no value.
      guard Self.claimed.withLock({ $0.insert(file).inserted }) else { throw Self.inUse(path) }
      self.file = file
      // SAFETY: the path ends with a NUL.
      descriptor = unsafe open("\(path)-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else {
        let number = errno
        throw JournalError(
          .cannotOpen, path, "the file \(path)-lock cannot be made: \(systemReason(number))")
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        // An initialiser that throws here runs `deinit`, which closes the descriptor.
        let number = errno
        guard number == EWOULDBLOCK else {
          throw JournalError(
            .cannotOpen, path, "the file \(path)-lock cannot be locked: \(systemReason(number))")
        }
        throw Self.inUse(path)
      }
    }

    private static func inUse(_ path: String) -> JournalError {
      JournalError(
        .inUse, path,
        "another Journal records into the file, in this process or in another: expected one "
          + "writer at a time. To read it, use Journal(reading:)")
    }

    deinit {
      if descriptor >= 0 {
        // A process that is being started has the descriptor too until its program runs.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
      }
      _ = Self.claimed.withLock { [file] in $0.remove(file) }
    }
  }
#endif
