// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the files with assembly share.

#ifndef FWD_SRC_SYSV_ASSEMBLY_H
#define FWD_SRC_SYSV_ASSEMBLY_H

#define QUOTE(...) #__VA_ARGS__
#define EXPAND(...) QUOTE(__VA_ARGS__)
#define SYMBOL(name) EXPAND(__USER_LABEL_PREFIX__) #name

// Where the processor checks indirect jumps and calls (-fcf-protection), their targets begin with endbr64.
#if defined(__CET__) && (__CET__ & 1)
#define LANDING "endbr64\n"
#else
#define LANDING
#endif

#if defined(__ELF__)
#define HIDE(name) ".hidden " SYMBOL(name) "\n"
#else
#define HIDE(name) ".private_extern " SYMBOL(name) "\n"
#endif

#endif
