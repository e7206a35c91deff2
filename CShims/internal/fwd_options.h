// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Reads the structs of options that a program passes. The size in a struct, or the stride of an array, tells for which
/// version of the library the program was compiled.
///
/// Each function copies the options. Members that the program's version does not have become zero. It returns
/// FWD_WRONG_SIZE for a size that no version has, and FWD_WRONG_VERSION if a member that only later versions have is
/// not zero.

#ifndef FWD_OPTIONS_H
#define FWD_OPTIONS_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

fwd_status fwd_proxy_options_read(const fwd_proxy_options *FWD_NONNULL given, fwd_proxy_options *FWD_NONNULL options,
                                  fwd_error *FWD_NULLABLE error);

/// Reads the options of one method. `options` was read by `fwd_proxy_options_read`, and has more than `index` methods.
fwd_status fwd_method_options_read(const fwd_proxy_options *FWD_NONNULL options, size_t index,
                                   fwd_method_options *FWD_NONNULL method, fwd_error *FWD_NULLABLE error);

/// Reads one element of an array of callbacks, which has more than `index` elements at a distance of `stride` bytes.
fwd_status fwd_callback_read(const fwd_callback *FWD_NONNULL callbacks, size_t stride, size_t index,
                             fwd_callback *FWD_NONNULL callback, fwd_error *FWD_NULLABLE error);

fwd_status fwd_subscribe_options_read(const fwd_subscribe_options *FWD_NONNULL given,
                                      fwd_subscribe_options *FWD_NONNULL options, fwd_error *FWD_NULLABLE error);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
