// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Parsed type encodings, for the Swift module and the shim's own files. C programs include forwarding.h.

#ifndef FWD_ENCODING_H
#define FWD_ENCODING_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// What a node of a parsed encoding is. The value of a kind that is one character is that character.
typedef enum fwd_type_kind {
  FWD_TYPE_CHAR = 'c',
  FWD_TYPE_UCHAR = 'C',
  FWD_TYPE_SHORT = 's',
  FWD_TYPE_USHORT = 'S',
  FWD_TYPE_INT = 'i',
  FWD_TYPE_UINT = 'I',
  /// 32 bits, as in Apple's 64-bit encodings; clang spells a 64-bit `long` `q`.
  FWD_TYPE_LONG = 'l',
  FWD_TYPE_ULONG = 'L',
  FWD_TYPE_LONG_LONG = 'q',
  FWD_TYPE_ULONG_LONG = 'Q',
  FWD_TYPE_INT128 = 't',
  FWD_TYPE_UINT128 = 'T',
  FWD_TYPE_BOOL = 'B',
  FWD_TYPE_FLOAT = 'f',
  FWD_TYPE_DOUBLE = 'd',
  FWD_TYPE_LONG_DOUBLE = 'D',
  FWD_TYPE_VOID = 'v',
  FWD_TYPE_C_STRING = '*',
  /// `@`, with the class or `<Protocol>` of `@"..."` as its name.
  FWD_TYPE_OBJECT = '@',
  FWD_TYPE_CLASS = '#',
  FWD_TYPE_SELECTOR = ':',
  FWD_TYPE_UNKNOWN = '?',
  /// `@?`; with `<...>` its one child is a function.
  FWD_TYPE_BLOCK = 'k',
  /// `^`: one child, the pointee.
  FWD_TYPE_POINTER = '^',
  /// `[n...]`: one child, the element.
  FWD_TYPE_ARRAY = '[',
  /// `{name=...}`: the fields are the children.
  FWD_TYPE_STRUCT = '{',
  /// `(name=...)`: the members are the children.
  FWD_TYPE_UNION = '(',
  /// `b`: no child. GNU encodings also give its position and the letter of its type.
  FWD_TYPE_BIT_FIELD = 'b',
  /// `j`: one child, the type of both parts.
  FWD_TYPE_COMPLEX = 'j',
  /// A method's or a block's signature: the result, then the arguments.
  FWD_TYPE_FUNCTION = 'F',
} fwd_type_kind;

/// Qualifiers, as bits.
enum {
  FWD_QUALIFIER_CONST = 1 << 0,   // r
  FWD_QUALIFIER_IN = 1 << 1,      // n
  FWD_QUALIFIER_INOUT = 1 << 2,   // N
  FWD_QUALIFIER_OUT = 1 << 3,     // o
  FWD_QUALIFIER_BYCOPY = 1 << 4,  // O
  FWD_QUALIFIER_BYREF = 1 << 5,   // R
  FWD_QUALIFIER_ONEWAY = 1 << 6,  // V
  FWD_QUALIFIER_ATOMIC = 1 << 7,  // A
};

/// No node.
#define FWD_NO_TYPE UINT32_MAX

/// One node of a parsed encoding. Nodes refer to one another by index.
typedef struct fwd_type {
  fwd_type_kind kind;
  uint32_t qualifiers;
  uint32_t first_child;
  uint32_t next_sibling;
  uint32_t child_count;
  /// The bytes of the text that spell this type, without offset digits behind it.
  uint32_t text_offset;
  uint32_t text_length;
  /// The name of a struct, union, class or protocol: bytes of the text. Length 0 if anonymous.
  uint32_t name_offset;
  uint32_t name_length;
  /// The quoted name of the field that this type is; length 0 if there is none.
  uint32_t field_name_offset;
  uint32_t field_name_length;
  /// Arrays: the number of elements. Bit-fields: the width in bits.
  uint64_t count;
  /// A struct or union of which the encoding gives the name only: `{name}`.
  bool is_opaque;
  /// A struct or union whose layout the caller has stated.
  bool is_stated;
  /// Structs and unions that are stated: the largest alignment among the members, 16 for all above it; 0 if
  /// it is not known.
  uint8_t member_alignment;
  /// Bit-fields in a stated struct: the first bit, in the byte at the layout's offset. They have no layout else.
  uint8_t bit_offset;
  /// FWD_OK if `layout` holds; else why this type's size cannot be known, in `layout_reason` (a static
  /// string) about the byte `layout_offset` of the text.
  fwd_status layout_status;
  uint32_t layout_offset;
  const char *FWD_NULLABLE layout_reason;
  /// Size and alignment as the C compiler has them; `offset` is the place in the struct, for a field.
  fwd_layout layout;
} fwd_type;

