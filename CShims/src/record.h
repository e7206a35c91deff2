// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_RECORD_H
#define FWD_SRC_RECORD_H

#include <stdatomic.h>

#include "fwd_fan_out.h"

fwd_record *fwd_record_retain(fwd_record *record);

/// What functions get as their first argument.
void *fwd_record_receiver(const fwd_record *record);

/// Ends the subscription: it is not called any more, in fan-outs under way neither.
void fwd_record_end(fwd_record *record);
bool fwd_record_has_ended(const fwd_record *record);

/// Whether the record's object may die.
bool fwd_record_is_weak(const fwd_record *record);

/// Whether there is an object: a C context is none.
bool fwd_record_has_object(const fwd_record *record);

/// The implementation of a method, NULL if there is none.
const fwd_implementation *fwd_record_implementation(const fwd_record *record, size_t method);

#endif
