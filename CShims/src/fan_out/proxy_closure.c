// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C function pointers that forward into a proxy.

#include <stdlib.h>

#include "base/error.h"
#include "fwd_fan_out.h"
#include "fan_out/proxy.h"
#include "call/signature.h"

/// What a closure that forwards into a proxy needs.
struct proxy_closure {
  fwd_proxy *proxy;
  const fwd_method_entry *entry;
  /// The leading arguments of the closure that are not forwarded.
  size_t skipped;
  fwd_signature *signature;
  void (*release)(void *owner);
  void *owner;
};

static void handle_call(void *context, void *const *arguments, void *result) {
  const struct proxy_closure *closure = context;
  fwd_delivery delivery = {.arguments = arguments + closure->skipped, .result = result};
  fwd_error error;
  error.status = FWD_OK;
  if (fwd_fan_out(closure->proxy, &closure->entry->method, &delivery, &error) != FWD_OK &&
      (error.status == FWD_NO_RESPONDER || error.status == FWD_NO_MEMORY)) {
    // Failures of deliveries have been reported where they happened. The C caller cannot be told: it gets zeroes.
    closure->proxy->operations->report(closure->proxy->owner, closure->entry->method.selector, &error);
  }
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
  const fwd_method_entry *entry = fwd_method_entry_of(method);
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
      .entry = entry,
      .skipped = form == FWD_FUNCTION_METHOD ? entry->hidden_count : 0,
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
