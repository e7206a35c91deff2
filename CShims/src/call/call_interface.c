// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Call interfaces: what they refuse, their storage, and the call.

#include "call/call_interface.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "abi/lowering.h"

// MARK: What C cannot pass

fwd_status fwd_cif_refuse(const fwd_encoding *encoding, fwd_status status, size_t offset, const char *reason,
                          fwd_error *error) {
  return fwd_encoding_fail(error, status, "method signature", fwd_encoding_text(encoding),
                           fwd_encoding_length(encoding), offset, reason);
}

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
  if (reason) return fwd_cif_refuse(encoding, FWD_UNSUPPORTED, type->text_offset, reason, error);
  if (type->layout_status != FWD_OK) {
    return fwd_cif_refuse(encoding, type->layout_status, type->layout_offset,
                          type->layout_reason ? type->layout_reason : "expected a type of known size", error);
  }
  // Stacks, and copies on them, are aligned to 16.
  if (type->layout.alignment > 16) {
    return fwd_cif_refuse(encoding, FWD_UNSUPPORTED, type->text_offset,
                          "expected a type aligned to at most 16 bytes for what is passed by value", error);
  }
  return FWD_OK;
}

_Static_assert(FWD_BY_VALUE_LIMIT == 65536 && FWD_ARGUMENT_LIMIT == 255, "the messages give the limits");

static fwd_status check(const fwd_encoding *encoding, fwd_error *error) {
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  if (root->kind != FWD_TYPE_FUNCTION || root->child_count == 0) {
    return fwd_cif_refuse(encoding, FWD_MALFORMED, 0, "expected a result type and argument types", error);
  }
  const fwd_type *type = fwd_encoding_type(encoding, root->first_child);
  fwd_status status = check_type(encoding, type, true, error);
  if (status != FWD_OK) return status;
  if (type->layout.size > FWD_BY_VALUE_LIMIT) {
    return fwd_cif_refuse(encoding, FWD_OVERFLOW, type->text_offset,
                          "expected a result of at most 65536 bytes", error);
  }
  size_t total = 0;
  for (uint32_t i = 1; i < root->child_count; i++) {
    type = fwd_encoding_type(encoding, type->next_sibling);
    if (i > FWD_ARGUMENT_LIMIT) {
      return fwd_cif_refuse(encoding, FWD_OVERFLOW, type->text_offset, "expected at most 255 arguments",
                            error);
    }
    status = check_type(encoding, type, false, error);
    if (status != FWD_OK) return status;
    if (type->layout.size > FWD_BY_VALUE_LIMIT - total) {
      return fwd_cif_refuse(encoding, FWD_OVERFLOW, type->text_offset,
                            "expected arguments of at most 65536 bytes together", error);
    }
    total += type->layout.size;
  }
  return FWD_OK;
}

uint32_t fwd_find_empty_array(const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->kind == FWD_TYPE_ARRAY && type->count == 0) return index;
  if (type->kind != FWD_TYPE_ARRAY && type->kind != FWD_TYPE_STRUCT && type->kind != FWD_TYPE_UNION)
    return FWD_NO_TYPE;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE;
       child = fwd_encoding_type(encoding, child)->next_sibling) {
    uint32_t found = fwd_find_empty_array(encoding, child);
    if (found != FWD_NO_TYPE) return found;
  }
  return FWD_NO_TYPE;
}

fwd_status fwd_cif_refuse_empty_array(const fwd_encoding *encoding, uint32_t index, fwd_error *error) {
  return fwd_cif_refuse(encoding, FWD_UNSUPPORTED, fwd_encoding_type(encoding, index)->text_offset,
                        "expected no array of 0 elements in a small struct (compilers differ in how they "
                        "pass one by value)",
                        error);
}

// MARK: Missing arguments

static bool is_missing(const fwd_encoding *encoding, uint32_t type, const void *argument) {
  return !argument && fwd_encoding_type(encoding, type)->layout.size > 0;
}

/// Gives the first argument that has bytes but no address, or the number of arguments.
static size_t find_missing(const fwd_encoding *encoding, void *const *arguments) {
  uint32_t type = fwd_encoding_type(encoding, fwd_encoding_type(encoding, 0)->first_child)->next_sibling;
  size_t i = 0;
  for (; type != FWD_NO_TYPE && !is_missing(encoding, type, arguments ? arguments[i] : NULL); i++) {
    type = fwd_encoding_type(encoding, type)->next_sibling;
  }
  return i;
}

