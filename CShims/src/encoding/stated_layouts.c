// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "encoding/stated_layouts.h"

#include <stdlib.h>
#include <string.h>

#include "encoding/encoding.h"
#include "base/error.h"
#include "base/small_code.h"

FWD_SMALL_CODE_BEGIN

// MARK: The copy

static fwd_status fail(fwd_error *error, const char *name, const char *reason) {
  return fwd_fail(error, FWD_WRONG_LAYOUT, 0, "stated layout of \"%.60s\": %s", name, reason);
}

/// The length of a name. Stops counting above `limit`.
static size_t bounded_length(const char *name, size_t limit) {
  size_t length = 0;
  while (length <= limit && name[length]) length++;
  return length;
}

/// Checks the statements, and computes the size of the copy apart from the layouts.
static fwd_status measure(const fwd_stated_layout *stated, size_t count, size_t length, size_t *member_count,
                          size_t *name_bytes, fwd_error *error) {
  *member_count = *name_bytes = 0;
  for (size_t i = 0; i < count; i++) {
    const char *name = stated[i].name;
    if (!name || !*name || (name[0] == '?' && !name[1])) {
      return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "stated layout %zu of %zu: expected the name of a struct or union",
                      i, count);
    }
    size_t name_length = bounded_length(name, length);
    if (name_length > length) return fail(error, name, "expected a type of this name in the encoding");
    for (size_t j = 0; j < i; j++) {
      if (strcmp(stated[j].name, name) == 0) return fail(error, name, "expected each name at most once");
    }
    // Each member takes at least a byte of the text, so the sum cannot overflow.
    size_t members = stated[i].members ? stated[i].member_count : 0;
    if (members > length) return fail(error, name, "expected as many members as are stated");
    if (stated[i].member_count > 0 && !stated[i].members) {
      return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "stated layout of \"%.60s\": no address for its %zu members", name,
                      stated[i].member_count);
    }
    *member_count += members;
    *name_bytes += name_length + 1;
  }
  return FWD_OK;
}

fwd_status fwd_stated_layouts_copy(const fwd_stated_layout *stated, size_t count, size_t length,
                                   fwd_stated_layouts **layouts, fwd_error *error) {
  if (!stated) return fwd_fail(error, FWD_NULL_ARGUMENT, 0, "no address for %zu stated layouts", count);
  if (count > FWD_STATED_LIMIT) {
    return fwd_fail(error, FWD_OVERFLOW, 0, "%zu stated layouts: expected at most %d", count, FWD_STATED_LIMIT);
  }
  size_t member_count, name_bytes;
  fwd_status status = measure(stated, count, length, &member_count, &name_bytes, error);
  if (status != FWD_OK) return status;
  _Static_assert(sizeof(fwd_stated_layout) % _Alignof(fwd_stated_member) == 0, "members follow the layouts in the block");
  fwd_stated_layouts *made =
      malloc(sizeof *made + count * sizeof *stated + member_count * sizeof(fwd_stated_member) + name_bytes);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for %zu stated layouts", count);
  made->count = count;
  made->is_complete = true;
  fwd_stated_member *members = (fwd_stated_member *)(void *)(made->layouts + count);
  char *names = (char *)(members + member_count);
  for (size_t i = 0; i < count; i++) {
    fwd_stated_layout *layout = &made->layouts[i];
    *layout = stated[i];
    size_t bytes = strlen(stated[i].name) + 1;
    layout->name = memcpy(names, stated[i].name, bytes);
    names += bytes;
    // An empty list counts as not stated. A struct without members needs none.
    if (layout->member_count == 0) layout->members = NULL;
    if (!layout->members) continue;
    layout->members = memcpy(members, layout->members, layout->member_count * sizeof *members);
    members += layout->member_count;
  }
  *layouts = made;
  return FWD_OK;
}

// MARK: Names

static bool is_record(const fwd_type *type) {
  return type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION;
}

static bool has_name(const fwd_encoding *encoding, const fwd_type *type, const char *name) {
  return type->name_length > 0 && strncmp(encoding->text + type->name_offset, name, type->name_length) == 0 &&
         name[type->name_length] == 0;
}

const fwd_stated_layout *fwd_stated_layouts_find(const fwd_encoding *encoding, const fwd_type *type) {
  // A linear search: statements are few.
  for (size_t i = 0; encoding->stated && i < encoding->stated->count; i++) {
    const fwd_stated_layout *layout = &encoding->stated->layouts[i];
    if (has_name(encoding, type, layout->name)) return layout;
  }
  return NULL;
}

fwd_status fwd_stated_layouts_check_names(const fwd_encoding *encoding, fwd_error *error) {
  for (size_t i = 0; encoding->stated->is_complete && i < encoding->stated->count; i++) {
    const char *name = encoding->stated->layouts[i].name;
    bool is_there = false;
    for (uint32_t type = 0; type < encoding->type_count && !is_there; type++) {
      is_there = is_record(&encoding->types[type]) && has_name(encoding, &encoding->types[type], name);
    }
    if (!is_there) return fail(error, name, "expected a type of this name in the encoding");
  }
  return FWD_OK;
}

FWD_SMALL_CODE_END
