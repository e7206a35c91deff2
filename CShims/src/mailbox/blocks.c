// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The memory of messages.

#include <stdlib.h>
#include <string.h>

#include "mailbox/parts.h"

// Tests/Robustness builds this file with small numbers, so that short runs come to everything.
#ifndef FWD_MAIL_BLOCK
#define FWD_MAIL_BLOCK 16384
#endif
#ifndef FWD_MAIL_SLACK
#define FWD_MAIL_SLACK 65536
#endif

enum {
  /// The bytes of a block. A half that grows gets larger ones, so that it grows in few steps.
  smallest_block = FWD_MAIL_BLOCK - sizeof(fwd_mail_block),
  largest_block = 16 * FWD_MAIL_BLOCK - sizeof(fwd_mail_block),
  /// The bytes of blocks that are kept for reuse.
  spare_limit = 16 * FWD_MAIL_BLOCK,
  /// The bytes of dropped messages up to which a half is not compacted.
  dropped_slack = FWD_MAIL_SLACK,
};

static fwd_mail_block *make_block(size_t capacity, size_t used) {
  fwd_mail_block *made = malloc(sizeof *made + capacity);
  if (!made) return NULL;
  made->next = NULL;
  made->capacity = capacity;
  made->used = used;
  return made;
}

/// Takes a block that has room for a message. NULL if memory is short. The caller holds the lock.
static fwd_mail_block *take_block(fwd_mailbox *mailbox, const fwd_mail_half *to, size_t size) {
  for (fwd_mail_block **link = &mailbox->spare; *link; link = &(*link)->next) {
    fwd_mail_block *taken = *link;
    if (taken->capacity < size) continue;
    *link = taken->next;
    mailbox->spare_bytes -= taken->capacity;
    taken->next = NULL;
    taken->used = 0;
    return taken;
  }
  size_t capacity = to->bytes < smallest_block ? smallest_block : to->bytes < largest_block ? to->bytes : largest_block;
  return make_block(capacity < size ? size : capacity, 0);
}

fwd_mail_block *fwd_mail_make_block(size_t whole) {
  // With room for small messages behind this one. Otherwise each small message between large ones would get a block of
  // its own.
  size_t room = whole / 4 < smallest_block ? whole / 4 : smallest_block;
  return make_block(whole + (room & ~(size_t)15), whole);
}

fwd_mail_block *fwd_mail_return_blocks(fwd_mailbox *mailbox, fwd_mail_block *blocks) {
  fwd_mail_block *surplus = NULL;
  while (blocks) {
    fwd_mail_block *next = blocks->next;
    bool is_kept = mailbox->spare_bytes + blocks->capacity <= spare_limit;
    fwd_mail_block **list = is_kept ? &mailbox->spare : &surplus;
    if (is_kept) mailbox->spare_bytes += blocks->capacity;
    blocks->next = *list;
    *list = blocks;
    blocks = next;
  }
  return surplus;
}

void fwd_mail_free_blocks(fwd_mail_block *blocks) {
  while (blocks) {
    fwd_mail_block *next = blocks->next;
    free(blocks);
    blocks = next;
  }
}

void fwd_mail_append_block(fwd_mail_half *to, fwd_mail_block *added) {
  if (to->last) {
    to->last->next = added;
  } else {
    to->first = added;
  }
  to->last = added;
}

fwd_mail *fwd_mail_reserve(fwd_mailbox *mailbox, size_t size) {
  fwd_mail_half *to = &mailbox->filling;
  fwd_mail_block *last = to->last;
  if (!last || last->capacity - last->used < size) {
    last = take_block(mailbox, to, size);
    if (!last) return NULL;
    fwd_mail_append_block(to, last);
  }
  fwd_mail *reserved = (fwd_mail *)(last->bytes + last->used);
  last->used += size;
  to->bytes += size;
  // The thread that drained the block last has its cache lines. Those of the next message are asked for now.
  for (size_t at = last->used; at < last->capacity && at < last->used + 2 * FWD_LINE; at += FWD_LINE) {
    __builtin_prefetch(last->bytes + at, 1);
  }
  return reserved;
}

