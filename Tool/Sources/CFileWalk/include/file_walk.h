// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// nftw(3), which glibc hides from Swift: its module is built without the macro
/// that shows it.

#ifndef FILE_WALK_H
#define FILE_WALK_H

#include <stddef.h>
#include <sys/stat.h>

/// nftw's `struct FTW`: the offset of the name in the path, and the depth.
struct FTW;

/// The callback of nftw(3). A result other than 0 stops the walk.
typedef int (*file_visitor)(const char *path, const struct stat *status, int kind, struct FTW *position);

/// Walks the tree below `directory` with nftw(3), without following symbolic
/// links. Returns 0, the callback's result that stopped the walk, or -1 with
/// errno set.
int file_walk(const char *directory, file_visitor visitor);

/// The kind of an entry.
typedef enum file_kind {
  FILE_KIND_REGULAR,
  FILE_KIND_DIRECTORY,
  /// A directory that may not be read.
  FILE_KIND_UNREADABLE_DIRECTORY,
  FILE_KIND_LINK,
  /// A socket, a pipe or a device.
  FILE_KIND_OTHER,
  /// The entry exists, but stat(2) is not permitted. `status` is undefined.
  FILE_KIND_UNKNOWN,
} file_kind;

/// Returns the kind of an entry from nftw's `kind` and `status`.
file_kind file_kind_of(int kind, const struct stat *status);

#endif
