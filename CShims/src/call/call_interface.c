// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Call interfaces: what they refuse, how they are made, and the switch to libffi.

#include "call/call_interface.h"

#include <stdlib.h>
#include <string.h>

#include "abi/libffi/libffi.h"
#include "abi/missing.h"
#include "abi/refusal.h"
#include "base/error.h"
#include "base/small_code.h"
#include "base/word.h"
#include "encoding/promotions.h"
#include "fwd_lock.h"

struct fwd_cif {
  /// NULL if there is none.
  fwd_call_plan *plan;
  /// NULL until it is first needed. Most signatures have a plan, and never need it.
  _Atomic(fwd_ffi_interface *) ffi;
  /// NULL on machines of the generic port.
  fwd_placement *placement;
  /// Retained: the plan refers to it.
  fwd_encoding *encoding;
  /// Of a variadic function: the encoding that its calls follow, in which unnamed arguments have been promoted. NULL for
  /// others.
  fwd_encoding *promoted;
};

// MARK: What C cannot pass

static fwd_status check_type(const fwd_encoding *encoding, const fwd_type *type, bool is_result,
                             fwd_error *error) {
  const char *reason = NULL;
  switch (type->kind) {
    case FWD_TYPE_VOID:
      if (!is_result) reason = "expected an argument type, not void";
      break;
    case FWD_TYPE_ARRAY:
      // Array parameters have become pointers, except for arrays without a layout.
      if (is_result) reason = "expected a type that C functions return, not an array ('^' returns its address)";
      break;
    case FWD_TYPE_FUNCTION:
      reason = "expected a type that C passes by value, not a function ('^?' passes its address)";
      break;
    case FWD_TYPE_UNKNOWN:
      reason = "expected a type of known size, not '?'";
      break;
    default:
      break;
  }
  if (reason) return fwd_refuse(encoding, FWD_UNSUPPORTED, type->text_offset, reason, error);
  if (type->layout_status != FWD_OK) {
    return fwd_refuse(encoding, type->layout_status, type->layout_offset,
                          type->layout_reason ? type->layout_reason : "expected a type of known size", error);
  }
  // The stack and copies on it are aligned to 16.
  if (type->layout.alignment > 16) {
    return fwd_refuse(encoding, FWD_UNSUPPORTED, type->text_offset,
                          "expected a type aligned to at most 16 bytes for what is passed by value", error);
  }
  return FWD_OK;
}

_Static_assert(FWD_BY_VALUE_LIMIT == 65536 && FWD_ARGUMENT_LIMIT == 255, "the messages give the limits");

static fwd_status check(const fwd_encoding *encoding, fwd_error *error) {
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  if (root->kind != FWD_TYPE_FUNCTION || root->child_count == 0) {
    return fwd_refuse(encoding, FWD_MALFORMED, 0, "expected a result type and argument types", error);
  }
  const fwd_type *type = fwd_encoding_type(encoding, root->first_child);
  fwd_status status = check_type(encoding, type, true, error);
  if (status != FWD_OK) return status;
  if (type->layout.size > FWD_BY_VALUE_LIMIT) {
    return fwd_refuse(encoding, FWD_OVERFLOW, type->text_offset,
                          "expected a result of at most 65536 bytes", error);
  }
  size_t total = 0;
  for (uint32_t i = 1; i < root->child_count; i++) {
    type = fwd_encoding_type(encoding, type->next_sibling);
    if (i > FWD_ARGUMENT_LIMIT) {
      return fwd_refuse(encoding, FWD_OVERFLOW, type->text_offset, "expected at most 255 arguments",
                            error);
    }
    status = check_type(encoding, type, false, error);
    if (status != FWD_OK) return status;
    if (type->layout.size > FWD_BY_VALUE_LIMIT - total) {
      return fwd_refuse(encoding, FWD_OVERFLOW, type->text_offset,
                            "expected arguments of at most 65536 bytes together", error);
    }
    total += type->layout.size;
  }
  return FWD_OK;
}

// MARK: Creation

FWD_SMALL_CODE_BEGIN

/// The encoding that calls follow.
static const fwd_encoding *passed(const fwd_cif *cif) { return cif->promoted ? cif->promoted : cif->encoding; }

static fwd_status prepare(fwd_cif *cif, fwd_error *error) {
  fwd_status status = FWD_OK;
  if (fwd_encoding_is_variadic(cif->encoding)) status = fwd_encoding_promote(cif->encoding, &cif->promoted, error);
  if (status == FWD_OK) status = fwd_placement_create(passed(cif), &cif->placement, error);
  // A plan's callers do not set al, which a variadic function of x86-64 reads.
  if (status == FWD_OK && !cif->promoted) {
    status = fwd_call_plan_create(cif->placement, passed(cif), &cif->plan, error);
  }
  if (status != FWD_OK || fwd_calls_by_plan(cif->plan)) return status;
  // Calls will need libffi, which may refuse the types. It takes all that a plan can call.
  const fwd_ffi_interface *ffi;
  return fwd_cif_ffi(cif, &ffi, error);
}

fwd_status fwd_cif_ffi(const fwd_cif *cif, const fwd_ffi_interface **ffi, fwd_error *error) {
  // Acquire: what another thread has made is complete.
  fwd_ffi_interface *found = atomic_load_explicit(&cif->ffi, memory_order_acquire);
  if (__builtin_expect(!found, 0)) {
    fwd_ffi_interface *made;
    fwd_status status = fwd_ffi_interface_create(passed(cif), cif->placement, &made, error);
    if (status != FWD_OK) return status;
    // Release: a thread that finds it finds it complete. If two threads have made one, the first stays.
    fwd_cif *changed = (fwd_cif *)(uintptr_t)cif;
    if (atomic_compare_exchange_strong_explicit(&changed->ffi, &found, made, memory_order_acq_rel,
                                                memory_order_acquire)) {
      found = made;
    } else {
      fwd_ffi_interface_release(made);
    }
  }
  *ffi = found;
  return FWD_OK;
}

