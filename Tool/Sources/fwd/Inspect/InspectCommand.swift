// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser
import Forwarding

/// `fwd inspect`: what an encoding means.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Tells what a type encoding or a method signature means.",
    discussion: """
      Sizes, alignments and offsets are those of the C compiler on this platform. A text that is one type, \
      such as {Point=dd}, is shown as a type, everything else as a method signature, such as v@:i: the \
      result, the receiver, the selector, the arguments. A text that cannot be read is shown with a caret \
      under the byte that is wrong, and the exit status is 65.

      With --plan it draws how functions of a method signature are called: which bytes of which argument \
      go to which register or stack word, and where the result comes back.
      """)

  @Argument(help: "The encoding; quote it for the shell.")
  var encoding: String

  enum Form: String, EnumerableFlag {
    case type, method

    static func help(for value: Form) -> ArgumentHelp? {
      switch value {
      case .type: "Read it as one type."
      case .method:
        "Read it as a method signature, even if it is one type: a result without arguments."
      }
    }
  }

  @Flag(exclusivity: .exclusive)
  var form: Form?

  @Flag(help: "Draw the call plan of a method signature.")
  var plan = false

  func validate() throws {
    if plan && form == .type { throw ValidationError("A type has no call plan.") }
  }

  func run() throws {
    try reporting {
      let text: String
      do throws(ForwardingError) {
        text =
          plan
          ? PlanText(try MethodSignature(encoding)).text(style: .standard)
          : try read().text(style: .standard)
      } catch {
        throw Failure(.dataError, error.description)
      }
      try printOutput(text)
    }
  }

  /// Reads the encoding in the form that was asked for; without one, as a type
  /// if it is one.
  private func read() throws(ForwardingError) -> InspectTable {
    switch form {
    case .type: return InspectTable(try TypeEncoding(encoding))
    case .method: return InspectTable(try MethodSignature(encoding))
    case nil: break
    }
    let typeError: ForwardingError
    do throws(ForwardingError) {
      return InspectTable(try TypeEncoding(encoding))
    } catch {
      typeError = error
    }
    do throws(ForwardingError) {
      return InspectTable(try MethodSignature(encoding))
    } catch {
      // The parser that got further gives the more useful error.
      throw error.offset ?? 0 > typeError.offset ?? 0 ? error : typeError
    }
  }
}
