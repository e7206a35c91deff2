// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The part of allocation_failures.c about mailboxes, which includes this file behind `try_each`.

#ifndef FWD_MAIL_ATTEMPTS_H
#define FWD_MAIL_ATTEMPTS_H

#include "fwd_mailbox.h"

/// One recipient of `mailed:text:object:`, made before each attempt.
static fwd_mailbox *mail_box;
static fwd_recipient *mail_recipient;
static fwd_mail_account mail_account;
static fwd_implementation mail_posting;
static fake_object *mail_object;
static fwd_signature *mail_signature;
static fwd_selector mail_selector;
static size_t mail_wakes, mail_deliveries, mail_ends;
static long mail_strong;

static void note_mail_wake(void *context) {
  (void)context;
  mail_wakes++;
}

static void note_mail_end(void *context) {
  (void)context;
  mail_ends++;
}

static fwd_status take_mail(const void *context, void *receiver, void *const *arguments, void *result,
                            fwd_error *error) {
  (void)context, (void)receiver, (void)result, (void)error;
  NEED(*(fake_object **)arguments[4] == mail_object);
  mail_deliveries++;
  return FWD_OK;
}
static const fwd_implementation taking = {.packed = take_mail};

static void ignore_mail_failure(void *context, fwd_selector selector, const fwd_error *error) {
  (void)context, (void)selector, (void)error;
}

static fwd_recipient_options mail_options(fwd_hold hold, size_t limit) {
  mail_account = (fwd_mail_account){NULL, 0};
  return (fwd_recipient_options){
      .object = hold == FWD_HOLD_NONE ? NULL : mail_object,
      .hold = hold,
      .receiver = mail_object,
      .overflow = limit ? FWD_OVERFLOW_DROP_OLDEST : FWD_OVERFLOW_UNBOUNDED,
      .limit = limit,
      .method_count = 1,
      .account = &mail_account,
      .report = ignore_mail_failure,
      .release_context = note_mail_end,
  };
}

static fwd_status run_mailbox(attempt *self) {
  begin();
  fwd_status status = fwd_mailbox_create(note_mail_wake, NULL, note_mail_end, (fwd_mailbox **)&self->output, &self->error);
  end();
  return status;
}
static void undo_mailbox(attempt *self) {
  size_t before = mail_ends;
  fwd_mailbox_release(self->output);
  EXPECT(mail_ends == before + 1);
}

static void prepare_mailbox(attempt *self) {
  (void)self;
  mail_ends = mail_wakes = mail_deliveries = 0;
  mail_strong = object_strong(mail_object);
  NEED(fwd_mailbox_create(note_mail_wake, NULL, NULL, &mail_box, NULL) == FWD_OK);
}
static void finish_mailbox(attempt *self) {
  (void)self;
  fwd_mailbox_release(mail_box);
  EXPECT(object_strong(mail_object) == mail_strong);
}

static fwd_status run_recipient(attempt *self) {
  fwd_recipient_options options = mail_options(self->hold, 0);
  begin();
  fwd_recipient *made = fwd_recipient_create(mail_box, &options);
  end();
  if (made) self->output = made;
  return status_of(made);
}
static void recipient_unchanged(attempt *self) {
  (void)self;
  EXPECT(mail_ends == 0 && !mail_account.recipient);
}
static void undo_recipient(attempt *self) {
  EXPECT(mail_account.recipient == self->output);
  fwd_recipient_release(self->output);
  EXPECT(mail_ends == 1 && !mail_account.recipient);
}

static void prepare_recipient(attempt *self) {
  prepare_mailbox(self);
  fwd_recipient_options options = mail_options(FWD_HOLD_STRONG, self->limit);
  NEED((mail_recipient = fwd_recipient_create(mail_box, &options)));
}
static void finish_recipient(attempt *self) {
  fwd_recipient_release(mail_recipient);
  fwd_mailbox_release(mail_box);
  EXPECT(mail_ends == 1 && object_strong(mail_object) == mail_strong);
  (void)self;
}

static fwd_status add_mailed(fwd_error *error) {
  return fwd_recipient_add(mail_recipient, mail_selector, mail_signature, &taking, NULL, &mail_posting, error);
}
static fwd_status run_recipient_add(attempt *self) {
  begin();
  fwd_status status = add_mailed(&self->error);
  end();
  if (status == FWD_OK) self->output = MADE;
  return status;
}

static fwd_status post_mail(const char *text, fwd_error *error) {
  int64_t number = 7;
  void *receiver = NULL, *object = mail_object;
  const void *given = text;
  unsigned char nothing;
  void *arguments[] = {&receiver, &receiver, &number, &given, &object};
  return mail_posting.packed(mail_posting.context, receiver, arguments, &nothing, error);
}

static void prepare_posting(attempt *self) {
  prepare_recipient(self);
  NEED(add_mailed(NULL) == FWD_OK);
  // Those that are there keep their references.
  for (size_t i = 0; i < self->count; i++) NEED(post_mail(self->text, NULL) == FWD_OK);
}
static fwd_status run_posting(attempt *self) {
  begin();
  fwd_status status = post_mail(self->text, &self->error);
  end();
  if (status == FWD_OK) self->output = MADE;
  return status;
}
/// The message that was not posted has released its object, and nobody was woken.
static void posting_unchanged(attempt *self) {
  (void)self;
  EXPECT(mail_wakes == 0 && object_strong(mail_object) == mail_strong + 1);
}
static void finish_posting(attempt *self) {
  size_t waiting = mail_deliveries = 0;
  waiting = fwd_mailbox_drain(mail_box, 0);
  EXPECT(waiting == mail_deliveries);
  if (self->limit) EXPECT(waiting <= self->limit);
  finish_recipient(self);
}

static void try_mailboxes(void) {
  mail_object = object_create(NULL, NULL);
  NEED(fwd_signature_create("v@:q*@", 6, &mail_signature, NULL) == FWD_OK);
  static char medium[1000], large[100000];
  memset(medium, 'm', sizeof medium - 1);
  memset(large, 'l', sizeof large - 1);
  EXPECT(try_each((attempt){.subject = "fwd_mailbox_create", .run = run_mailbox, .undo = undo_mailbox}) == 1);
  static const fwd_hold holds[] = {FWD_HOLD_NONE, FWD_HOLD_STRONG, FWD_HOLD_WEAK};
  for (size_t i = 0; i < 3; i++) {
    try_each((attempt){.subject = "fwd_recipient_create", .hold = holds[i], .prepare = prepare_mailbox,
                       .run = run_recipient, .undo = undo_recipient, .finish = finish_mailbox,
                       .unchanged = recipient_unchanged, .has_no_error = true, .has_no_message = true});
  }
  EXPECT(try_each((attempt){.subject = "fwd_recipient_add", .prepare = prepare_recipient, .run = run_recipient_add,
                            .finish = finish_recipient}) == 2);
  const char *const texts[] = {"small", medium, large};
  for (size_t i = 0; i < 3; i++) {
    // A message that is copied needs a block of the mailbox; one of medium size also memory to be formed in.
    EXPECT(try_each((attempt){.subject = "a message", .text = texts[i], .prepare = prepare_posting, .run = run_posting,
                              .finish = finish_posting, .unchanged = posting_unchanged}) == (i == 1 ? 2 : 1));
    try_each((attempt){.subject = "a message that replaces others", .text = texts[i], .count = 20, .limit = 3,
                       .prepare = prepare_posting, .run = run_posting, .finish = finish_posting});
  }
  fwd_signature_release(mail_signature);
  object_check(mail_object);
  swift_release(mail_object);
}

#endif
