// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_SMALL_CODE_H
#define FWD_SRC_SMALL_CODE_H

/// The functions between these two are rarely called, and are compiled for size: what a program never runs still has to be
/// loaded, and the text of the C target has a limit (Tests/Robustness/run.sh).
#if defined(__clang__)
#define FWD_SMALL_CODE_BEGIN _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define FWD_SMALL_CODE_END _Pragma("clang attribute pop")
/// The same for one function.
#define FWD_SMALL __attribute__((minsize))
#else
#define FWD_SMALL_CODE_BEGIN
#define FWD_SMALL_CODE_END
#define FWD_SMALL
#endif

#endif
