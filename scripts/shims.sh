# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors
# shellcheck shell=sh

# Where the files of the C target are, for scripts that compile them without SwiftPM. They read this file by `.` after
# setting `shims` to the path of CShims.

# The preprocessor's flags, for the C target itself and for tests of it.
shim_flags="-DFWD_INTERNAL -I$shims/include -I$shims/internal -I$shims/src"

# The folders of src/ that need no Swift, as calls and closures do.
shim_call_folders="base encoding abi reclaim call"

# All functions by which the C target allocates and frees. Tests wrap each.
shim_allocating="malloc calloc realloc aligned_alloc posix_memalign strdup strndup free mmap munmap"
shim_allocating="$shim_allocating ffi_closure_alloc ffi_closure_free pthread_key_create pthread_setspecific"
shim_allocating="$shim_allocating pthread_atfork pthread_getattr_np"

# Lists the C files of folders of src/, or of all: `shim_sources [FOLDER...]`
shim_sources() (
  cd "$shims/src"
  [ $# -gt 0 ] || set -- .
  find "$@" -name '*.c' | sed 's|^\./||' | LC_ALL=C sort | sed "s|^|$shims/src/|"
)

# The name of a C file's object, without a suffix; unlike the file's own name it is unique: `shim_object FILE`
shim_object() { printf '%s\n' "${1#"$shims/src/"}" | sed 's|/|_|g; s|\.c$||'; }