/// A parsed encoding: its text and its nodes. Immutable, counted by reference.
typedef struct fwd_encoding fwd_encoding;

typedef enum fwd_encoding_form {
  /// One type; the root is it.
  FWD_FORM_TYPE = 0,
  /// A result and arguments, each with optional offset digits behind it; the root is a function.
  FWD_FORM_METHOD = 1,
} fwd_encoding_form;

/// Reads the `length` bytes at `text`, which are copied. NULL is malformed, as the empty text is.
fwd_status fwd_encoding_create(const char *FWD_NULLABLE text, size_t length, fwd_encoding_form form,
                               fwd_encoding *FWD_NULLABLE *FWD_NONNULL encoding, fwd_error *FWD_NULLABLE error);

/// The same with the layouts of `count` structs or unions in it, which are copied.
fwd_status fwd_encoding_create_stating(const char *FWD_NULLABLE text, size_t length, fwd_encoding_form form,
                                       const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                       fwd_encoding *FWD_NULLABLE *FWD_NONNULL encoding,
                                       fwd_error *FWD_NULLABLE error);

fwd_encoding *FWD_NONNULL fwd_encoding_retain(fwd_encoding *FWD_NONNULL encoding);
void fwd_encoding_release(fwd_encoding *FWD_NULLABLE encoding);

/// The text that was read, NUL-terminated, and its length.
const char *FWD_NONNULL fwd_encoding_text(const fwd_encoding *FWD_NONNULL encoding);
size_t fwd_encoding_length(const fwd_encoding *FWD_NONNULL encoding);

/// The number of nodes; the root is node 0.
size_t fwd_encoding_type_count(const fwd_encoding *FWD_NONNULL encoding);
/// The node of an index below the count.
const fwd_type *FWD_NONNULL fwd_encoding_type(const fwd_encoding *FWD_NONNULL encoding, size_t index);

/// Writes the canonical spelling of the type at `index`: offsets and frame sizes are gone, qualifiers stand
/// in the order of their bits, an empty name is `?`, numbers have no leading zeros. Like `snprintf` it
/// writes at most `capacity` bytes with a NUL and gives the length of the whole.
size_t fwd_encoding_print(const fwd_encoding *FWD_NONNULL encoding, size_t index, char *FWD_NULLABLE buffer,
                          size_t capacity);

/// Whether two types mean the same: qualifiers, offsets, field and class names do not count; the names of
/// structs and unions do unless one is anonymous; behind a pointer, one known by name only (or spelled with
/// no fields) equals any of its name; layouts do if one is stated. Not transitive, therefore: `{A=i}` equals `{?=i}`, which equals `{B=i}`.
bool fwd_encoding_equal(const fwd_encoding *FWD_NONNULL left, size_t left_index,
                        const fwd_encoding *FWD_NONNULL right, size_t right_index);

/// Whether a function of one type can stand for a function of the other in a call: as `fwd_encoding_equal`,
/// but `^v` goes with every pointer, `*` with pointers to characters, and blocks with `@`.
bool fwd_encoding_compatible(const fwd_encoding *FWD_NONNULL left, size_t left_index,
                             const fwd_encoding *FWD_NONNULL right, size_t right_index);

/// A hash in which equal types (by `fwd_encoding_equal`) agree.
uint64_t fwd_encoding_hash(const fwd_encoding *FWD_NONNULL encoding, size_t index);

/// Fills `error` (which may be NULL) for the byte `offset` of an encoding: "type encoding "{P=d": expected
/// '}' at offset 4", then the text and a caret, cut to what fits. Also sets `fwd_error_message()`.
/// `what` is "type encoding" or "method signature". Gives `status`.
fwd_status fwd_encoding_fail(fwd_error *FWD_NULLABLE error, fwd_status status, const char *FWD_NONNULL what,
                             const char *FWD_NULLABLE text, size_t length, size_t offset,
                             const char *FWD_NONNULL reason);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
