// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The list as its readers see it.

#ifndef FWD_SRC_SUBSCRIBER_LIST_H
#define FWD_SRC_SUBSCRIBER_LIST_H

#include "fwd_fan_out.h"

fwd_subscriber_list *fwd_list_create(void);
void fwd_list_destroy(fwd_subscriber_list *list);

/// The records as they were at one moment. Later ones are not in it; those that end are still in it.
typedef struct fwd_snapshot {
  fwd_record *const *records;
  size_t count;
  struct fwd_record_array *array;
} fwd_snapshot;

/// Takes a snapshot, without waiting for any subscriber. End it with `fwd_list_leave`.
fwd_snapshot fwd_list_enter(fwd_subscriber_list *list);
void fwd_list_leave(fwd_snapshot snapshot);

#endif
