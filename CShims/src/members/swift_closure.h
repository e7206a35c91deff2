// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Calls of Swift closures by Swift's calling convention.
///
/// A closure `(Owner, repeat each Argument) -> Output` that a generic struct holds has the most general form that its
/// type allows, whatever the types are: Swift's compiler puts a small function in front of the closure that was written.
/// That function takes
///
///     an address for the result           rax   (x8 on AArch64)
///     the owner                           rdi   (x0), only if the type has one
///     an array of argument addresses      rsi   (x1), or the first register if there is no owner
///     the closure's context               r13   (x20)
///
/// so a fan-out's array of argument pointers is what it expects. Clang knows this convention as `swiftcall`; gcc does not.
/// Swift documents its convention (docs/ABI/CallConvSummary.rst in swiftlang/swift), but not that of packs, so the Swift
/// side makes a `fwd_swift_closure` only for compilers with which the tests have passed.

#ifndef FWD_SRC_SWIFT_CLOSURE_H
#define FWD_SRC_SWIFT_CLOSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cold_call.h"
#include "fwd_dispatch.h"
#include "members/swift_runtime.h"

#if defined(__has_attribute)
#if __has_attribute(swiftcall)
#define FWD_HAS_SWIFTCALL 1
#endif
#endif
#ifndef FWD_HAS_SWIFTCALL
#define FWD_HAS_SWIFTCALL 0
#endif

/// The initial value of a loop's previous closure. It compares unequal to every closure and to NULL.
#define FWD_NO_CLOSURE_YET ((const fwd_swift_closure *)1)

/// The slow path of `fwd_swift_closure_takes`: checks the arguments that the closure's masks name. Fan-outs call it between
/// deliveries, so it keeps the caller's registers.
FWD_KEEPS_REGISTERS bool fwd_swift_closure_takes_slowly(const fwd_swift_closure *closure, void *const *arguments);

/// Whether the arguments are values of the closure's types. `arguments` does not have the hidden ones.
static inline __attribute__((always_inline)) bool fwd_swift_closure_takes(const fwd_swift_closure *closure,
                                                                          void *const *arguments) {
  return __builtin_expect(!closure->has_conditions, 1) || fwd_swift_closure_takes_slowly(closure, arguments);
}

#if FWD_HAS_SWIFTCALL

#define FWD_SWIFT_RESULT __attribute__((swift_indirect_result))
#define FWD_SWIFT_CONTEXT __attribute__((swift_context))

/// A closure without an owner takes the arguments in place of the receiver, and does not look at what follows them.
typedef __attribute__((swiftcall)) void (*fwd_pack_function)(FWD_SWIFT_RESULT void *result, void *receiver,
                                                             void *const *arguments,
                                                             FWD_SWIFT_CONTEXT const void *context);

/// What a call of a closure needs, loaded.
typedef struct fwd_swift_call {
  fwd_pack_function function;
  const void *context;
  /// The receiver, or the arguments if the closure does not take it.
  void *first;
} fwd_swift_call;

static inline fwd_swift_call fwd_swift_call_of(const fwd_swift_closure *closure, void *receiver, void *const *arguments) {
  void *first = closure->takes_receiver ? receiver : (void *)(uintptr_t)arguments;
  return (fwd_swift_call){(fwd_pack_function)closure->function, closure->context, first};
}

/// Makes the call. `arguments` does not have the hidden ones; the result's bytes must not hold a value. The function may have one
/// parameter less: see `fwd_pack_function`.
__attribute__((no_sanitize("function"))) static inline void fwd_swift_call_make(fwd_swift_call call,
                                                                                void *const *arguments, void *result) {
  call.function(result, call.first, arguments, call.context);
}

/// Calls a closure.
static inline void fwd_swift_closure_call(const fwd_swift_closure *closure, void *receiver, void *const *arguments,
                                          void *result) {
  fwd_swift_call_make(fwd_swift_call_of(closure, receiver, arguments), arguments, result);
}

/// Calls a closure `(Value) -> Bool`, which takes the address of the value.
static inline bool fwd_swift_predicate_call(void (*function)(void), const void *context, const void *value) {
  typedef __attribute__((swiftcall)) bool (*predicate)(const void *value, FWD_SWIFT_CONTEXT const void *context);
  return ((predicate)function)(value, context);
}

/// Calls a closure `(Value, Value) -> Value`. The result must not be where one of the values is.
static inline void fwd_swift_combine_call(void (*function)(void), const void *context, const void *one,
                                          const void *other, void *result) {
  typedef __attribute__((swiftcall)) void (*combine)(FWD_SWIFT_RESULT void *result, const void *one, const void *other,
                                                     FWD_SWIFT_CONTEXT const void *context);
  ((combine)function)(result, one, other, context);
}

#else

// Never called: see `fwd_calls_swift_closures`.
typedef struct fwd_swift_call {
  void *first;
} fwd_swift_call;
static inline fwd_swift_call fwd_swift_call_of(const fwd_swift_closure *closure, void *receiver, void *const *arguments) {
  (void)closure, (void)arguments;
  return (fwd_swift_call){receiver};
}
static inline void fwd_swift_call_make(fwd_swift_call call, void *const *arguments, void *result) {
  (void)call, (void)arguments, (void)result;
}
static inline void fwd_swift_closure_call(const fwd_swift_closure *closure, void *receiver, void *const *arguments,
                                          void *result) {
  (void)closure, (void)receiver, (void)arguments, (void)result;
}
static inline bool fwd_swift_predicate_call(void (*function)(void), const void *context, const void *value) {
  (void)function, (void)context, (void)value;
  return false;
}
static inline void fwd_swift_combine_call(void (*function)(void), const void *context, const void *one,
                                          const void *other, void *result) {
  (void)function, (void)context, (void)one, (void)other, (void)result;
}

#endif

#endif
