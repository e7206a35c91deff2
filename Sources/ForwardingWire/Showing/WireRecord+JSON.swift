// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

extension WireRecord {
  /// The record as one line of JSON: an object with the members `method`, `time`,
  /// `producer`, `sequence` and `arguments`.
  ///
  /// ```
  /// {"method":"tick:symbol:","time":1767225600000000000,"producer":7,"sequence":1,"arguments":[101.5,"ACME"]}
  /// ```
  ///
  /// | argument | JSON |
  /// |---|---|
  /// | integers, floating-point numbers, `Bool` | a number, `true`, `false`; `"nan"`, `"inf"` and `"-inf"`; 128-bit integers as strings |
  /// | a C string | a string; bytes that are no UTF-8 become U+FFFD |
  /// | a struct | an object if all fields have names, else an array |
  /// | an array, a complex number, a counted or fixed buffer | an array |
  /// | a buffer of `void` or of characters, a union, a struct with bit-fields | a string of hexadecimal digits |
  /// | a Swift value | the JSON that was recorded |
  /// | NULL | `null` |
  ///
  /// - Complexity: O(*n*) in the length of the record.
  public var json: String {
    var text = "{\"method\":"
    text.appendQuoted(selector.name)
    text += ",\"time\":\(time),\"producer\":\(producer),\"sequence\":\(sequence),"
    text += "\"arguments\":["
    appendArguments(separator: ",", to: &text)
    return text + "]}"
  }

  private func appendArguments(separator: String, to text: inout String) {
    // SAFETY: the storage holds the schema, which holds its methods.
    unsafe found.use { method in
      let count = method.signature.arguments.count - method.signature.firstArgumentIndex
      for index in 0..<count {
        if index > 0 { text += separator }
        // SAFETY: the decoder has checked the record against the method.
        unsafe method.append(argument: index, of: UnsafeRawPointer(base), to: &text)
      }
    }
  }
}

extension WireRecord: CustomStringConvertible {
  /// The method and the arguments: `tick:symbol: 101.5, "ACME"`. The arguments are
  /// written as in ``json``.
  public var description: String {
    var text = ""
    appendArguments(separator: ", ", to: &text)
    return text.isEmpty ? selector.name : selector.name + " " + text
  }
}

extension WireMethod {
  /// Appends an argument of a record that the decoder has checked.
  @unsafe fileprivate func append(
    argument index: Int, of record: UnsafeRawPointer, to text: inout String
  ) {
    let argument = signature.arguments[signature.firstArgumentIndex + index]
    let place = unsafe record + RecordHeader.size + (argument.frameOffset ?? 0)
    let found = (0..<pointerCount).first { unsafe pointers[$0].argument == index }
    guard let found else { return unsafe argument.encoding.appendJSON(place, to: &text) }
    let pointer = unsafe pointers[found]
    let slot = unsafe place.loadUnaligned(as: UInt64.self)
    if slot == 0 {
      text += "null"
    } else if pointer.rule == .codable {
      // Its slot still has the offset and the size.
      let bytes = unsafe UnsafeRawBufferPointer(
        start: record + Int(slot & 0xFFFF_FFFF), count: Int(slot >> 32))
      unsafe text.appendRecordedJSON(bytes)
    } else {
      // SAFETY: the decoder has stored a pointer to the copy, whose size it has checked.
      let target = unsafe place.loadUnaligned(as: UnsafeRawPointer.self)
      if pointer.rule == .cString {
        text.appendQuoted(unsafe String(cString: target.assumingMemoryBound(to: UInt8.self)))
      } else {
        var size = pointer.size
        if pointer.rule == .counted {
          size *= unsafe pointer.countType.load(record + pointer.countPlace) ?? 0
        }
        unsafe argument.encoding.appendElements(
          UnsafeRawBufferPointer(start: target, count: size), to: &text)
      }
    }
  }
}
