// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The grammar of type encodings, as clang and gcc write them (clang: ASTContext::getObjCEncodingForTypeImpl).

#include "encoding/encoding.h"

#include <stdlib.h>
#include <string.h>

/// The largest count or width: no object has room for more.
#define NUMBER_LIMIT ((uint64_t)PTRDIFF_MAX)

typedef struct parser {
  const char *text;
  size_t length;
  /// The next byte.
  size_t at;
  fwd_type *types;
  uint32_t count;
  uint32_t capacity;
  fwd_fault fault;
} parser;

static const char expected_type[] = "expected a type";

/// clang writes nothing for a vector type in a method's encoding but still writes its offset.
static const char dropped_type[] =
    "expected a type for each offset; clang leaves out vector types, which cannot be passed by value";

// MARK: Bytes

static bool fail(parser *self, fwd_status status, size_t offset, const char *reason) {
  self->fault = (fwd_fault){.status = status, .offset = offset, .reason = reason};
  return false;
}

/// The next byte; 0 at the end of the text. The grammar contains no NUL.
static char peek(const parser *self) { return self->at < self->length ? self->text[self->at] : 0; }

/// Consumes the next byte if it is `byte`.
static bool accept(parser *self, char byte) {
  if (self->at == self->length || self->text[self->at] != byte) return false;
  self->at++;
  return true;
}

static bool expect(parser *self, char byte, const char *reason) {
  return accept(self, byte) || fail(self, FWD_MALFORMED, self->at, reason);
}

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Whether a byte is one of `bytes`. strchr alone would also find the terminating NUL.
static bool is_one_of(char byte, const char *bytes) { return byte && strchr(bytes, byte); }

static bool read_number(parser *self, uint64_t *number, const char *reason) {
  size_t start = self->at;
  uint64_t value = 0;
  if (!is_digit(peek(self))) return fail(self, FWD_MALFORMED, start, reason);
  for (; is_digit(peek(self)); self->at++) {
    uint64_t digit = (uint64_t)(peek(self) - '0');
    if (value > (NUMBER_LIMIT - digit) / 10) {
      return fail(self, FWD_OVERFLOW, start, "expected a number of at most PTRDIFF_MAX");
    }
    value = value * 10 + digit;
  }
  *number = value;
  return true;
}

/// The length of the UTF-8 sequence at the next byte, which is not ASCII. 0 if the sequence is ill-formed (Unicode
/// 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
static size_t utf8_length(const parser *self) {
  const unsigned char *bytes = (const unsigned char *)self->text + self->at;
  size_t length = bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : bytes[0] < 0xf5 ? 4 : 0;
  if (length == 0 || length > self->length - self->at) return 0;
  unsigned char low = bytes[0] == 0xe0 ? 0xa0 : bytes[0] == 0xf0 ? 0x90 : 0x80;
  unsigned char high = bytes[0] == 0xed ? 0x9f : bytes[0] == 0xf4 ? 0x8f : 0xbf;
  if (bytes[1] < low || bytes[1] > high) return 0;
  for (size_t index = 2; index < length; index++) {
    if (bytes[index] < 0x80 || bytes[index] > 0xbf) return 0;
  }
  return length;
}

/// Consumes one character of a name.
static bool skip_name_character(parser *self) {
  unsigned char byte = (unsigned char)self->text[self->at];
  if (byte < 0x20 || byte == 0x7f) {
    return fail(self, FWD_MALFORMED, self->at, "expected a printable character in the name");
  }
  size_t length = byte < 0x80 ? 1 : utf8_length(self);
  if (length == 0) return fail(self, FWD_MALFORMED, self->at, "expected valid UTF-8 in the name");
  self->at += length;
  return true;
}

// MARK: Names

/// Reads a quoted string. The next byte is the opening quote.
static bool read_quoted(parser *self, uint32_t *offset, uint32_t *length) {
  size_t start = ++self->at;
  while (self->at < self->length && self->text[self->at] != '"') {
    if (!skip_name_character(self)) return false;
  }
  *offset = (uint32_t)start;
  *length = (uint32_t)(self->at - start);
  return expect(self, '"', "expected '\"'");
}

