// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_SIGNATURE_H
#define FWD_SRC_SIGNATURE_H

#include "call/call_interface.h"
#include "fwd_signature.h"

/// Returns the call interface of the signature. Valid as long as the signature.
const fwd_cif *fwd_signature_cif(const fwd_signature *signature);

/// Retains a signature that is otherwise only read: its count is all of it that changes.
fwd_signature *fwd_signature_share(const fwd_signature *signature);

#endif
