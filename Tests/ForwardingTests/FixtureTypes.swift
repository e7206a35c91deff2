// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import CTestFixtures
public import Forwarding

extension fixture_point: TypeEncodable {
  public static var typeEncoding: String { "{fixture_point=dd}" }
}

extension fixture_mixed: TypeEncodable {
  public static var typeEncoding: String { "{fixture_mixed=idc}" }
}

extension fixture_large: TypeEncodable {
  public static var typeEncoding: String { "{fixture_large=qqqd}" }
}
