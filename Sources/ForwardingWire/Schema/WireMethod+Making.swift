// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

extension WireMethod {
  /// Plans the records of a method.
  ///
  /// - Parameter rules: those that were stated, by the index of the argument behind
  ///   the receiver and the selector.
  /// - Throws: `WireError` with the codes `notCarried`, `invalidRule`,
  ///   `limitExceeded`.
  internal convenience init(
    _ selector: MethodSelector, _ signature: MethodSignature, _ rules: [Int: WirePointerRule]
  ) throws(WireError) {
    var maker = MethodMaker(selector, signature, rules)
    try maker.make()
    self.init(
      selector, signature, pieces: maker.pieces, pointers: maker.pointers,
      codedTypes: maker.codedTypes,
      entry: SchemaEntry.bytes(selector.name, signature, maker.stated))
  }
}

extension WireMethod {
  /// Plans a method by a recorded schema, to show its records.
  ///
  /// - Throws: `WireError` with the code `malformed`.
  internal convenience init(recorded entry: SchemaEntry) throws(WireError) {
    func malformed(_ error: any Error) -> WireError {
      WireError(
        .malformed, "the recorded method \"\(entry.selector)\" cannot be read: \(error)",
        selector: entry.selector)
    }
    let selector: MethodSelector
    let signature: MethodSignature
    do throws(ForwardingError) {
      selector = try MethodSelector(validating: entry.selector)
      signature = try MethodSignature(entry.encoding, stating: entry.statedLayouts)
    } catch {
      throw malformed(error)
    }
    var rules: [Int: WirePointerRule] = [:]
    for rule in entry.rules {
      switch rule.rule {
      case .cString: rules[rule.argument] = .cString
      case .counted: rules[rule.argument] = .counted(by: rule.operand)
      case .fixed: rules[rule.argument] = .fixed(count: rule.operand)
      case .codable:
        let index = signature.firstArgumentIndex + rule.argument
        let type = index < signature.arguments.count ? signature.arguments[index].encoding : nil
        let name = type?.pointee?.name ?? ""
        rules[rule.argument] = WirePointerRule(form: .codable(UnknownValue(name: name)))
      }
    }
    do throws(WireError) {
      try self.init(selector, signature, rules)
    } catch {
      throw malformed(error)
    }
  }
}

private struct MethodMaker {
  let selector: String
  let signature: MethodSignature
  let rules: [Int: WirePointerRule]
  /// The arguments without the receiver and the selector.
  let arguments: [MethodSignature.Argument]

  var pieces: [WireMethod.Piece] = []
  var pointers: [WireMethod.Pointer] = []
  var codedTypes: [(any CodedType)?] = []
  /// The rules as the schema record has them.
  var stated: [SchemaEntry.Rule] = []

  init(
    _ selector: MethodSelector, _ signature: MethodSignature, _ rules: [Int: WirePointerRule]
  ) {
    self.selector = selector.name
    self.signature = signature
    self.rules = rules
    arguments = Array(signature.arguments[signature.firstArgumentIndex...])
  }

  mutating func make() throws(WireError) {
    if let index = rules.keys.sorted().first(where: { !arguments.indices.contains($0) }) {
      throw invalid(
        "there is no argument \(index) of \"\(selector)\" (\"\(signature)\"): expected 0 to "
          + "\(arguments.count - 1), counted without the receiver and the selector")
    }
    guard signature.frameSize <= WireLimits.frameSize else {
      throw WireError(
        .limitExceeded,
        "the arguments of \"\(selector)\" have \(signature.frameSize) bytes, expected at most "
          + "\(WireLimits.frameSize)", selector: selector)
    }
    for (index, argument) in arguments.enumerated() {
      let isPointer = argument.encoding.kind == .pointer || argument.encoding.kind == .cString
      if isPointer && !argument.encoding.isFunction {
        try addPointer(index, argument)
      } else {
        try addValue(index, argument)
      }
    }
    guard pointers.count <= WireLimits.pointerCount else {
      throw WireError(
        .limitExceeded,
        "\"\(selector)\" has \(pointers.count) pointers, expected at most "
          + "\(WireLimits.pointerCount)", selector: selector)
    }
  }

  private func position(_ argument: MethodSignature.Argument) -> Int {
    RecordHeader.size + (argument.frameOffset ?? 0)
  }

  // MARK: Values

  private mutating func addValue(
    _ index: Int, _ argument: MethodSignature.Argument
  ) throws(WireError) {
    if rules[index] != nil {
      throw invalid("\(place(index)) has a rule, but is no pointer")
    }
    if let obstacle = argument.encoding.obstacle { throw notCarried(index, obstacle) }
    for range in argument.encoding.dataRanges(stated: signature.statedLayouts) {
      pieces.append(
        WireMethod.Piece(
          argument: index, source: range.lowerBound,
          place: position(argument) + range.lowerBound, size: range.count))
    }
  }

