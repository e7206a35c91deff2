// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What a message carries: a copy of the arguments of one invocation.

#ifndef FWD_SRC_MESSAGE_H
#define FWD_SRC_MESSAGE_H

#include "fwd_encoding.h"
#include "fwd_mailbox.h"

/// How an argument is copied.
typedef enum fwd_carriage {
  /// A hidden argument, which each delivery sets itself.
  FWD_CARRIAGE_NONE = 0,
  FWD_CARRIAGE_BYTES,
  /// A C string: its characters are copied behind the arguments.
  FWD_CARRIAGE_STRING,
  /// An object is retained.
  FWD_CARRIAGE_OBJECT,
  /// A pointer to a Swift value: the value is copied. NULL stays NULL.
  FWD_CARRIAGE_VALUE,
} fwd_carriage;

typedef struct fwd_carried_argument {
  fwd_carriage carriage;
  /// The offset of the argument in the contents of a message, and that of the value that it points to.
  uint32_t offset;
  uint32_t value_offset;
  uint32_t size;
  const fwd_carried_type *type;
} fwd_carried_argument;

/// The most C strings that one method may have.
enum { FWD_CARRIED_STRINGS = 16 };

/// The layout of the contents of a method's messages.
///
///     arguments, each aligned | Swift values | the characters of string 1, NUL | of string 2, NUL | ...
///     <------- fixed_size, the same for all messages ---->
///
/// A message may be moved by a copy of its bytes, so a pointer into it is set only when it is delivered. Its contents are
/// aligned to 16: signatures refuse arguments that are aligned to more, and carried types are not.
typedef struct fwd_message_layout {
  uint32_t argument_count;
  uint32_t hidden_count;
  uint32_t fixed_size;
  uint32_t string_count;
  /// Whether contents hold references, which must be released.
  bool has_references;
  bool has_objects;
  fwd_carried_argument arguments[];
} fwd_message_layout;

/// Creates the layout for a method. NULL on failure: `*status` is FWD_NO_MEMORY, or FWD_NOT_ALLOWED with an error that
/// names the argument that cannot be copied.
fwd_message_layout *fwd_message_layout_create(fwd_selector selector, const fwd_signature *signature, bool keeps_pointers,
                                              const fwd_carried_type *const *carried, fwd_status *status,
                                              fwd_error *error);

/// The lengths of the strings of one message, without NULs.
typedef struct fwd_message_strings {
  size_t lengths[FWD_CARRIED_STRINGS];
} fwd_message_strings;

/// Returns the size of the contents for arguments, and measures the strings. SIZE_MAX if no memory could hold them.
size_t fwd_message_measure(const fwd_message_layout *layout, void *const *arguments, fwd_message_strings *strings);

/// Returns the index of an argument that is an object which is being deinitialised, so that a retain would not keep it
/// alive. 0 if there is none.
size_t fwd_message_find_dying(const fwd_message_layout *layout, void *const *arguments);

/// Copies the arguments. `contents` has the measured size and is aligned to 16.
void fwd_message_fill(const fwd_message_layout *layout, void *const *arguments, const fwd_message_strings *strings,
                      unsigned char *contents);

/// Points `arguments` to the contents. The hidden arguments are not changed.
void fwd_message_open(const fwd_message_layout *layout, unsigned char *contents, void **arguments);

/// Releases the references in contents, whether they have been opened or not.
void fwd_message_clear(const fwd_message_layout *layout, unsigned char *contents);

#endif