/// The offset after the C++ character literal that starts at the next byte, a quote: a template argument, as in
/// `CC<'>'>`. If there is no literal, the offset of the quote itself. Looks at a few bytes only.
static size_t literal_end(const parser *self) {
  const char *bytes = self->text + self->at;
  size_t left = self->length - self->at;
  // An escape takes up to eight digits after its letter, and may be a quote.
  size_t last = left > 2 && bytes[1] == '\\' ? 12 : 2;
  for (size_t index = last == 2 ? 2 : 3; index <= last && index < left; index++) {
    if (bytes[index] == '\'') return self->at + index + 1;
  }
  return self->at;
}

/// Reads the name of a struct or union, up to `=` or the closing bracket. Both may also occur inside `<...>`, the
/// arguments of a C++ template or a Swift generic type, and do not end the name there.
static bool read_record_name(parser *self, fwd_type *type, char close) {
  size_t start = self->at, literal = 0, depth = 0;
  while (self->at < self->length) {
    char byte = self->text[self->at];
    if (depth == 0 && (byte == '=' || byte == close)) break;
    if (self->at >= literal) {
      if (byte == '<') {
        depth++;
      } else if (depth > 0 && byte == '>') {
        // Not the arrow of a function type: `Box<(Int) -> Int>`.
        if (self->text[self->at - 1] != '-') depth--;
      } else if (depth > 0 && byte == '\'') {
        literal = literal_end(self);
      }
    }
    if (!skip_name_character(self)) return false;
  }
  if (self->at == self->length) {
    return fail(self, FWD_MALFORMED, self->at,
                depth > 0      ? "expected '>'"
                : close == '}' ? "expected '=' or '}'"
                               : "expected '=' or ')'");
  }
  size_t length = self->at - start;
  if (length == 0 && self->text[self->at] != '=') {
    return fail(self, FWD_MALFORMED, self->at, "expected a name or '='");
  }
  type->name_offset = (uint32_t)start;
  // The name `?` means that there is none.
  type->name_length = length == 1 && self->text[start] == '?' ? 0 : (uint32_t)length;
  return true;
}

// MARK: Nodes

/// Adds a node for the type that begins at the next byte. Returns FWD_NO_TYPE if memory runs out.
static uint32_t add_type(parser *self, fwd_type_kind kind) {
  if (self->count == self->capacity) {
    // There are at most as many nodes as bytes, and one for the root of a method. Most texts are short.
    uint32_t capacity = self->capacity ? self->capacity * 2 : self->length < 16 ? (uint32_t)self->length + 1 : 16;
    fwd_type *types = realloc(self->types, capacity * sizeof *types);
    if (!types) {
      fail(self, FWD_NO_MEMORY, 0, "out of memory");
      return FWD_NO_TYPE;
    }
    self->types = types;
    self->capacity = capacity;
  }
  self->types[self->count] = (fwd_type){.kind = kind,
                                        .first_child = FWD_NO_TYPE,
                                        .next_sibling = FWD_NO_TYPE,
                                        .text_offset = (uint32_t)self->at,
                                        .layout_status = FWD_OK};
  return self->count++;
}

static void end_type(parser *self, uint32_t index) {
  self->types[index].text_length = (uint32_t)self->at - self->types[index].text_offset;
}

/// Appends a child after `*last`, the parent's last child so far.
static void add_child(parser *self, uint32_t parent, uint32_t child, uint32_t *last) {
  if (*last == FWD_NO_TYPE) {
    self->types[parent].first_child = child;
  } else {
    self->types[*last].next_sibling = child;
  }
  self->types[parent].child_count++;
  *last = child;
}

// MARK: Types

/// Reads one type. Returns its node, or FWD_NO_TYPE on failure. `depth` is the number of types around it. `close` is
/// the closing bracket of the enclosing struct or union if its fields have quoted names, else 0.
static uint32_t read_type(parser *self, unsigned depth, char close);

static bool read_child(parser *self, uint32_t parent, unsigned depth, char close, uint32_t *last) {
  uint32_t child = read_type(self, depth, close);
  if (child == FWD_NO_TYPE) return false;
  add_child(self, parent, child, last);
  return true;
}