  // MARK: Pointers

  private mutating func addPointer(
    _ index: Int, _ argument: MethodSignature.Argument
  ) throws(WireError) {
    let isString = argument.encoding.kind == .cString
    guard let rule = rules[index] ?? (isString ? .cString : nil) else {
      throw WireError(
        .notCarried,
        "\(place(index)) is a pointer without a rule: write $0.rule(\"\(selector)\", argument: "
          + "\(index), …) with .counted(by:), .fixed(count:), .cString or .codable, or "
          + "$0.leaveOut(\"\(selector)\")", selector: selector)
    }
    var pointer = WireMethod.Pointer(
      argument: index, place: position(argument), rule: .cString, size: 1,
      countType: .int8, countArgument: 0, countPlace: 0)
    var operand = 0
    var codedType: (any CodedType)?
    switch rule.form {
    case .cString: try checkIsString(index, argument.encoding)
    case .counted(by: let counter):
      pointer.rule = .counted
      pointer.size = try elementSize(index, argument.encoding)
      pointer.tail = tailPadding(argument.encoding)
      pointer.countType = try countType(index, counter)
      pointer.countArgument = counter
      pointer.countPlace = position(arguments[counter])
      operand = counter
    case .fixed(let count):
      pointer.rule = .fixed
      pointer.size = try fixedSize(index, argument.encoding, count)
      pointer.tail = tailPadding(argument.encoding)
      operand = count
    case .codable(let type):
      pointer.rule = .codable
      guard argument.encoding.pointee?.name == type.name else {
        throw invalid(
          "\(place(index)) is not the address of a Swift value: expected \"^{\(type.name)}\"")
      }
      codedType = type
    }
    pointers.append(pointer)
    codedTypes.append(codedType)
    stated.append(SchemaEntry.Rule(argument: index, rule: pointer.rule, operand: operand))
  }

  private func checkIsString(_ index: Int, _ encoding: TypeEncoding) throws(WireError) {
    let kind = encoding.pointee?.kind
    guard encoding.kind == .cString || kind == .char || kind == .unsignedChar else {
      throw invalid("\(place(index)) is no C string: expected \"*\", \"^c\" or \"^C\"")
    }
  }

  private func countType(_ index: Int, _ counter: Int) throws(WireError) -> CountType {
    guard arguments.indices.contains(counter) else {
      throw invalid(
        "\(place(index)) is counted by argument \(counter): expected 0 to \(arguments.count - 1)")
    }
    guard let type = CountType(arguments[counter].encoding.kind) else {
      throw invalid("\(place(index)) is counted by \(place(counter)): expected an integer")
    }
    return type
  }

  private func elementSize(_ index: Int, _ encoding: TypeEncoding) throws(WireError) -> Int {
    guard let pointee = encoding.pointee, pointee.kind != .void else { return 1 }
    if let obstacle = pointee.obstacle { throw notCarried(index, obstacle) }
    let layout: TypeLayout
    do throws(ForwardingError) {
      layout = try pointee.layout()
    } catch {
      throw notCarried(index, "the size of an element is not known: \(error)")
    }
    guard layout.size > 0, layout.size <= WireLimits.heapSize, layout.alignment <= 8 else {
      throw notCarried(
        index,
        "an element has \(layout.size) bytes aligned to \(layout.alignment); expected 1 to "
          + "\(WireLimits.heapSize) aligned to at most 8")
    }
    return layout.size
  }

  /// The padding at the end of an element whose size is known.
  private func tailPadding(_ encoding: TypeEncoding) -> Int {
    guard let pointee = encoding.pointee, let layout = try? pointee.layout(),
      let data = pointee.dataRanges(stated: signature.statedLayouts).last
    else { return 0 }
    return layout.size - data.upperBound
  }

  private func fixedSize(
    _ index: Int, _ encoding: TypeEncoding, _ count: Int
  ) throws(WireError) -> Int {
    let size = try elementSize(index, encoding)
    guard count > 0, count <= WireLimits.heapSize / size else {
      throw invalid(
        "\(place(index)) has a fixed count of \(count): expected 1 to "
          + "\(WireLimits.heapSize / size)")
    }
    return count * size
  }

  // MARK: Errors

  private func place(_ index: Int) -> String {
    "argument \(index) (\"\(arguments[index].encoding)\") of \"\(selector)\""
  }

  private func invalid(_ sentence: String) -> WireError {
    WireError(.invalidRule, sentence, selector: selector)
  }

  private func notCarried(_ index: Int, _ obstacle: String) -> WireError {
    WireError(
      .notCarried,
      "\(place(index)) cannot be carried: \(obstacle). To record the other methods, write "
        + "$0.leaveOut(\"\(selector)\")", selector: selector)
  }
}
