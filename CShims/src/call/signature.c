// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Method signatures: a parsed encoding, the layout of a frame of its arguments, and the call interface.

#include "call/signature.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "encoding/encoding.h"
#include "base/error.h"
#include "base/small_code.h"
#include "call/closure.h"
#include "base/hash.h"
#include "fwd_lock.h"

struct fwd_signature {
  /// What `fwd_call` reads. It must stay first: programs are compiled against it.
  fwd_jump_head head;
  _Atomic size_t references;
  fwd_encoding *encoding;
  fwd_cif *cif;
  uint64_t text_hash;
  size_t argument_count;
  size_t frame_size;
  size_t frame_alignment;
  size_t hidden_count;
  fwd_layout result;
  uint32_t result_type;
  struct fwd_signature_argument {
    fwd_layout layout;
    uint32_t type;
  } arguments[];
};

_Static_assert(offsetof(struct fwd_signature, head.head) == 0 && offsetof(fwd_call_head, jump) == 0 &&
                   offsetof(fwd_call_head, result) == sizeof(void *),
               "fwd_call is compiled into programs");

// MARK: The cache

// Programs read the same few texts again and again. The cache is direct-mapped: each slot keeps the last signature whose
// hash leads to it, which bounds memory for any input. Long texts are not kept: the signature of one at the limit takes
// 30 MB, and a program that reads many of them may be under attack.
enum { cache_slots = 256, cached_length_limit = 1024 };
static fwd_lock cache_lock = FWD_LOCK_INITIALIZER;
static fwd_signature *cache[cache_slots];

static fwd_signature *cache_find(const char *text, size_t length, uint64_t hash) {
  fwd_lock_lock(&cache_lock);
  fwd_signature *found = cache[hash % cache_slots];
  if (found && found->text_hash == hash && fwd_encoding_length(found->encoding) == length &&
      memcmp(fwd_encoding_text(found->encoding), text, length) == 0) {
    fwd_signature_retain(found);
  } else {
    found = NULL;
  }
  fwd_lock_unlock(&cache_lock);
  return found;
}

static void cache_store(fwd_signature *signature) {
  fwd_signature **slot = &cache[signature->text_hash % cache_slots];
  fwd_signature_retain(signature);
  fwd_lock_lock(&cache_lock);
  fwd_signature *evicted = *slot;
  *slot = signature;
  fwd_lock_unlock(&cache_lock);
  fwd_signature_release(evicted);
}

// MARK: Creation

static bool is_pointer(fwd_type_kind kind) {
  return kind == FWD_TYPE_OBJECT || kind == FWD_TYPE_POINTER || kind == FWD_TYPE_C_STRING ||
         kind == FWD_TYPE_CLASS || kind == FWD_TYPE_BLOCK;
}

/// Sets the offsets of the arguments, as those of the members of a C struct. The call interface has checked that each has a
/// size and that together they are below `FWD_BY_VALUE_LIMIT`, so nothing overflows.
static void lay_out_frame(fwd_signature *signature) {
  size_t offset = 0, alignment = 1;
  for (size_t i = 0; i < signature->argument_count; i++) {
    fwd_layout *layout = &signature->arguments[i].layout;
    if (i < signature->hidden_count) {
      layout->offset = FWD_NO_OFFSET;
      continue;
    }
    offset = (offset + layout->alignment - 1) & ~(layout->alignment - 1);
    layout->offset = offset;
    offset += layout->size;
    if (layout->alignment > alignment) alignment = layout->alignment;
  }
  signature->frame_size = (offset + alignment - 1) & ~(alignment - 1);
  signature->frame_alignment = alignment;
}

/// Takes over `encoding`, on failure too.
static fwd_status create(fwd_encoding *encoding, fwd_signature **signature, fwd_error *error) {
  fwd_cif *cif = NULL;
  fwd_status status = fwd_cif_create(encoding, &cif, error);
  if (status != FWD_OK) {
    fwd_encoding_release(encoding);
    return status;
  }
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  size_t count = root->child_count - 1;
  fwd_signature *made = calloc(1, sizeof *made + count * sizeof made->arguments[0]);
  if (!made) {
    fwd_cif_destroy(cif);
    fwd_encoding_release(encoding);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a method signature of %zu arguments", count);
  }
  atomic_init(&made->references, 1);
  made->encoding = encoding;
  made->cif = cif;
  made->head = fwd_cif_call_head(cif);
  made->text_hash = fwd_hash_bytes(fwd_encoding_text(encoding), fwd_encoding_length(encoding));
  made->argument_count = count;
  uint32_t type = root->first_child;
  made->result_type = type;
  made->result = fwd_encoding_type(encoding, type)->layout;
  made->result.offset = 0;
  for (size_t i = 0; i < count; i++) {
    type = fwd_encoding_type(encoding, type)->next_sibling;
    made->arguments[i].type = type;
    made->arguments[i].layout = fwd_encoding_type(encoding, type)->layout;
  }
  if (count > 0 && is_pointer(fwd_encoding_type(encoding, made->arguments[0].type)->kind)) {
    bool selector = count > 1 && fwd_encoding_named_count(encoding) > 1 &&
                    fwd_encoding_type(encoding, made->arguments[1].type)->kind == FWD_TYPE_SELECTOR;
    made->hidden_count = selector ? 2 : 1;
  }
  lay_out_frame(made);
  *signature = made;
  return FWD_OK;
}

