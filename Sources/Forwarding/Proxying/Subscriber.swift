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
  /// The table must be stored, in a `static let`: a proxy does not ask for it at each
  /// subscription. It joins the table to its protocols once for all subscribers of
  /// the class and keeps it, and knows a subscriber again by object and table.
  public protocol Subscriber: AnyObject, Sendable {
    /// The functions that objects of the class implement.
    static var functionTable: FunctionTable { get }
  }
}
