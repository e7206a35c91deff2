// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Mailboxes, for the Swift module: subscriptions whose deliveries are made later, on the subscriber's executor.
///
/// A *recipient* is the part of a mailbox that belongs to one subscription. Each of its methods has an implementation for
/// the subscription's dispatch table that does not call the subscriber: it copies the arguments to a *message* at the end
/// of the mailbox. `fwd_mailbox_drain` calls the subscriber.

#ifndef FWD_MAILBOX_H
#define FWD_MAILBOX_H

#include "fwd_dispatch.h"
#include "fwd_weak.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Sets a function that returns whether the calling thread is on the mailbox's executor. Such a thread never waits for room,
/// since the drain could not run meanwhile. Must be called before the mailbox is used.
void fwd_mailbox_ask_current(fwd_mailbox *FWD_NONNULL mailbox,
                             bool (*FWD_NONNULL is_current)(void *FWD_NULLABLE context));

/// Makes each drain leave the messages that come during it to the next drain. If there are any, the drain calls `notify`
/// when it ends. Must be called before the mailbox is used.
void fwd_mailbox_pace(fwd_mailbox *FWD_NONNULL mailbox);

/// Returns how many messages have come, those included that a full mailbox has refused. May be called on any thread.
uint64_t fwd_mailbox_post_count(const fwd_mailbox *FWD_NONNULL mailbox);

/// Whether the last drain has left messages, since it had reached its limit. May be called by `notify`.
bool fwd_mailbox_is_interrupted(const fwd_mailbox *FWD_NONNULL mailbox);

/// Drops all waiting messages and refuses new ones. A drain under way still delivers the half that it has taken, and then
/// releases what the other messages hold. The caller keeps its reference to the mailbox meanwhile. Used when the executor no
/// longer exists, or when the only subscription has been cancelled.
void fwd_mailbox_close(fwd_mailbox *FWD_NONNULL mailbox);

/// A callback for the moment when all messages that are in a mailbox now have been delivered or dropped. The caller owns the
/// memory, which must stay valid until `run` has been called.
typedef struct fwd_mail_sequel {
  struct fwd_mail_sequel *FWD_NULLABLE next;
  uint64_t epoch;
  void (*FWD_NONNULL run)(struct fwd_mail_sequel *FWD_NONNULL sequel);
} fwd_mail_sequel;

/// Calls `sequel->run` once, on the draining thread, or at once if no message waits and no thread drains or closes the mailbox.
void fwd_mailbox_follow(fwd_mailbox *FWD_NONNULL mailbox, fwd_mail_sequel *FWD_NONNULL sequel);

/// How a Swift value behind a pointer argument is copied to a message.
typedef struct fwd_carried_type {
  size_t size;
  /// A power of two, at most 16.
  size_t alignment;
  /// Whether what stands in the message is the address of the copy.
  bool is_boxed;
  const void *FWD_NULLABLE context;
  /// Initializes `to` with a copy of the value at `from`. Must run no foreign code but copies of references.
  void (*FWD_NONNULL copy)(const void *FWD_NULLABLE context, void *FWD_NONNULL to, const void *FWD_NONNULL from);
  /// Ends a value, which may have been moved by a copy of its bytes.
  void (*FWD_NONNULL destroy)(const void *FWD_NULLABLE context, void *FWD_NONNULL value);
} fwd_carried_type;

typedef struct fwd_recipient fwd_recipient;

/// The counters of a recipient, which outlive it. They must be zeroed before `fwd_recipient_create`. The caller owns the
/// memory, which must stay valid until `release_context` has been called.
typedef struct fwd_mail_account {
  /// The recipient, until it is freed. Changed under the mailbox's lock.
  fwd_recipient *FWD_NULLABLE recipient;
  /// The number of messages that the overflow rule has dropped.
  uint64_t dropped;
} fwd_mail_account;

/// The arguments of `fwd_recipient_create`.
typedef struct fwd_recipient_options {
  /// The subscriber, if it is a Swift object, and how messages keep it. A weakly held one is kept alive during a drain.
  void *FWD_NULLABLE object;
  fwd_hold hold;
  /// The first argument of the subscriber's functions.
  void *FWD_NULLABLE receiver;
  fwd_overflow overflow;
  /// The number of messages that may wait. At least 1, unless the overflow is FWD_OVERFLOW_UNBOUNDED.
  size_t limit;
  /// Whether pointers are copied as they are: the caller promises that they stay valid until the delivery.
  bool keeps_pointers;
  /// The number of methods that will be added.
  size_t method_count;
  fwd_mail_account *FWD_NONNULL account;
  /// Called with the error of each delivery that fails. It is also the thread's last error, which may have a detail
  /// (fwd_error.h).
  void (*FWD_NONNULL report)(void *FWD_NULLABLE context, fwd_selector FWD_NONNULL selector,
                             const fwd_error *FWD_NONNULL error);
  void *FWD_NULLABLE report_context;
  /// Called once with `report_context`, under no lock, if a message finds a weakly held subscriber dead or the mailbox closed,
  /// unless the subscription has ended. May be NULL.
  void (*FWD_NULLABLE note_death)(void *FWD_NULLABLE context);
  /// Called once with `report_context`, when no message is left. May be NULL.
  void (*FWD_NULLABLE release_context)(void *FWD_NULLABLE context);
} fwd_recipient_options;

/// Creates a recipient, which retains the mailbox. Returns NULL if memory is short: then no function has been called.
fwd_recipient *FWD_NULLABLE fwd_recipient_create(fwd_mailbox *FWD_NONNULL mailbox,
                                                 const fwd_recipient_options *FWD_NONNULL options);

/// Adds a method, before the recipient is used. `implementation`, which deliveries call, must stay valid until no message
/// is left. `*posting` receives the implementation for the dispatch table.
///
/// `carried` has the type of each argument, the hidden ones included, that is passed by address and copied as a Swift
/// value; NULL for the others, or instead of the array.
///
/// Returns FWD_NOT_ALLOWED, with an error that names the argument, for one that cannot be copied.
fwd_status fwd_recipient_add(fwd_recipient *FWD_NONNULL recipient, fwd_selector FWD_NONNULL selector,
                             fwd_signature *FWD_NONNULL signature,
                             const fwd_implementation *FWD_NONNULL implementation,
                             const fwd_carried_type *FWD_NULLABLE const *FWD_NULLABLE carried,
                             fwd_implementation *FWD_NONNULL posting, fwd_error *FWD_NULLABLE error);

/// Ends the recipient when a subscription with the table is ended (`fwd_dispatch_table_observe`). Its messages are dropped
/// then. A delivery under way on another thread is completed.
void fwd_recipient_observe(fwd_recipient *FWD_NONNULL recipient, fwd_dispatch_table *FWD_NONNULL table);

/// Sets a function that is called once with the receiver, when the recipient has been released and no message is left.
void fwd_recipient_adopt(fwd_recipient *FWD_NONNULL recipient,
                         void (*FWD_NULLABLE destroy)(void *FWD_NULLABLE receiver));

/// Releases the recipient: it is freed when no message is left. No thread may post afterwards.
void fwd_recipient_release(fwd_recipient *FWD_NONNULL recipient);

/// Drops the waiting and the later messages of an account's recipient. It also works for a subscription that has already
/// ended, because its `times` are used up or its proxy has died. May be called on any thread.
void fwd_mail_account_close(fwd_mail_account *FWD_NONNULL account, fwd_mailbox *FWD_NONNULL mailbox);

/// Reads the number of dropped messages, on any thread.
uint64_t fwd_mail_account_drop_count(const fwd_mail_account *FWD_NONNULL account);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
