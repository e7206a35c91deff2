// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  public import ForwardingWire

  /// The error that every throwing function of this module throws.
  ///
  /// `code` says what is wrong. `description` says in one sentence what was given,
  /// what was expected and where:
  ///
  /// ```
  /// calls.journal, position 17: "tick:" was recorded as "v@:d", but the reader declares "v@:q": the arguments differ
  /// ```
  public struct JournalError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// Later versions may add codes, so a `switch` needs an `@unknown default`.
    @nonexhaustive
    public enum Code: String, Sendable, CaseIterable {
      /// The file cannot be opened or made.
      case cannotOpen
      /// The file is not a journal.
      case notAJournal
      /// The file has a version of the format that this library does not read.
      case unsupportedVersion
      /// Another `Journal`, in this process or in another, records into the file.
      case inUse
      /// The journal is open for reading only.
      case readOnly
      /// The journal has been closed.
      case closed
      /// The system could not write the file, for example because the disk is full. The
      /// journal records nothing more.
      case notWritten
      /// The file cannot be read, or its contents are damaged.
      case damaged
      /// A recorded method does not fit the reader's schema. The description names the
      /// method and both encodings.
      case schemaMismatch
      /// A call, a proxy or some bytes cannot be recorded: see ``JournalError/wireError``.
      case notRecorded
      /// A proxy could not forward a recorded call: see ``JournalError/wireError``.
      case notForwarded
      /// An argument of the function is out of its range.
      case invalidArgument
    }

    // One reference keeps the error in a register when it is thrown.
    private let storage: Storage

    private final class Storage: Sendable {
      let code: Code
      let place: String
      let sentence: String
      let position: Int?
      let wireError: WireError?

      init(
        _ code: Code, _ place: String, _ sentence: String, _ position: Int?, _ wireError: WireError?
      ) {
        self.code = code
        self.place = place
        self.sentence = sentence
        self.position = position
        self.wireError = wireError
      }
    }

    /// - Parameters:
    ///   - path: the file.
    ///   - position: the position of the record that the error is about.
    internal init(
      _ code: Code, _ path: String, _ sentence: String, position: Int? = nil,
      wireError: WireError? = nil
    ) {
      let place = position.map { "\(path), position \($0)" } ?? path
      storage = Storage(code, place, sentence, position, wireError)
    }

    /// The kind of error.
    public var code: Code { storage.code }

    /// The position of the record that the error is about; nil if it is about no single
    /// record.
    public var position: Int? { storage.position }

    /// The error of a record, a schema or a proxy, with the name of the method; nil for
    /// other errors.
    public var wireError: WireError? { storage.wireError }

    /// One sentence that says what was given, what was expected and where.
    public var description: String { "\(storage.place): \(storage.sentence)" }

    /// The description without the file and the position.
    internal var reason: String { storage.sentence }

    /// Returns whether two errors have the same code and description.
    public static func == (left: JournalError, right: JournalError) -> Bool {
      left.code == right.code && left.description == right.description
    }
  }
#endif
