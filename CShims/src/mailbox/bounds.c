// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Recipients with a limit.

#include "fwd_wait.h"
#include "mailbox/parts.h"

void fwd_mail_follow_swaps(const fwd_mailbox *mailbox, fwd_recipient *recipient) {
  if (recipient->epoch == mailbox->epoch) return;
  // After one swap the filling list is the draining one. After two, its messages have been drained.
  recipient->draining = recipient->epoch + 1 == mailbox->epoch ? recipient->filling : (fwd_mail_list){NULL, NULL};
  recipient->filling = (fwd_mail_list){NULL, NULL};
  recipient->epoch = mailbox->epoch;
}

void fwd_mail_append(fwd_mail_list *list, fwd_mail *added) {
  added->next = NULL;
  if (list->last) {
    list->last->next = added;
  } else {
    list->first = added;
  }
  list->last = added;
}

fwd_mail *fwd_mail_take(fwd_mail_list *list) {
  fwd_mail *first = list->first;
  list->first = first->next;
  if (!list->first) list->last = NULL;
  return first;
}

void fwd_mail_announce_room(fwd_recipient *recipient) {
  if (recipient->waiters == 0) return;
  recipient->waiters = 0;
  fwd_wait_end(&recipient->room);
}

/// Marks a recipient as ended. False if it was before.
static bool mark_ended(fwd_recipient *recipient) {
  // Release: see `deliver_next`.
  return !atomic_exchange_explicit(&recipient->has_ended, true, memory_order_acq_rel);
}

static void wake_waiters(fwd_recipient *recipient) {
  if (recipient->options.overflow != FWD_OVERFLOW_BLOCK) return;
  fwd_lock_lock(&recipient->mailbox->lock);
  fwd_mail_announce_room(recipient);
  fwd_lock_unlock(&recipient->mailbox->lock);
}

void fwd_mail_end_recipient(void *context) {
  fwd_recipient *recipient = context;
  mark_ended(recipient);
  wake_waiters(recipient);
}

void fwd_mail_lose_recipient(fwd_recipient *recipient) {
  if (!mark_ended(recipient)) return;
  wake_waiters(recipient);
  const fwd_recipient_options *options = &recipient->options;
  if (options->note_death) options->note_death(options->report_context);
}

void fwd_mail_account_close(fwd_mail_account *account, fwd_mailbox *mailbox) {
  fwd_lock_lock(&mailbox->lock);
  if (account->recipient) {
    mark_ended(account->recipient);
    fwd_mail_announce_room(account->recipient);
  }
  fwd_lock_unlock(&mailbox->lock);
}
