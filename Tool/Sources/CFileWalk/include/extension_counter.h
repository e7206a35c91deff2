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
  /// The bytes after the last dot of the names, not NUL-terminated. Empty for
  /// names without an extension.
  const char *name;
  size_t length;
  uint64_t files;
  uint64_t bytes;
} extension_count;

/// Creates a counter with one reference. Returns NULL if memory is short.
extension_counter *extension_counter_create(void);

/// Releases the reference of `extension_counter_create`. Ignores NULL.
void extension_counter_release(extension_counter *counter);

/// Subscribes the counter to a proxy that adopts FileVisitor. The counter must
/// not be subscribed yet. It unsubscribes itself after `file_limit` files;
/// UINT64_MAX means never. The proxy must outlive the subscription.
fwd_status extension_counter_subscribe(extension_counter *counter, fwd_proxy *proxy, uint64_t file_limit,
                                       fwd_error *error);

/// Ends the subscription if there is one.
void extension_counter_unsubscribe(extension_counter *counter);

/// Returns whether the counter has unsubscribed itself.
bool extension_counter_has_left(const extension_counter *counter);

/// Returns whether memory was too short to count all files.
bool extension_counter_has_failed(const extension_counter *counter);

/// Returns the number of different extensions. Names without one count as one.
size_t extension_counter_count(const extension_counter *counter);

/// Returns the counts at an index below `extension_counter_count`, in no
/// particular order. They are valid until the next file.
extension_count extension_counter_at(const extension_counter *counter, size_t index);

#endif
