// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// More functions on signatures, for the Swift module and the files of the C target.

#ifndef FWD_SIGNATURE_H
#define FWD_SIGNATURE_H

#include "fwd_encoding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// Returns the parsed encoding, valid as long as the signature. Its root is a function, whose children are the result
/// and the arguments.
const fwd_encoding *FWD_NONNULL fwd_signature_encoding(const fwd_signature *FWD_NONNULL signature);

/// Returns the number of *hidden* arguments, 0 to 2: the receiver, which is an object or a pointer, and the selector behind it.
/// They come first and are not in the frame.
size_t fwd_signature_hidden_count(const fwd_signature *FWD_NONNULL signature);

/// Returns the index of an argument's node, or FWD_NO_TYPE past the last argument.
uint32_t fwd_signature_argument_type(const fwd_signature *FWD_NONNULL signature, size_t index);

/// Returns the index of the result's node.
uint32_t fwd_signature_result_type(const fwd_signature *FWD_NONNULL signature);

/// Returns the alignment that the argument frame needs.
size_t fwd_signature_frame_alignment(const fwd_signature *FWD_NONNULL signature);

/// Creates the signature of a C callback: the arguments without the receiver and the selector, and a context pointer
/// (`^v`) at the index `context` among them, unless that is SIZE_MAX.
fwd_status fwd_signature_replace_hidden(const fwd_signature *FWD_NONNULL signature, size_t context,
                                        fwd_signature *FWD_NULLABLE *FWD_NONNULL callback,
                                        fwd_error *FWD_NULLABLE error);

/// Whether two signatures have the same result type and the same argument types by `fwd_encoding_equal`. An equivalence
/// relation. Offsets and frame sizes are not compared. An array parameter equals the pointer that C passes for it.
bool fwd_signature_equal(const fwd_signature *FWD_NONNULL left, const fwd_signature *FWD_NONNULL right);

/// Whether two signatures may be the same: their types are equivalent by `fwd_encoding_equivalent`. Not transitive.
bool fwd_signature_equivalent(const fwd_signature *FWD_NONNULL left, const fwd_signature *FWD_NONNULL right);

/// Whether a function of one signature can be called with the other: their types are compatible by
/// `fwd_encoding_compatible`. Receivers are compatible whatever kind of pointer they are. Not transitive.
bool fwd_signature_compatible(const fwd_signature *FWD_NONNULL left, const fwd_signature *FWD_NONNULL right);

/// Returns a hash of a signature. Signatures that are equal by `fwd_signature_equal` have equal hashes.
uint64_t fwd_signature_hash(const fwd_signature *FWD_NONNULL signature);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
