// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Dispatch tables: the functions of a subscriber, in the order of a proxy's methods.

#ifndef FWD_DISPATCH_H
#define FWD_DISPATCH_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// A *packed* function makes a delivery whose arguments are behind pointers. Typed Swift closures are called through
/// one.
///
/// `arguments` has the address of each argument of the signature, the receiver and the selector included. The function
/// writes the bytes of the result. If it fails, it sets the thread's last error, fills `error` unless that is NULL, and
/// returns the status: `fwd_error_set` does all three. It returns FWD_NO_RESPONDER if the subscriber does not respond
/// to the method after all.
typedef fwd_status (*fwd_packed_function)(const void *FWD_NULLABLE context,
                                          void *FWD_NULLABLE receiver,
                                          void *FWD_NONNULL const *FWD_NONNULL arguments,
                                          void *FWD_NONNULL result, fwd_error *FWD_NULLABLE error);

/// A Swift closure of the type `(Owner, repeat each Argument) -> Output`, or without the owner, as generic Swift code
/// holds it. Such a closure takes the *addresses* of its arguments, as a packed function does, so that it can be called
/// from C (members/swift_closure.h).
///
/// Unlike a packed function, it does not look whether the arguments are values of its Swift types. The masks say what is
/// to be looked at first; bit i stands for argument i, the receiver and the selector not counted.
typedef struct fwd_swift_closure {
  /// The two words of the closure.
  void (*FWD_NONNULL function)(void);
  const void *FWD_NULLABLE context;
  /// Whether it takes the receiver.
  bool takes_receiver;
  /// Whether one of the masks is not 0. If this is false, they are not read.
  bool has_conditions;
  /// The arguments that must not be null.
  uint64_t non_null;
  /// The arguments that must be 0 or 1.
  uint64_t bools;
  /// The arguments that must be null or an object of a class, and these classes, in the order of the arguments.
  uint64_t objects;
  const void *FWD_NONNULL const *FWD_NULLABLE classes;
} fwd_swift_closure;

/// The number of arguments that the masks have room for.
enum { FWD_SWIFT_CLOSURE_ARGUMENTS = 64 };

/// Whether this library can call Swift closures: whether its compiler knows Swift's calling convention.
bool fwd_calls_swift_closures(void);

/// The implementation of one method: a C function with the method's signature, or a packed function. If both are NULL
/// the method is not implemented.
///
/// A *thunk* sets both. The calls and loops of replay.c call `function` and pass `context` as one more integer argument,
/// after those of the signature. All other callers use `packed`.
typedef struct fwd_implementation {
  void (*FWD_NULLABLE function)(void);
  fwd_packed_function FWD_NULLABLE packed;
  /// The first argument of `packed`, and the additional argument of a thunk. Valid as long as the table's owner.
  const void *FWD_NULLABLE context;
  /// A closure that does the same as `packed`, faster, for arguments that are values of its types. NULL if there is
  /// none. Valid as long as the table's owner.
  const fwd_swift_closure *FWD_NULLABLE closure;
} fwd_implementation;

/// The implementations of one function table, by the index of the method in a proxy. A table belongs to one proxy at
/// a time, and must not change after its first subscriber has it, but for `fwd_dispatch_table_stand_for`.
typedef struct fwd_dispatch_table fwd_dispatch_table;

/// Creates a table of `count` methods, none of them implemented. Returns NULL if memory is short.
///
/// `key` identifies the function table: two subscriptions of one object whose tables have the same key are duplicates.
///
/// The table has one reference. If it gets an owner, a Swift object that destroys the table in its `deinit`, the
/// owner's reference count counts instead.
fwd_dispatch_table *FWD_NULLABLE fwd_dispatch_table_create(size_t count,
                                                           const void *FWD_NULLABLE key);
/// Makes `fwd_proxy_core_join` find the table by a class, too. All objects of exactly this class must subscribe with this table.
/// Any thread may call this, at any time.
void fwd_dispatch_table_stand_for(fwd_dispatch_table *FWD_NONNULL table, const void *FWD_NONNULL subscriber_class);
/// Sets the owner. Must be called before the table is used.
void fwd_dispatch_table_adopt(fwd_dispatch_table *FWD_NONNULL table, void *FWD_NONNULL owner);
/// Is told that a subscription has ended. Called under the lock of the list, so it must run no foreign code.
typedef void (*fwd_table_end)(void *FWD_NULLABLE context);
/// Has `ended` called with `context` when a subscription with the table is ended: by the program, or since its subscriber
/// has died, but neither by its limit of deliveries nor by the end of the proxy. Must be called before the table is used.
void fwd_dispatch_table_observe(fwd_dispatch_table *FWD_NONNULL table, fwd_table_end FWD_NONNULL ended,
                                void *FWD_NULLABLE context);
/// Returns the owner, or NULL.
void *FWD_NULLABLE fwd_dispatch_table_owner(const fwd_dispatch_table *FWD_NONNULL table);
/// Whether another list may use the table, if the caller has the only reference to it: it has no subscription, and only its
/// list could find it. Any thread may ask.
bool fwd_dispatch_table_is_unused(const fwd_dispatch_table *FWD_NONNULL table);
/// Frees the table. For the owner's `deinit`. NULL is ignored.
void fwd_dispatch_table_destroy(fwd_dispatch_table *FWD_NULLABLE table);
/// Adds a reference, and returns the table.
fwd_dispatch_table *FWD_NONNULL fwd_dispatch_table_retain(fwd_dispatch_table *FWD_NONNULL table);
/// Releases a reference. The last one frees the table. NULL is ignored.
void fwd_dispatch_table_release(fwd_dispatch_table *FWD_NULLABLE table);
/// Returns the implementation of a method, which the caller may change before the table is used.
fwd_implementation *FWD_NONNULL fwd_dispatch_table_entry(fwd_dispatch_table *FWD_NONNULL table,
                                                         size_t index);
/// Whether the table implements a method.
bool fwd_dispatch_table_implements(const fwd_dispatch_table *FWD_NONNULL table, size_t method);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
