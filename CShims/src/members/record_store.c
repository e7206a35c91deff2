// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where records lie: slabs that never move, the later ones larger, so that neighbours in the list
/// are neighbours in memory. A slot is the number of a place, counted through all slabs.

#include "members/record_store.h"

#include <stdlib.h>

// Eight slabs of each size, from 8 records to 4,096 (160 KB): the last one, which may be empty but for one
// record, is a ninth of all at most.
enum { slab_bits = 3, level_bits = 3, last_level = 9 };
static const uint32_t first_slots = UINT32_C(1) << (slab_bits + level_bits);

static uint32_t slab_size(uint32_t slab) {
  uint32_t level = slab >> level_bits;
  return UINT32_C(1) << (slab_bits + (level < last_level ? level : last_level));
}

/// The slab of a slot; makes `*slot` the place in it.
static uint32_t locate(uint32_t *slot) {
  // Level k has as many slots as all before it and the first one's again: with those added, the highest
  // bit of a slot says which level it is of.
  uint32_t shifted = *slot + first_slots, level = last_level;
  if (shifted < first_slots << last_level) {
    level = 31 - (uint32_t)__builtin_clz(shifted) - (slab_bits + level_bits);
  }
  uint32_t inside = shifted - (first_slots << level), bits = slab_bits + level;
  *slot = inside & ((UINT32_C(1) << bits) - 1);
  return (level << level_bits) + (inside >> bits);
}

/// Adds a slab. False if memory is short.
static bool grow(fwd_record_store *store) {
  // The table of slabs doubles when their number is a power of two.
  if ((store->slab_count & (store->slab_count - 1)) == 0) {
    size_t capacity = store->slab_count ? (size_t)store->slab_count * 2 : 1;
    fwd_record **slabs = realloc(store->slabs, capacity * sizeof *slabs);
    if (!slabs) return false;
    store->slabs = slabs;
  }
  fwd_record *slab = malloc(slab_size(store->slab_count) * sizeof *slab);
  if (!slab) return false;
  store->slabs[store->slab_count++] = slab;
  return true;
}

// Identifiers and entries of the index have as many bits for the slot, the latter for the next number.
static const uint32_t slot_limit = (UINT32_C(1) << FWD_SLOT_BITS) - 1;

fwd_record *fwd_store_take(fwd_record_store *store, uint32_t *slot) {
  // Acquire: what was done with the records before they were given back.
  if (!store->unused) {
    store->unused = atomic_exchange_explicit(&store->given_back, NULL, memory_order_acquire);
  }
  fwd_record *record = store->unused;
  if (record) {
    store->unused = record->receiver;
    *slot = fwd_slot_of(record->identifier);
    return record;
  }
  if (store->fresh == slot_limit) return NULL;
  uint32_t place = store->fresh, slab = locate(&place);
  if (slab == store->slab_count && !grow(store)) return NULL;
  *slot = store->fresh++;
  return &store->slabs[slab][place];
}

void fwd_store_return(fwd_record_store *store, fwd_record *record) {
  // Whoever asks for its identifier finds nobody.
  atomic_store_explicit(&record->held, FWD_HELD_ENDED, memory_order_relaxed);
  record->receiver = store->unused;
  store->unused = record;
}

void fwd_store_give_back(fwd_record_store *store, fwd_record *record) {
  // All are taken together, so that none comes back while another thread looks at it.
  fwd_record *first = atomic_load_explicit(&store->given_back, memory_order_relaxed);
  do {
    record->receiver = first;
  } while (!atomic_compare_exchange_weak_explicit(&store->given_back, &first, record,
                                                  memory_order_release, memory_order_relaxed));
}

fwd_record *fwd_store_at(const fwd_record_store *store, uint32_t slot) {
  if (slot >= store->fresh) return NULL;
  uint32_t place = slot, slab = locate(&place);
  return &store->slabs[slab][place];
}

size_t fwd_store_footprint(const fwd_record_store *store) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < store->slab_count; i++) {
    bytes += slab_size(i) * sizeof(fwd_record) + sizeof store->slabs[0];
  }
  return bytes;
}

void fwd_store_destroy(fwd_record_store *store) {
  for (uint32_t i = 0; i < store->slab_count; i++) free(store->slabs[i]);
  free(store->slabs);
}
