// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Callbacks for the moment when a half of a mailbox has been drained.

#include "mailbox/parts.h"

fwd_mail_sequel *fwd_mail_take_sequels(fwd_mailbox *mailbox, uint64_t epoch) {
  fwd_mail_sequel *taken = NULL, **end = &taken;
  while (mailbox->sequels && mailbox->sequels->epoch < epoch) {
    *end = mailbox->sequels;
    end = &mailbox->sequels->next;
    mailbox->sequels = mailbox->sequels->next;
  }
  *end = NULL;
  if (!mailbox->sequels) mailbox->last_sequel = NULL;
  return taken;
}

void fwd_mail_run_sequels(fwd_mail_sequel *sequel) {
  while (sequel) {
    fwd_mail_sequel *next = sequel->next;
    sequel->run(sequel);
    sequel = next;
  }
}

void fwd_mailbox_follow(fwd_mailbox *mailbox, fwd_mail_sequel *sequel) {
  sequel->next = NULL;
  fwd_lock_lock(&mailbox->lock);
  bool is_idle = !mailbox->is_scheduled;
  if (!is_idle) {
    sequel->epoch = mailbox->epoch;
    if (mailbox->last_sequel) {
      mailbox->last_sequel->next = sequel;
    } else {
      mailbox->sequels = sequel;
    }
    mailbox->last_sequel = sequel;
  }
  fwd_lock_unlock(&mailbox->lock);
  if (is_idle) sequel->run(sequel);
}
