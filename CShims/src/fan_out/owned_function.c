// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C function pointers that forward into a proxy, and that nobody destroys: an object owns them.
///
/// The function pointer of an *owned function* is valid for the life of the process. It has no reference to its proxy's
/// Swift object or to its owner, but one to the C part of the proxy. So a call needs no reference to the Swift object,
/// whose count would cost more than the rest of the call: the fan-out takes one in the cold paths that need it. Each
/// call asks whether the owner has begun to deinitialise:
///
///     both live                        forwards the call
///     the owner has died               returns the failure result, and reports the call
///     buried: the proxy has died,      the slot has the tombstone, which does the same
///     or its functions' owners
///     have been checked
///
/// A call that is under way on another thread while the proxy dies goes on. Subscriptions that end with the proxy are not
/// called any more.
///
/// A *tombstone* is made together with the function, so that a death needs no memory. It has what a late call needs: the
/// result, the selector and the error handler. It is never freed, and its function pointer is never handed out again. The
/// references, the signature and the layout of the arguments are given up when the function is buried.
///
/// The call that a bury finds under way keeps what it uses by the hazard pointer of its slot (call/closure.c): the function,
/// and so the C part of the proxy.

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/small_code.h"
#include "fan_out/emission.h"
#include "fan_out/fan_out.h"
#include "fan_out/proxy_function.h"

typedef struct tombstone {
  /// First: the slot has its address.
  fwd_target target;
  /// All tombstones are linked, and their targets have the slots, since leak checkers do not look into libffi's trampolines.
  struct tombstone *next;
  fwd_selector selector;
  /// A Swift object, with a reference, and what passes a late call to it.
  void *reporter;
  fwd_late_call_handler report;
  const void *owner_type;
  uint32_t result_size;
  bool returns_object;
  _Alignas(max_align_t) unsigned char result[];
} tombstone;

struct fwd_owned_function {
  /// First, so that a delivery's `function` points to the whole.
  fwd_function_target target;
  fwd_closure *closure;
  fwd_signature *signature;
  /// 0 if the proxy is the owner.
  fwd_weak owner;
  tombstone *tombstone;
};

static _Atomic(tombstone *) tombstones;

// MARK: Calls

/// Treats a call after the death of the owner or of the proxy.
__attribute__((cold, noinline)) static void call_late(const tombstone *stone, void *result) {
  memcpy(result, stone->result, stone->result_size);
  if (stone->returns_object) {
    void *object;
    memcpy(&object, result, sizeof object);
    fwd_object_retain(object);
  }
  stone->report(stone->reporter, stone->selector, stone->owner_type);
}

static void handle_late_call(void *context, void *const *arguments, void *result) {
  (void)arguments;
  call_late(context, result);
}

/// Handles a call whose fan-out has failed.
__attribute__((cold, noinline)) static void settle(const fwd_delivery *delivery, fwd_status status) {
  // The target is the function's first member.
  const fwd_owned_function *function = (const fwd_owned_function *)delivery->function;
  // The proxy has died after the call had begun, and its subscriptions have ended before one responded.
  bool is_late = status == FWD_DEAD || status == FWD_NO_RESPONDER;
  if (is_late && fwd_proxy_is_closing(function->target.proxy)) {
    call_late(function->tombstone, delivery->result);
  } else {
    fwd_function_settle(delivery, status);
  }
}

/// Forwards a call of a function whose owner is alive or the proxy. Not inlined into `handle_call`: the values that
/// `handle_call` keeps while it asks whether the owner has died would take stack at each level of a recursion.
__attribute__((noinline)) static void forward_call(void *context, void *const *arguments, void *result) {
  const fwd_owned_function *function = context;
  const fwd_function_target *target = &function->target;
  fwd_unpinned_delivery unpinned = {
      .delivery = {.function = target, .arguments = arguments, .result = result, .is_unpinned = true}};
  fwd_status status = fwd_fan_out_of_function(&unpinned.delivery);
  if (__builtin_expect(status != FWD_OK, 0)) settle(&unpinned.delivery, status);
  // May end the proxy, which buries this function: the hazard pointer of the call keeps it.
  if (__builtin_expect(unpinned.owner != NULL, 0)) fwd_object_release(unpinned.owner);
}

/// Handles a call of a function with an owner.
static void handle_call(void *context, void *const *arguments, void *result) {
  const fwd_owned_function *function = context;
  if (__builtin_expect(fwd_weak_has_died(function->owner), 0)) {
    call_late(function->tombstone, result);
  } else {
    forward_call(context, arguments, result);
  }
}

// MARK: Creation

FWD_SMALL_CODE_BEGIN

