// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Records lie in slabs: arrays that never move, since readers have pointers to records. Later slabs are larger, so
/// that records which are adjacent in a long list are mostly adjacent in memory. A slot is the index of a record,
/// counted through all slabs.

#include "members/record_store.h"

#include <stdlib.h>

static uint32_t slab_size(uint32_t slab) {
  uint32_t level = slab >> FWD_LEVEL_BITS;
  return UINT32_C(1) << (FWD_SLAB_BITS + (level < FWD_LAST_LEVEL ? level : FWD_LAST_LEVEL));
}

/// Adds a slab. Returns false if memory is short.
static bool grow(fwd_record_store *store) {
  // The array of slabs is full when their number is a power of two, and then doubles.
  if (store->slab_count == 0) {
    store->slabs = &store->only;
  } else if ((store->slab_count & (store->slab_count - 1)) == 0) {
    bool is_only = store->slabs == &store->only;
    fwd_record **slabs =
        realloc(is_only ? NULL : store->slabs, (size_t)store->slab_count * 2 * sizeof *slabs);
    if (!slabs) return false;
    if (is_only) slabs[0] = store->only;
    store->slabs = slabs;
  }
  fwd_record *slab = malloc(slab_size(store->slab_count) * sizeof *slab);
  if (!slab) return false;
  store->slabs[store->slab_count++] = slab;
  return true;
}

// Identifiers and buckets of the index have FWD_SLOT_BITS for a slot. Buckets store the slot plus one, so the last
// number is not a slot.
static const uint32_t slot_limit = (UINT32_C(1) << FWD_SLOT_BITS) - 1;

fwd_record *fwd_store_refill(fwd_record_store *store, uint32_t *slot) {
  // Acquire: the threads that freed the slots have finished with the records.
  store->unused = atomic_exchange_explicit(&store->given_back, NULL, memory_order_acquire);
  if (store->unused) return fwd_store_take(store, slot);
  if (store->fresh == slot_limit) return NULL;
  uint32_t index = store->fresh, slab = fwd_store_locate(&index);
  if (slab == store->slab_count && !grow(store)) return NULL;
  *slot = store->fresh++;
  return &store->slabs[slab][index];
}

void fwd_store_return(fwd_record_store *store, fwd_record *record) {
  // The mark makes `fwd_list_find` return NULL for the record's identifier.
  atomic_store_explicit(&record->held, FWD_HELD_ENDED, memory_order_relaxed);
  record->receiver = store->unused;
  store->unused = record;
}

void fwd_store_give_back(fwd_record_store *store, fwd_freed_records freed) {
  if (!freed.first) return;
  // The stack of free slots is safe from the ABA problem: nothing pops a single slot, the writer empties the whole
  // stack.
  fwd_record *first = atomic_load_explicit(&store->given_back, memory_order_relaxed);
  do {
    freed.last->receiver = first;
  } while (!atomic_compare_exchange_weak_explicit(&store->given_back, &first, freed.first,
                                                  memory_order_release, memory_order_relaxed));
}

size_t fwd_store_footprint(const fwd_record_store *store) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < store->slab_count; i++) {
    bytes += slab_size(i) * sizeof(fwd_record) + (i > 0 ? sizeof store->slabs[0] : 0);
  }
  return bytes;
}

void fwd_store_destroy(fwd_record_store *store) {
  for (uint32_t i = 0; i < store->slab_count; i++) free(store->slabs[i]);
  if (store->slabs != &store->only) free(store->slabs);
}
