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

extension fixture_packed: TypeEncodable {
  public static var typeEncoding: String { "{fixture_packed=ci}" }
  public static var statedLayouts: [StatedLayout] {
    [StatedLayout("fixture_packed", size: 5, alignment: 1)]
  }
}

extension fixture_flags: TypeEncodable {
  public static var typeEncoding: String { "{fixture_flags=b3b20d}" }
  public static var statedLayouts: [StatedLayout] {
    [
      StatedLayout(
        "fixture_flags", size: 16, alignment: 8, members: [.bit(0), .bit(3), .offset(8)])
    ]
  }
}

extension fixture_row_1: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_1=[1C]}" }
}

extension fixture_row_2: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_2=[2C]}" }
}

extension fixture_row_4: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_4=[4C]}" }
}

extension fixture_row_8: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_8=[8C]}" }
}

extension fixture_row_16: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_16=[16C]}" }
}

extension fixture_row_24: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_24=[24C]}" }
}

extension fixture_row_64: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_64=[64C]}" }
}

extension fixture_row_100: TypeEncodable {
  public static var typeEncoding: String { "{fixture_row_100=[100C]}" }
}

extension fixture_five: TypeEncodable {
  public static var typeEncoding: String { "{fixture_five=[5q]}" }
}

extension fixture_pair: TypeEncodable {
  public static var typeEncoding: String { "{fixture_pair=di}" }
}
