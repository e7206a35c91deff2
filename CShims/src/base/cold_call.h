// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_COLD_CALL_H
#define FWD_SRC_COLD_CALL_H

/// Marks a function that a hot function rarely calls. The function saves the integer registers that it changes, but for those
/// of its parameters and its result. Vector registers are not saved. Otherwise the hot function would keep its own values
/// elsewhere during the call, mostly on the stack, whether it calls or not. Fan-outs nest, so this would take stack at each
/// level.
///
/// Such a function is hidden: the first call of one that is not may go through the dynamic linker, which changes registers.
/// Clang before 17 overwrites the result.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#if __clang_major__ >= 17
#define FWD_KEEPS_REGISTERS __attribute__((preserve_most, visibility("hidden")))
#endif
#endif
#if !defined(FWD_KEEPS_REGISTERS)
#define FWD_KEEPS_REGISTERS
#endif

#endif
