// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Draining: an executor delivers the messages of a mailbox.

// For nanosleep(2) in pause.h.
#define _GNU_SOURCE 1

#include <string.h>

#include "base/error.h"
#include "base/pause.h"
#include "fan_out/implementation.h"
#include "fan_out/nesting.h"
#include "fwd_error.h"
#include "mailbox/parts.h"
#include "members/swift_closure.h"
#include "reclaim/fence.h"

/// Keeps a weakly held subscriber alive until the end of the drain. False if it is dead.
static bool keep_alive(fwd_mailbox *mailbox, fwd_recipient *recipient) {
  if (recipient->options.hold != FWD_HOLD_WEAK || recipient->taken) return true;
  recipient->taken = fwd_weak_take(recipient->weak);
  if (!recipient->taken) {
    // Only the first message comes here: those behind it find the recipient ended.
    fwd_mail_lose_recipient(recipient);
    return false;
  }
  recipient->next_taken = mailbox->taken;
  mailbox->taken = recipient;
  return true;
}

static void release_taken(fwd_mailbox *mailbox) {
  while (mailbox->taken) {
    fwd_recipient *recipient = mailbox->taken;
    mailbox->taken = recipient->next_taken;
    void *object = recipient->taken;
    recipient->taken = NULL;
    fwd_object_release(object);
  }
}

__attribute__((cold, noinline)) static void report_failure(const fwd_mailed_method *method, fwd_status status) {
  fwd_error error;
  fwd_delivery_error(status, method->selector, &error);
  const fwd_recipient_options *options = &method->recipient->options;
  options->report(options->report_context, method->selector, &error);
}

/// Calls the subscriber with the contents of a message.
static void deliver(const fwd_mailed_method *method, unsigned char *contents) {
  const fwd_implementation *implementation = method->implementation;
  void *receiver = method->recipient->options.receiver;
  fwd_message_open(method->layout, contents, method->arguments);
  if (FWD_RARELY(method->has_result)) memset(method->result, 0, method->result_size);
  // If this thread is inside a fan-out, calls that the subscriber forwards are not part of that fan-out.
  fwd_mailed_frame frame = {
      .subscription = atomic_load_explicit(&method->recipient->subscription, memory_order_relaxed),
      .context = method->recipient->options.report_context,
  };
  fwd_nesting_enter(&frame.frame, implementation->function ? FWD_NESTING_OTHER : FWD_NESTING_MAILED);
  fwd_status status = FWD_OK;
  if (implementation->closure &&
      fwd_swift_closure_takes(implementation->closure, method->arguments + method->layout->hidden_count)) {
    fwd_swift_closure_call(implementation->closure, receiver, method->arguments + method->layout->hidden_count,
                           method->result);
  } else {
    status = fwd_implementation_call(implementation, method->plan, method->cif, receiver, method->arguments, method->result);
  }
  fwd_nesting_leave(&frame.frame, false);
  if (FWD_RARELY(method->returns_object) && status == FWD_OK) fwd_object_release(*(void **)method->result);
  if (FWD_RARELY(status != FWD_OK) && status != FWD_NO_RESPONDER) report_failure(method, status);
}

/// Takes a message of a bounded recipient out of its list. False if it has been dropped.
static bool take_bounded(fwd_mailbox *mailbox, fwd_mail *next) {
  fwd_recipient *recipient = next->method->recipient;
  fwd_lock_lock(&mailbox->lock);
  bool is_dropped = next->is_dropped;
  if (!is_dropped) {
    fwd_mail_follow_swaps(mailbox, recipient);
    fwd_mail_take(&recipient->draining);
    recipient->waiting--;
    fwd_mail_announce_room(recipient);
  }
  fwd_lock_unlock(&mailbox->lock);
  return !is_dropped;
}

/// Delivers the next message of the half that was taken. False if it is dropped.
static bool deliver_next(fwd_mailbox *mailbox) {
  fwd_mail *next = (fwd_mail *)(mailbox->draining->bytes + mailbox->cursor);
  mailbox->cursor += next->size;
  const fwd_mailed_method *method = next->method;
  fwd_recipient *recipient = method->recipient;
  if (fwd_mail_is_bounded(recipient) && !take_bounded(mailbox, next)) return false;
  // Acquire: this thread sees what the cancelling thread did before it ended the subscription.
  bool has_ended = atomic_load_explicit(&recipient->has_ended, memory_order_acquire);
  bool delivers = !has_ended && keep_alive(mailbox, recipient);
  if (delivers) deliver(method, fwd_mail_contents(next));
  fwd_message_clear(method->layout, fwd_mail_contents(next));
  return delivers;
}

/// Returns the blocks before the next message of the taken half for reuse. False if the half has no message left.
static bool skip_to_message(fwd_mailbox *mailbox) {
  while (mailbox->draining && mailbox->cursor == mailbox->draining->used) {
    fwd_mail_block *done = mailbox->draining;
    mailbox->draining = done->next;
    mailbox->cursor = 0;
    done->next = NULL;
    fwd_lock_lock(&mailbox->lock);
    fwd_mail_block *surplus = fwd_mail_return_blocks(mailbox, done);
    fwd_lock_unlock(&mailbox->lock);
    fwd_mail_free_blocks(surplus);
  }
  return mailbox->draining != NULL;
}