__attribute__((cold, noinline)) static fwd_status fail_missing(const fwd_encoding *encoding,
                                                               void *const *arguments) {
  size_t index = find_missing(encoding, arguments);
  return fwd_fail(NULL, FWD_NULL_ARGUMENT, index, "fwd_call: no address for argument %zu of \"%.100s\"", index,
                  fwd_encoding_text(encoding));
}

/// Whether each argument that has bytes has an address.
static inline bool has_addresses(const fwd_encoding *encoding, void *const *arguments) {
  size_t count = fwd_encoding_type(encoding, 0)->child_count - 1;
  if (!arguments) return find_missing(encoding, NULL) == count;
  // Without a branch for each, this costs a third.
  bool missing = false;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    missing |= !arguments[i] | !arguments[i + 1] | !arguments[i + 2] | !arguments[i + 3];
  }
  for (; i < count; i++) missing |= !arguments[i];
  return !missing || find_missing(encoding, arguments) == count;
}

// MARK: The call

// libffi's functions take what they do not modify as pointers to non-const.
static void *unconst(const void *pointer) { return (void *)(uintptr_t)pointer; }

/// `memory` is where the result goes that does not come in registers.
static void call(const fwd_cif *cif, void (*function)(void), void *const *arguments, void *result,
                 void *memory) {
  // One more than needed: an array of no elements is undefined.
  uint64_t words[cif->word_count + 1], *word = words;
  max_align_t copies[cif->copy_size / sizeof(max_align_t) + 1];
  char *copy = (char *)copies;
  // libffi gets an array of our own: it overwrites entries that stand for large structs.
  void *addresses[cif->piece_count + 1];
  for (uint32_t i = 0; i < cif->piece_count; i++) {
    const fwd_piece *piece = &cif->pieces[i];
    switch (piece->source) {
      case FWD_PIECE_IN_PLACE:
        addresses[i] = (char *)arguments[piece->argument] + piece->offset;
        break;
      case FWD_PIECE_RESULT_ADDRESS:
        addresses[i] = &memory;
        break;
      case FWD_PIECE_REFERENCE:
        memcpy(copy, arguments[piece->argument], piece->size);
        *word = (uint64_t)(uintptr_t)copy;
        addresses[i] = word++;
        copy += (piece->size + 15) & ~15u;
        break;
      default:
        *word = fwd_extend((char *)arguments[piece->argument] + piece->offset, piece->size,
                           piece->source == FWD_PIECE_SIGN_EXTENDED);
        addresses[i] = word++;
    }
  }
  // libffi writes whole registers: never into the caller's bytes.
  union {
    ffi_arg word;
    unsigned char bytes[FWD_RESULT_REGISTER_BYTES];
    max_align_t alignment;
  } returned = {.bytes = {0}};
  void *written = cif->result_place == FWD_RESULT_AS_TYPED ? memory : &returned;
  ffi_call(unconst(&cif->ffi), function, written, addresses);
  if (!result) return;
  if (cif->result_place == FWD_RESULT_REGISTERS) {
    memcpy(result, returned.bytes, cif->result_size);
  } else if (cif->result_place == FWD_RESULT_WORD) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy(result, returned.bytes + sizeof returned.word - cif->result_size, cif->result_size);
#else
    memcpy(result, returned.bytes, cif->result_size);
#endif
  }
}

// In a function of its own, so that other calls do not have the frame that this one needs.
__attribute__((noinline)) static void call_discarding(const fwd_cif *cif, void (*function)(void),
                                                      void *const *arguments) {
  // Bounded by FWD_BY_VALUE_LIMIT. No type that an encoding spells needs more than max_align_t's alignment.
  max_align_t memory[cif->result_size / sizeof(max_align_t) + 1];
  call(cif, function, arguments, NULL, memory);
}

static fwd_status call_by_libffi(const fwd_caller *caller, void (*function)(void), void *const *arguments,
                                 void *result) {
  const fwd_cif *cif = (const fwd_cif *)caller;
  if (!has_addresses(cif->encoding, arguments)) return fail_missing(cif->encoding, arguments);
  bool in_memory = cif->result_place == FWD_RESULT_MEMORY || cif->result_place == FWD_RESULT_AS_TYPED;
  if (in_memory && !result) {
    call_discarding(cif, function, arguments);
  } else {
    call(cif, function, arguments, result, result);
  }
  return FWD_OK;
}