static bool read_only_child(parser *self, uint32_t parent, unsigned depth, char close) {
  uint32_t last = FWD_NO_TYPE;
  return read_child(self, parent, depth, close, &last);
}

static bool read_array(parser *self, uint32_t index, unsigned depth) {
  uint64_t count;
  if (!read_number(self, &count, "expected the number of elements")) return false;
  self->types[index].count = count;
  // The element is followed by ']', so a quoted string after '@' is a class name, never a field's name.
  return read_only_child(self, index, depth + 1, 0) && expect(self, ']', "expected ']'");
}

static bool read_record(parser *self, uint32_t index, unsigned depth, char close) {
  if (!read_record_name(self, &self->types[index], close)) return false;
  if (accept(self, close)) {
    self->types[index].is_opaque = true;
    return true;
  }
  self->at++;
  char named = peek(self) == '"' ? close : 0;
  for (uint32_t last = FWD_NO_TYPE; !accept(self, close);) {
    if (self->at == self->length) {
      return fail(self, FWD_MALFORMED, self->at, close == '}' ? "expected '}'" : "expected ')'");
    }
    uint32_t name_offset = 0, name_length = 0;
    if (peek(self) == '"' && !read_quoted(self, &name_offset, &name_length)) return false;
    size_t start = self->at;
    if (!read_child(self, index, depth + 1, named, &last)) {
      if (name_offset == 0 && self->fault.offset == start && self->fault.reason == expected_type) {
        self->fault.reason = close == '}' ? "expected a type or '}'" : "expected a type or ')'";
      }
      return false;
    }
    self->types[last].field_name_offset = name_offset;
    self->types[last].field_name_length = name_length;
  }
  return true;
}

/// Reads Apple's `b3` (width) or GNU's `b0I3` (position, type, width). A letter with a digit after it belongs to the
/// bit-field, since no type begins with a digit.
static bool read_bit_field(parser *self, uint32_t index) {
  uint64_t width;
  if (!read_number(self, &width, "expected the bit-field's width")) return false;
  if (is_one_of(peek(self), "cCsSiIlLqQtTB") && self->length - self->at > 1 && is_digit(self->text[self->at + 1])) {
    self->at++;
    if (!read_number(self, &width, "expected the bit-field's width")) return false;
  }
  self->types[index].count = width;
  return true;
}

static bool read_complex(parser *self, uint32_t index) {
  char letter = peek(self);
  // gcc has complex 128-bit integers, clang does not. Both have a complex _Float16 without a letter of its own.
  if (is_one_of(letter, "tT ")) {
    return fail(self, FWD_UNSUPPORTED, self->at, "expected a complex type that gcc, clang and encodings all have");
  }
  // The types that clang accepts after _Complex; bool is not among them.
  if (!is_one_of(letter, "cCsSiIlLqQfdD")) return fail(self, FWD_MALFORMED, self->at, "expected a numeric type");
  uint32_t part = add_type(self, (fwd_type_kind)letter);
  if (part == FWD_NO_TYPE) return false;
  self->at++;
  end_type(self, part);
  uint32_t last = FWD_NO_TYPE;
  add_child(self, index, part, &last);
  return true;
}

/// Reads the `<...>` of a block: its result and its arguments.
static bool read_block(parser *self, uint32_t index, unsigned depth) {
  uint32_t function = add_type(self, FWD_TYPE_FUNCTION);
  if (function == FWD_NO_TYPE) return false;
  uint32_t last = FWD_NO_TYPE;
  add_child(self, index, function, &last);
  last = FWD_NO_TYPE;
  do {
    if (self->at == self->length && last != FWD_NO_TYPE) return expect(self, '>', "expected '>'");
    if (!read_child(self, function, depth + 1, 0, &last)) return false;
  } while (peek(self) != '>');
  end_type(self, function);
  self->at++;
  return true;
}

/// Whether the quoted string after `@`, at the next byte, is the object's class. Among fields with names it may also
/// be the name of the next field. Then that field's type follows it.
static bool is_class_name(const parser *self, char close) {
  if (!close) return true;
  const char *start = self->text + self->at + 1;
  size_t left = self->length - self->at - 1;
  const char *end = memchr(start, '"', left);
  if (!end || (size_t)(end - start) + 1 == left) return true;
  return end[1] == '"' || end[1] == close;
}