/// Waits for a moment for the next message. Waking a thread takes about as long as delivering a hundred messages, so
/// when many have come at once, a drain does not end as soon as it has caught up.
static void linger(const fwd_mailbox *mailbox) {
  // A look takes the cache line from the threads that post, so there are pauses between two looks.
  enum { busy = 8, looks = 12, pauses = 8 };
  if (mailbox->half_count < busy) return;
  for (int i = 0; i < looks * pauses; i++) {
    if (i % pauses == 0 && atomic_load_explicit(&mailbox->post_count, memory_order_relaxed) != mailbox->seen_count) return;
    fwd_pause_processor();
  }
}

/// Takes the filling half. False if the drain has ended: the half is empty, so that the mailbox is idle, or `is_last` says
/// that its messages are for another drain, which has been asked for. The messages of a closed mailbox are discarded: until
/// then the mailbox is not idle, so their recipients are not freed.
static bool swap_halves(fwd_mailbox *mailbox, bool is_last) {
  // First: this may release the last reference to a subscriber, and its deinit belongs to this drain.
  release_taken(mailbox);
  if (!is_last) linger(mailbox);
  fwd_lock_lock(&mailbox->lock);
  fwd_mail_block *refused = mailbox->is_closed ? mailbox->filling.first : NULL;
  if (refused) mailbox->filling = (fwd_mail_half){NULL, NULL, 0, 0};
  bool is_empty = !mailbox->filling.first;
  mailbox->half_count = atomic_load_explicit(&mailbox->post_count, memory_order_relaxed) - mailbox->seen_count;
  mailbox->seen_count += mailbox->half_count;
  fwd_mail_sequel *sequels = fwd_mail_take_sequels(mailbox, mailbox->epoch + is_empty);
  // Sequels run inside of the drain, so a forward that a sequel makes does not wait for the drain to end. Afterwards the drain
  // checks both halves again.
  bool ends = (is_empty || is_last) && !sequels && !refused;
  if (ends) {
    mailbox->is_scheduled = !is_empty;
    atomic_store_explicit(&mailbox->drainer, 0, memory_order_relaxed);
  } else if (!is_empty && !is_last) {
    mailbox->draining = mailbox->filling.first;
    mailbox->cursor = 0;
    mailbox->filling = (fwd_mail_half){NULL, NULL, 0, 0};
    mailbox->epoch++;
  }
  fwd_lock_unlock(&mailbox->lock);
  fwd_mail_discard_blocks(refused, 0);
  fwd_mail_run_sequels(sequels);
  if (ends && !is_empty) mailbox->notify(mailbox->context);
  return !ends;
}

void fwd_mail_drain_closed(fwd_mailbox *mailbox) {
  fwd_mail_discard_blocks(mailbox->draining, mailbox->cursor);
  mailbox->draining = NULL;
  while (swap_halves(mailbox, false)) {
  }
}

/// Continues to the next message. False if the drain has ended. A compaction may have left blocks without messages.
static bool find_message(fwd_mailbox *mailbox, bool is_last) {
  while (!skip_to_message(mailbox)) {
    if (!swap_halves(mailbox, is_last)) return false;
  }
  return true;
}

/// Makes this thread the draining thread. False if a thread drains already.
static bool begin_drain(fwd_mailbox *mailbox) {
  fwd_lock_lock(&mailbox->lock);
  bool begins = mailbox->is_scheduled && atomic_load_explicit(&mailbox->drainer, memory_order_relaxed) == 0;
  if (begins) {
    atomic_store_explicit(&mailbox->drainer, fwd_mail_this_thread(), memory_order_relaxed);
    mailbox->is_interrupted = false;
  }
  fwd_lock_unlock(&mailbox->lock);
  return begins;
}

/// Ends a drain that has reached its limit.
static void interrupt_drain(fwd_mailbox *mailbox) {
  release_taken(mailbox);
  fwd_lock_lock(&mailbox->lock);
  atomic_store_explicit(&mailbox->drainer, 0, memory_order_relaxed);
  mailbox->is_interrupted = true;
  fwd_lock_unlock(&mailbox->lock);
  mailbox->notify(mailbox->context);
}

size_t fwd_mail_drain(fwd_mailbox *mailbox, size_t limit) {
  if (!begin_drain(mailbox)) return 0;
  // To skip a message that was dropped takes a small part of the time of a delivery, but a long row of them takes time too.
  enum { skips_a_delivery = 64 };
  size_t delivered = 0, skipped = 0;
  // A paced drain delivers from one half only. If all of a half's messages were replaced by later ones, it delivers those.
  bool is_rest = mailbox->draining != NULL;
  while (find_message(mailbox, mailbox->is_paced && (is_rest || delivered > 0))) {
    if (limit > 0 && delivered + skipped / skips_a_delivery >= limit) {
      interrupt_drain(mailbox);
      break;
    }
    if (deliver_next(mailbox)) {
      delivered++;
    } else {
      skipped++;
    }
  }
  return delivered;
}