fwd_status fwd_cif_call(const fwd_cif *cif, void (*function)(void), void *const *arguments, void *result) {
  // Relaxed: a switch for those who compare the two, ordered with nothing.
  bool by_libffi = atomic_load_explicit(&fwd_libffi_is_forced, memory_order_relaxed);
  const fwd_caller *caller = by_libffi ? &cif->libffi : cif->caller;
  return caller->call(caller, function, arguments, result);
}

// MARK: The call by plan

#if FWD_HAS_CALL_PLANS

fwd_status fwd_call_plan_fail(const fwd_call_plan *plan, void *const *arguments) {
  return fail_missing(plan->encoding, arguments);
}

fwd_status fwd_call_plan_discard(const fwd_call_plan *plan, void (*function)(void), void *const *arguments) {
  max_align_t memory[plan->result_size / sizeof(max_align_t) + 1];
  return plan->caller.call(&plan->caller, function, arguments, memory);
}

/// For plans whose own caller does not look at the arguments.
static fwd_status call_by_plan(const fwd_caller *caller, void (*function)(void), void *const *arguments,
                               void *result) {
  const fwd_call_plan *plan = (const fwd_call_plan *)caller;
  if (!has_addresses(plan->encoding, arguments)) return fail_missing(plan->encoding, arguments);
  if (plan->result == FWD_PLAN_MEMORY && !result) return fwd_call_plan_discard(plan, function, arguments);
  plan->call(plan, function, arguments, result);
  return FWD_OK;
}

static fwd_status add_plan(fwd_cif *cif, fwd_error *error) {
  fwd_status status = fwd_call_plan_create(cif->encoding, &cif->plan, error);
  if (status != FWD_OK || !cif->plan) return status;
  cif->plan->encoding = cif->encoding;
  if (!cif->plan->caller.call) cif->plan->caller.call = call_by_plan;
  cif->caller = &cif->plan->caller;
  return FWD_OK;
}

#else

static fwd_status add_plan(fwd_cif *cif, fwd_error *error) {
  (void)cif, (void)error;
  return FWD_OK;
}

#endif

// MARK: Creation

bool fwd_type_is_signed(fwd_type_kind kind) {
  return kind == FWD_TYPE_CHAR || kind == FWD_TYPE_SHORT || kind == FWD_TYPE_INT || kind == FWD_TYPE_LONG;
}

void fwd_cif_add_piece(fwd_cif *cif, ffi_type *type, fwd_piece piece) {
  fwd_piece *added = &cif->pieces[cif->piece_count];
  *added = piece;
  cif->piece_types[cif->piece_count] = type ? type : &added->block;
  if (piece.source == FWD_PIECE_ZERO_EXTENDED || piece.source == FWD_PIECE_SIGN_EXTENDED) cif->word_count++;
  if (piece.source == FWD_PIECE_REFERENCE) {
    cif->word_count++;
    cif->copy_size += (piece.size + 15) & ~15u;
  }
  if (piece.source != FWD_PIECE_RESULT_ADDRESS) {
    fwd_argument_pieces *argument = &cif->arguments[piece.argument];
    if (argument->count == 0) argument->first = (uint16_t)cif->piece_count;
    argument->count++;
  }
  cif->piece_count++;
}

// A closure can hand on the place where a piece lies if the whole argument is there, aligned for its type: behind 16
// bytes of which one eightbyte is padding, only 8 are; and an attribute that aligns a struct need not align the piece.
static bool is_scattered(const fwd_cif *cif, const fwd_argument_pieces *argument, const fwd_type *type) {
  if (argument->count == 0 || cif->pieces[argument->first].source == FWD_PIECE_REFERENCE) return false;
  return cif->pieces[argument->first].size != type->layout.size ||
         (type->is_stated && cif->piece_types[argument->first]->alignment < type->layout.alignment);
}

