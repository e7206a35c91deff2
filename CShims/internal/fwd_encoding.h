// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Parsed type encodings. A parsed encoding is a tree of *nodes*, one for each type in the text. For the Swift module
/// and the files of the C target; C programs include forwarding.h.

#ifndef FWD_ENCODING_H
#define FWD_ENCODING_H

#include "forwarding.h"

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

/// The kinds of nodes. A kind that an encoding spells with one character has that character as its value.
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
  /// `@`. Its name is the class or the `<Protocol>` of `@"..."`.
  FWD_TYPE_OBJECT = '@',
  FWD_TYPE_CLASS = '#',
  FWD_TYPE_SELECTOR = ':',
  FWD_TYPE_UNKNOWN = '?',
  /// `@?`. If `<...>` follows, its one child is a function.
  FWD_TYPE_BLOCK = 'k',
  /// `^`: one child, the pointee.
  FWD_TYPE_POINTER = '^',
  /// `[n...]`: one child, the element.
  FWD_TYPE_ARRAY = '[',
  /// `{name=...}`: the fields are the children.
  FWD_TYPE_STRUCT = '{',
  /// `(name=...)`: the members are the children.
  FWD_TYPE_UNION = '(',
  /// `b3`: no child. GNU encodings, `b8I3`, also give its first bit and the letter of its type.
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

/// The index of no node.
#define FWD_NO_TYPE UINT32_MAX

/// One node of a parsed encoding. Nodes refer to one another by index.
typedef struct fwd_type {
  fwd_type_kind kind;
  uint32_t qualifiers;
  uint32_t first_child;
  uint32_t next_sibling;
  uint32_t child_count;
  /// The bytes of the text that spell this type, without the offset digits after it.
  uint32_t text_offset;
  uint32_t text_length;
  /// The name of a struct, union, class or protocol: bytes of the text. Length 0 if anonymous.
  uint32_t name_offset;
  uint32_t name_length;
  /// The quoted field name in front of this type; length 0 if there is none.
  uint32_t field_name_offset;
  uint32_t field_name_length;
  /// Arrays: the number of elements. Bit-fields: the width in bits. Functions: for a variadic one the number of children
  /// before the `...`, which are the result and the named arguments; otherwise 0.
  uint64_t count;
  /// A struct or union without a list of fields: `{name}`.
  bool is_opaque;
  /// A struct or union whose layout the caller has stated.
  bool is_stated;
  /// Stated structs and unions: the largest alignment among the members, at most 16; 0 if it was not stated.
  uint8_t member_alignment;
  /// Bit-fields in a struct that has a layout: the first bit, counted from the byte at `layout.offset`. A bit-field
  /// has no layout of its own: its size and alignment are 0.
  uint8_t bit_offset;
  /// FWD_OK if `layout` is valid. Otherwise `layout_reason`, a static string, says why the size is not known, and
  /// `layout_offset` is the offset of the fault in the text.
  fwd_status layout_status;
  uint32_t layout_offset;
  const char *FWD_NULLABLE layout_reason;
  /// Size and alignment as the C compiler gives them, or as stated. For a field, `offset` is its offset in the struct.
  fwd_layout layout;
} fwd_type;

/// A parsed encoding: its text and its nodes. Immutable and reference-counted.
typedef struct fwd_encoding fwd_encoding;

typedef enum fwd_encoding_form {
  /// One type, which is the root.
  FWD_FORM_TYPE = 0,
  /// A result and arguments, each with optional offset digits after it. The root is a function. An argument that is
  /// an array becomes a pointer to its element, as in C. `...` after an argument means that those after it are passed
  /// as the unnamed arguments of a variadic function.
  FWD_FORM_METHOD = 1,
} fwd_encoding_form;

/// Parses a copy of the `length` bytes at `text`. NULL and the empty text are malformed. On success `*encoding`
/// receives a reference that the caller must release. On failure it is unchanged.
fwd_status fwd_encoding_create(const char *FWD_NULLABLE text, size_t length, fwd_encoding_form form,
                               fwd_encoding *FWD_NULLABLE *FWD_NONNULL encoding, fwd_error *FWD_NULLABLE error);

/// Does what `fwd_encoding_create` does, with the layouts of `count` structs or unions in the text. The layouts are
/// copied.
fwd_status fwd_encoding_create_stating(const char *FWD_NULLABLE text, size_t length, fwd_encoding_form form,
                                       const fwd_stated_layout *FWD_NULLABLE stated, size_t count,
                                       fwd_encoding *FWD_NULLABLE *FWD_NONNULL encoding,
                                       fwd_error *FWD_NULLABLE error);

