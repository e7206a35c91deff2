// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Builds the message of an encoding's error: a sentence, an excerpt of the text, and a caret under the byte.

#include "encoding/encoding.h"
#include "base/error.h"
#include "base/small_code.h"

#include <stdio.h>
#include <string.h>

FWD_SMALL_CODE_BEGIN

enum {
  MESSAGE_SIZE = sizeof(((fwd_error *)0)->message),
  /// The most bytes shown of `what`, of the reason and of the text. Our own reasons are shorter.
  WHAT_LIMIT = 24,
  REASON_LIMIT = 136,
  WINDOW_LIMIT = 60,
  /// Room for "..." three times, and for the caret.
  MARKS_SIZE = 10,
};

/// Writes the bytes `from` to `to` of the text, with "..." where the text is cut. Each byte takes one column, so that
/// the caret points at the right one.
static void quote(char *out, const char *text, size_t length, size_t from, size_t to) {
  static const char ellipsis[] = "...";
  if (from > 0) {
    memcpy(out, ellipsis, 3);
    out += 3;
  }
  for (size_t index = from; index < to; index++) {
    char byte = text[index];
    *out++ = byte >= 0x20 && byte < 0x7f ? byte : '?';
  }
  if (to < length) {
    memcpy(out, ellipsis, 3);
    out += 3;
  }
  *out = 0;
}

static size_t least(size_t left, size_t right) { return left < right ? left : right; }

fwd_status fwd_encoding_fail(fwd_error *error, fwd_status status, const char *what, const char *text, size_t length,
                             size_t offset, const char *reason) {
  if (!text) return fwd_fail(error, status, offset, "%.*s NULL: %.*s", WHAT_LIMIT, what, REASON_LIMIT, reason);

  // Measure the sentence without the text, then divide the rest of the message: two fifths for the excerpt, as much
  // for the caret's line, the remainder for the text in the sentence. The longest reason leaves 44 bytes.
  char rest[WHAT_LIMIT + REASON_LIMIT + 48];
  int fixed = snprintf(rest, sizeof rest, "%.*s \"\": %.*s at offset %zu\n\n", WHAT_LIMIT, what, REASON_LIMIT,
                       reason, offset);
  size_t room = MESSAGE_SIZE - 1 - (size_t)fixed - MARKS_SIZE - 3;
  size_t window = least(length, least(WINDOW_LIMIT, room * 2 / 5));
  size_t quoted = least(length, room - 2 * window);

  size_t centre = least(offset, length);
  size_t from = centre > window / 2 ? least(centre - window / 2, length - window) : 0;
  char sentence_quote[MESSAGE_SIZE], excerpt[MESSAGE_SIZE];
  quote(sentence_quote, text, length, 0, quoted);
  quote(excerpt, text, length, from, from + window);
  int column = (int)(centre - from) + (from > 0 ? 3 : 0);
  return fwd_fail(error, status, offset, "%.*s \"%s\": %.*s at offset %zu\n%s\n%*s^", WHAT_LIMIT, what,
                  sentence_quote, REASON_LIMIT, reason, offset, excerpt, column, "");
}

FWD_SMALL_CODE_END
