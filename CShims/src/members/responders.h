// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The records of a list that implement one method, for fan-outs of lists in which many do not.
///
/// A fan-out asks each record for the method. In a list of 64 subscribers of which 4 implement it, asking the others takes
/// twice as long as the deliveries. So a fan-out that has asked many records in vain says so (`fwd_list_note_vain`), and
/// after some of them the writer makes an array of the method's responders:
///
///     list ──► segments   │ A │ · │ · │ B │ · │ · │ · │ C │      · a record that lacks the method
///          └─► responders of the method, at version 7   │ A │ B │ C │
///
/// A fan-out reads the array if the list still has the version and the number of appended records that it had when the array
/// was made. Otherwise it reads the segments, as if there were no array. So a change of the list needs no work here, and an
/// array that is out of date is never read. Subscriptions that have ended since are marked in their records.

#ifndef FWD_SRC_RESPONDERS_H
#define FWD_SRC_RESPONDERS_H

#include "fwd_garbage.h"
#include "members/segments.h"

typedef struct fwd_responders {
  fwd_retired retired;
  /// Those of the list when the array was made.
  uint64_t version, appended;
  /// Whether some record may hold its object weakly.
  bool has_weak;
  size_t count;
  fwd_record *records[];
} fwd_responders;

/// Whether some method may have responders.
static inline bool fwd_list_may_have_responders(const fwd_subscriber_list *list) {
  return atomic_load_explicit(&list->responders, memory_order_acquire) != NULL;
}

/// Returns the responders of a method, or NULL if they are not known. Call it after `fwd_list_enter`. They are valid until
/// `fwd_list_leave`.
static inline const fwd_responders *fwd_list_responders(const fwd_subscriber_list *list, size_t method) {
  _Atomic(fwd_responders *) *all = atomic_load_explicit(&list->responders, memory_order_acquire);
  if (__builtin_expect(!all, 1)) return NULL;
  const fwd_responders *responders = atomic_load_explicit(&all[method], memory_order_acquire);
  if (!responders) return NULL;
  // After `fwd_list_enter`: records that a later version has left out are not freed before the reader leaves.
  bool is_current = responders->version == atomic_load_explicit(&list->version, memory_order_acquire) &&
                    responders->appended == atomic_load_explicit(&list->appended, memory_order_acquire);
  return is_current ? responders : NULL;
}

/// The number of records from which on an array of responders is worth while. looping.c asks fewer one by one.
enum { FWD_FEWEST_ASKED = 4 };

/// Whether a fan-out has to note the records that it has asked in vain: if there are more than deliveries / 2 + 1 of them. In a
/// long list that is more than a third of the records asked.
static inline bool fwd_asked_in_vain(size_t asked, size_t delivered) {
  // Most fan-outs deliver to all records that they ask, and one comparison says so.
  return __builtin_expect(asked > delivered, 0) && asked >= FWD_FEWEST_ASKED && asked > delivered + delivered / 2 + 1;
}

/// Notes that a fan-out has asked `asked` records and delivered to `delivered` of them. Returns whether it is worth to make
/// the responders now, which takes about as long as 4 such fan-outs. Any thread may call it.
bool fwd_list_note_vain(fwd_subscriber_list *list, size_t asked, size_t delivered);

/// Frees all responders. There must be no reader.
void fwd_list_free_responders(fwd_subscriber_list *list);

/// Returns the size of all responders in bytes. For the writer.
size_t fwd_responders_footprint(const fwd_subscriber_list *list);

#endif
