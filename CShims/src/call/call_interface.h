// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// How functions of a parsed signature are called: by a call plan, or through libffi where there is no plan or libffi is
/// forced.

#ifndef FWD_SRC_CALL_INTERFACE_H
#define FWD_SRC_CALL_INTERFACE_H

#include <stdatomic.h>

#include "abi/plan.h"
#include "fwd_encoding.h"

struct fwd_ffi_interface;

/// What a call needs to know. Threads share it: it is immutable, except that what libffi is told may be made later, by the
/// first that needs it.
typedef struct fwd_cif fwd_cif;

/// Prepares calls of the function that the root of `encoding` (a FWD_TYPE_FUNCTION) describes. Refuses types that cannot
/// be passed by value, with their offset. Retains `encoding`.
fwd_status fwd_cif_create(const fwd_encoding *encoding, fwd_cif **cif, fwd_error *error);

/// Frees the interface. NULL is ignored. Closures do not need it.
void fwd_cif_destroy(fwd_cif *cif);

/// Calls `function` with the values that `arguments` point to. Writes exactly the result's bytes, or none if `result` is NULL.
/// Entries of arguments of size 0 are not read. FWD_OK; or FWD_NULL_ARGUMENT, with nothing called, if one of another
/// argument is NULL.
fwd_status fwd_cif_call(const fwd_cif *cif, void (*function)(void), void *const *arguments, void *result);

/// Whether calls and new closures go through libffi even if there is a plan: set by FWD_CALL=libffi in the environment,
/// or by `fwd_use_libffi`. Hidden, so that code of a shared library reads it directly.
extern __attribute__((visibility("hidden"))) atomic_bool fwd_libffi_is_forced;

/// Whether a plan, or NULL for none, makes the calls. Relaxed: the switch orders nothing.
static inline bool fwd_calls_by_plan(const fwd_call_plan *plan) {
  return plan && !atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
}

/// Returns what `fwd_call` reads for functions of this interface. Valid as long as the interface.
fwd_jump_head fwd_cif_call_head(const fwd_cif *cif);

/// These two return what the interface calls the function with: its call plan, and its placement. A function may lack either;
/// then the result is NULL. The interface frees both.
const fwd_call_plan *fwd_cif_plan(const fwd_cif *cif);
const fwd_placement *fwd_cif_placement(const fwd_cif *cif);

/// Finds what libffi is told of the function, and makes it at the first call. Several threads may call this at the same time.
/// The interface frees it. Fails if there is no memory, and while the interface itself is made, also if libffi refuses the types.
fwd_status fwd_cif_ffi(const fwd_cif *cif, const struct fwd_ffi_interface **ffi, fwd_error *error);

/// Whether the function is variadic. Such an interface has no plan, and makes no closures.
bool fwd_cif_is_variadic(const fwd_cif *cif);

#endif