fwd_status fwd_cif_create(const fwd_encoding *encoding, fwd_cif **cif, fwd_error *error) {
  fwd_status status = check(encoding, error);
  if (status != FWD_OK) return status;
  fwd_cif *made = calloc(1, sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call interface");
  // The encoding is immutable but for its reference count.
  made->encoding = fwd_encoding_retain((fwd_encoding *)(uintptr_t)encoding);
  status = prepare(made, error);
  if (status != FWD_OK) {
    fwd_cif_destroy(made);
    return status;
  }
  *cif = made;
  return FWD_OK;
}

void fwd_cif_destroy(fwd_cif *cif) {
  if (!cif) return;
  free(cif->plan);
  fwd_ffi_interface_release(atomic_load_explicit(&cif->ffi, memory_order_relaxed));
  free(cif->placement);
  fwd_encoding_release(cif->encoding);
  fwd_encoding_release(cif->promoted);
  free(cif);
}

FWD_SMALL_CODE_END

// MARK: Calls

/// Calls a variadic function: promotes the unnamed arguments, as C's default argument promotions do.
__attribute__((noinline)) static fwd_status call_variadic(const fwd_cif *cif, void (*function)(void),
                                                          void *const *arguments, void *result) {
  if (!fwd_has_addresses(cif->encoding, arguments)) return fwd_fail_missing(cif->encoding, arguments);
  const fwd_type *type = fwd_encoding_type(cif->encoding, fwd_encoding_type(cif->encoding, 0)->first_child);
  size_t count = fwd_encoding_type(cif->encoding, 0)->child_count - 1;
  size_t named_count = fwd_encoding_named_count(cif->encoding);
  // There is a named argument, so neither array is empty.
  void *addresses[count];
  union promoted {
    int integer;
    double number;
  } promoted[count];
  for (size_t i = 0; i < count; i++) {
    type = fwd_encoding_type(cif->encoding, type->next_sibling);
    addresses[i] = arguments[i];
    if (i < named_count || !fwd_promoted_letter(type)) continue;
    addresses[i] = &promoted[i];
    if (type->kind == FWD_TYPE_FLOAT) {
      float number;
      memcpy(&number, arguments[i], sizeof number);
      promoted[i].number = (double)number;
    } else {
      uint64_t word = fwd_extend(arguments[i], type->layout.size, fwd_type_is_signed(type->kind));
      promoted[i].integer = (int)word;
    }
  }
  return fwd_ffi_call(atomic_load_explicit(&cif->ffi, memory_order_relaxed), function, addresses, result);
}

/// Makes what libffi is told of a function that has a plan. NULL if there is no memory, which is no failure of the call.
__attribute__((cold, noinline)) static const fwd_ffi_interface *first_ffi(const fwd_cif *cif) {
  fwd_kept_error last;
  fwd_error_keep(&last);
  const fwd_ffi_interface *ffi;
  if (fwd_cif_ffi(cif, &ffi, NULL) == FWD_OK) return ffi;
  fwd_error_restore(&last);
  return NULL;
}

fwd_status fwd_cif_call(const fwd_cif *cif, void (*function)(void), void *const *arguments, void *result) {
  const fwd_call_plan *plan = cif->plan;
  if (__builtin_expect(cif->promoted != NULL, 0)) return call_variadic(cif, function, arguments, result);
  if (fwd_calls_by_plan(plan)) return plan->checked(plan, function, arguments, result);
  const fwd_ffi_interface *ffi = atomic_load_explicit(&cif->ffi, memory_order_acquire);
  if (__builtin_expect(!ffi, 0)) ffi = first_ffi(cif);
  // Without memory for it the plan makes the same call.
  return ffi ? fwd_ffi_call(ffi, function, arguments, result) : plan->checked(plan, function, arguments, result);
}

const fwd_call_plan *fwd_cif_plan(const fwd_cif *cif) { return cif->plan; }

const fwd_placement *fwd_cif_placement(const fwd_cif *cif) { return cif->placement; }

bool fwd_cif_is_variadic(const fwd_cif *cif) { return cif->promoted != NULL; }

fwd_jump_head fwd_cif_call_head(const fwd_cif *cif) {
#if FWD_HAS_CALL_JUMPS
  if (cif->plan) return cif->plan->head;
#endif
  (void)cif;
  return (fwd_jump_head){.head = {.jump = &fwd_no_call_jump}};
}

// MARK: The switch to libffi

atomic_bool fwd_libffi_is_forced;

void fwd_use_libffi(bool forced) {
  static fwd_lock lock = FWD_LOCK_INITIALIZER;
  // One thread at a time, or the switch and the jumps could disagree for good.
  fwd_lock_lock(&lock);
  atomic_store_explicit(&fwd_libffi_is_forced, forced, memory_order_relaxed);
#if FWD_HAS_CALL_JUMPS
  fwd_call_jumps_enable(!forced);
#endif
  fwd_lock_unlock(&lock);
}

// Before main, so that calls need not ask whether the environment has been read.
__attribute__((constructor)) static void read_environment(void) {
  const char *asked = getenv("FWD_CALL");
  // An earlier constructor may have forced libffi, too.
  bool is_forced = atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
  fwd_use_libffi(is_forced || (asked && strcmp(asked, "libffi") == 0));
}
