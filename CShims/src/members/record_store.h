// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The store: the memory of a list's records. Each record has a slot. A slot is reused when its record is freed.

#ifndef FWD_SRC_RECORD_STORE_H
#define FWD_SRC_RECORD_STORE_H

#include "members/record.h"

// A level is eight slabs of one size. The sizes double from 8 records to 4,096 (160 KB), so a new slab, which has one
// record at first, adds about an eighth to a large store at most.
enum { FWD_SLAB_BITS = 3, FWD_LEVEL_BITS = 3, FWD_LAST_LEVEL = 9 };

/// A store. All zeros is an empty one. It must not be moved.
typedef struct fwd_record_store {
  /// Arrays of records, which never move. `slabs` is `&only` until there are two.
  fwd_record **slabs;
  fwd_record *only;
  uint32_t slab_count;
  /// The first slot that was never used. All slots after it were never used either.
  uint32_t fresh;
  /// Free slots that only the list's writer uses, linked by `receiver`.
  fwd_record *unused;
  /// Free slots that any thread may add to, linked by `receiver`.
  _Atomic(fwd_record *) given_back;
} fwd_record_store;

/// `fwd_store_take` of a store without an unused slot.
fwd_record *fwd_store_refill(fwd_record_store *store, uint32_t *slot);
/// Allocates a slot for a record, and writes its number to `*slot`. Returns NULL if memory is short. For the writer.
static inline fwd_record *fwd_store_take(fwd_record_store *store, uint32_t *slot) {
  fwd_record *record = store->unused;
  if (__builtin_expect(!record, 0)) return fwd_store_refill(store, slot);
  store->unused = record->receiver;
  *slot = fwd_slot_of(record->identifier);
  return record;
}
/// Frees the slot of a record that no reader has found. For the writer.
void fwd_store_return(fwd_record_store *store, fwd_record *record);

/// Records whose slots are to be freed, linked by `receiver`. All zeros is the empty list.
typedef struct fwd_freed_records {
  fwd_record *first, *last;
} fwd_freed_records;

static inline void fwd_freed_records_add(fwd_freed_records *freed, fwd_record *record) {
  record->receiver = freed->first;
  freed->first = record;
  if (!freed->last) freed->last = record;
}

/// Frees slots, on any thread. No reader may find their records any more.
void fwd_store_give_back(fwd_record_store *store, fwd_freed_records freed);

/// Returns the number of a slot's slab, and replaces `*slot` by the index in the slab.
static inline uint32_t fwd_store_locate(uint32_t *slot) {
  const uint32_t first_slots = UINT32_C(1) << (FWD_SLAB_BITS + FWD_LEVEL_BITS);
  if (*slot < first_slots) {
    // Level 0. What follows gives the same result.
    uint32_t slab = *slot >> FWD_SLAB_BITS;
    *slot &= (UINT32_C(1) << FWD_SLAB_BITS) - 1;
    return slab;
  }
  // A level has as many slots as all levels before it together, plus those of level 0. So if the slots of level 0 are
  // added to a slot, the highest bit of the sum gives its level.
  uint32_t shifted = *slot + first_slots, level = FWD_LAST_LEVEL;
  if (shifted < first_slots << FWD_LAST_LEVEL) {
    level = 31 - (uint32_t)__builtin_clz(shifted) - (FWD_SLAB_BITS + FWD_LEVEL_BITS);
  }
  uint32_t inside = shifted - (first_slots << level), bits = FWD_SLAB_BITS + level;
  *slot = inside & ((UINT32_C(1) << bits) - 1);
  return (level << FWD_LEVEL_BITS) + (inside >> bits);
}

/// Returns the record of a slot, or NULL if the slot was never used. The subscription of the record may have ended. For
/// the writer.
static inline fwd_record *fwd_store_at(const fwd_record_store *store, uint32_t slot) {
  if (slot >= store->fresh) return NULL;
  uint32_t index = slot, slab = fwd_store_locate(&index);
  return &store->slabs[slab][index];
}

/// Returns the bytes that the store has allocated.
size_t fwd_store_footprint(const fwd_record_store *store);
/// Frees all slabs.
void fwd_store_destroy(fwd_record_store *store);

#endif
