// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/small_code.h"
#include "fwd_error.h"

// The calling thread's last error. Functions without an error parameter report through it. It is static storage, so
// reporting an error never allocates and cannot fail.
static _Thread_local fwd_error last;
static _Thread_local fwd_error_detail last_detail;

FWD_SMALL_CODE_BEGIN

/// Returns the length of the UTF-8 sequence that a text begins with, or 0 if it begins with none.
static size_t sequence_length(const unsigned char *text) {
  unsigned char lead = text[0];
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  // Some lead bytes allow only a part of the second bytes: no form that is too long, no surrogates, at most U+10FFFF.
  unsigned char lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (text[1] < lowest || text[1] > highest) return 0;
  size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (size_t i = 2; i < length; i++) {
    if ((text[i] & 0xC0) != 0x80) return 0;
  }
  return length;
}

/// Whether a UTF-8 sequence is a control character, which could drive a terminal: U+0000 to U+001F, and U+007F to U+009F.
static bool is_control(const unsigned char *text) {
  return text[0] < ' ' || text[0] == 0x7F || (text[0] == 0xC2 && text[1] < 0xA0);
}

/// Replaces each byte that is not UTF-8, and the first one of each control character, by `?`. Names and encodings are
/// foreign input, and a long name may have been cut inside of a character. Line breaks are our own.
static void make_printable(char *message) {
  unsigned char *text = (unsigned char *)message;
  while (*text) {
    size_t length = sequence_length(text);
    if (length == 0 || (is_control(text) && *text != '\n')) {
      *text = '?';
      length = 1;
    }
    text += length;
  }
}

fwd_status fwd_fail(fwd_error *error, fwd_status status, size_t offset, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  // Formatted into a separate buffer, since an argument may point into the previous message.
  char message[sizeof last.message];
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  make_printable(message);
  // The caller gets all bytes, and those behind the text would be of the stack.
  size_t length = strlen(message);
  memset(message + length, 0, sizeof message - length);
  last_detail = 0;
  last.status = status;
  last.offset = offset;
  memcpy(last.message, message, sizeof message);
  if (error) *error = last;
  return status;
}

fwd_status fwd_error_set(fwd_error *error, fwd_status status, size_t offset, const char *message) {
  return fwd_fail(error, status, offset, "%s", message);
}

FWD_SMALL_CODE_END

void fwd_error_last(fwd_error *error) { *error = last; }

void fwd_error_set_detail(fwd_error_detail detail) { last_detail = detail; }

fwd_error_detail fwd_error_last_detail(void) { return last_detail; }

void fwd_error_keep(fwd_kept_error *kept) { *kept = (fwd_kept_error){.error = last, .detail = last_detail}; }

fwd_status fwd_error_restore(const fwd_kept_error *kept) {
  // Not a plain copy: the message of `fwd_fail_delivery` comes from Swift, and is made printable here.
  fwd_error_set(NULL, kept->error.status, kept->error.offset, kept->error.message);
  last_detail = kept->detail;
  return kept->error.status;
}

const char *fwd_error_message(void) { return last.message; }

const char *fwd_status_name(fwd_status status) {
  static const char *const names[] = {
      [FWD_OK] = "FWD_OK",
      [FWD_MALFORMED] = "FWD_MALFORMED",
      [FWD_UNSUPPORTED] = "FWD_UNSUPPORTED",
      [FWD_OVERFLOW] = "FWD_OVERFLOW",
      [FWD_TOO_DEEP] = "FWD_TOO_DEEP",
      [FWD_NULL_ARGUMENT] = "FWD_NULL_ARGUMENT",
      [FWD_OUT_OF_RANGE] = "FWD_OUT_OF_RANGE",
      [FWD_WRONG_SIZE] = "FWD_WRONG_SIZE",
      [FWD_TYPE_MISMATCH] = "FWD_TYPE_MISMATCH",
      [FWD_NO_MEMORY] = "FWD_NO_MEMORY",
      [FWD_NO_EXECUTABLE_MEMORY] = "FWD_NO_EXECUTABLE_MEMORY",
      [FWD_NO_RECEIVER] = "FWD_NO_RECEIVER",
      [FWD_UNKNOWN_SELECTOR] = "FWD_UNKNOWN_SELECTOR",
      [FWD_NO_RESPONDER] = "FWD_NO_RESPONDER",
      [FWD_DELIVERY_FAILED] = "FWD_DELIVERY_FAILED",
      [FWD_MISSING_METHOD] = "FWD_MISSING_METHOD",
      [FWD_SIGNATURE_MISMATCH] = "FWD_SIGNATURE_MISMATCH",
      [FWD_CONFLICT] = "FWD_CONFLICT",
      [FWD_NOT_SUBSCRIBED] = "FWD_NOT_SUBSCRIBED",
      [FWD_DUPLICATE] = "FWD_DUPLICATE",
      [FWD_CYCLE] = "FWD_CYCLE",
      [FWD_DEAD] = "FWD_DEAD",
      [FWD_WRONG_LAYOUT] = "FWD_WRONG_LAYOUT",
      [FWD_WRONG_VERSION] = "FWD_WRONG_VERSION",
      [FWD_NESTED_TOO_DEEP] = "FWD_NESTED_TOO_DEEP",
      [FWD_NOT_ALLOWED] = "FWD_NOT_ALLOWED",
  };
  size_t index = (size_t)status;
  return index < sizeof names / sizeof *names && names[index] ? names[index] : "FWD_?";
}
