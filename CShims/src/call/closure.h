// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Closures: C function pointers made at run time.

#ifndef FWD_SRC_CLOSURE_H
#define FWD_SRC_CLOSURE_H

#include "abi/entering.h"
#include "call/call_interface.h"

/// Makes a function pointer of an interface, which need not outlive it. Calls `release` (which may be NULL) with `owner`
/// once, as soon as no call can use the handler and `context`: in `fwd_closure_destroy`, or when the last of the calls
/// that were running then returns, on its thread. On failure it is not called.
fwd_status fwd_cif_closure_create(const fwd_cif *cif, fwd_closure_handler handler, void *context,
                                  void (*release)(void *owner), void *owner, fwd_closure **closure,
                                  fwd_error *error);

/// Works as `fwd_cif_closure_create`. The handler gets all arguments but the one of index `dropped`, which costs nothing.
fwd_status fwd_cif_closure_create_dropping(const fwd_cif *cif, size_t dropped, fwd_closure_handler handler,
                                           void *context, void (*release)(void *owner), void *owner,
                                           fwd_closure **closure, fwd_error *error);

/// Whether the arguments that the handler gets begin consecutive words of eight bytes: `arguments[i]` is `arguments[0]` plus
/// 8 * i bytes. `count` words can be read from `arguments[0]` on, also if there are fewer arguments.
bool fwd_closure_has_words(const fwd_closure *closure, size_t count);

/// Ends a closure as `fwd_closure_destroy` does, but keeps its function pointer for good: calls run the handler of
/// `tombstone` from now on, with its context and without arguments. The tombstone must live as long as the process. This sets
/// its layout and its slot.
void fwd_closure_bury(fwd_closure *closure, fwd_target *tombstone);

#endif
