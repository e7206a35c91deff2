// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The C functions that forward. Each finds the method of a selector, checks the sizes that it was given, and calls the
/// fan-out (fan_out.c). pinning.h says what keeps the proxy meanwhile.
///
///     fwd_forward_named      name -> fwd_forward
///     fwd_forward            selector ------------> check sizes and alignment ----------> fwd_fan_out_unpinned_frame
///     fwd_batch_forward      selector ------------> check sizes and alignment ----------> fwd_fan_out
///     fwd_forward_arguments  selector --> check count, addresses and alignment ----------> fwd_fan_out
///     fwd_forward_method     method --------------> check sizes and alignment ----------> fwd_fan_out_of_frame_inline
///
/// `fwd_forward_method` is for Swift, which has found the method and keeps the proxy alive.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/small_code.h"
#include "fan_out/batch.h"
#include "fan_out/check.h"
#include "fan_out/fan_out.h"
#include "fan_out/pinning.h"
#include "fwd_fan_out.h"

FWD_SMALL_CODE_BEGIN

/// Writes the names of the first methods that a proxy declares, for an error: `; it declares "a:", "b:" and 2 more`. Writes
/// whole names only: none if the first one is too long.
static void list_methods(char *text, size_t size, const fwd_method_set *methods) {
  // Room for `; it declares `, for a name's quotes and comma, and for ` and N more`.
  enum { most = 4, start = 14, marks = 4, end = 30 };
  size_t length = 0, listed = 0;
  text[0] = 0;
  for (; listed < methods->count && listed < most; listed++) {
    const char *name = fwd_selector_name(methods->methods[listed].method.selector);
    if (length + start + strlen(name) + marks + end > size) break;
    length += (size_t)snprintf(text + length, size - length, "%s\"%s\"", listed == 0 ? "; it declares " : ", ", name);
  }
  if (listed > 0 && listed < methods->count) {
    snprintf(text + length, size - length, " and %zu more", methods->count - listed);
  }
}

/// Returns the status of a method that was not found: FWD_OK if the proxy ignores unknown selectors. `name` is that of a
/// selector that has not been registered, and otherwise is not read.
__attribute__((cold, noinline)) static fwd_status status_without_method(const fwd_proxy *proxy, fwd_selector selector,
                                                                        const char *name) {
  if (selector) name = fwd_selector_name(selector);
  if (!proxy) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "forwarding \"%.100s\": no proxy or batch", name);
  if (!*name) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "forwarding: no selector");
  if (proxy->ignores_unknown_selectors) return FWD_OK;
  char declared[160];
  list_methods(declared, sizeof declared, proxy->methods);
  return fwd_fail(NULL, FWD_UNKNOWN_SELECTOR, 0, "no protocol of the proxy declares \"%.58s\"%s", name, declared);
}

FWD_SMALL_CODE_END

/// Finds a method. An unknown selector that is ignored gives FWD_OK and NULL in `*method`.
static inline fwd_status find_method(fwd_proxy *proxy, fwd_selector selector, const fwd_proxy_method **method) {
  // Inline, since what is kept across a call takes some of the stack.
  const fwd_compiled_method *found = proxy ? fwd_method_set_find(proxy->methods, selector) : NULL;
  *method = (const fwd_proxy_method *)found;
  return __builtin_expect(found != NULL, 1) ? FWD_OK : status_without_method(proxy, selector, "");
}

/// Ends the forwarding of an unknown selector. If it is ignored, the result is zero.
static fwd_status ignored(fwd_status status, void *result, size_t result_size) {
  if (status == FWD_OK && result) memset(result, 0, result_size);
  return status;
}

/// Releases the reference that a C program's call has kept, which may be the last one to the proxy. Deinitialisers that
/// run then may fail in their own ways, so the thread's last error is restored.
__attribute__((cold, noinline)) static fwd_status release_owner_of_failed(void *owner, fwd_status status) {
  fwd_kept_error error;
  fwd_error_keep(&error);
  fwd_object_release(owner);
  fwd_error_restore(&error);
  return status;
}

static inline fwd_status release_owner(void *owner, fwd_status status) {
  if (__builtin_expect(status != FWD_OK, 0)) return release_owner_of_failed(owner, status);
  fwd_object_release(owner);
  return status;
}

/// Fans out for a C program with a reference to the owner, if no C program has one or results are collected.
__attribute__((noinline)) static fwd_status fan_out_held(fwd_proxy *proxy, const fwd_proxy_method *method,
                                                         fwd_delivery *delivery) {
  void *owner = fwd_proxy_hold(proxy);
  return release_owner(owner, fwd_fan_out(proxy, method, delivery));
}

// MARK: Frames

/// Fans out a frame that is not aligned as its arguments have to be.
__attribute__((noinline)) static fwd_status fan_out_copy(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_batch *batch,
                                                         const void *frame, void *result) {
  size_t size = fwd_compiled_method_of(method)->frame_size;
  // No type of an encoding is aligned more strictly than malloc's memory.
  void *copy = malloc(size);
  if (!copy) return fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes", size);
  memcpy(copy, frame, size);
  fwd_delivery delivery = {.frame = copy, .result = result, .batch = batch};
  fwd_status status = fwd_fan_out(proxy, method, &delivery);
  free(copy);
  return status;
}