static void find_scattered(fwd_cif *cif, const fwd_encoding *encoding) {
  const fwd_type *type = fwd_encoding_type(encoding, fwd_encoding_type(encoding, 0)->first_child);
  for (uint32_t i = 0; i < cif->argument_count; i++) {
    type = fwd_encoding_type(encoding, type->next_sibling);
    fwd_argument_pieces *argument = &cif->arguments[i];
    argument->scattered = is_scattered(cif, argument, type);
    if (argument->scattered) cif->scattered_count++;
  }
}

static fwd_status no_memory(fwd_error *error) {
  return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call interface");
}

// Pieces are numbered by 16 bits.
_Static_assert(2 * FWD_ARGUMENT_LIMIT + 1 <= UINT16_MAX, "two pieces an argument, and the result's address");

fwd_status fwd_cif_create(const fwd_encoding *encoding, fwd_cif **cif, fwd_error *error) {
  fwd_status status = check(encoding, error);
  if (status != FWD_OK) return status;
  uint32_t count = fwd_encoding_type(encoding, 0)->child_count - 1;
  fwd_cif *made = calloc(1, sizeof *made + count * sizeof made->arguments[0]);
  if (!made) return no_memory(error);
  atomic_init(&made->references, 1);
  // Its count is all of it that changes.
  made->encoding = fwd_encoding_retain((fwd_encoding *)(uintptr_t)encoding);
  made->libffi.call = call_by_libffi;
  made->caller = &made->libffi;
  made->argument_count = count;
  size_t capacity = 2 * (size_t)count + 1;
  made->pieces = calloc(capacity, sizeof *made->pieces);
  made->piece_types = calloc(capacity, sizeof *made->piece_types);
  status = made->pieces && made->piece_types ? fwd_lower(made, encoding, error) : no_memory(error);
  if (status == FWD_OK && ffi_prep_cif(&made->ffi, FFI_DEFAULT_ABI, made->piece_count, made->result_type,
                                       made->piece_types) != FFI_OK) {
    status = fwd_cif_refuse(encoding, FWD_UNSUPPORTED, 0, "expected a signature that libffi can call", error);
  }
  if (status == FWD_OK) status = add_plan(made, error);
  if (status != FWD_OK) {
    fwd_cif_destroy(made);
    return status;
  }
  find_scattered(made, encoding);
  *cif = made;
  return FWD_OK;
}

const fwd_cif *fwd_cif_retain(const fwd_cif *cif) {
  // The count is the only part that changes. A reference is made from a reference: nothing to order.
  atomic_fetch_add_explicit(&((fwd_cif *)(uintptr_t)cif)->references, 1, memory_order_relaxed);
  return cif;
}

void fwd_cif_destroy(fwd_cif *cif) {
  // Release: what this thread read comes before the memory is freed. Acquire: by whoever frees it.
  if (!cif || atomic_fetch_sub_explicit(&cif->references, 1, memory_order_acq_rel) != 1) return;
  while (cif->type_storage) {
    void *storage = cif->type_storage;
    cif->type_storage = *(void **)storage;
    free(storage);
  }
#if FWD_HAS_CALL_PLANS
  fwd_call_plan_destroy(cif->plan);
#endif
  free(cif->pieces);
  free(cif->piece_types);
  fwd_encoding_release(cif->encoding);
  free(cif);
}

const fwd_call_plan *fwd_cif_plan(const fwd_cif *cif) { return cif->plan; }

const fwd_call_jump fwd_no_call_jump = NULL;

fwd_jump_head fwd_cif_call_head(const fwd_cif *cif) {
#if FWD_HAS_CALL_JUMPS
  if (cif->plan) return cif->plan->head;
#endif
  (void)cif;
  return (fwd_jump_head){.head = {.jump = &fwd_no_call_jump}};
}

// MARK: The switch

atomic_bool fwd_libffi_is_forced;

void fwd_use_libffi(bool forced) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  // One at a time, or the switch and the jumps could disagree for good.
  pthread_mutex_lock(&lock);
  atomic_store_explicit(&fwd_libffi_is_forced, forced, memory_order_relaxed);
#if FWD_HAS_CALL_JUMPS
  fwd_call_jumps_enable(!forced);
#endif
  pthread_mutex_unlock(&lock);
}

// Read before main, so that calls need not ask whether it has been.
__attribute__((constructor)) static void read_environment(void) {
  const char *asked = getenv("FWD_CALL");
  if (asked && strcmp(asked, "libffi") == 0) fwd_use_libffi(true);
}