fwd_encoding *FWD_NONNULL fwd_encoding_retain(fwd_encoding *FWD_NONNULL encoding);
void fwd_encoding_release(fwd_encoding *FWD_NULLABLE encoding);

/// Return the text that was parsed, which ends with a NUL, and its length. The text is valid as long as the encoding.
const char *FWD_NONNULL fwd_encoding_text(const fwd_encoding *FWD_NONNULL encoding);
size_t fwd_encoding_length(const fwd_encoding *FWD_NONNULL encoding);

/// Returns the number of nodes. The root is node 0.
size_t fwd_encoding_type_count(const fwd_encoding *FWD_NONNULL encoding);
/// Returns the node at an index, which must be below the count. Valid as long as the encoding.
const fwd_type *FWD_NONNULL fwd_encoding_type(const fwd_encoding *FWD_NONNULL encoding, size_t index);

/// Whether a method encoding has a `...`.
static inline bool fwd_encoding_is_variadic(const fwd_encoding *FWD_NONNULL encoding) {
  return fwd_encoding_type(encoding, 0)->count > 0;
}

/// Returns the number of arguments before the `...` of a method encoding, or of all arguments if it has none.
static inline size_t fwd_encoding_named_count(const fwd_encoding *FWD_NONNULL encoding) {
  const fwd_type *root = fwd_encoding_type(encoding, 0);
  return (size_t)(root->count > 0 ? root->count : root->child_count) - 1;
}

/// Writes the canonical spelling of the type at `index`. It has no offsets and frame sizes, qualifiers are in the order
/// of their bits, an empty name is `?`, and numbers have no leading zeros. Like `snprintf`, the function writes at most
/// `capacity` bytes including a NUL, and returns the length of the whole spelling.
size_t fwd_encoding_print(const fwd_encoding *FWD_NONNULL encoding, size_t index, char *FWD_NULLABLE buffer,
                          size_t capacity);

/// Whether two nodes are the same type. An equivalence relation: reflexive, symmetric and transitive.
///
/// - Compared: kinds; names of structs and unions (an anonymous one equals only an anonymous one); whether fields are
///   listed, so that `{S}` differs from `{S=}`; types of fields, elements and pointees; block signatures; numbers of
///   elements; the spelling of bit-fields; `A` (_Atomic); stated layouts.
/// - Not compared: all other qualifiers; stack offsets; names of fields, classes and protocols.
bool fwd_encoding_equal(const fwd_encoding *FWD_NONNULL left, size_t left_index,
                        const fwd_encoding *FWD_NONNULL right, size_t right_index);

/// Whether two nodes may be the same type, although one of them may carry less information. Compares as
/// `fwd_encoding_equal`, except that:
///
/// - an anonymous struct or union matches any name;
/// - behind a pointer, a struct or union without a list of fields, or with an empty one, matches any of its name;
/// - a block without a signature matches any block;
/// - Apple's bit-field matches a GNU bit-field of its width;
/// - `A` is compared only if it changes the layout.
///
/// Equal types are equivalent. Not transitive: `{A=i}` is equivalent to `{?=i}`, which is equivalent to `{B=i}`.
bool fwd_encoding_equivalent(const fwd_encoding *FWD_NONNULL left, size_t left_index,
                             const fwd_encoding *FWD_NONNULL right, size_t right_index);

/// Whether a value of one type can be passed where the other is expected. Compares as `fwd_encoding_equivalent`, except
/// that `^v` matches every pointer, `*` matches pointers to characters, and blocks match `@`. Not transitive.
bool fwd_encoding_compatible(const fwd_encoding *FWD_NONNULL left, size_t left_index,
                             const fwd_encoding *FWD_NONNULL right, size_t right_index);

/// Returns a hash of the type of a node. Types that are equal by `fwd_encoding_equal` have equal hashes.
uint64_t fwd_encoding_hash(const fwd_encoding *FWD_NONNULL encoding, size_t index);

/// Reports an error at the byte `offset` of an encoding in `error`, which may be NULL, and in `fwd_error_message()`:
/// `type encoding "{P=d": expected '}' at offset 4`, then the text and a caret, shortened to fit. `what` is "type
/// encoding" or "method signature". Returns `status`.
fwd_status fwd_encoding_fail(fwd_error *FWD_NULLABLE error, fwd_status status, const char *FWD_NONNULL what,
                             const char *FWD_NULLABLE text, size_t length, size_t offset,
                             const char *FWD_NONNULL reason);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
