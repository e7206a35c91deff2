// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// Expat's handlers, without the context that expat passes first.
public enum ExpatKey {
  // void (*)(void *, const XML_Char *name, const XML_Char **attributes)
  public static let started = Method(
    "started:attributes:",
    ((UnsafePointer<CChar>, UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Void).self)
  // void (*)(void *, const XML_Char *name)
  public static let ended = Method("ended:", ((UnsafePointer<CChar>) -> Void).self)
  // void (*)(void *, const XML_Char *text, int length): the text has no NUL at its end.
  public static let text = Method("text:length:", ((UnsafePointer<CChar>, Int32) -> Void).self)
}
