// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the Swift module and the shim's own files know of signatures beyond forwarding.h.

#ifndef FWD_SIGNATURE_H
#define FWD_SIGNATURE_H

#include "fwd_encoding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// The parsed encoding, valid as long as the signature. Its root is a function: result, then arguments.
const fwd_encoding *FWD_NONNULL fwd_signature_encoding(const fwd_signature *FWD_NONNULL signature);

/// Whether argument 0 is an object or a pointer, and so can be the receiver.
bool fwd_signature_has_receiver(const fwd_signature *FWD_NONNULL signature);

/// Whether argument 1, behind a receiver, is the selector.
bool fwd_signature_has_selector(const fwd_signature *FWD_NONNULL signature);

/// The number of leading arguments that stand outside the frame: the receiver and the selector, 0 to 2.
size_t fwd_signature_hidden_count(const fwd_signature *FWD_NONNULL signature);

/// The index of the node that describes an argument; FWD_NO_TYPE past the last.
uint32_t fwd_signature_argument_type(const fwd_signature *FWD_NONNULL signature, size_t index);

/// The index of the node that describes the result.
uint32_t fwd_signature_result_type(const fwd_signature *FWD_NONNULL signature);

/// The alignment that the argument frame needs.
size_t fwd_signature_frame_alignment(const fwd_signature *FWD_NONNULL signature);

/// Gives the signature without the receiver and the selector: what a C callback of the same arguments has.
fwd_status fwd_signature_drop_hidden(const fwd_signature *FWD_NONNULL signature,
                                     fwd_signature *FWD_NULLABLE *FWD_NONNULL arguments_only,
                                     fwd_error *FWD_NULLABLE error);

/// Whether the two mean the same, see `fwd_encoding_equal`.
bool fwd_signature_equal(const fwd_signature *FWD_NONNULL left, const fwd_signature *FWD_NONNULL right);

/// Whether a function of one can be called as one of the other, see `fwd_encoding_compatible`. Receivers
/// are compatible whatever kind of pointer they are.
bool fwd_signature_compatible(const fwd_signature *FWD_NONNULL left, const fwd_signature *FWD_NONNULL right);

/// A hash in which equal signatures agree.
uint64_t fwd_signature_hash(const fwd_signature *FWD_NONNULL signature);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
