// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Mailboxes: deliveries that are made later, in order, on the executor of their subscribers.
///
///     threads that forward                                           the executor
///
///     fan-out ─► fwd_recipient's post ──► filling ──── swap ────► draining ─► the subscriber
///                                         blocks of messages       blocks of messages
///                    first message: notify ─────────────────────► fwd_mailbox_drain
///
/// - *Two halves.* Threads append to the filling half under the mailbox's lock. A drain takes the whole half at once, so
///   it takes the lock once for many messages. The halves are numbered: the *epoch* counts the swaps.
/// - *Order.* A message is delivered after all messages that were put into the mailbox before it. So each thread's
///   invocations are delivered in the order in which it forwarded them.
/// - *Scheduling.* The message that finds the mailbox idle calls `notify`. The mailbox then stays scheduled until a drain
///   finds it empty. A drain takes the filling half again and again, and calls `notify` if it has reached its limit. In a
///   *paced* mailbox messages that come during a drain wait for the next one, for which the drain calls `notify`.
/// - *Bounded recipients* count their waiting messages and link them, oldest first, in one list for each half. A dropped
///   message stays in its block, marked, until the block is drained or compacted.
/// - *Closing.* A thread that closes a mailbox drains it, but discards the messages. If another thread drains, that one
///   delivers the rest of the half that it has taken, and discards the other.
/// - *Lifetime.* A recipient that is released while messages refer to it is freed when the half that was filling at that
///   time has been drained. A recipient retains its mailbox. Its account outlives it.
/// - *Locks.* The end of a subscription takes the mailbox's lock under the lock of the list of subscribers, never the other
///   way round. No foreign code runs under the mailbox's lock: it protects allocation, copies of bytes and waking.

#ifndef FWD_SRC_MAILBOX_PARTS_H
#define FWD_SRC_MAILBOX_PARTS_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/lines.h"
#include "call/signature.h"
#include "fan_out/implementation.h"
#include "fwd_lock.h"
#include "fwd_mailbox.h"
#include "mailbox/message.h"

/// A method of a recipient.
typedef struct fwd_mailed_method {
  /// First: the context of `fwd_tell_packed`.
  fwd_teller teller;
  struct fwd_recipient *recipient;
  fwd_selector selector;
  fwd_signature *signature;
  const fwd_implementation *implementation;
  fwd_message_layout *layout;
  const fwd_cif *cif;
  const fwd_call_plan *plan;
  /// Used by the draining thread only: pointers to all arguments, and room for the result, which is discarded. They are one
  /// allocation.
  void **arguments;
  void *result;
  size_t result_size;
  bool has_result;
  bool returns_object;
} fwd_mailed_method;

/// A message in a block. Its contents follow.
typedef struct fwd_mail {
  const fwd_mailed_method *method;
  /// Of a bounded recipient: its next message in the same half.
  struct fwd_mail *next;
  /// Of the message with its contents, a multiple of 16.
  size_t size;
  /// Whether it was dropped. Its contents have no references then.
  bool is_dropped;
} fwd_mail;

_Static_assert(sizeof(fwd_mail) % 16 == 0, "contents are aligned to 16");

static inline unsigned char *fwd_mail_contents(fwd_mail *letter) { return (unsigned char *)(letter + 1); }

/// The size of a message with contents of a size.
static inline size_t fwd_mail_size(size_t contents) { return (sizeof(fwd_mail) + contents + 15) & ~(size_t)15; }

/// Memory for messages, one behind the other.
typedef struct fwd_mail_block {
  struct fwd_mail_block *next;
  size_t capacity;
  size_t used;
  _Alignas(16) unsigned char bytes[];
} fwd_mail_block;

_Static_assert(offsetof(fwd_mail_block, bytes) % 16 == 0, "messages are aligned to 16");

/// A list of blocks.
typedef struct fwd_mail_half {
  fwd_mail_block *first;
  fwd_mail_block *last;
  /// The bytes of all messages, and of those that were dropped.
  size_t bytes;
  size_t dropped;
} fwd_mail_half;

/// A bounded recipient's messages in one half, oldest first.
typedef struct fwd_mail_list {
  fwd_mail *first;
  fwd_mail *last;
} fwd_mail_list;

struct fwd_recipient {
  /// Frees the recipient.
  fwd_mail_sequel farewell;
  fwd_mailbox *mailbox;
  fwd_recipient_options options;
  void (*destroy)(void *receiver);
  fwd_weak weak;
  _Atomic bool has_ended;
  /// Known from the first message on.
  _Atomic fwd_subscription subscription;
  /// Under the mailbox's lock, and only for a bounded recipient.
  size_t waiting;
  uint64_t epoch;
  fwd_mail_list filling;
  fwd_mail_list draining;
  /// The number of threads that wait for room, and the word that they wait for (fwd_wait.h).
  uint32_t waiters;
  uint32_t room;
  /// Used by the draining thread only: the object that it keeps alive, and the next recipient with one.
  _Alignas(FWD_LINE) void *taken;
  fwd_recipient *next_taken;
  /// Read by all, and not changed once the subscription has begun.
  _Alignas(FWD_LINE) size_t method_count;
  fwd_mailed_method methods[];
};