static bool read_object(parser *self, uint32_t index, unsigned depth, char close) {
  if (accept(self, '?')) {
    self->types[index].kind = FWD_TYPE_BLOCK;
    return !accept(self, '<') || read_block(self, index, depth);
  }
  if (peek(self) != '"' || !is_class_name(self, close)) return true;
  return read_quoted(self, &self->types[index].name_offset, &self->types[index].name_length);
}

/// The bit of a qualifier's letter; 0 for other bytes.
static uint32_t qualifier_bit(char letter) {
  switch (letter) {
    case 'r': return FWD_QUALIFIER_CONST;
    case 'n': return FWD_QUALIFIER_IN;
    case 'N': return FWD_QUALIFIER_INOUT;
    case 'o': return FWD_QUALIFIER_OUT;
    case 'O': return FWD_QUALIFIER_BYCOPY;
    case 'R': return FWD_QUALIFIER_BYREF;
    case 'V': return FWD_QUALIFIER_ONEWAY;
    case 'A': return FWD_QUALIFIER_ATOMIC;
    default: return 0;
  }
}

static bool read_qualifiers(parser *self, uint32_t *qualifiers) {
  for (uint32_t bit; (bit = qualifier_bit(peek(self))); self->at++) {
    if (*qualifiers & bit) {
      return fail(self, FWD_MALFORMED, self->at, "expected each qualifier at most once");
    }
    *qualifiers |= bit;
  }
  return true;
}

static bool read_kind(parser *self, uint32_t index, unsigned depth, char close) {
  char letter = peek(self);
  size_t start = self->at++;
  self->types[index].kind = (fwd_type_kind)letter;
  switch (letter) {
    case 'c': case 'C': case 's': case 'S': case 'i': case 'I': case 'l': case 'L': case 'q': case 'Q':
    case 't': case 'T': case 'B': case 'f': case 'd': case 'D': case 'v': case '*': case '#': case ':': case '?':
      return true;
    case '@':
      return read_object(self, index, depth, close);
    case '^':
      return read_only_child(self, index, depth + 1, close);
    case '[':
      return read_array(self, index, depth);
    case '{':
      return read_record(self, index, depth, '}');
    case '(':
      return read_record(self, index, depth, ')');
    case 'b':
      return read_bit_field(self, index);
    case 'j':
      return read_complex(self, index);
    // Types that compilers write but that cannot be passed from what the encoding says.
    case ' ':
      return fail(self, FWD_UNSUPPORTED, start,
                  "expected a type, found clang's space for one without an encoding (_Float16, _BitInt); use '^v'");
    case '!':
      return fail(self, FWD_UNSUPPORTED, start, "expected a type, found gcc's vector; pass its address, '^v'");
    case '%':
      return fail(self, FWD_UNSUPPORTED, start, "expected a type, found an atom of old runtimes; write '*'");
    case '|':
      return fail(self, FWD_UNSUPPORTED, start, "expected a type, found a garbage collector's qualifier; leave it out");
    default:
      return fail(self, FWD_MALFORMED, start, expected_type);
  }
}

static uint32_t read_type(parser *self, unsigned depth, char close) {
  if (depth > FWD_DEPTH_LIMIT) {
    fail(self, FWD_TOO_DEEP, self->at, "expected types nested at most 128 deep");
    return FWD_NO_TYPE;
  }
  uint32_t index = add_type(self, FWD_TYPE_UNKNOWN);
  if (index == FWD_NO_TYPE || !read_qualifiers(self, &self->types[index].qualifiers)) return FWD_NO_TYPE;
  if (!read_kind(self, index, depth, close)) return FWD_NO_TYPE;
  end_type(self, index);
  return index;
}

// MARK: Forms

/// The digits after a type of a method: the frame size after the result, a stack offset after an argument.
typedef struct stack_offset {
  /// Where the digits begin, and how many there are.
  size_t at;
  size_t digits;
  /// Saturated.
  uint64_t value;
  /// Old versions of gcc mark offsets of arguments in registers with `+`. They are relative to another base.
  bool has_sign;
} stack_offset;

