// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The life of recipients.

#include <stdlib.h>

#include "base/error.h"
#include "fwd_signature.h"
#include "mailbox/parts.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

static void free_recipient(fwd_mail_sequel *sequel) {
  fwd_recipient *recipient = (fwd_recipient *)sequel;
  const fwd_recipient_options *options = &recipient->options;
  // The caller keeps the mailbox alive: by a reference, or because it is ending the mailbox.
  fwd_lock_lock(&recipient->mailbox->lock);
  options->account->recipient = NULL;
  fwd_lock_unlock(&recipient->mailbox->lock);
  for (size_t i = 0; i < recipient->method_count; i++) {
    fwd_mailed_method *method = &recipient->methods[i];
    fwd_signature_release(method->signature);
    free(method->layout);
    free(method->arguments);
  }
  if (recipient->weak) fwd_weak_destroy(recipient->weak);
  if (options->hold == FWD_HOLD_STRONG) fwd_object_release(options->object);
  if (recipient->destroy) recipient->destroy(options->receiver);
  if (options->release_context) options->release_context(options->report_context);
  free(recipient);
}

fwd_recipient *fwd_recipient_create(fwd_mailbox *mailbox, const fwd_recipient_options *options) {
  fwd_recipient *recipient =
      fwd_calloc_lines(sizeof *recipient + options->method_count * sizeof recipient->methods[0]);
  if (!recipient) return NULL;
  if (options->hold == FWD_HOLD_WEAK) {
    recipient->weak = fwd_weak_create(options->object, fwd_weak_kind_in_use());
    if (!recipient->weak) {
      free(recipient);
      return NULL;
    }
  } else if (options->hold == FWD_HOLD_STRONG) {
    fwd_object_retain(options->object);
  }
  recipient->farewell.run = free_recipient;
  recipient->mailbox = fwd_mailbox_retain(mailbox);
  recipient->options = *options;
  options->account->recipient = recipient;
  return recipient;
}

fwd_status fwd_recipient_add(fwd_recipient *recipient, fwd_selector selector, fwd_signature *signature,
                             const fwd_implementation *implementation, const fwd_carried_type *const *carried,
                             fwd_implementation *posting, fwd_error *error) {
  fwd_mailed_method *method = &recipient->methods[recipient->method_count];
  fwd_status status = FWD_OK;
  method->layout =
      fwd_message_layout_create(selector, signature, recipient->options.keeps_pointers, carried, &status, error);
  if (!method->layout) return status;
  fwd_layout result;
  fwd_signature_result(signature, &result);
  // The pointers, then the result, which is aligned to 16.
  size_t pointer_bytes = ((method->layout->argument_count + 1) * sizeof *method->arguments + 15) & ~(size_t)15;
  method->arguments = fwd_calloc_lines(pointer_bytes + (result.size < 16 ? 16 : result.size));
  if (!method->arguments) {
    free(method->layout);
    return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for the messages of \"%.150s\"", fwd_selector_name(selector));
  }
  method->result = (char *)method->arguments + pointer_bytes;
  method->recipient = recipient;
  method->selector = selector;
  method->signature = fwd_signature_retain(signature);
  method->implementation = implementation;
  method->cif = fwd_signature_cif(signature);
  method->plan = fwd_cif_plan(method->cif);
  method->result_size = result.size;
  const fwd_type *type = fwd_encoding_type(fwd_signature_encoding(signature), fwd_signature_result_type(signature));
  method->has_result = type->kind != FWD_TYPE_VOID;
  method->returns_object = type->kind == FWD_TYPE_OBJECT;
  if (method->layout->hidden_count > 0) method->arguments[0] = &recipient->options.receiver;
  if (method->layout->hidden_count > 1) method->arguments[1] = &method->selector;
  recipient->method_count++;
  method->teller.tell = fwd_mail_post;
  *posting = (fwd_implementation){.packed = method->has_result ? fwd_tell_packed : fwd_mail_post, .context = method};
  return FWD_OK;
}

void fwd_recipient_observe(fwd_recipient *recipient, fwd_dispatch_table *table) {
  fwd_dispatch_table_observe(table, fwd_mail_end_recipient, recipient);
}

void fwd_recipient_adopt(fwd_recipient *recipient, void (*destroy)(void *receiver)) { recipient->destroy = destroy; }

void fwd_recipient_release(fwd_recipient *recipient) {
  fwd_mailbox *mailbox = recipient->mailbox;
  fwd_mailbox_follow(mailbox, &recipient->farewell);
  // The last reference frees the recipient too, if messages are left.
  fwd_mailbox_release(mailbox);
}

uint64_t fwd_mail_account_drop_count(const fwd_mail_account *account) {
  return __atomic_load_n(&account->dropped, __ATOMIC_RELAXED);
}

FWD_SMALL_CODE_END
