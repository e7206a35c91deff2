// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Posting: a thread that forwards puts a message into a mailbox.

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fwd_fan_out.h"
#include "fwd_wait.h"
#include "mailbox/parts.h"

uintptr_t fwd_mail_this_thread(void) {
  static _Thread_local char token;
  return (uintptr_t)&token;
}

/// Whether the calling thread is the one that drains the mailbox, or is on its executor: it must not wait for the drain.
static bool is_here(const fwd_mailbox *mailbox) {
  if (atomic_load_explicit(&mailbox->drainer, memory_order_relaxed) == fwd_mail_this_thread()) return true;
  return mailbox->is_current && mailbox->is_current(mailbox->context);
}

/// The references of a dropped message, to be released after the lock.
typedef struct dropped_message {
  bool exists;
  /// NULL if it has no references.
  const fwd_message_layout *layout;
  unsigned char *contents;
  _Alignas(16) unsigned char bytes[FWD_MAIL_SMALL];
} dropped_message;

/// Drops the oldest message of a bounded recipient. The message stays if there is no memory for its references. The caller
/// holds the lock.
static void drop_oldest(fwd_mailbox *mailbox, fwd_recipient *recipient, dropped_message *dropped) {
  fwd_mail_list *list = recipient->draining.first ? &recipient->draining : &recipient->filling;
  fwd_mail *oldest = list->first;
  const fwd_message_layout *layout = oldest->method->layout;
  if (layout->has_references) {
    dropped->contents = layout->fixed_size <= FWD_MAIL_SMALL ? dropped->bytes : malloc(layout->fixed_size);
    if (!dropped->contents) return;
    dropped->layout = layout;
    memcpy(dropped->contents, fwd_mail_contents(oldest), layout->fixed_size);
  }
  dropped->exists = true;
  oldest->is_dropped = true;
  fwd_mail_take(list);
  recipient->waiting--;
  // The half that is drained is not compacted.
  if (list == &recipient->filling) mailbox->filling.dropped += oldest->size;
}

/// The outcome of posting a message.
typedef enum outcome {
  posted,
  posted_to_idle,
  /// There was no room, and it was dropped.
  refused,
  /// The subscription has ended, or the mailbox is closed.
  ended,
  out_of_memory,
  /// There is no room yet.
  full,
} outcome;

/// Counts a message that has come. The caller holds the lock.
static void count_post(fwd_mailbox *mailbox) {
  uint64_t count = atomic_load_explicit(&mailbox->post_count, memory_order_relaxed);
  atomic_store_explicit(&mailbox->post_count, count + 1, memory_order_relaxed);
}

/// Appends a message. The caller holds the lock.
static outcome post_locked(fwd_mailbox *mailbox, const fwd_mailed_method *method, const unsigned char *contents,
                           size_t size, fwd_mail_block *own, bool may_wait, dropped_message *dropped) {
  fwd_recipient *recipient = method->recipient;
  bool replaces = false;
  if (mailbox->is_closed || atomic_load_explicit(&recipient->has_ended, memory_order_relaxed)) return ended;
  if (fwd_mail_is_bounded(recipient)) {
    fwd_mail_follow_swaps(mailbox, recipient);
    if (recipient->waiting >= recipient->options.limit) {
      if (recipient->options.overflow == FWD_OVERFLOW_DROP_NEWEST) {
        count_post(mailbox);
        return refused;
      }
      replaces = recipient->options.overflow == FWD_OVERFLOW_DROP_OLDEST;
      if (recipient->options.overflow == FWD_OVERFLOW_BLOCK && may_wait) return full;
    }
  }
  size_t whole = fwd_mail_size(size);
  fwd_mail *added;
  if (own) {
    fwd_mail_append_block(&mailbox->filling, own);
    mailbox->filling.bytes += own->used;
    added = (fwd_mail *)own->bytes;
  } else {
    added = fwd_mail_reserve(mailbox, whole);
    if (!added) return out_of_memory;
    memcpy(fwd_mail_contents(added), contents, size);
  }
  added->method = method;
  added->next = NULL;
  added->size = whole;
  added->is_dropped = false;
  if (fwd_mail_is_bounded(recipient)) {
    fwd_mail_append(&recipient->filling, added);
    recipient->waiting++;
    // Now, since the new message might not have got memory. It is not the oldest, as the limit is at least 1.
    if (replaces) drop_oldest(mailbox, recipient, dropped);
  }
  count_post(mailbox);
  if (mailbox->is_scheduled) return posted;
  mailbox->is_scheduled = true;
  return posted_to_idle;
}

