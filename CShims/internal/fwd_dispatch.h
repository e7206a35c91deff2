// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What subscribers implement: a function table joined to a proxy's methods.

#ifndef FWD_DISPATCH_H
#define FWD_DISPATCH_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Takes a delivery whose arguments stand behind pointers: how typed Swift closures are called.
/// `arguments` is that of the whole signature, the receiver and the selector included. Writes the
/// result's bytes. If it fails it sets the thread's last error, fills `error` unless that is NULL, and gives
/// the status; `fwd_error_set` does all three. `FWD_NO_RESPONDER` says that it does not respond after all.
typedef fwd_status (*fwd_packed_function)(const void *FWD_NULLABLE context,
                                          void *FWD_NULLABLE receiver,
                                          void *FWD_NONNULL const *FWD_NONNULL arguments,
                                          void *FWD_NONNULL result, fwd_error *FWD_NULLABLE error);

/// How one method of a subscriber is reached: by a C function of the method's signature, or packed.
/// Neither means that it is not implemented.
///
/// A thunk is both: where registers are loaded for many functions, by a void method, `function` is
/// called, and finds the context in the integer register behind those of the signature, or where the
/// calling convention puts a further integer. Everywhere else `packed` is called.
typedef struct fwd_implementation {
  void (*FWD_NULLABLE function)(void);
  fwd_packed_function FWD_NULLABLE packed;
  /// For `packed` and for thunks; lives as long as the table's owner.
  const void *FWD_NULLABLE context;
} fwd_implementation;

/// The implementations of one function table, by the index that a proxy gives its methods.
/// Immutable once a subscriber has it, and then of one proxy.
typedef struct fwd_dispatch_table fwd_dispatch_table;

/// Makes a table of `count` methods, none implemented. `key` names it: one object with tables of one
/// key is one subscriber. NULL if memory is short.
///
/// It is counted by reference: its own count begins with 1. With an owner, a Swift object that
/// destroys it in its `deinit`, its references are those of the owner.
fwd_dispatch_table *FWD_NULLABLE fwd_dispatch_table_create(size_t count,
                                                           const void *FWD_NULLABLE key);
/// Names the owner, before the table is used.
void fwd_dispatch_table_adopt(fwd_dispatch_table *FWD_NONNULL table, void *FWD_NONNULL owner);
/// For the owner's `deinit`.
void fwd_dispatch_table_destroy(fwd_dispatch_table *FWD_NULLABLE table);
fwd_dispatch_table *FWD_NONNULL fwd_dispatch_table_retain(fwd_dispatch_table *FWD_NONNULL table);
void fwd_dispatch_table_release(fwd_dispatch_table *FWD_NULLABLE table);
/// The place of a method's implementation, to be filled before the table is used.
fwd_implementation *FWD_NONNULL fwd_dispatch_table_entry(fwd_dispatch_table *FWD_NONNULL table,
                                                         size_t index);
/// Whether the table implements a method.
bool fwd_dispatch_table_implements(const fwd_dispatch_table *FWD_NONNULL table, size_t method);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