fwd_status fwd_signature_create(const char *text, size_t length, fwd_signature **signature, fwd_error *error) {
  if (!signature) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_signature_create: no place for the signature");
  uint64_t hash = 0;
  bool is_short = length <= cached_length_limit;
  if (text && is_short) {
    hash = fwd_hash_bytes(text, length);
    fwd_signature *cached = cache_find(text, length, hash);
    if (cached) {
      *signature = cached;
      return FWD_OK;
    }
  }
  fwd_encoding *encoding = NULL;
  fwd_status status = fwd_encoding_create(text, length, FWD_FORM_METHOD, &encoding, error);
  if (status != FWD_OK) return status;
  fwd_signature *made = NULL;
  status = create(encoding, &made, error);
  if (status != FWD_OK) return status;
  if (is_short) cache_store(made);
  *signature = made;
  return FWD_OK;
}

fwd_status fwd_signature_create_stating(const char *text, size_t length, const fwd_stated_layout *stated, size_t count,
                                        fwd_signature **signature, fwd_error *error) {
  // Not cached: the cache finds signatures by their text alone.
  if (count == 0) return fwd_signature_create(text, length, signature, error);
  if (!signature) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_signature_create: no place for the signature");
  fwd_encoding *encoding = NULL;
  fwd_status status =
      fwd_encoding_create_stating(text, length, FWD_FORM_METHOD, stated, count, &encoding, error);
  return status == FWD_OK ? create(encoding, signature, error) : status;
}

fwd_signature *fwd_signature_retain(fwd_signature *signature) {
  if (!signature) return NULL;
  // A new reference is made from an existing one: there is nothing to order.
  atomic_fetch_add_explicit(&signature->references, 1, memory_order_relaxed);
  return signature;
}

fwd_signature *fwd_signature_share(const fwd_signature *signature) {
  return fwd_signature_retain((fwd_signature *)(uintptr_t)signature);
}

void fwd_signature_release(fwd_signature *signature) {
  if (!signature) return;
  // Release: what this thread read comes before the memory is freed. Acquire: the thread that frees it sees that.
  if (atomic_fetch_sub_explicit(&signature->references, 1, memory_order_acq_rel) != 1) return;
  fwd_cif_destroy(signature->cif);
  fwd_encoding_release(signature->encoding);
  free(signature);
}

// MARK: Parts

static fwd_status fail_null(const char *function, const fwd_signature *signature) {
  return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "%s: no %s", function,
                  signature ? "place for the layout" : "signature");
}

size_t fwd_signature_argument_count(const fwd_signature *signature) {
  return signature ? signature->argument_count : 0;
}

fwd_status fwd_signature_argument(const fwd_signature *signature, size_t index, fwd_layout *layout) {
  if (!signature || !layout) return fail_null("fwd_signature_argument", signature);
  if (index >= signature->argument_count) {
    return fwd_fail(NULL, FWD_OUT_OF_RANGE, index, "argument %zu of \"%.100s\", which has %zu", index,
                    fwd_encoding_text(signature->encoding), signature->argument_count);
  }
  *layout = signature->arguments[index].layout;
  return FWD_OK;
}

fwd_status fwd_signature_result(const fwd_signature *signature, fwd_layout *layout) {
  if (!signature || !layout) return fail_null("fwd_signature_result", signature);
  *layout = signature->result;
  return FWD_OK;
}

size_t fwd_signature_frame_size(const fwd_signature *signature) { return signature ? signature->frame_size : 0; }

size_t fwd_signature_frame_alignment(const fwd_signature *signature) { return signature->frame_alignment; }

const fwd_cif *fwd_signature_cif(const fwd_signature *signature) { return signature->cif; }

const fwd_encoding *fwd_signature_encoding(const fwd_signature *signature) { return signature->encoding; }

size_t fwd_signature_hidden_count(const fwd_signature *signature) { return signature->hidden_count; }

uint32_t fwd_signature_argument_type(const fwd_signature *signature, size_t index) {
  return index < signature->argument_count ? signature->arguments[index].type : FWD_NO_TYPE;
}

uint32_t fwd_signature_result_type(const fwd_signature *signature) { return signature->result_type; }

// MARK: Derived signatures and comparison

FWD_SMALL_CODE_BEGIN

