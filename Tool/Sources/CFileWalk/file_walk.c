// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#define _GNU_SOURCE

#include "file_walk.h"

#include <ftw.h>
#include <sys/resource.h>

enum {
  /// The number of directories that nftw may hold open. In deeper trees it reads
  /// the rest of an outer directory first and reopens it by path, which may be
  /// too long for the system.
  DESCRIPTORS = 512,
  /// File descriptors left for the standard streams and the rest of the
  /// program.
  DESCRIPTORS_KEPT = 32,
};

int file_walk(const char *directory, file_visitor visitor) {
  int descriptors = DESCRIPTORS;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS + DESCRIPTORS_KEPT) {
    descriptors = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? (int)limit.rlim_cur - DESCRIPTORS_KEPT : 4;
  }
  return nftw(directory, visitor, descriptors, FTW_PHYS);
}

file_kind file_kind_of(int kind, const struct stat *status) {
  switch (kind) {
    case FTW_D:
    case FTW_DP:
      return FILE_KIND_DIRECTORY;
    case FTW_DNR:
      return FILE_KIND_UNREADABLE_DIRECTORY;
    case FTW_SL:
    case FTW_SLN:
      return FILE_KIND_LINK;
    case FTW_F:
      return S_ISREG(status->st_mode) ? FILE_KIND_REGULAR : FILE_KIND_OTHER;
    default:
      return FILE_KIND_UNKNOWN;
  }
}
