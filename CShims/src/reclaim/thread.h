// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What each thread shows to the others: its hazard pointers (hazard.h), whether it holds a lock (lock.c), and whether it
/// takes a number (counter.c). Its first block also keeps an anchor for its next proxy.
///
/// A thread owns blocks of two cache lines each. It takes its first block at its first use of the package, and more
/// if it needs more than six hazard pointers at a time. All blocks ever made are linked, and none is ever freed, so other
/// threads walk them without a lock. A thread that ends gives its blocks to later threads.

#ifndef FWD_SRC_THREAD_H
#define FWD_SRC_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
// Defines __GLIBC__ too.
#include <stdint.h>

#include "base/lines.h"
#include "reclaim/fence.h"

/// One hazard pointer: the announcement that a thread reads what a domain protects; see hazard.h.
typedef struct fwd_hazard {
  /// The domain, NULL while the hazard pointer is free. Stored after `entered`.
  _Atomic(const void *) domain;
  /// The domain's clock when the reader entered, or the first of several that share this, with the bits below.
  _Atomic uint64_t entered;
} fwd_hazard;

/// The reader is an object, as a batch is, and may outlive the thread's stack frames.
#define FWD_HAZARD_DETACHED UINT64_C(1)
/// Added for each visit that shares the hazard pointer (hazard.h); none does if the bits of `FWD_HAZARD_VISITS` are zero.
#define FWD_HAZARD_VISIT UINT64_C(2)
#define FWD_HAZARD_VISITS (UINT64_C(0xffff) * FWD_HAZARD_VISIT)
/// The bits that are no part of the time.
#define FWD_HAZARD_FLAGS (FWD_HAZARD_DETACHED | FWD_HAZARD_VISITS)

enum { FWD_HAZARDS_PER_BLOCK = 6 };

/// The number of the first block. Smaller numbers are free for other uses (`fwd_readers`).
enum { FWD_FIRST_BLOCK_NUMBER = 2 };

/// The state of a block.
typedef enum fwd_block_use {
  /// No thread and no batch uses it. Its hazard pointers are free, so a writer that looks for readers skips it.
  FWD_BLOCK_FREE = 0,
  /// Its thread has ended, but batches still had hazard pointers of it then. It stays so until another thread takes it.
  FWD_BLOCK_LEFT,
  /// A thread owns it. The thread stores this before its first announcement. So a heavy fence that makes the announcement
  /// visible to a writer makes this visible, too.
  FWD_BLOCK_OWNED,
} fwd_block_use;

typedef struct fwd_thread_block {
  _Alignas(FWD_LINE) fwd_hazard hazards[FWD_HAZARDS_PER_BLOCK];
  /// The thread's next block.
  struct fwd_thread_block *more;
  /// The next of all blocks.
  struct fwd_thread_block *next;
  /// How many locks the thread holds or waits for, in its first block.
  _Atomic uint32_t locks;
  /// A `fwd_block_use`.
  _Atomic uint8_t use;
  /// Whether the thread takes a number of a counter that it owns (counter.c), in its first block.
  _Atomic uint8_t is_counting;
  /// A number that no other block has, or 0 after 65,534 blocks. It stays when another thread takes the block.
  uint16_t number;
  /// A thread that ends a proxy keeps the anchor here, and uses it for its next proxy (fan_out/anchor.h). Only the thread
  /// reads and writes this, and only in its first block. NULL: no anchor.
  struct fwd_anchor *spare_anchor;
} fwd_thread_block;

// What two threads write at each fan-out shares no cache line.
_Static_assert(sizeof(fwd_thread_block) == 128, "a block fills two cache lines");

// Position-independent code calls a function for the address of a thread-local variable, and has to save all
// argument registers around that call, except in the initial-exec model. glibc keeps room for a few such words in
// libraries that are loaded later; other systems refuse to load them.
#if defined(__ELF__) && defined(__GLIBC__)
#define FWD_FAST_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define FWD_FAST_THREAD_LOCAL _Thread_local
#endif

/// The calling thread's first block; NULL if it has none.
extern FWD_HIDDEN FWD_FAST_THREAD_LOCAL fwd_thread_block *fwd_thread_blocks;

/// All blocks of the process, linked by `next`.
extern FWD_HIDDEN _Atomic(fwd_thread_block *) fwd_all_thread_blocks;

/// The state of a block at the moment.
static inline fwd_block_use fwd_thread_block_use(const fwd_thread_block *block) {
  return (fwd_block_use)atomic_load(&block->use);
}

/// Prepares the process, once: threads wait for the one that does it.
void fwd_thread_set_up(void);

/// Adds a block to the calling thread, in which batches of earlier threads may have hazard pointers. NULL if memory is
/// short, or if the library's exit handler has run on the thread. Readers and locks do without, but slower.
///
/// A thread that first uses the package in the last round of its exit handlers, after the library's key had its turn, does
/// not give its block back: 128 bytes for each such thread. POSIX tells no handler which round it is in.
fwd_thread_block *fwd_thread_add_block(void);

/// Orders the calling thread's earlier stores before its later loads, against the light fences of all threads. False if
/// the system refuses. It costs a system call only if another thread has a block: a program whose proxies are used by one
/// thread pays for a processor's fence.
bool fwd_thread_fence_heavy(void);

/// Whether a hazard pointer is the calling thread's.
bool fwd_thread_owns(const fwd_hazard *hazard);

/// In the child of a fork: frees the blocks of all threads but the calling one, which is the only one left.
void fwd_thread_reset_others(void);

#endif
