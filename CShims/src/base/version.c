// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The version of the library, and the layouts that programs are compiled against.

#include "forwarding.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

uint32_t fwd_version(void) { return FWD_VERSION; }

const char *fwd_version_string(void) {
  return TEXT(FWD_VERSION_MAJOR) "." TEXT(FWD_VERSION_MINOR) "." TEXT(FWD_VERSION_PATCH);
}

const unsigned char FWD_INLINE_ABI_SYMBOL = FWD_INLINE_ABI;

// MARK: Structs without a size

// Programs have arrays of these structs, or provide the memory for one. They keep their members for good: a later
// version adds a new struct and a function that takes it.

enum { word = sizeof(void *) };

_Static_assert(sizeof(fwd_error) == 2 * word + 256 && offsetof(fwd_error, message) == 2 * word, "fwd_error is fixed");
_Static_assert(sizeof(fwd_layout) == 3 * word, "fwd_layout is fixed");
_Static_assert(sizeof(fwd_stated_member) == 2 * word, "fwd_stated_member is fixed");
_Static_assert(sizeof(fwd_stated_layout) == 6 * word, "fwd_stated_layout is fixed");
_Static_assert(sizeof(fwd_requirement) == 3 * word && offsetof(fwd_requirement, required) == 2 * word,
               "fwd_requirement is fixed");
_Static_assert(sizeof(fwd_method) == 3 * word, "fwd_method is fixed");
_Static_assert(sizeof(fwd_handled_method) == 3 * word, "fwd_handled_method is fixed");
_Static_assert(sizeof(fwd_position) == 16 + word && offsetof(fwd_position, priority) == 4 &&
                   offsetof(fwd_position, index) == 8 && offsetof(fwd_position, anchor) == 8 + word,
               "fwd_position is fixed");
