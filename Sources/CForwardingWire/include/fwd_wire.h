// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What ForwardingWire needs of C: the processor's CRC instruction, and a cheap clock.

#ifndef FWD_WIRE_H
#define FWD_WIRE_H

#include <stddef.h>
#include <stdint.h>

/// Extends a CRC-32C by `count` bytes. Begin with 0. Uses the processor's instruction, or tables if it has none.
uint32_t fwd_wire_checksum(uint32_t checksum, const void *_Nullable bytes, size_t count);

/// Does the same with tables on every processor, for tests.
uint32_t fwd_wire_checksum_by_tables(uint32_t checksum, const void *_Nullable bytes, size_t count);

/// Returns the nanoseconds since 1970 in UTC. On Linux the value changes with the scheduler's tick, each 1 to 10 ms: the
/// exact clock would cost as much as the rest of a record.
int64_t fwd_wire_time(void);

#endif
