// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension DynamicProxy {
  /// A class whose objects subscribe with the functions of one table.
  ///
  /// ```swift
  /// final class Logger: DynamicProxy.Subscriber {
  ///   static let functionTable = FunctionTable(for: Logger.self) {
  ///     $0.on("log:") { (self: Logger, text: UnsafePointer<CChar>) in self.log(text) }
  ///   }
  /// }
  /// ```
  ///
  /// Store the table in a `static let`. A proxy reads `functionTable` when the first
  /// object of the class subscribes, and not at each later subscription. It compares
  /// the table with its protocols once for all these objects. An object that
  /// subscribes again with the same table is recognized. A subclass has the table of
  /// its superclass, unless it overrides `functionTable`.
  public protocol Subscriber: AnyObject, Sendable {
    /// The functions that objects of the class implement.
    static var functionTable: FunctionTable { get }
  }
}