struct fwd_mailbox {
  // What a thread that posts uses.
  _Alignas(FWD_LINE) fwd_lock lock;
  bool is_scheduled;
  bool is_closed;
  /// Whether the last drain has reached its limit, and the next one has not begun.
  bool is_interrupted;
  fwd_mail_half filling;
  /// The number of the filling half.
  uint64_t epoch;
  /// Changed under the lock.
  _Atomic uint64_t post_count;

  // Used by the draining thread only, or under the lock while no thread drains: the rest of the half that it has taken, and its
  // position in the first block.
  _Alignas(FWD_LINE) fwd_mail_block *draining;
  size_t cursor;
  fwd_recipient *taken;
  /// The `post_count` of the last swap, and how many messages came between that and the one before.
  uint64_t seen_count;
  uint64_t half_count;

  // The rest, which is rarely changed.
  /// Identifies the draining thread; 0 if no thread drains.
  _Alignas(FWD_LINE) _Atomic uintptr_t drainer;
  /// Callbacks for the moment when a half has been drained, oldest first.
  fwd_mail_sequel *sequels;
  fwd_mail_sequel *last_sequel;
  fwd_mail_block *spare;
  size_t spare_bytes;
  /// Whether each drain delivers from one half only.
  bool is_paced;
  void (*notify)(void *context);
  bool (*is_current)(void *context);
  void *context;
  void (*destroy)(void *context);
  _Atomic size_t references;
};

_Static_assert(offsetof(fwd_mailbox, draining) == FWD_LINE, "a thread that posts uses one cache line of the mailbox");

static inline bool fwd_mail_is_bounded(const fwd_recipient *recipient) {
  return recipient->options.overflow != FWD_OVERFLOW_UNBOUNDED;
}

// MARK: Blocks (blocks.c)

enum {
  /// Contents up to this size are copied on the stack first, so that the lock is held briefly.
  FWD_MAIL_SMALL = 512,
  /// Messages up to this size are copied to a block of the mailbox. Larger ones bring a block.
  FWD_MAIL_COPIED = 4096,
};

/// Makes a block that begins with a message of a size. NULL if memory is short.
fwd_mail_block *fwd_mail_make_block(size_t whole);
/// Keeps blocks for reuse. Returns the surplus blocks, which the caller frees after the lock. The caller holds the lock.
fwd_mail_block *fwd_mail_return_blocks(fwd_mailbox *mailbox, fwd_mail_block *blocks);
void fwd_mail_free_blocks(fwd_mail_block *blocks);
/// Clears all messages of blocks, from `cursor` in the first one on, and frees these.
void fwd_mail_discard_blocks(fwd_mail_block *blocks, size_t cursor);
void fwd_mail_append_block(fwd_mail_half *to, fwd_mail_block *added);
/// Reserves a message in the filling half. NULL if memory is short. The caller holds the lock.
fwd_mail *fwd_mail_reserve(fwd_mailbox *mailbox, size_t size);
/// Closes the gaps in the filling half if dropped messages take most of its memory. So the memory of bounded recipients
/// is bounded by their waiting messages. Returns the blocks that are free now. The caller holds the lock.
fwd_mail_block *fwd_mail_compact_if_worth(fwd_mailbox *mailbox);

// MARK: Bounded recipients (bounds.c)

/// Brings a recipient's lists up to date with the swaps. The caller holds the lock.
void fwd_mail_follow_swaps(const fwd_mailbox *mailbox, fwd_recipient *recipient);
void fwd_mail_append(fwd_mail_list *list, fwd_mail *added);
/// Takes the first message out of a list.
fwd_mail *fwd_mail_take(fwd_mail_list *list);
/// Wakes the threads that wait for room. The caller holds the lock.
void fwd_mail_announce_room(fwd_recipient *recipient);
/// Drops the messages of a recipient from now on. `context` is the recipient. May run under the lock of a list.
void fwd_mail_end_recipient(void *context);
/// Does the same for a recipient whose subscriber has died, or whose mailbox is closed, and tells `note_death`. Does nothing
/// if it has ended. The caller holds no lock.
void fwd_mail_lose_recipient(fwd_recipient *recipient);

// MARK: Draining (drain.c)

/// Delivers messages as `fwd_mailbox_drain` does. The caller keeps the mailbox.
size_t fwd_mail_drain(fwd_mailbox *mailbox, size_t limit);
/// Drains a closed mailbox: discards its messages, and runs its sequels. The calling thread is its draining thread until then.
void fwd_mail_drain_closed(fwd_mailbox *mailbox);

// MARK: Posting (post.c)

/// Identifies the calling thread: no two living threads have a variable at the same address.
uintptr_t fwd_mail_this_thread(void);
/// The implementation of a mailed method in a dispatch table: copies the arguments to a message.
fwd_status fwd_mail_post(const void *context, void *receiver, void *const *arguments, void *result, fwd_error *error);

// MARK: Sequels (sequels.c)

/// Takes the sequels of all halves before `epoch` out of the mailbox. The caller holds the lock.
fwd_mail_sequel *fwd_mail_take_sequels(fwd_mailbox *mailbox, uint64_t epoch);
void fwd_mail_run_sequels(fwd_mail_sequel *sequel);

#endif