/// Releases the references of a dropped message.
static void finish_drop(const dropped_message *dropped) {
  if (!dropped->layout) return;
  fwd_message_clear(dropped->layout, dropped->contents);
  if (dropped->contents != dropped->bytes) free(dropped->contents);
}

/// Appends contents to the mailbox. `own` is the block that has them, or NULL if they are to be copied. Waits for room if
/// the recipient's overflow rule says so.
static outcome post_contents(const fwd_mailed_method *method, const unsigned char *contents, size_t size,
                             fwd_mail_block *own) {
  fwd_recipient *recipient = method->recipient;
  fwd_mailbox *mailbox = recipient->mailbox;
  dropped_message dropped;
  dropped.exists = false;
  dropped.layout = NULL;
  // False once waiting would be a deadlock.
  bool may_wait = true;
  for (;;) {
    fwd_lock_lock(&mailbox->lock);
    outcome reached = post_locked(mailbox, method, contents, size, own, may_wait, &dropped);
    fwd_mail_block *surplus = dropped.exists ? fwd_mail_compact_if_worth(mailbox) : NULL;
    uint32_t seen = recipient->room;
    recipient->waiters += reached == full;
    fwd_lock_unlock(&mailbox->lock);
    if (reached == full) {
      // The drain cannot make room while this thread, which is where it runs, waits.
      if (is_here(mailbox)) {
        may_wait = false;
      } else {
        fwd_wait_begin(&recipient->room, seen);
      }
      continue;
    }
    fwd_mail_free_blocks(surplus);
    finish_drop(&dropped);
    if (reached == refused || dropped.exists) {
      __atomic_fetch_add(&recipient->options.account->dropped, 1, __ATOMIC_RELAXED);
    }
    return reached;
  }
}

__attribute__((cold, noinline)) static fwd_status fail_with_dying(const fwd_mailed_method *method, size_t argument,
                                                                  fwd_error *error) {
  return fwd_fail(error, FWD_DEAD, 0,
                  "parameter %zu of \"%.150s\" is being deinitialised, and would be gone when the delivery is made: expected "
                  "an object that can be kept",
                  argument - method->layout->hidden_count + 1, fwd_selector_name(method->selector));
}

static fwd_status fail_without_memory(const fwd_mailed_method *method, fwd_error *error) {
  return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a message of \"%.150s\"", fwd_selector_name(method->selector));
}

fwd_status fwd_mail_post(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error) {
  (void)receiver, (void)result;
  const fwd_mailed_method *method = context;
  fwd_recipient *recipient = method->recipient;
  if (__builtin_expect(atomic_load_explicit(&recipient->subscription, memory_order_relaxed) == 0, 0)) {
    // Each thread that comes here stores the same.
    atomic_store_explicit(&recipient->subscription, fwd_current_subscription(), memory_order_relaxed);
  }
  size_t dying = fwd_message_find_dying(method->layout, arguments);
  if (dying > 0) return fail_with_dying(method, dying, error);
  fwd_message_strings strings;
  size_t size = fwd_message_measure(method->layout, arguments, &strings);
  _Alignas(16) unsigned char small[FWD_MAIL_SMALL];
  unsigned char *contents = small;
  fwd_mail_block *own = NULL;
  if (size > FWD_MAIL_SMALL) {
    own = size == SIZE_MAX ? NULL : fwd_mail_make_block(fwd_mail_size(size));
    if (!own) return fail_without_memory(method, error);
    contents = fwd_mail_contents((fwd_mail *)own->bytes);
  }
  fwd_message_fill(method->layout, arguments, &strings, contents);
  bool is_brought = own && own->used > FWD_MAIL_COPIED;
  outcome reached = post_contents(method, contents, size, is_brought ? own : NULL);
  bool is_posted = reached == posted || reached == posted_to_idle;
  if (!is_posted) fwd_message_clear(method->layout, contents);
  if (!is_posted || !is_brought) free(own);
  if (reached == out_of_memory) return fail_without_memory(method, error);
  // If the mailbox was closed, no drain finds out about the subscriber.
  if (reached == ended) fwd_mail_lose_recipient(recipient);
  if (reached == posted_to_idle) {
    fwd_mailbox *mailbox = recipient->mailbox;
    mailbox->notify(mailbox->context);
  }
  return FWD_OK;
}