/// Whether a frame and a result buffer have the method's sizes.
static inline bool fit_sizes(const fwd_proxy_method *method, const void *frame, size_t frame_size, const void *result,
                             size_t result_size) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  return fwd_fits_frame(compiled, frame, frame_size) && fwd_fits_result(compiled, result, result_size);
}

/// Fails because of the frame's size or, if that is right, of the result buffer's.
__attribute__((cold, noinline)) static fwd_status fail_sizes(const fwd_proxy_method *method, const void *frame,
                                                             size_t frame_size, const void *result, size_t result_size) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  if (!fwd_fits_frame(compiled, frame, frame_size)) return fwd_fail_frame(compiled, frame, frame_size);
  return fwd_fail_result(compiled, result, result_size);
}

/// Whether deliveries can read the arguments in place, as values of their types.
static inline bool is_aligned(const fwd_compiled_method *method, const void *frame) {
  return ((uintptr_t)frame & method->alignment_mask) == 0;
}

/// Fans out a frame whose size has been checked. Inline, since each function on the way takes some stack at each level of a
/// recursion.
static inline __attribute__((always_inline)) fwd_status forward_checked_frame(fwd_proxy *proxy,
                                                                              const fwd_proxy_method *method,
                                                                              const void *frame, void *result) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  if (__builtin_expect(!is_aligned(compiled, frame), 0)) return fan_out_copy(proxy, method, NULL, frame, result);
  return fwd_fan_out_of_frame_inline(proxy, compiled, frame, result);
}

fwd_status fwd_forward_method(fwd_proxy *proxy, const fwd_proxy_method *method, const void *frame, size_t frame_size,
                              void *result, size_t result_size) {
  if (!fit_sizes(method, frame, frame_size, result, result_size)) {
    return fail_sizes(method, frame, frame_size, result, result_size);
  }
  return forward_checked_frame(proxy, method, frame, result);
}

/// Forwards a frame that is not aligned, or to a proxy to which no C program has a reference.
__attribute__((noinline)) static fwd_status forward_frame_held(fwd_proxy *proxy, const fwd_proxy_method *method,
                                                               const void *frame, void *result) {
  void *owner = fwd_proxy_hold(proxy);
  return release_owner(owner, forward_checked_frame(proxy, method, frame, result));
}

fwd_status fwd_forward(fwd_proxy *proxy, fwd_selector selector, const void *frame, size_t frame_size, void *result,
                       size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, &method);
  if (!method) return ignored(status, result, result_size);
  if (!fit_sizes(method, frame, frame_size, result, result_size)) {
    return fail_sizes(method, frame, frame_size, result, result_size);
  }
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  if (__builtin_expect(!is_aligned(compiled, frame) || !fwd_proxy_is_lent(proxy), 0)) {
    return forward_frame_held(proxy, method, frame, result);
  }
  fwd_unpinned_delivery unpinned = {.delivery = {.frame = frame, .result = result, .is_unpinned = true}};
  status = fwd_fan_out_unpinned_frame(proxy, compiled, &unpinned.delivery);
  return __builtin_expect(unpinned.owner != NULL, 0) ? release_owner(unpinned.owner, status) : status;
}

fwd_status fwd_forward_named(fwd_proxy *proxy, const char *name, const void *frame, size_t frame_size, void *result,
                             size_t result_size) {
  // Looked up, not registered: names that come from outside must not fill the table of selectors.
  fwd_selector selector = fwd_selector_find(name);
  if (selector) return fwd_forward(proxy, selector, frame, frame_size, result, result_size);
  return ignored(status_without_method(proxy, NULL, name ? name : ""), result, result_size);
}

fwd_status fwd_batch_forward(fwd_batch *batch, fwd_selector selector, const void *frame,
                             size_t frame_size, void *result, size_t result_size) {
  const fwd_proxy_method *method;
  fwd_proxy *proxy = batch ? batch->proxy : NULL;
  fwd_status status = find_method(proxy, selector, &method);
  if (!method) return ignored(status, result, result_size);
  if (!fit_sizes(method, frame, frame_size, result, result_size)) {
    return fail_sizes(method, frame, frame_size, result, result_size);
  }
  // No reference to the owner is needed: the batch keeps the proxy.
  if (!is_aligned(fwd_compiled_method_of(method), frame)) return fan_out_copy(proxy, method, batch, frame, result);
  fwd_delivery delivery = {.frame = frame, .result = result, .batch = batch};
  return fwd_fan_out(proxy, method, &delivery);
}

// MARK: Pointers to arguments

FWD_SMALL_CODE_BEGIN

