// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C function pointers that forward into a proxy.

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "call/closure.h"
#include "call/signature.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

/// The context of a closure that forwards into a proxy.
struct proxy_closure {
  fwd_proxy *proxy;
  const fwd_compiled_method *method;
  /// The number of leading arguments that are not forwarded: the receiver and the selector.
  size_t skipped;
  fwd_signature *signature;
  void (*release)(void *owner);
  void *owner;
};

/// Treats a call whose fan-out has failed. The C caller cannot be told: it gets the method's result for failed
/// deliveries, else zeroes.
__attribute__((cold, noinline)) static void settle_failed_call(const struct proxy_closure *closure, fwd_status status,
                                                               void *result) {
  fwd_error error;
  fwd_error_last(&error);
  const fwd_proxy_method *method = &closure->method->method;
  if (method->failure_result) {
    memcpy(result, method->failure_result, closure->method->result.size);
    if (closure->method->returns_object) {
      void *object;
      memcpy(&object, result, sizeof object);
      fwd_object_retain(object);
    }
  }
  // Failures of deliveries have been reported where they happened.
  if (status == FWD_NO_RESPONDER || status == FWD_NO_MEMORY || status == FWD_NESTED_TOO_DEEP) {
    closure->proxy->operations->report(closure->proxy->owner, method->selector, &error);
  }
}

static void handle_call(void *context, void *const *arguments, void *result) {
  const struct proxy_closure *closure = context;
  fwd_delivery delivery = {.arguments = arguments + closure->skipped, .result = result};
  fwd_status status = fwd_fan_out(closure->proxy, &closure->method->method, &delivery, NULL);
  if (__builtin_expect(status != FWD_OK, 0)) settle_failed_call(closure, status, result);
}

static void release_closure(void *context) {
  struct proxy_closure *closure = context;
  closure->release(closure->owner);
  fwd_signature_release(closure->signature);
  free(closure);
}

fwd_status fwd_proxy_closure_create(fwd_proxy *proxy, const fwd_proxy_method *method, fwd_function_form form,
                                    void (*release)(void *owner), void *owner, fwd_closure **closure,
                                    fwd_error *error) {
  const fwd_compiled_method *compiled = fwd_compiled_method_of(method);
  fwd_signature *signature = NULL;
  if (form == FWD_FUNCTION_METHOD) {
    signature = fwd_signature_retain(method->signature);
  } else {
    fwd_status status = fwd_signature_drop_hidden(method->signature, &signature, error);
    if (status != FWD_OK) return status;
  }
  struct proxy_closure *context = malloc(sizeof *context);
  if (!context) {
    fwd_signature_release(signature);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a function pointer");
  }
  *context = (struct proxy_closure){
      .proxy = proxy,
      .method = compiled,
      .skipped = form == FWD_FUNCTION_METHOD ? compiled->hidden_count : 0,
      .signature = signature,
      .release = release,
      .owner = owner,
  };
  fwd_status status = fwd_cif_closure_create(fwd_signature_cif(signature), handle_call, context, release_closure,
                                             context, closure, error);
  if (status != FWD_OK) {
    fwd_signature_release(signature);
    free(context);
  }
  return status;
}
