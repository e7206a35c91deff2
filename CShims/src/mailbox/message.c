// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Messages: their layout, and the copies of arguments in them.

#include "mailbox/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/small_code.h"
#include "fwd_signature.h"

// MARK: Layouts

FWD_SMALL_CODE_BEGIN

/// Whether a value of the type can be copied by its bytes: it has no pointers to memory that may be freed before the
/// delivery. C functions, classes and selectors live as long as the program.
static bool is_plain(const fwd_encoding *encoding, uint32_t index) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  switch (type->kind) {
    case FWD_TYPE_C_STRING:
    case FWD_TYPE_OBJECT:
    case FWD_TYPE_BLOCK:
      return false;
    case FWD_TYPE_POINTER:
      // `^?` is a C function.
      return fwd_encoding_type(encoding, type->first_child)->kind == FWD_TYPE_UNKNOWN;
    default:
      break;
  }
  // A type whose members are not listed may have pointers.
  if (type->is_opaque || (type->is_stated && type->first_child == FWD_NO_TYPE)) return false;
  for (uint32_t child = type->first_child; child != FWD_NO_TYPE; child = fwd_encoding_type(encoding, child)->next_sibling) {
    if (!is_plain(encoding, child)) return false;
  }
  return true;
}

static fwd_carriage find_carriage(fwd_type_kind kind, const fwd_carried_type *carried) {
  if (carried) return FWD_CARRIAGE_VALUE;
  if (kind == FWD_TYPE_C_STRING) return FWD_CARRIAGE_STRING;
  return kind == FWD_TYPE_OBJECT ? FWD_CARRIAGE_OBJECT : FWD_CARRIAGE_BYTES;
}

/// Reserves aligned bytes. Returns their offset.
static uint32_t place(size_t *end, size_t size, size_t alignment) {
  size_t offset = (*end + alignment - 1) & ~(alignment - 1);
  *end = offset + size;
  return (uint32_t)offset;
}

static fwd_status refuse(fwd_selector selector, const fwd_encoding *encoding, uint32_t index, size_t number,
                         const char *reason, fwd_error *error) {
  char text[96];
  fwd_encoding_print(encoding, index, text, sizeof text);
  return fwd_fail(error, FWD_NOT_ALLOWED, 0,
                  "parameter %zu of \"%.100s\" is \"%s\", and a delivery that is made later cannot have it: %s", number,
                  fwd_selector_name(selector), text, reason);
}

/// Why an argument cannot be carried. NULL if it can.
static const char *find_obstacle(const fwd_encoding *encoding, uint32_t index, bool keeps_pointers,
                                 const fwd_carried_argument *argument, size_t string_count) {
  if (argument->carriage == FWD_CARRIAGE_STRING && string_count > FWD_CARRIED_STRINGS) {
    return "expected at most 16 C strings in one method";
  }
  if (argument->carriage == FWD_CARRIAGE_BYTES && !keeps_pointers && !is_plain(encoding, index)) {
    return "what it points to may be gone by then. Expected numbers, C strings, objects, or structs of numbers";
  }
  return NULL;
}

fwd_message_layout *fwd_message_layout_create(fwd_selector selector, const fwd_signature *signature, bool keeps_pointers,
                                              const fwd_carried_type *const *carried, fwd_status *status,
                                              fwd_error *error) {
  const fwd_encoding *encoding = fwd_signature_encoding(signature);
  size_t count = fwd_signature_argument_count(signature), hidden = fwd_signature_hidden_count(signature), end = 0;
  fwd_message_layout *layout = calloc(1, sizeof *layout + count * sizeof layout->arguments[0]);
  if (!layout) {
    *status = fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for the messages of \"%.150s\"", fwd_selector_name(selector));
    return NULL;
  }
  layout->argument_count = (uint32_t)count;
  layout->hidden_count = (uint32_t)hidden;
  for (size_t i = hidden; i < count; i++) {
    fwd_carried_argument *argument = &layout->arguments[i];
    uint32_t index = fwd_signature_argument_type(signature, i);
    argument->type = carried ? carried[i] : NULL;
    fwd_layout size;
    fwd_signature_argument(signature, i, &size);
    argument->carriage = find_carriage(fwd_encoding_type(encoding, index)->kind, argument->type);
    layout->string_count += argument->carriage == FWD_CARRIAGE_STRING;
    const char *obstacle = find_obstacle(encoding, index, keeps_pointers, argument, layout->string_count);
    if (obstacle) {
      *status = refuse(selector, encoding, index, i - hidden + 1, obstacle, error);
      free(layout);
      return NULL;
    }
    argument->size = (uint32_t)size.size;
    argument->offset = place(&end, size.size, size.alignment ? size.alignment : 1);
  }
  for (size_t i = hidden; i < count; i++) {
    fwd_carried_argument *argument = &layout->arguments[i];
    bool is_value = argument->carriage == FWD_CARRIAGE_VALUE;
    if (is_value) argument->value_offset = place(&end, argument->type->size, argument->type->alignment);
    layout->has_objects |= argument->carriage == FWD_CARRIAGE_OBJECT;
    layout->has_references |= is_value || argument->carriage == FWD_CARRIAGE_OBJECT;
  }
  layout->fixed_size = (uint32_t)end;
  return layout;
}

