// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// What a program in C does with JetStream by the client's own functions, to compare with.
#ifndef RAW_NATS_H
#define RAW_NATS_H

#include <stdbool.h>
#include <stddef.h>

/// Makes a stream with one subject of the same name, in a file.
bool raw_nats_make_stream(const char *_Nonnull url, const char *_Nonnull name);

/// Publishes messages of a size with identifiers, without waiting for each, then waits for
/// all. Returns the nanoseconds, or a negative number after an error.
double raw_nats_publish(const char *_Nonnull url, const char *_Nonnull name, size_t size, int count);

/// Receives messages of a stream by a subscription with flow control and without
/// acknowledgements. Returns the nanoseconds, or a negative number.
double raw_nats_consume(const char *_Nonnull url, const char *_Nonnull subject, int count);

#endif