/// The layout of an argument, the receiver and the selector not counted.
static fwd_layout argument_layout(const fwd_compiled_method *compiled, size_t index) {
  fwd_layout layout;
  fwd_signature_argument(compiled->method.signature, index + compiled->hidden_count, &layout);
  return layout;
}

/// Forwards arguments of which some are not aligned for their types: copies them to a frame.
__attribute__((noinline)) static fwd_status forward_copied(fwd_proxy *proxy, const fwd_compiled_method *compiled,
                                                           void *const *arguments, size_t count, void *result) {
  const fwd_signature *signature = compiled->method.signature;
  size_t size = fwd_signature_frame_size(signature);
  char *frame = malloc(size);
  if (!frame) return fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes", size);
  for (size_t i = 0; i < count; i++) {
    fwd_layout layout = argument_layout(compiled, i);
    memcpy(frame + layout.offset, arguments[i], layout.size);
  }
  fwd_delivery delivery = {.frame = frame, .result = result};
  fwd_status status = fan_out_held(proxy, &compiled->method, &delivery);
  free(frame);
  return status;
}

/// Checks the number of some arguments and that each has an address. Sets `*aligned` to whether each is aligned for its
/// type.
__attribute__((noinline)) static fwd_status check_arguments(const fwd_compiled_method *method, void *const *arguments,
                                                            size_t count, bool *aligned) {
  const char *name = fwd_selector_name(method->method.selector);
  size_t expected = method->argument_count - method->hidden_count;
  if (count != expected) {
    return fwd_fail(NULL, FWD_OUT_OF_RANGE, count, "\"%.100s\" got %zu arguments, expected %zu for %.60s", name, count,
                    expected, fwd_encoding_text(fwd_signature_encoding(method->method.signature)));
  }
  *aligned = true;
  for (size_t i = 0; i < count; i++) {
    if (!arguments || !arguments[i]) {
      return fwd_fail(NULL, FWD_NULL_ARGUMENT, i, "no address for argument %zu of \"%.100s\"",
                      i + method->hidden_count, name);
    }
    *aligned = *aligned && ((uintptr_t)arguments[i] & (argument_layout(method, i).alignment - 1)) == 0;
  }
  return FWD_OK;
}

FWD_SMALL_CODE_END

fwd_status fwd_forward_arguments(fwd_proxy *proxy, fwd_selector selector, void *const *arguments, size_t count,
                                 void *result, size_t result_size) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, &method);
  if (!method) return ignored(status, result, result_size);
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  bool aligned;
  status = check_arguments(compiled, arguments, count, &aligned);
  if (status != FWD_OK) return status;
  if (!fwd_fits_result(compiled, result, result_size)) return fwd_fail_result(compiled, result, result_size);
  if (!aligned) return forward_copied(proxy, compiled, arguments, count, result);
  if (!fwd_proxy_is_lent(proxy)) {
    fwd_delivery delivery = {.arguments = arguments, .result = result};
    return fan_out_held(proxy, method, &delivery);
  }
  fwd_unpinned_delivery unpinned = {.delivery = {.arguments = arguments, .result = result, .is_unpinned = true}};
  status = fwd_fan_out(proxy, method, &unpinned.delivery);
  return unpinned.owner ? release_owner(unpinned.owner, status) : status;
}

// MARK: Collecting

FWD_SMALL_CODE_BEGIN

/// The visitor of a C program that collects results.
typedef struct collection {
  fwd_result_visitor visit;
  void *context;
  const fwd_compiled_method *compiled;
} collection;

static bool collect_result(void *context, fwd_subscription author, void *object, void *result) {
  (void)object;
  const collection *self = context;
  bool goes_on = self->visit(self->context, author, self->compiled->result.size > 0 ? result : NULL);
  if (self->compiled->returns_object) {
    void *returned;
    memcpy(&returned, result, sizeof returned);
    fwd_object_release(returned);
  }
  return goes_on;
}

fwd_status fwd_collect(fwd_proxy *proxy, fwd_selector selector, const void *frame, size_t frame_size,
                       fwd_result_visitor visit, void *context) {
  const fwd_proxy_method *method;
  fwd_status status = find_method(proxy, selector, &method);
  if (status == FWD_OK && !visit) return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "fwd_collect: no visitor");
  if (!method) return status;
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  if (!fwd_fits_frame(compiled, frame, frame_size)) return fwd_fail_frame(compiled, frame, frame_size);
  collection collecting = {.visit = visit, .context = context, .compiled = compiled};
  const fwd_collector collector = {.collect = collect_result, .context = &collecting};
  fwd_delivery delivery = {.frame = frame, .collector = &collector, .collects = true};
  void *copy = NULL;
  if (!is_aligned(compiled, frame)) {
    copy = malloc(frame_size);
    if (!copy) return fwd_fail(NULL, FWD_NO_MEMORY, 0, "no memory for an argument frame of %zu bytes", frame_size);
    delivery.frame = memcpy(copy, frame, frame_size);
  }
  status = fan_out_held(proxy, method, &delivery);
  free(copy);
  return status;
}

FWD_SMALL_CODE_END
