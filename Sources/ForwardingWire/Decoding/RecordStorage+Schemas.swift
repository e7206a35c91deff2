// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

// Compares a recorded schema with the reader's.
extension RecordStorage {
  /// Reads a schema record whose checksum is right.
  @inline(never)
  internal func readSchema(_ start: Int, _ length: Int) throws(WireError) {
    // SAFETY: the record lies in the bytes.
    let record = unsafe UnsafeRawBufferPointer(start: base + start, count: length)
    let magic = SchemaRecord.magic
    guard length >= SchemaRecord.start,
      unsafe record[RecordHeader.size..<RecordHeader.size + magic.count].elementsEqual(magic)
    else { throw malformed("the schema record has no \"FWDWIRE\\n\" at byte 40") }
    guard unsafe record[10..<12].allSatisfy({ $0 == 0 }),
      unsafe record[16..<RecordHeader.size].allSatisfy({ $0 == 0 }),
      unsafe record[52..<56].allSatisfy({ $0 == 0 })
    else {
      throw malformed("bytes 10 to 11, 16 to 39 or 52 to 55 of the schema record are not zero")
    }
    let identifier = unsafe record.load(fromByteOffset: 12, as: UInt32.self)
    let expected = unsafe SchemaRecord.identifier(base + start, length: length)
    guard identifier == expected else {
      throw malformed(
        "the schema has the identifier \(hexadecimal(identifier)), expected "
          + hexadecimal(expected))
    }
    if let earlier = schemas[identifier] {
      let same = unsafe UnsafeRawBufferPointer(start: base, count: count)[earlier.range]
      if unsafe same.elementsEqual(record) {
        schemas[identifier]?.message = message
        return
      }
      guard earlier.message != message else {
        throw malformed("two different schemas have the identifier \(hexadecimal(identifier))")
      }
    }
    let methods: [Unmanaged<WireMethod>?]
    var faults: [Int: WireError] = [:]
    if let schema, unsafe record.elementsEqual(schema.bytes) {
      unsafe methods = schema.methods.map { unsafe Unmanaged.passUnretained($0) }
    } else {
      unsafe methods = try readMethods(record, &faults)
    }
    if !faults.isEmpty { hasFaults = true }
    schemas[identifier] = unsafe Recorded(
      range: start..<start + length, methods: methods, faults: faults, message: message)
  }

  /// - Parameter faults: gets the faults that are errors at invocations.
  private func readMethods(
    _ record: UnsafeRawBufferPointer, _ faults: inout [Int: WireError]
  ) throws(WireError) -> [Unmanaged<WireMethod>?] {
    let count = Int(unsafe record.load(fromByteOffset: 48, as: UInt32.self))
    guard count <= WireLimits.methodCount else {
      throw malformed("the schema has \(count) methods, expected at most \(WireLimits.methodCount)")
    }
    var methods: [Unmanaged<WireMethod>?] = unsafe []
    var names: Set<String> = []
    var position = SchemaRecord.start
    for _ in 0..<count {
      let (entry, end) = try unsafe SchemaEntry.read(record, at: position)
      guard names.insert(entry.selector).inserted else {
        throw WireError(
          .malformed, "the schema has \"\(entry.selector)\" twice", selector: entry.selector)
      }
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: record[position..<end])
      do throws(WireError) {
        unsafe methods.append(try unsafe find(entry, bytes).map { unsafe .passUnretained($0) })
      } catch {
        guard case .atInvocation(let names) = misfitRule,
          error.code == .schemaMismatch || error.code == .unknownMethod
        else { throw error }
        if names?.contains(entry.selector) ?? true { faults[unsafe methods.count] = error }
        unsafe methods.append(nil)
      }
      position = end
    }
    guard position == record.count else {
      throw malformed("the methods end at byte \(position) of \(record.count)")
    }
    return unsafe methods
  }

  /// The reader's method for a recorded one; nil if the reader leaves it out.
  private func find(
    _ entry: SchemaEntry, _ bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> WireMethod? {
    guard let schema else {
      let method = try WireMethod(recorded: entry)
      recordedMethods.append(method)
      return method
    }
    if schema.leftOut.contains(entry.selector) { return nil }
    // Names from outside are not interned: they would stay in memory.
    guard let selector = MethodSelector(known: entry.selector),
      let index = schema.index(of: selector)
    else {
      throw WireError(
        .unknownMethod,
        "the recorded schema has \"\(entry.selector)\" as \"\(entry.encoding)\", but the reader's "
          + "schema does not have it. To skip its records, write "
          + "$0.leaveOut(\"\(entry.selector)\")", selector: entry.selector)
    }
    let method = schema.methods[index]
    if unsafe !bytes.elementsEqual(method.entry) { try entry.compare(with: method) }
    return method
  }

  private func malformed(_ sentence: String) -> WireError { WireError(.malformed, sentence) }
}

