// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Counts files by the extension of their names: a subscriber written in C,
/// with a C function table.

#ifndef EXTENSION_COUNTER_H
#define EXTENSION_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forwarding.h"

typedef struct extension_counter extension_counter;

/// The files of one extension.
typedef struct extension_count {
  /// The bytes behind the last dot of the names; not NUL-terminated, empty for
  /// names without.
  const char *name;
  size_t length;
  uint64_t files;
  uint64_t bytes;
} extension_count;

/// Makes a counter with one reference. NULL if memory is short.
extension_counter *extension_counter_create(void);

/// Gives up the reference of `extension_counter_create`. NULL is ignored.
void extension_counter_release(extension_counter *counter);

/// Subscribes the counter, which must not be subscribed, to a proxy that adopts
/// FileVisitor. It unsubscribes itself when it has seen `file_limit` files;
/// UINT64_MAX for never. The proxy must outlive the subscription.
fwd_status extension_counter_subscribe(extension_counter *counter, fwd_proxy *proxy, uint64_t file_limit,
                                       fwd_error *error);

/// Ends the subscription, if there is one.
void extension_counter_unsubscribe(extension_counter *counter);

/// Whether the counter has unsubscribed itself.
bool extension_counter_has_left(const extension_counter *counter);

/// Whether memory was too short to count all.
bool extension_counter_has_failed(const extension_counter *counter);

/// The number of different extensions, names without one among them.
size_t extension_counter_count(const extension_counter *counter);

/// The counts at an index below `extension_counter_count`, in no order. Valid
/// until the next file.
extension_count extension_counter_at(const extension_counter *counter, size_t index);

#endif
