// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Earlier names of the error type, for files that are changed elsewhere at the
// same time. To be removed with their last use.

@usableFromInline internal typealias TableError = ForwardingError
@usableFromInline internal typealias InvocationError = ForwardingError

extension ForwardingError {
  internal init(_ error: ForwardingError) { self = error }
}