// MARK: - Entries

extension SchemaEntry {
  /// Reads the method at an offset of a schema record.
  ///
  /// - Returns: the method and the offset behind it.
  fileprivate static func read(
    _ record: UnsafeRawBufferPointer, at start: Int
  ) throws(WireError) -> (SchemaEntry, end: Int) {
    func fault(_ reason: String) -> WireError {
      WireError(.malformed, "the method at byte \(start) of the schema record: \(reason)")
    }
    guard record.count - start >= headSize else { throw fault("its sizes are cut off") }
    func size(_ offset: Int) -> Int {
      Int(unsafe record.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self))
    }
    let (nameSize, encodingSize, layoutsSize, ruleCount) = (size(0), size(4), size(8), size(12))
    guard ruleCount <= WireLimits.pointerCount else {
      throw fault("it has \(ruleCount) rules, expected at most \(WireLimits.pointerCount)")
    }
    // Each is below 2^32, so that the sum does not overflow.
    let textStart = start + headSize + ruleCount * 8
    let textEnd = textStart + nameSize + encodingSize + layoutsSize
    let end = (textEnd + 7) & ~7
    guard end <= record.count else {
      throw fault("it ends at byte \(end) of \(record.count)")
    }
    func text(_ range: Range<Int>) throws(WireError) -> String {
      let bytes = unsafe UnsafeRawBufferPointer(rebasing: record[range])
      guard let text = unsafe String(validating: bytes, as: UTF8.self), !text.utf8.contains(0)
      else {
        throw fault(
          "bytes \(range.lowerBound) to \(range.upperBound - 1) are not UTF-8, or have a NUL")
      }
      return text
    }
    let encodingStart = textStart + nameSize
    let layoutsStart = encodingStart + encodingSize
    let entry = SchemaEntry(
      selector: try text(textStart..<encodingStart),
      encoding: try text(encodingStart..<layoutsStart),
      rules: try (0..<ruleCount).map { index throws(WireError) in
        let place = start + headSize + index * 8
        let kind = unsafe record.loadUnaligned(fromByteOffset: place + 2, as: UInt16.self)
        guard let rule = UInt8(exactly: kind).flatMap(WireMethod.Pointer.Rule.init) else {
          throw fault("rule \(index) has the kind \(kind), expected 1 to 4")
        }
        return Rule(
          argument: Int(unsafe record.loadUnaligned(fromByteOffset: place, as: UInt16.self)),
          rule: rule,
          operand: Int(unsafe record.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)))
      },
      layouts: try text(layoutsStart..<textEnd))
    guard !entry.selector.isEmpty else { throw fault("its name is empty") }
    return (entry, end)
  }

  /// Compares a recorded method with the reader's. They may be spelled differently if
  /// their arguments have equal types.
  fileprivate func compare(with method: WireMethod) throws(WireError) {
    func mismatch(_ reason: String) -> WireError {
      WireError(
        .schemaMismatch,
        "\"\(selector)\" was recorded as \"\(encoding)\", but the reader declares "
          + "\"\(method.signature)\": \(reason)", selector: selector)
    }
    let own = SchemaEntry.parse(method.entry)
    guard layouts == own.layouts else {
      throw mismatch("the stated layouts differ, \"\(layouts)\" and \"\(own.layouts)\"")
    }
    if encoding != own.encoding {
      let signature: MethodSignature
      do throws(ForwardingError) {
        signature = try MethodSignature(encoding, stating: method.signature.statedLayouts)
      } catch {
        guard error.code == .malformed || error.code == .tooDeep || error.code == .overflow else {
          throw mismatch("the recorded encoding has no layout, \(error)")
        }
        throw WireError(
          .malformed, "the recorded encoding of \"\(selector)\" cannot be read: \(error)",
          selector: selector)
      }
      guard signature.hasArguments(of: method.signature) else {
        throw mismatch("the arguments differ")
      }
    }
    guard rules == own.rules else {
      throw mismatch(
        "the pointer rules differ, \(Self.words(rules)) and \(Self.words(own.rules))")
    }
  }

  /// Reads an entry that this process has made.
  private static func parse(_ bytes: [UInt8]) -> SchemaEntry {
    unsafe bytes.withUnsafeBytes { bytes in
      // The entry is whole, so nothing is thrown.
      let entry = try? unsafe read(bytes, at: 0).0
      return entry ?? SchemaEntry(selector: "", encoding: "", rules: [], layouts: "")
    }
  }

  private static func words(_ rules: [Rule]) -> String {
    let words = rules.map { rule in
      switch rule.rule {
      case .cString: "argument \(rule.argument): C string"
      case .counted: "argument \(rule.argument): counted by \(rule.operand)"
      case .fixed: "argument \(rule.argument): \(rule.operand) elements"
      case .codable: "argument \(rule.argument): Codable"
      }
    }
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}
