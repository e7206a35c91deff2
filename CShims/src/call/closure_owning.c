// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "fwd_closure.h"

#include "call/closure.h"
#include "call/signature.h"

fwd_status fwd_closure_create_owning(const fwd_signature *signature, fwd_closure_handler handler, void *context,
                                     void (*release)(void *context), fwd_closure **closure, fwd_error *error) {
  // Closures need neither the signature nor its call interface.
  return fwd_cif_closure_create(fwd_signature_cif(signature), handler, context, release, context, closure, error);
}
