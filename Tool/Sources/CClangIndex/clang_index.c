// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "clang_index.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool clang_index_open(const char *path, clang_index *functions, char *reason, size_t capacity) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found;
  if (!library) {
    const char *said = dlerror();
    snprintf(reason, capacity, "%s", said ? said : "the loader gives no reason");
    return false;
  }
  // POSIX lets object pointers be function pointers.
#define FIND(result, name, parameters)                                               \
  if (!(found = dlsym(library, "clang_" #name))) {                                   \
    snprintf(reason, capacity, "%s has no function clang_%s", path, #name);          \
    dlclose(library);                                                                \
    return false;                                                                    \
  }                                                                                  \
  memcpy(&functions->name, &found, sizeof found);
  CLANG_INDEX_FUNCTIONS(FIND)
#undef FIND
  return true;
}
