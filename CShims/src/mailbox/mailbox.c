// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The life of mailboxes.

#include <stdlib.h>

#include "base/error.h"
#include "mailbox/parts.h"

fwd_status fwd_mailbox_create(void (*notify)(void *context), void *context, void (*destroy)(void *context),
                              fwd_mailbox **mailbox, fwd_error *error) {
  if (!notify || !mailbox) {
    return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "fwd_mailbox_create: no %s", notify ? "mailbox to fill" : "notifier");
  }
  fwd_mailbox *made = fwd_calloc_lines(sizeof *made);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a mailbox");
  atomic_init(&made->references, 1);
  made->notify = notify;
  made->context = context;
  made->destroy = destroy;
  *mailbox = made;
  return FWD_OK;
}

fwd_mailbox *fwd_mailbox_retain(fwd_mailbox *mailbox) {
  if (mailbox) atomic_fetch_add_explicit(&mailbox->references, 1, memory_order_relaxed);
  return mailbox;
}

/// Wakes the threads that wait for room for one of the messages in blocks.
static void wake_waiters(const fwd_mail_block *blocks, size_t cursor) {
  for (const fwd_mail_block *each = blocks; each; each = each->next) {
    for (; cursor < each->used; cursor += ((const fwd_mail *)(each->bytes + cursor))->size) {
      fwd_recipient *recipient = ((const fwd_mail *)(each->bytes + cursor))->method->recipient;
      if (fwd_mail_is_bounded(recipient)) fwd_mail_announce_room(recipient);
    }
    cursor = 0;
  }
}

void fwd_mailbox_close(fwd_mailbox *mailbox) {
  fwd_lock_lock(&mailbox->lock);
  mailbox->is_closed = true;
  wake_waiters(mailbox->filling.first, 0);
  // Otherwise the drain under way discards what is waiting.
  bool drains = atomic_load_explicit(&mailbox->drainer, memory_order_relaxed) == 0;
  if (drains) {
    wake_waiters(mailbox->draining, mailbox->cursor);
    atomic_store_explicit(&mailbox->drainer, fwd_mail_this_thread(), memory_order_relaxed);
    mailbox->is_scheduled = true;
  }
  fwd_lock_unlock(&mailbox->lock);
  if (drains) fwd_mail_drain_closed(mailbox);
}

void fwd_mailbox_release(fwd_mailbox *mailbox) {
  if (!mailbox || atomic_fetch_sub_explicit(&mailbox->references, 1, memory_order_acq_rel) > 1) return;
  fwd_mailbox_close(mailbox);
  fwd_mail_free_blocks(mailbox->spare);
  if (mailbox->destroy) mailbox->destroy(mailbox->context);
  free(mailbox);
}

void fwd_mailbox_ask_current(fwd_mailbox *mailbox, bool (*is_current)(void *context)) {
  mailbox->is_current = is_current;
}

void fwd_mailbox_pace(fwd_mailbox *mailbox) { mailbox->is_paced = true; }

uint64_t fwd_mailbox_post_count(const fwd_mailbox *mailbox) {
  return atomic_load_explicit(&mailbox->post_count, memory_order_relaxed);
}

bool fwd_mailbox_is_interrupted(const fwd_mailbox *mailbox) { return mailbox->is_interrupted; }

size_t fwd_mailbox_drain(fwd_mailbox *mailbox, size_t limit) {
  if (!mailbox) return 0;
  // A subscriber may release all other references to the mailbox.
  fwd_mailbox_retain(mailbox);
  size_t delivered = fwd_mail_drain(mailbox, limit);
  fwd_mailbox_release(mailbox);
  return delivered;
}