FWD_SMALL_CODE_END

// MARK: Contents

size_t fwd_message_measure(const fwd_message_layout *layout, void *const *arguments, fwd_message_strings *strings) {
  size_t size = layout->fixed_size;
  if (layout->string_count == 0) return size;
  size_t string = 0;
  for (uint32_t i = layout->hidden_count; i < layout->argument_count; i++) {
    if (layout->arguments[i].carriage != FWD_CARRIAGE_STRING) continue;
    const char *text = *(const char *const *)arguments[i];
    size_t length = text ? strlen(text) : 0;
    strings->lengths[string++] = length;
    if (text) size += length + 1;
    if (size > SIZE_MAX / 4) return SIZE_MAX;
  }
  return size;
}

size_t fwd_message_find_dying(const fwd_message_layout *layout, void *const *arguments) {
  if (!layout->has_objects) return 0;
  for (uint32_t i = layout->hidden_count; i < layout->argument_count; i++) {
    if (layout->arguments[i].carriage != FWD_CARRIAGE_OBJECT) continue;
    void *object = *(void *const *)arguments[i];
    if (object && fwd_object_is_dying(object)) return i;
  }
  return 0;
}

/// Marks a string that is NULL.
static const uintptr_t no_string = UINTPTR_MAX;

void fwd_message_fill(const fwd_message_layout *layout, void *const *arguments, const fwd_message_strings *strings,
                      unsigned char *contents) {
  size_t string = 0;
  uintptr_t end = layout->fixed_size;
  for (uint32_t i = layout->hidden_count; i < layout->argument_count; i++) {
    const fwd_carried_argument *argument = &layout->arguments[i];
    unsigned char *place = contents + argument->offset;
    if (argument->carriage == FWD_CARRIAGE_BYTES && argument->size == 8) {
      memcpy(place, arguments[i], 8);
      continue;
    }
    switch (argument->carriage) {
      case FWD_CARRIAGE_NONE:
        break;
      case FWD_CARRIAGE_BYTES:
        memcpy(place, arguments[i], argument->size);
        break;
      case FWD_CARRIAGE_STRING: {
        const char *text = *(const char *const *)arguments[i];
        size_t length = strings->lengths[string++];
        memcpy(place, text ? &end : &no_string, sizeof end);
        if (!text) break;
        // The string may have changed since it was measured: only so much of it has room.
        memcpy(contents + end, text, length);
        contents[end + length] = 0;
        end += length + 1;
        break;
      }
      case FWD_CARRIAGE_OBJECT: {
        void *object = *(void *const *)arguments[i];
        fwd_object_retain(object);
        memcpy(place, &object, sizeof object);
        break;
      }
      case FWD_CARRIAGE_VALUE: {
        const void *value = *(const void *const *)arguments[i];
        memcpy(place, &value, sizeof value);
        if (value) argument->type->copy(argument->type->context, contents + argument->value_offset, value);
        break;
      }
    }
  }
}

/// Whether the argument is a pointer to a value, and not NULL.
static bool has_value(const fwd_carried_argument *argument, const unsigned char *contents) {
  const void *given;
  memcpy(&given, contents + argument->offset, sizeof given);
  return given != NULL;
}

void fwd_message_open(const fwd_message_layout *layout, unsigned char *contents, void **arguments) {
  for (uint32_t i = layout->hidden_count; i < layout->argument_count; i++) {
    const fwd_carried_argument *argument = &layout->arguments[i];
    unsigned char *place = contents + argument->offset;
    arguments[i] = place;
    if (argument->carriage == FWD_CARRIAGE_STRING) {
      uintptr_t offset;
      memcpy(&offset, place, sizeof offset);
      const void *text = offset == no_string ? NULL : contents + offset;
      memcpy(place, &text, sizeof text);
    } else if (argument->carriage == FWD_CARRIAGE_VALUE && has_value(argument, contents)) {
      const void *value = contents + argument->value_offset;
      memcpy(place, argument->type->is_boxed ? value : &value, sizeof value);
    }
  }
}

void fwd_message_clear(const fwd_message_layout *layout, unsigned char *contents) {
  if (!layout->has_references) return;
  for (uint32_t i = layout->hidden_count; i < layout->argument_count; i++) {
    const fwd_carried_argument *argument = &layout->arguments[i];
    if (argument->carriage == FWD_CARRIAGE_OBJECT) {
      void *object;
      memcpy(&object, contents + argument->offset, sizeof object);
      fwd_object_release(object);
    } else if (argument->carriage == FWD_CARRIAGE_VALUE && has_value(argument, contents)) {
      argument->type->destroy(argument->type->context, contents + argument->value_offset);
    }
  }
}
