// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Which calling convention this is compiled for.
///
/// A port is a folder beside this file: sysv for x86-64, aapcs64 for AArch64 on Linux, generic for everything else.
/// The generic port knows no registers: libffi makes all calls and all closures.

#ifndef FWD_SRC_CONVENTION_H
#define FWD_SRC_CONVENTION_H

// Cygwin is x86-64 with a 64-bit long, but passes arguments as Windows does. x32 (no __LP64__) has 32-bit pointers.
#if defined(__x86_64__) && defined(__LP64__) && !defined(_WIN32) && !defined(__CYGWIN__)
#define FWD_IS_SYSV 1
#define FWD_IS_AAPCS64 0
// classify.c takes `long double` for the x87 format. Android's x86-64 has binary128, which is passed in a vector
// register; -mlong-double-64 has a double.
#if __LDBL_MANT_DIG__ != 64
#error "Forwarding's x86-64 port needs the 80-bit long double of the System V psABI"
#endif

// Apple's AArch64 differs: `long double` is a double, the caller extends integers to 32 bits, and arguments on the
// stack are aligned as their types are, so that two ints share a word. Big-endian and ILP32 registers differ, too.
#elif defined(__aarch64__) && defined(__AARCH64EL__) && defined(__LP64__) && defined(__linux__)
#define FWD_IS_SYSV 0
#define FWD_IS_AAPCS64 1
#if __LDBL_MANT_DIG__ != 113
#error "Forwarding's AArch64 port needs the 128-bit long double of the AAPCS64"
#endif

#else
#define FWD_IS_SYSV 0
#define FWD_IS_AAPCS64 0
#endif

/// Whether signatures have placements and call plans here.
#define FWD_HAS_CALL_PLANS (FWD_IS_SYSV || FWD_IS_AAPCS64)
/// Whether `fwd_call` finds jumps here, and closures a pool of compiled entries.
#define FWD_HAS_CALL_JUMPS FWD_IS_SYSV
#define FWD_HAS_ENTRY_POOL FWD_IS_SYSV
/// Whether plans have calls with a filler here (`fwd_filled_call`).
#define FWD_HAS_FILLED_CALLS FWD_IS_SYSV

// FWD_GENERIC_LOWERING tests the generic port on a machine that has one of its own. Structures stay as they are, so
// that files compiled with and without it can be linked.
#ifdef FWD_GENERIC_LOWERING
#define FWD_PLACES_SYSV 0
#define FWD_PLACES_AAPCS64 0
#else
#define FWD_PLACES_SYSV FWD_IS_SYSV
#define FWD_PLACES_AAPCS64 FWD_IS_AAPCS64
#endif

/// The registers that carry arguments.
#if FWD_IS_SYSV
enum { FWD_INTEGER_REGISTERS = 6, FWD_VECTOR_REGISTERS = 8 };
#else
enum { FWD_INTEGER_REGISTERS = 8, FWD_VECTOR_REGISTERS = 8 };
#endif

#endif
