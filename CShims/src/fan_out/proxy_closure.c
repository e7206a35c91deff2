// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C function pointers that forward into a proxy, and that a program destroys itself.

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/small_code.h"
#include "fan_out/emission.h"
#include "fan_out/fan_out.h"
#include "fan_out/proxy_function.h"

FWD_SMALL_CODE_BEGIN

// MARK: Forms

fwd_status fwd_function_signature(const fwd_proxy_method *method, int form, fwd_signature **signature, size_t *context,
                                  fwd_error *error) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  size_t count = compiled->argument_count - compiled->hidden_count;
  if (form < FWD_FUNCTION_CONTEXT_LAST) {
    return fwd_fail(error, FWD_OUT_OF_RANGE, 0,
                    "the context pointer of \"%.100s\" has a negative index, expected 0 to %zu",
                    fwd_selector_name(method->selector), count);
  }
  if (form > (int)count + 1) {
    return fwd_fail(error, FWD_OUT_OF_RANGE, 0,
                    "the context pointer of \"%.100s\" has the index %d, expected at most %zu: the callback has %zu "
                    "other argument%s",
                    fwd_selector_name(method->selector), form - 1, count, count, count == 1 ? "" : "s");
  }
  size_t index = form == FWD_FUNCTION_ARGUMENTS      ? FWD_NO_ARGUMENT
                 : form == FWD_FUNCTION_CONTEXT_LAST ? count
                                                     : (size_t)form - 1;
  if (context) *context = index;
  return fwd_signature_replace_hidden(method->signature, index, signature, error);
}

bool fwd_function_has_words(const fwd_compiled_method *method, const fwd_closure *closure) {
  const fwd_register_loads *loads = &method->loads;
  // An entry stores no word for the selector.
  if (!method->replayers.call || !method->is_narrow || method->hidden_count != 1) return false;
  // An argument of two registers has two loads. Smaller integers are extended, so they have to be loaded.
  if (loads->count != method->argument_count - method->hidden_count || loads->kind == FWD_LOADS_OF_ANY_SIZE) return false;
  // Consecutive words are in the order of the registers, so each is the word of its argument's load.
  return fwd_closure_has_words(closure, FWD_REPLAY_NARROW - 1);
}

FWD_SMALL_CODE_END

// MARK: Failures

__attribute__((cold, noinline)) void fwd_function_settle(const fwd_delivery *delivery, fwd_status status) {
  fwd_error error;
  fwd_error_last(&error);
  const fwd_function_target *target = delivery->function;
  const fwd_proxy_method *method = &target->method->method;
  const void *kept = fwd_delivery_failure_result(delivery, method);
  if (kept) fwd_emission_copy_result(target->method, kept, delivery->result);
  // Failures of deliveries have been reported where they happened.
  if (status == FWD_NO_RESPONDER || status == FWD_NO_MEMORY || status == FWD_NESTED_TOO_DEEP) {
    fwd_proxy_report(target->proxy, method->selector, &error);
  }
}

// MARK: Closures

/// The context of a closure that forwards into a proxy.
struct proxy_closure {
  fwd_function_target target;
  fwd_signature *signature;
  void (*release)(void *owner);
  void *owner;
  /// Aligned for any result.
  _Alignas(max_align_t) unsigned char failure_result[];
};

static void handle_call(void *context, void *const *arguments, void *result) {
  const fwd_function_target *target = &((const struct proxy_closure *)context)->target;
  fwd_delivery delivery = {.function = target, .arguments = arguments, .result = result};
  fwd_status status = fwd_fan_out_of_function(&delivery);
  if (__builtin_expect(status != FWD_OK, 0)) fwd_function_settle(&delivery, status);
}

static void release_closure(void *context) {
  struct proxy_closure *closure = context;
  closure->release(closure->owner);
  fwd_signature_release(closure->signature);
  free(closure);
}

fwd_status fwd_proxy_closure_create(fwd_proxy *proxy, const fwd_proxy_method *method, int form,
                                    const void *failure_result, void (*release)(void *owner), void *owner,
                                    fwd_closure **closure, fwd_error *error) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  fwd_signature *signature = NULL;
  size_t context_index = FWD_NO_ARGUMENT;
  fwd_status status = fwd_function_signature(method, form, &signature, &context_index, error);
  if (status != FWD_OK) return status;
  struct proxy_closure *context = malloc(sizeof *context + (failure_result ? compiled->result.size : 0));
  if (!context) {
    fwd_signature_release(signature);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a function pointer");
  }
  *context = (struct proxy_closure){
      .target = {.proxy = proxy, .method = compiled},
      .signature = signature,
      .release = release,
      .owner = owner,
  };
  if (failure_result) {
    context->target.failure_result = memcpy(context->failure_result, failure_result, compiled->result.size);
  }
  status = fwd_cif_closure_create_dropping(fwd_signature_cif(signature), context_index, handle_call, context,
                                           release_closure, context, closure, error);
  if (status != FWD_OK) {
    fwd_signature_release(signature);
    free(context);
    return status;
  }
  bool has_words = fwd_function_has_words(compiled, *closure);
  atomic_store_explicit(&context->target.has_words, has_words, memory_order_relaxed);
  return FWD_OK;
}