void fwd_mail_discard_blocks(fwd_mail_block *blocks, size_t cursor) {
  for (fwd_mail_block *each = blocks; each; each = each->next) {
    while (cursor < each->used) {
      fwd_mail *left = (fwd_mail *)(each->bytes + cursor);
      cursor += left->size;
      if (!left->is_dropped) fwd_message_clear(left->method->layout, fwd_mail_contents(left));
    }
    cursor = 0;
  }
  fwd_mail_free_blocks(blocks);
}

// MARK: Compaction

static bool has_worthwhile_gaps(const fwd_mail_half *filling) {
  return filling->dropped >= dropped_slack && filling->dropped * 2 >= filling->bytes;
}

/// The bytes of a block's messages that have not been dropped.
static size_t live_bytes(const fwd_mail_block *block) {
  size_t live = 0;
  for (size_t at = 0; at < block->used;) {
    const fwd_mail *met = (const fwd_mail *)(block->bytes + at);
    at += met->size;
    if (!met->is_dropped) live += met->size;
  }
  return live;
}

/// Unlinks the blocks whose messages have all been dropped. So nothing is moved if only the latest message is kept.
static fwd_mail_block *take_dead_blocks(fwd_mail_half *filling) {
  fwd_mail_block *dead = NULL, **link = &filling->first;
  filling->last = NULL;
  while (*link) {
    fwd_mail_block *each = *link;
    if (live_bytes(each) > 0) {
      filling->last = each;
      link = &each->next;
      continue;
    }
    *link = each->next;
    filling->bytes -= each->used;
    filling->dropped -= each->used;
    each->next = dead;
    dead = each;
  }
  return dead;
}

/// Moves the messages together, in their order. Returns the blocks that are left over.
static fwd_mail_block *close_gaps(fwd_mail_half *filling) {
  // The recipients' lists are built again.
  for (fwd_mail_block *each = filling->first; each; each = each->next) {
    for (size_t at = 0; at < each->used;) {
      fwd_mail *met = (fwd_mail *)(each->bytes + at);
      at += met->size;
      met->method->recipient->filling = (fwd_mail_list){NULL, NULL};
    }
  }
  // A message moves only towards the front: its own block has room for it.
  fwd_mail_block *to = filling->first;
  size_t end = 0;
  for (fwd_mail_block *from = filling->first; from; from = from->next) {
    size_t used = from->used;
    for (size_t at = 0; at < used;) {
      fwd_mail *met = (fwd_mail *)(from->bytes + at);
      size_t size = met->size;
      at += size;
      if (met->is_dropped) continue;
      while (to->capacity - end < size) {
        to->used = end;
        to = to->next;
        end = 0;
      }
      fwd_mail *moved = (fwd_mail *)(to->bytes + end);
      memmove(moved, met, size);
      end += size;
      fwd_recipient *recipient = moved->method->recipient;
      if (fwd_mail_is_bounded(recipient)) fwd_mail_append(&recipient->filling, moved);
    }
  }
  to->used = end;
  fwd_mail_block *rest = to->next;
  to->next = NULL;
  filling->last = to;
  filling->bytes -= filling->dropped;
  filling->dropped = 0;
  return rest;
}

fwd_mail_block *fwd_mail_compact_if_worth(fwd_mailbox *mailbox) {
  fwd_mail_half *filling = &mailbox->filling;
  if (!has_worthwhile_gaps(filling)) return NULL;
  fwd_mail_block *surplus = fwd_mail_return_blocks(mailbox, take_dead_blocks(filling));
  if (!has_worthwhile_gaps(filling)) return surplus;
  fwd_mail_block *more = fwd_mail_return_blocks(mailbox, close_gaps(filling));
  if (!more) return surplus;
  fwd_mail_block *last = more;
  while (last->next) last = last->next;
  last->next = surplus;
  return more;
}
