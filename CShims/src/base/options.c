// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fwd_options.h"

#include <string.h>

#include "base/error.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

// No struct ends with padding. A later version could put a member there, and could not tell it from the indeterminate
// bytes that older programs have in it.
_Static_assert(sizeof(fwd_proxy_options) == offsetof(fwd_proxy_options, on_error_context) + sizeof(void *),
               "the last member ends the struct");
_Static_assert(sizeof(fwd_method_options) == offsetof(fwd_method_options, failure_result_size) + sizeof(size_t),
               "the last member ends the struct");
_Static_assert(sizeof(fwd_callback) == offsetof(fwd_callback, failure_result_size) + sizeof(size_t),
               "the last member ends the struct");
_Static_assert(sizeof(fwd_subscribe_options) == offsetof(fwd_subscribe_options, mailbox_limit) + sizeof(size_t),
               "the last member ends the struct");
_Static_assert(offsetof(fwd_proxy_options, size) == 0 && offsetof(fwd_subscribe_options, size) == 0,
               "the size is where every version finds it");

// What a struct of options is called, and its sizes in the first version and in this one.
typedef struct sized_struct {
  const char *name;
  const char *size_name;
  size_t first_size;
  size_t size;
} sized_struct;

// The largest size that is read. A larger one is an indeterminate value rather than a later version.
enum { size_limit = 4096 };

static fwd_status read_struct(const sized_struct *type, const void *given, size_t given_size, void *copy,
                              fwd_error *error) {
  if (given_size < type->first_size || given_size > size_limit) {
    return fwd_fail(error, FWD_WRONG_SIZE, 0, "%s has the size %zu, expected %zu: set %s to sizeof(%s)", type->name,
                    given_size, type->size, type->size_name, type->name);
  }
  const unsigned char *bytes = given;
  for (size_t i = type->size; i < given_size; i++) {
    if (bytes[i] == 0) continue;
    return fwd_fail(error, FWD_WRONG_VERSION, i,
                    "%s has %zu bytes and byte %zu is not 0, but version %s of the library knows %zu bytes", type->name,
                    given_size, i, fwd_version_string(), type->size);
  }
  size_t known = given_size < type->size ? given_size : type->size;
  memcpy(copy, given, known);
  memset((char *)copy + known, 0, type->size - known);
  return FWD_OK;
}

fwd_status fwd_proxy_options_read(const fwd_proxy_options *given, fwd_proxy_options *options, fwd_error *error) {
  static const sized_struct type = {
      .name = "fwd_proxy_options",
      .size_name = "its size",
      .first_size = offsetof(fwd_proxy_options, on_error_context) + sizeof(void *),
      .size = sizeof(fwd_proxy_options),
  };
  fwd_status status = read_struct(&type, given, given->size, options, error);
  if (status != FWD_OK) return status;
  const uint64_t known_flags = FWD_PROXY_IGNORES_UNKNOWN_SELECTORS | FWD_PROXY_IGNORES_UNKNOWN_FUNCTIONS;
  if (options->flags & ~known_flags) {
    return fwd_fail(error, FWD_WRONG_VERSION, 0,
                    "fwd_proxy_options has the flags 0x%llx, but version %s of the library knows 0x%llx",
                    (unsigned long long)options->flags, fwd_version_string(), (unsigned long long)known_flags);
  }
  return FWD_OK;
}

fwd_status fwd_method_options_read(const fwd_proxy_options *options, size_t index, fwd_method_options *method,
                                   fwd_error *error) {
  static const sized_struct type = {
      .name = "fwd_method_options",
      .size_name = "method_size of fwd_proxy_options",
      .first_size = offsetof(fwd_method_options, failure_result_size) + sizeof(size_t),
      .size = sizeof(fwd_method_options),
  };
  const char *methods = (const char *)options->methods;
  // Elements of a wrong size are refused at the first one, whose address needs no size.
  return read_struct(&type, methods + index * options->method_size, options->method_size, method, error);
}

fwd_status fwd_callback_read(const fwd_callback *callbacks, size_t stride, size_t index, fwd_callback *callback,
                             fwd_error *error) {
  static const sized_struct type = {
      .name = "fwd_callback",
      .size_name = "callback_size of fwd_callback_table_create",
      .first_size = offsetof(fwd_callback, failure_result_size) + sizeof(size_t),
      .size = sizeof(fwd_callback),
  };
  return read_struct(&type, (const char *)callbacks + index * stride, stride, callback, error);
}

fwd_status fwd_subscribe_options_read(const fwd_subscribe_options *given, fwd_subscribe_options *options,
                                      fwd_error *error) {
  static const sized_struct type = {
      .name = "fwd_subscribe_options",
      .size_name = "its size",
      .first_size = offsetof(fwd_subscribe_options, times) + sizeof(size_t),
      .size = sizeof(fwd_subscribe_options),
  };
  fwd_status status = read_struct(&type, given, given->size, options, error);
  if (status != FWD_OK) return status;
  if (options->mailbox_flags & ~(uint32_t)FWD_MAILBOX_KEEPS_POINTERS) {
    return fwd_fail(error, FWD_WRONG_VERSION, 0,
                    "fwd_subscribe_options has the mailbox_flags 0x%x, but version %s of the library knows 0x%x",
                    (unsigned)options->mailbox_flags, fwd_version_string(), (unsigned)FWD_MAILBOX_KEEPS_POINTERS);
  }
  unsigned overflow = (unsigned)options->overflow;
  if (overflow > FWD_OVERFLOW_BLOCK) {
    return fwd_fail(error, FWD_OUT_OF_RANGE, 0, "fwd_subscribe_options has the overflow %u, which does not exist", overflow);
  }
  if (!options->mailbox && (overflow || options->mailbox_limit || options->mailbox_flags)) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0,
                    "fwd_subscribe_options has no mailbox, but the overflow %u, the mailbox_limit %zu and the mailbox_flags "
                    "0x%x: expected a mailbox, or 0 for all of them",
                    overflow, options->mailbox_limit, (unsigned)options->mailbox_flags);
  }
  if (options->mailbox && (overflow == FWD_OVERFLOW_UNBOUNDED) != (options->mailbox_limit == 0)) {
    return fwd_fail(error, FWD_OUT_OF_RANGE, 0, "fwd_subscribe_options has the mailbox_limit %zu, expected %s",
                    options->mailbox_limit, overflow ? "at least 1" : "0 for an unbounded mailbox");
  }
  return FWD_OK;
}

FWD_SMALL_CODE_END
