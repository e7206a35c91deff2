// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#ifndef FWD_SRC_COLD_CALL_H
#define FWD_SRC_COLD_CALL_H

/// Marks a function that a hot function rarely calls. The function saves all integer registers that it changes. Otherwise
/// the hot function would keep its own values elsewhere during the call, mostly on the stack, whether it calls or not.
/// Fan-outs nest, so this would take stack at each level.
#if defined(__has_attribute) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_attribute(preserve_most)
#define FWD_KEEPS_REGISTERS __attribute__((preserve_most))
#endif
#endif
#if !defined(FWD_KEEPS_REGISTERS)
#define FWD_KEEPS_REGISTERS
#endif

#endif
