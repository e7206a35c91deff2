// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls and closures by libffi, for users that need not see <ffi.h>.

#ifndef FWD_SRC_LIBFFI_H
#define FWD_SRC_LIBFFI_H

#include "abi/entering.h"
#include "abi/placement.h"

/// What libffi is told of a signature. Immutable but for its reference count.
typedef struct fwd_ffi_interface fwd_ffi_interface;

/// Describes a function type to libffi. `placement` is that of `encoding`, or NULL on machines of the generic port.
/// Refuses types that libffi cannot pass, with their offset. Retains `encoding`.
fwd_status fwd_ffi_interface_create(const fwd_encoding *encoding, const fwd_placement *placement,
                                    fwd_ffi_interface **interface, fwd_error *error);

/// Releases a reference. NULL is ignored.
void fwd_ffi_interface_release(fwd_ffi_interface *interface);

/// Calls `function` with the values that `arguments` point to. Returns FWD_NULL_ARGUMENT, with nothing called, if an argument
/// that has bytes has no address. Writes exactly the result's bytes, or none if `result` is NULL.
fwd_status fwd_ffi_call(const fwd_ffi_interface *interface, void (*function)(void), void *const *arguments,
                        void *result);

/// Makes a function pointer by libffi; it retains the interface. The handler does not get the argument `dropped`, unless
/// that is FWD_NO_ARGUMENT. The slot is empty.
fwd_status fwd_ffi_entry_take(const fwd_ffi_interface *interface, size_t dropped, fwd_entry *entry, fwd_error *error);

/// Takes back an entry whose slot is empty. Its address is used again only after those of many others, and not while a
/// stale call is in it.
void fwd_ffi_entry_give_back(fwd_entry entry);

#endif