/// Makes the tombstone of a function; NULL if memory is short.
static tombstone *make_tombstone(const fwd_owned_function_request *request) {
  const fwd_compiled_method *method = fwd_compiled_method_of(request->method);
  tombstone *stone = calloc(1, sizeof *stone + method->result.size);
  if (!stone) return NULL;
  *stone = (tombstone){
      .target = {.handler = handle_late_call, .context = stone},
      .selector = request->method->selector,
      .reporter = request->reporter,
      .report = request->report,
      .owner_type = request->owner_type,
      .result_size = (uint32_t)method->result.size,
      .returns_object = method->returns_object,
  };
  const void *kept = request->failure_result          ? request->failure_result
                     : request->method->failure_result ? request->method->failure_result
                                                       : request->method->default_result;
  if (kept) fwd_emission_copy_result(method, kept, stone->result);
  fwd_object_retain(request->reporter);
  return stone;
}

static void free_tombstone(tombstone *stone) {
  if (!stone) return;
  if (stone->returns_object) {
    void *object;
    memcpy(&object, stone->result, sizeof object);
    fwd_object_release(object);
  }
  fwd_object_release(stone->reporter);
  free(stone);
}

/// Frees a function that no call can use any more. Its tombstone stays.
static void free_function(void *context) {
  fwd_owned_function *function = context;
  if (function->owner) fwd_weak_destroy(function->owner);
  fwd_signature_release(function->signature);
  fwd_proxy_core_release(function->target.proxy);
  free(function);
}

fwd_status fwd_owned_function_create(const fwd_owned_function_request *request, fwd_owned_function **function,
                                     fwd_error *error) {
  fwd_signature *signature = NULL;
  size_t context = FWD_NO_ARGUMENT;
  fwd_status status = fwd_function_signature(request->method, request->form, &signature, &context, error);
  if (status != FWD_OK) return status;
  fwd_owned_function *made = fwd_proxy_core_share(request->proxy) ? calloc(1, sizeof *made) : NULL;
  if (!made) {
    fwd_signature_release(signature);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a function pointer");
  }
  made->signature = signature;
  made->target.proxy = request->proxy;
  fwd_proxy_core_retain(request->proxy);
  made->target.method = fwd_compiled_method_of(request->method);
  if (request->owner) made->owner = fwd_weak_create(request->owner, fwd_weak_kind_in_use());
  made->tombstone = make_tombstone(request);
  if ((request->owner && !made->owner) || !made->tombstone) {
    status = fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a function pointer");
  } else {
    if (request->failure_result) made->target.failure_result = made->tombstone->result;
    status = fwd_cif_closure_create_dropping(fwd_signature_cif(signature), context,
                                             made->owner ? handle_call : forward_call, made, free_function, made,
                                             &made->closure, error);
  }
  if (status != FWD_OK) {
    free_tombstone(made->tombstone);
    free_function(made);
    return status;
  }
  bool has_words = fwd_function_has_words(made->target.method, made->closure);
  atomic_store_explicit(&made->target.has_words, has_words, memory_order_relaxed);
  *function = made;
  return FWD_OK;
}

void (*fwd_owned_function_pointer(const fwd_owned_function *function))(void) {
  return fwd_closure_function(function->closure);
}

bool fwd_owned_function_owner_has_died(const fwd_owned_function *function) {
  return function->owner && fwd_weak_has_died(function->owner);
}

void fwd_owned_function_bury(fwd_owned_function *function) {
  tombstone *stone = function->tombstone;
  stone->next = atomic_load_explicit(&tombstones, memory_order_relaxed);
  // Release: a reader of the list finds complete tombstones.
  while (!atomic_compare_exchange_weak_explicit(&tombstones, &stone->next, stone, memory_order_release,
                                                memory_order_relaxed)) {
  }
  fwd_closure_bury(function->closure, &stone->target);
}

// MARK: Structs of callbacks

/// Precedes the struct in its memory, and keeps the struct's alignment.
typedef struct struct_header {
  _Alignas(max_align_t) struct struct_header *next;
} struct_header;

static _Atomic(struct_header *) structs;

void *fwd_callback_struct_create(size_t size) {
  struct_header *header = calloc(1, sizeof *header + size);
  if (!header) return NULL;
  header->next = atomic_load_explicit(&structs, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&structs, &header->next, header, memory_order_release,
                                                memory_order_relaxed)) {
  }
  return header + 1;
}

void fwd_callback_struct_set(void *member, void (*function)(void)) {
  // A C library reads the member as a plain pointer, at any time. Release: it then finds the function's slot filled.
  __atomic_store_n((uintptr_t *)member, (uintptr_t)function, __ATOMIC_RELEASE);
}

FWD_SMALL_CODE_END
