// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Where records lie: slots, each of which is used again after its record.

#ifndef FWD_SRC_RECORD_STORE_H
#define FWD_SRC_RECORD_STORE_H

#include "members/record.h"

/// Slots of records that are being used or may be again.
typedef struct fwd_record_store {
  fwd_record **slabs;
  uint32_t slab_count;
  /// Slots that were never used begin here.
  uint32_t fresh;
  /// Slots to be used again, linked through `receiver`; the writer's.
  fwd_record *unused;
  /// The same, from whoever has given records up.
  _Atomic(fwd_record *) given_back;
} fwd_record_store;

/// Takes a slot for a record. NULL if memory is short.
fwd_record *fwd_store_take(fwd_record_store *store, uint32_t *slot);
/// Gives a slot back that nobody has seen; the writer's.
void fwd_store_return(fwd_record_store *store, fwd_record *record);
/// Gives a slot back, on any thread.
void fwd_store_give_back(fwd_record_store *store, fwd_record *record);
/// The record of a slot, or NULL for one that never was taken.
fwd_record *fwd_store_at(const fwd_record_store *store, uint32_t slot);
size_t fwd_store_footprint(const fwd_record_store *store);
void fwd_store_destroy(fwd_record_store *store);

#endif
