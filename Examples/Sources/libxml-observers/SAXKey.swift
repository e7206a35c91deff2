// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CLibXML
import Forwarding

/// Some of the callbacks of libxml2's `xmlSAXHandler`, without the context that comes first.
///
/// `fwd encode --header libxml/parser.h $(pkg-config --cflags libxml-2.0) --swift xmlSAXHandler`
/// writes such keys for all of them.
enum SAXKey {
  typealias Text = UnsafePointer<UInt8>
  typealias Texts = UnsafeMutablePointer<Text?>

  // void (*)(void *, const xmlChar *name, const xmlChar *prefix, const xmlChar *URI, int namespaces,
  //          const xmlChar **, int attributes, int defaulted, const xmlChar **)
  static let started = Method(
    "started:prefix:uri:namespaces:texts:attributes:defaulted:texts:",
    ((Text, Text?, Text?, Int32, Texts?, Int32, Int32, Texts?) -> Void).self)
  // void (*)(void *, const xmlChar *name, const xmlChar *prefix, const xmlChar *URI)
  static let ended = Method("ended:prefix:uri:", ((Text, Text?, Text?) -> Void).self)
  // void (*)(void *, const xmlChar *text, int length): the text has no NUL at its end.
  static let text = Method("text:length:", ((Text, Int32) -> Void).self)
  // void (*)(void *, const xmlChar *text)
  static let comment = Method("comment:", ((String) -> Void).self)
  // void (*)(void *, xmlError *)
  static let failed = Method("failed:", ((UnsafeMutablePointer<xmlError>) -> Void).self)
}
