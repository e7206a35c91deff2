// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How a function of a parsed signature is called and received: by a call plan where there is one, else, or
/// if that is asked for, through libffi.

#ifndef FWD_SRC_CALL_INTERFACE_H
#define FWD_SRC_CALL_INTERFACE_H

#include <stdatomic.h>

#include "abi/call_plan.h"
#include "fwd_encoding.h"

/// Everything that a call needs to know, worked out once. Immutable but for its reference count, so it is
/// shared between threads.
typedef struct fwd_cif fwd_cif;

/// Prepares calls of the function that the root of `encoding` (a FWD_TYPE_FUNCTION) describes. Refuses what
/// cannot be called, with the offset of the offending type. `encoding` is not kept.
fwd_status fwd_cif_create(const fwd_encoding *encoding, fwd_cif **cif, fwd_error *error);
/// Gives up the creator's reference; closures have their own. NULL is ignored.
void fwd_cif_destroy(fwd_cif *cif);

/// Calls `function` with the values behind `arguments`; writes exactly the result's bytes, or none if
/// `result` is NULL. Entries of arguments of size 0 are not looked at. FWD_OK; FWD_NULL_ARGUMENT, with nothing
/// called, if one of another argument is NULL.
fwd_status fwd_cif_call(const fwd_cif *cif, void (*function)(void), void *const *arguments, void *result);

/// Whether calls and new closures go through libffi even where there is a plan: set by FWD_CALL=libffi in the
/// environment, or by `fwd_use_libffi`. Hidden, so that code of a shared library need not look its address up.
extern __attribute__((visibility("hidden"))) atomic_bool fwd_libffi_is_forced;

/// What `fwd_call` looks at for functions of this interface. Valid as long as the interface.
fwd_jump_head fwd_cif_call_head(const fwd_cif *cif);

/// The plan for calls of this interface; NULL if there is none. Valid as long as the interface.
const fwd_call_plan *fwd_cif_plan(const fwd_cif *cif);

/// Makes a function pointer of this interface, which it retains. `release` (which may be NULL) is called with
/// `owner` once, as soon as no call can use the handler and `context` any more: by `fwd_closure_destroy`, or
/// later, by the last of the calls that were running then, on its thread. On failure it is not called.
fwd_status fwd_cif_closure_create(const fwd_cif *cif, fwd_closure_handler handler, void *context,
                                  void (*release)(void *owner), void *owner, fwd_closure **closure,
                                  fwd_error *error);

/// How many calls there have been through function pointers whose closure was destroyed already.
size_t fwd_closure_stale_calls(void);

#endif