fwd_status fwd_signature_replace_hidden(const fwd_signature *signature, size_t context, fwd_signature **callback,
                                        fwd_error *error) {
  const fwd_encoding *encoding = signature->encoding;
  const fwd_type *result = fwd_encoding_type(encoding, signature->result_type);
  size_t named_count = fwd_encoding_named_count(encoding);
  if (named_count == signature->hidden_count && fwd_encoding_is_variadic(encoding)) {
    return fwd_fail(error, FWD_UNSUPPORTED, 0,
                    "\"%.100s\" without the receiver: expected a named argument before \"...\"",
                    fwd_encoding_text(encoding));
  }
  // The spelling is put together from the spans of the types, so the limit on the whole text holds for it.
  static const char pointer[] = {'^', 'v'};
  size_t capacity = fwd_encoding_length(encoding) + sizeof pointer + 1, length = 0;
  char *text = malloc(capacity);
  if (!text) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a method signature");
  memcpy(text, fwd_encoding_text(encoding) + result->text_offset, result->text_length);
  length += result->text_length;
  for (size_t i = signature->hidden_count; i <= signature->argument_count; i++) {
    if (i - signature->hidden_count == context) {
      memcpy(text + length, pointer, sizeof pointer);
      length += sizeof pointer;
    }
    if (i == signature->argument_count) break;
    const fwd_type *type = fwd_encoding_type(encoding, signature->arguments[i].type);
    memcpy(text + length, fwd_encoding_text(encoding) + type->text_offset, type->text_length);
    length += type->text_length;
    if (i + 1 == named_count && fwd_encoding_is_variadic(encoding)) {
      memcpy(text + length, "...", 3);
      length += 3;
    }
  }
  fwd_status status;
  if (encoding->stated) {
    fwd_encoding *part = NULL;
    status = fwd_encoding_create_part(encoding, text, length, &part, error);
    if (status == FWD_OK) status = create(part, callback, error);
  } else {
    status = fwd_signature_create(text, length, callback, error);
  }
  free(text);
  return status;
}

bool fwd_signature_equal(const fwd_signature *left, const fwd_signature *right) {
  return left == right || fwd_encoding_equal(left->encoding, 0, right->encoding, 0);
}

bool fwd_signature_equivalent(const fwd_signature *left, const fwd_signature *right) {
  return left == right || fwd_encoding_equivalent(left->encoding, 0, right->encoding, 0);
}

bool fwd_signature_compatible(const fwd_signature *left, const fwd_signature *right) {
  if (left == right) return true;
  if (left->argument_count != right->argument_count || left->hidden_count != right->hidden_count) return false;
  if (fwd_encoding_type(left->encoding, 0)->count != fwd_encoding_type(right->encoding, 0)->count) return false;
  if (!fwd_encoding_compatible(left->encoding, left->result_type, right->encoding, right->result_type)) {
    return false;
  }
  for (size_t i = left->hidden_count; i < left->argument_count; i++) {
    if (!fwd_encoding_compatible(left->encoding, left->arguments[i].type, right->encoding,
                                 right->arguments[i].type)) {
      return false;
    }
  }
  return true;
}

uint64_t fwd_signature_hash(const fwd_signature *signature) {
  return fwd_encoding_hash(signature->encoding, 0);
}

FWD_SMALL_CODE_END

// MARK: Calls and closures

__attribute__((cold, noinline)) static fwd_status fail_call(const fwd_signature *signature) {
  return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "fwd_call: no %s", signature ? "function" : "signature");
}

fwd_status fwd_call_any(const fwd_signature *signature, void (*function)(void), void *const *arguments,
                        void *result) {
  if (!signature || !function) return fail_call(signature);
  return fwd_cif_call(signature->cif, function, arguments, result);
}

void fwd_call_store(const fwd_call_head *head, fwd_call_returned returned, void *result) {
#if FWD_HAS_CALL_JUMPS
  const fwd_jump_head *jump = (const fwd_jump_head *)head;
  fwd_call_plan_store(jump->plan, returned, result);
#else
  (void)head, (void)returned, (void)result;
#endif
}

// The function, for compilers and languages that do not compile it into programs.
extern fwd_status fwd_call(const fwd_signature *signature, void (*function)(void), void *const *arguments,
                           void *result);

static void release_signature(void *signature) { fwd_signature_release(signature); }

fwd_status fwd_closure_create(const fwd_signature *signature, fwd_closure_handler handler, void *context,
                              fwd_closure **closure, fwd_error *error) {
  if (!signature || !handler || !closure) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_closure_create: no %s",
                    !signature ? "signature" : !handler ? "handler" : "place for the closure");
  }
  fwd_signature *shared = fwd_signature_share(signature);
  fwd_status status =
      fwd_cif_closure_create(shared->cif, handler, context, release_signature, shared, closure, error);
  if (status != FWD_OK) fwd_signature_release(shared);
  return status;
}
