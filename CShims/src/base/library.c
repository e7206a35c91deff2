// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// For dlvsym and dladdr1.
#define _GNU_SOURCE 1

#include "fwd_library.h"

#include <dlfcn.h>
#if defined(__GLIBC__)
#include <link.h>
#endif

#include "base/error.h"

/// The loader's reason for its last failure on this thread.
static const char *loader_reason(void) {
  const char *reason = dlerror();
  return reason ? reason : "the loader gives no reason";
}

void *fwd_library_open(const char *name, fwd_error *error) {
  // Local: the library's symbols do not take the place of others that libraries loaded later look for.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) fwd_fail(error, FWD_UNSUPPORTED, 0, "%s", loader_reason());
  return library;
}

/// Whether an address is that of a variable. Each thread has its own of a thread-local one, in memory that belongs to no
/// library.
static bool is_data(const void *address) {
#if defined(__GLIBC__)
  Dl_info info;
  void *found = NULL;
  if (!dladdr1(address, &info, &found, RTLD_DL_SYMENT)) return true;
  // The loader does not name functions that a library does not export, to which it may have resolved the symbol.
  if (!found || info.dli_saddr != address) return false;
  const ElfW(Sym) *symbol = found;
  // The same bits in both classes of ELF files.
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return type == STT_OBJECT || type == STT_COMMON;
#else
  (void)address;
  return false;
#endif
}

void *fwd_library_function(void *library, const char *symbol, const char *version, fwd_error *error) {
  void *address = NULL;
  // Forgets earlier failures.
  (void)dlerror();
  if (!version) {
    address = dlsym(library, symbol);
  } else {
#if defined(__GLIBC__)
    address = dlvsym(library, symbol, version);
#else
    fwd_fail(error, FWD_UNSUPPORTED, 0, "this system has no versions of symbols");
    return NULL;
#endif
  }
  if (!address) {
    const char *reason = dlerror();
    fwd_fail(error, FWD_UNSUPPORTED, 0, "%s", reason ? reason : "its address is null");
    return NULL;
  }
  if (is_data(address)) {
    fwd_fail(error, FWD_TYPE_MISMATCH, 0, "it is a variable, not a function");
    return NULL;
  }
  return address;
}
