// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The result and the parameters of a Swift `@convention(c)` function type, read
/// from the type's metadata.
///
/// Neither a cast nor a parameter pack can take such a type apart: the compiler
/// refuses `@convention(c) (repeat each A) -> R`.
internal struct CFunctionType {
  internal let result: Any.Type
  internal let parameters: [Any.Type]

  /// Reads a function type, or the one in an optional. Nil for other types.
  internal init?(_ type: Any.Type) {
    let type = (type as? any OptionalValue.Type)?.wrapped ?? type
    guard MetadataKind(of: type) == .function else { return nil }
    // SAFETY: a metatype is the address of the type's metadata. That of a function
    // goes on behind its kind with its flags, its result and its parameters
    // (swift/ABI/Metadata.h, TargetFunctionTypeMetadata). It is never freed.
    let words = unsafe unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    let flags = unsafe words[1]
    guard flags >> 16 & 0xff == Self.cConvention else { return nil }
    result = unsafe unsafeBitCast(words[2], to: Any.Type.self)
    parameters = (0..<Int(flags & 0xffff)).map {
      unsafe unsafeBitCast(words[3 + $0], to: Any.Type.self)
    }
  }

  /// `FunctionMetadataConvention::CFunctionPointer`.
  private static let cConvention: UInt = 3
}

// MARK: - Against a signature

extension CFunctionType {
  /// Says why a C function of a signature cannot be called as this type, or nil
  /// if it can: the number of parameters, and size and register class of each
  /// and of the result.
  internal func mismatch(with signature: MethodSignature) -> String? {
    let arguments = signature.arguments
    guard parameters.count == arguments.count else {
      let expected = "expected \(counted(arguments.count)), got \(parameters.count)"
      // The most frequent mistake is a forgotten context.
      let hint =
        "; a proxy's function pointer takes a context pointer only with context: .first, .last or .at"
      return expected + (parameters.count > arguments.count ? hint : "")
    }
    for (type, argument) in zip(parameters, arguments) {
      if let reason = Self.mismatch(type, argument.encoding, argument.layout) {
        return "parameter \(argument.index + 1): \(reason)"
      }
    }
    return Self.mismatch(result, signature.result, signature.resultLayout)
      .map { "the result: \($0)" }
  }

  private func counted(_ count: Int) -> String {
    count == 1 ? "1 parameter" : "\(count) parameters"
  }

  private static func mismatch(
    _ type: Any.Type, _ encoding: TypeEncoding, _ layout: TypeLayout
  ) -> String? {
    let given = PassedValue(type)
    let expected = PassedValue(encoding, layout)
    if given.size == expected.size && given.isPassed(as: expected) { return nil }
    return "expected \(encoding.inWords), \(expected), got \(type), \(given)"
  }
}

extension MethodSignature {
  /// The types in words, for errors: `(C string, Int32) -> void`.
  internal var inWords: String {
    "(\(arguments.map(\.encoding.typeName).joined(separator: ", "))) -> \(result.typeName)"
  }
}
