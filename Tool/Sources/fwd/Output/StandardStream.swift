// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Standard output or standard error, written without a buffer of its own.
struct StandardStream {
  static let output = StandardStream(descriptor: 1)
  static let error = StandardStream(descriptor: 2)

  private let descriptor: Int32

  /// Whether a person looks at it.
  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The width in columns: `COLUMNS` if it is set, else the terminal's, else
  /// 80.
  var width: Int {
    if let columns = environment("COLUMNS").flatMap({ Int($0) }), columns > 0 {
      return min(columns, 10_000)
    }
    var size = winsize()
    // SAFETY: the request fills the structure that it is given.
    let status = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
    return status == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }

  /// Writes all of the text, and gives 0 or an `errno`. Where nobody reads any
  /// more, the signal for that ends the process, as it should; where the signal
  /// is ignored, EPIPE is the result.
  @discardableResult
  func put(_ text: String) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while unsafe !rest.isEmpty {
        // SAFETY: the buffer is valid in this closure, and as long as it says.
        let count = unsafe write(descriptor, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 { return errno }
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
      return 0
    }
  }
}

/// Prints what a command has to say. Nobody to read it is no failure; a full
/// disk is.
func printOutput(_ text: String) throws {
  let code = StandardStream.output.put(text)
  guard code != 0 else { return }
  throw Failure(.inputOutput, "cannot write to standard output: \(reason(code))")
}

/// The value of an environment variable; nil if it is missing or empty.
func environment(_ name: String) -> String? {
  // SAFETY: the string is copied, and nothing here changes the environment.
  guard let value = unsafe getenv(name).map({ unsafe String(cString: $0) }) else { return nil }
  return value.isEmpty ? nil : value
}
