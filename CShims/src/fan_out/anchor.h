// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// An anchor lets a reference to a proxy outlive the proxy without being counted.
///
/// A program copies its subscriptions, and may keep them for longer than the proxy lives. If each of them counted a
/// reference, a subscription and its end would cost four atomic operations more. So a reference is a plain value: the
/// address of the proxy's anchor, and the anchor's *generation*. The memory of an anchor is never freed. When its proxy
/// goes, the anchor gets the next generation, and a later proxy uses it.
///
/// The lock of the proxy is part of the anchor. A thread that has no more than a reference locks it, then compares the
/// generations:
///
///     a thread with a reference                    the thread that destroys the proxy
///       lock                                         the owner begins to deinitialise
///       same generation? use the proxy               lock
///       unlock                                       generation = generation + 1
///                                                    unlock         (without any reference: no lock)
///                                                    free the proxy and its owner
///
/// The first thread finds the old generation only before the second one has locked. Then the second one waits, so the
/// memory of the proxy and of its owner stays allocated until the first one unlocks.

#ifndef FWD_SRC_ANCHOR_H
#define FWD_SRC_ANCHOR_H

#include <stdatomic.h>

#include "base/lines.h"
#include "fwd_lock.h"
#include "fwd_proxy.h"

struct fwd_anchor {
  // Two proxies share no cache line here: threads that use one each would slow each other down.
  _Alignas(FWD_LINE) fwd_lock lock;
  /// Whether there are references of this generation.
  _Atomic bool is_known;
  /// Changed under the lock.
  _Atomic uint64_t generation;
  /// The proxy. A thread with a reference reads it, and `owner`, under the lock and after it has compared the generations.
  fwd_proxy *proxy;
  /// A weak reference to the owner, which does not keep the owner's memory. 0 before there is an owner, and once it is dying:
  /// then references find nothing.
  fwd_weak owner;
  /// The next anchor that no proxy has.
  struct fwd_anchor *next;
  /// In the first anchor of each allocation: the first one of the allocation before.
  struct fwd_anchor *allocated_before;
};

/// Returns an anchor for a proxy. Returns NULL if memory is short.
fwd_anchor *fwd_anchor_take(void);
/// Makes references to the proxy find nothing from now on. Called when the owner deinitialises, and again when the C part is
/// freed.
void fwd_anchor_forget(fwd_anchor *anchor);
/// Takes back the anchor of a proxy that is gone.
void fwd_anchor_give_back(fwd_anchor *anchor);

#endif