static bool read_offset(parser *self, stack_offset *offset) {
  *offset = (stack_offset){.has_sign = accept(self, '+') || accept(self, '-'), .at = self->at};
  for (; is_digit(peek(self)); self->at++, offset->digits++) {
    uint64_t digit = (uint64_t)(peek(self) - '0');
    offset->value = offset->value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : offset->value * 10 + digit;
  }
  if (offset->has_sign && offset->digits == 0) {
    return fail(self, FWD_MALFORMED, self->at, "expected the digits of an offset");
  }
  return true;
}

/// Whether the digits after an argument are two offsets in a row: an argument's, and one without a type. Two show by a
/// number beyond the frame size, which no argument's offset exceeds, or by a zero in front.
static bool lacks_type(const parser *self, const stack_offset *offset, const stack_offset *frame) {
  if (offset->digits == 0 || frame->digits == 0 || offset->has_sign || frame->has_sign) return false;
  return offset->value > frame->value || (offset->digits > 1 && self->text[offset->at] == '0');
}

/// Reads the `...` of a variadic function, if it is next. `count` is the number of types before it.
static bool read_ellipsis(parser *self, uint32_t function, uint32_t count) {
  if (peek(self) != '.') return true;
  size_t start = self->at;
  for (int dots = 0; dots < 3; dots++) {
    if (!expect(self, '.', "expected \"...\", which stands before the unnamed arguments of a variadic function")) {
      return false;
    }
  }
  if (self->types[function].count > 0) return fail(self, FWD_MALFORMED, start, "expected one \"...\" at most");
  // C23 allows this, but no processor's rules say yet how it is called.
  if (count < 2) return fail(self, FWD_MALFORMED, start, "expected a named argument before \"...\"");
  self->types[function].count = count;
  return true;
}

/// Reads the types of a method and the digits after them. Calls do not depend on the digits. They are checked only
/// for types that are missing between them, since a call without such an argument would pass garbage.
static bool read_method(parser *self) {
  if (is_digit(peek(self))) {
    return fail(self, FWD_UNSUPPORTED, 0, "expected the result's type; clang leaves out vector types");
  }
  uint32_t function = add_type(self, FWD_TYPE_FUNCTION);
  if (function == FWD_NO_TYPE) return false;
  uint32_t last = FWD_NO_TYPE;
  stack_offset frame = {0}, offset;
  do {
    if (self->types[function].child_count > FWD_ARGUMENT_LIMIT) {
      return fail(self, FWD_OVERFLOW, self->at, "expected at most 255 arguments");
    }
    bool is_result = last == FWD_NO_TYPE;
    if (!read_child(self, function, 0, 0, &last) || !read_offset(self, &offset)) return false;
    if (is_result) {
      frame = offset;
    } else if (lacks_type(self, &offset, &frame)) {
      return fail(self, FWD_UNSUPPORTED, offset.at, dropped_type);
    }
    if (!read_ellipsis(self, function, self->types[function].child_count)) return false;
  } while (self->at < self->length);
  end_type(self, function);
  return true;
}

static bool read_single_type(parser *self) {
  if (read_type(self, 0, 0) == FWD_NO_TYPE) return false;
  return self->at == self->length || fail(self, FWD_MALFORMED, self->at, "expected the end after one type");
}

bool fwd_encoding_parse(fwd_encoding *encoding, fwd_encoding_form form, fwd_fault *fault) {
  parser self = {.text = encoding->text, .length = encoding->length};
  bool done = form == FWD_FORM_METHOD ? read_method(&self) : read_single_type(&self);
  if (!done) {
    *fault = self.fault;
    free(self.types);
    self.types = NULL;
    self.count = 0;
  } else if (self.count < self.capacity) {
    // Encodings live long, so the spare room is returned. If that fails the block stays as it is.
    fwd_type *shrunk = realloc(self.types, self.count * sizeof *shrunk);
    if (shrunk) self.types = shrunk;
  }
  encoding->types = self.types;
  encoding->type_count = self.count;
  return done;
}
