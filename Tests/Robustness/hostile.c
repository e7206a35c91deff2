// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Parses hostile encodings and checks the status of each, then makes calls and forwards at the limits of sizes and
/// counts. Everything runs on a thread with a stack of 512 KB and, without a sanitizer, in a process of 512 MB. Parsing
/// one encoding may take 2 s of the thread's time.

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "forwarding.h"
#include "fwd_fan_out.h"
#include "proxies.h"

enum {
  stack_size = 512 << 10,
  memory_limit = 512 << 20,
  /// The limit for the whole program, which takes far less. If a test does not end, the program says so and exits.
  patience_seconds = 1800,
};
static const double seconds_per_read = 2;

// MARK: Inputs

/// A part of a text. It has a length, since it may contain NULs.
typedef struct piece {
  const char *bytes;
  size_t length;
} piece;

/// A hostile encoding. The text is `head`, then `unit` repeated `count` times, `middle`, `closing` repeated
/// `closing_count` times, and `tail`.
typedef struct hostile {
  const char *name;
  fwd_status as_type;
  fwd_status as_signature;
  piece head, unit;
  size_t count;
  piece middle, closing;
  size_t closing_count;
  piece tail;
} hostile;

#define P(text) {text, sizeof text - 1}
#define TEXT(what, type, signature, text) \
  {.name = what, .as_type = type, .as_signature = signature, .head = P(text)}
#define REPEATED(what, type, signature, first, repeated, times, last)          \
  {.name = what, .as_type = type, .as_signature = signature, .head = P(first), \
   .unit = P(repeated), .count = times, .tail = P(last)}
#define NESTED(what, type, signature, first, opening, depth, inner, close, last)     \
  {.name = what, .as_type = type, .as_signature = signature, .head = P(first),       \
   .unit = P(opening), .count = depth, .middle = P(inner), .closing = P(close),      \
   .closing_count = depth, .tail = P(last)}

#define OK FWD_OK
#define MALFORMED FWD_MALFORMED
#define UNSUPPORTED FWD_UNSUPPORTED
#define TOO_LARGE FWD_OVERFLOW
#define TOO_DEEP FWD_TOO_DEEP
/// The status of a text of this length that is nested too deeply. A text over the length limit is not parsed.
#define DEEP_IF_SHORT(length) ((length) > FWD_ENCODING_LENGTH_LIMIT ? FWD_OVERFLOW : FWD_TOO_DEEP)

enum { ten_megabytes = 10 << 20 };

static const hostile inputs[] = {
    // Unbalanced.
    TEXT("nothing", MALFORMED, MALFORMED, ""),
    TEXT("an open struct", MALFORMED, MALFORMED, "{"),
    TEXT("a struct's name", MALFORMED, MALFORMED, "{S"),
    TEXT("a struct without fields or end", MALFORMED, MALFORMED, "{S="),
    TEXT("a struct without end", MALFORMED, MALFORMED, "{S=i"),
    TEXT("a struct closed as a union", MALFORMED, MALFORMED, "{S=i)"),
    TEXT("a struct closed as an array", MALFORMED, MALFORMED, "{S=i]"),
    TEXT("a union closed as a struct", MALFORMED, MALFORMED, "(U=i}"),
    TEXT("a union without end", MALFORMED, MALFORMED, "(U=i"),
    TEXT("an array without end", MALFORMED, MALFORMED, "[3i"),
    TEXT("an array closed as a struct", MALFORMED, MALFORMED, "[3i}"),
    TEXT("an array without element", MALFORMED, MALFORMED, "[3]"),
    TEXT("an array without count", MALFORMED, MALFORMED, "[i]"),
    TEXT("an array of two", MALFORMED, MALFORMED, "[3ii]"),
    TEXT("an array of a negative count", MALFORMED, MALFORMED, "[-1i]"),
    TEXT("brackets crosswise", MALFORMED, MALFORMED, "{S=[2(U=i}])"),
    TEXT("a closing brace", MALFORMED, MALFORMED, "}"),
    TEXT("a closing parenthesis", MALFORMED, MALFORMED, ")"),
    TEXT("a closing bracket", MALFORMED, MALFORMED, "]"),
    TEXT("a closing angle", MALFORMED, MALFORMED, ">"),
    TEXT("a brace behind a type", MALFORMED, MALFORMED, "i}"),
    TEXT("a block without end", MALFORMED, MALFORMED, "@?<v@?"),
    TEXT("a block of nothing", MALFORMED, MALFORMED, "@?<>"),
    TEXT("an open class name", MALFORMED, MALFORMED, "@\"Foo"),
    TEXT("an open field name", MALFORMED, MALFORMED, "{S=\"a"),
    TEXT("a field name without field", MALFORMED, MALFORMED, "{S=\"a\"}"),
    TEXT("an open template argument", MALFORMED, MALFORMED, "{A<b=i}"),
    TEXT("a pointer to nothing", MALFORMED, MALFORMED, "^"),
    TEXT("a complex nothing", MALFORMED, MALFORMED, "j"),
    TEXT("a complex struct", MALFORMED, MALFORMED, "j{S=i}"),
    TEXT("a complex void", MALFORMED, MALFORMED, "jv"),
    TEXT("a bit-field without width", MALFORMED, MALFORMED, "b"),
    TEXT("an unknown letter", MALFORMED, MALFORMED, "x"),
    TEXT("two types", MALFORMED, OK, "ii"),
    TEXT("digits first", MALFORMED, UNSUPPORTED, "16v"),
    TEXT("a sign without digits", MALFORMED, MALFORMED, "v@:+"),
    REPEATED("100,000 open braces", MALFORMED, MALFORMED, "", "{", 100000, ""),
    REPEATED("100,000 open parentheses", MALFORMED, MALFORMED, "", "(", 100000, ""),
    REPEATED("100,000 open brackets", MALFORMED, MALFORMED, "", "[", 100000, ""),
    REPEATED("100,000 closing braces", MALFORMED, MALFORMED, "", "}", 100000, ""),
    REPEATED("100,000 open angles in a name", MALFORMED, MALFORMED, "{A", "<", 100000, "=i}"),
    REPEATED("100,000 js", MALFORMED, MALFORMED, "", "j", 100000, ""),

    // Deep.
    NESTED("128 structs", OK, OK, "", "{S=", 128, "i", "}", ""),
    NESTED("129 structs", TOO_DEEP, TOO_DEEP, "", "{S=", 129, "i", "}", ""),
    NESTED("100,000 structs", DEEP_IF_SHORT(400001), DEEP_IF_SHORT(400001), "", "{S=", 100000, "i", "}", ""),
    NESTED("100,000 nameless structs", DEEP_IF_SHORT(300001), DEEP_IF_SHORT(300001), "", "{=", 100000, "i", "}", ""),
    REPEATED("80,000 structs without end", TOO_DEEP, TOO_DEEP, "", "{S=", 80000, ""),
    NESTED("100,000 unions", DEEP_IF_SHORT(400001), DEEP_IF_SHORT(400001), "", "(U=", 100000, "i", ")", ""),
    NESTED("100,000 arrays", DEEP_IF_SHORT(300001), DEEP_IF_SHORT(300001), "", "[1", 100000, "i", "]", ""),
    NESTED("100,000 blocks", DEEP_IF_SHORT(400001), DEEP_IF_SHORT(400001), "", "@?<", 100000, "v", ">", ""),
    REPEATED("100,000 pointers", TOO_DEEP, TOO_DEEP, "", "^", 100000, "v"),
    REPEATED("100,000 pointers to nothing", TOO_DEEP, TOO_DEEP, "", "^", 100000, ""),
    REPEATED("100,000 pointers to const", TOO_DEEP, TOO_DEEP, "", "r^", 100000, "v"),
    NESTED("100,000 levels as an argument", MALFORMED, TOO_DEEP, "v@:", "^", 100000, "v", "", ""),
    NESTED("20,000 levels of four kinds", TOO_DEEP, TOO_DEEP, "", "^{S=[2(U=", 20000, "i", ")]}", ""),

    // Long.
    REPEATED("a struct of the longest text", OK, TOO_LARGE, "{S=", "i", FWD_ENCODING_LENGTH_LIMIT - 4, "}"),
    REPEATED("one byte more", TOO_LARGE, TOO_LARGE, "{S=", "i", FWD_ENCODING_LENGTH_LIMIT - 3, "}"),
    REPEATED("offset digits to the limit", MALFORMED, OK, "v", "7", FWD_ENCODING_LENGTH_LIMIT - 1, ""),
    REPEATED("a name to the limit", OK, OK, "{", "n", FWD_ENCODING_LENGTH_LIMIT - 4, "=i}"),
    REPEATED("a class name to the limit", OK, OK, "@\"", "n", FWD_ENCODING_LENGTH_LIMIT - 3, "\""),
    REPEATED("a count of zeros to the limit", OK, UNSUPPORTED, "[", "0", FWD_ENCODING_LENGTH_LIMIT - 4, "7i]"),
    REPEATED("10 MB of int", TOO_LARGE, TOO_LARGE, "", "i", ten_megabytes, ""),
    REPEATED("10 MB of pointers", TOO_LARGE, TOO_LARGE, "", "^", ten_megabytes, "i"),
    REPEATED("10 MB of braces", TOO_LARGE, TOO_LARGE, "", "{", ten_megabytes, ""),
    REPEATED("10 MB of struct", TOO_LARGE, TOO_LARGE, "{S=", "i", ten_megabytes, "}"),
    REPEATED("10 MB of name", TOO_LARGE, TOO_LARGE, "{", "n", ten_megabytes, "=i}"),
    REPEATED("10 MB of offset", TOO_LARGE, TOO_LARGE, "v", "7", ten_megabytes, ""),
    REPEATED("10 MB of NUL", TOO_LARGE, TOO_LARGE, "", "\0", ten_megabytes, ""),
    REPEATED("10 MB of qualifiers", TOO_LARGE, TOO_LARGE, "", "r", ten_megabytes, "i"),
    NESTED("10 MB of levels", TOO_LARGE, TOO_LARGE, "", "{S=", ten_megabytes / 4, "i", "}", ""),

    // Sizes and counts that overflow.
    TEXT("a count of 2^63", TOO_LARGE, TOO_LARGE, "[9223372036854775808c]"),
    TEXT("a count of 2^64", TOO_LARGE, TOO_LARGE, "[18446744073709551616c]"),
    TEXT("a count of 20 nines", TOO_LARGE, TOO_LARGE, "[99999999999999999999c]"),
    TEXT("a count of 20 nines behind a pointer", TOO_LARGE, TOO_LARGE, "^[99999999999999999999c]"),
    REPEATED("a count of 100,000 nines", TOO_LARGE, TOO_LARGE, "[", "9", 100000, "c]"),
    REPEATED("a width of 100,000 nines", TOO_LARGE, TOO_LARGE, "{S=b", "9", 100000, "}"),
    TEXT("2^62 ints", TOO_LARGE, UNSUPPORTED, "[4611686018427387904i]"),
    TEXT("2^62 ints in a struct", TOO_LARGE, TOO_LARGE, "{S=[4611686018427387904i]}"),
    TEXT("2^62 + 1 ints, which wrap to 4", TOO_LARGE, TOO_LARGE, "{S=[4611686018427387905i]}"),
    TEXT("2^32 times 2^32 bytes", TOO_LARGE, TOO_LARGE, "{S=[4294967296[4294967296c]]}"),
    TEXT("one byte above PTRDIFF_MAX", TOO_LARGE, TOO_LARGE, "{S=[9223372036854775807c]c}"),
    TEXT("PTRDIFF_MAX, rounded up", TOO_LARGE, TOO_LARGE, "{S=[9223372036854775807c]s}"),
    TEXT("PTRDIFF_MAX in a union, rounded up", TOO_LARGE, TOO_LARGE, "(U=s[9223372036854775807c])"),
    TEXT("nothing of something too large", TOO_LARGE, TOO_LARGE, "{S=[0[9223372036854775807i]]}"),
    NESTED("2^100 bytes", TOO_LARGE, TOO_LARGE, "{S=", "[2", 100, "c", "]", "}"),
    REPEATED("10,000 arrays of 2^60 bytes", TOO_LARGE, TOO_LARGE, "{S=", "[1152921504606846976c]", 10000, "}"),
    REPEATED("10,000 arrays of 2^40 bytes", OK, TOO_LARGE, "{S=", "[1099511627776c]", 10000, "}"),

    // Giant arrays.
    TEXT("10^9 bytes", OK, UNSUPPORTED, "[1000000000c]"),
    TEXT("10^9 bytes as a result", OK, TOO_LARGE, "{S=[1000000000c]}"),
    TEXT("10^9 bytes as an argument", MALFORMED, TOO_LARGE, "v@:{S=[1000000000c]}"),
    TEXT("PTRDIFF_MAX bytes", OK, TOO_LARGE, "{S=[9223372036854775807c]}"),
    TEXT("10^18 times nothing", OK, OK, "{S=[1000000000[1000000000{E=}]]}"),
    TEXT("10^18 times nothing as an argument", MALFORMED, OK, "v@:{S=[1000000000[1000000000{E=}]]}i"),
    TEXT("a giant array behind a pointer", OK, OK, "^[1000000000[1000000000d]]"),
    TEXT("65536 bytes as a result", OK, OK, "{S=[65536c]}"),
    TEXT("65537 bytes as a result", OK, TOO_LARGE, "{S=[65537c]}"),
    TEXT("65536 bytes as an argument", MALFORMED, OK, "v{S=[65536c]}"),
    TEXT("65537 bytes as arguments", MALFORMED, TOO_LARGE, "v{S=[65536c]}c"),
    REPEATED("255 arguments of 258 bytes", MALFORMED, TOO_LARGE, "v", "{S=[258c]}", 255, ""),
    NESTED("65536 bytes, an array in an array in ...", MALFORMED, OK, "v{S=", "[2", 16, "c", "]", "}"),

    // Short texts that take much work.
    REPEATED("a union of many members, 16 times", MALFORMED, OK, "v{S=[16(U=", "c", 200000, ")]}"),
    REPEATED("a struct of many empty ones, 16 times", MALFORMED, OK, "v{S=[16{T=c", "{=}", 60000, "}]}"),
    NESTED("one byte in 120 arrays of one", MALFORMED, OK, "v{S=", "[1", 120, "c", "]", "}"),
    NESTED("one byte in 127 unions of three", MALFORMED, OK, "v", "(U=cc", 127, "c", ")", ""),
    REPEATED("names that may be classes or fields", UNSUPPORTED, UNSUPPORTED, "{S=", "\"a\"@\"b\"", 30000, "\"x\"?}"),
    REPEATED("quotes in a template argument", OK, OK, "{S<", "'", 200000, ">=i}"),
    REPEATED("escapes in a template argument", OK, OK, "{S<", "'\\", 100000, ">=i}"),
    REPEATED("character literals of angles", OK, OK, "{S<", "'<'", 80000, ">=i}"),
    REPEATED("arrows in a template argument", OK, OK, "{S<", "->", 100000, ">=i}"),

    // Bytes that are not text.
    TEXT("NUL", MALFORMED, MALFORMED, "\0"),
    TEXT("NUL behind a type", MALFORMED, MALFORMED, "i\0"),
    TEXT("NUL between types", MALFORMED, MALFORMED, "i\0i"),
    TEXT("NUL behind an offset", MALFORMED, MALFORMED, "v8\0"),
    TEXT("NUL in a name", MALFORMED, MALFORMED, "{a\0b=i}"),
    TEXT("NUL in a class name", MALFORMED, MALFORMED, "@\"a\0b\""),
    TEXT("NUL in a field name", MALFORMED, MALFORMED, "{S=\"a\0\"i}"),
    TEXT("NUL in a count", MALFORMED, MALFORMED, "[3\0i]"),
    TEXT("NUL in a struct", MALFORMED, MALFORMED, "{S=i\0}"),
    TEXT("a newline in a name", MALFORMED, MALFORMED, "{a\nb=i}"),
    TEXT("an escape sequence in a name", MALFORMED, MALFORMED, "{a\x1b[31m=i}"),
    TEXT("DEL in a name", MALFORMED, MALFORMED, "{a\x7f=i}"),
    TEXT("a byte that UTF-8 has not", MALFORMED, MALFORMED, "\xff"),
    TEXT("such a byte in a name", MALFORMED, MALFORMED, "{\xff=i}"),
    TEXT("such a byte in a class name", MALFORMED, MALFORMED, "@\"\xfe\""),
    TEXT("such a byte in a field name", MALFORMED, MALFORMED, "{S=\"\xff\"i}"),
    TEXT("Latin-1", MALFORMED, MALFORMED, "{caf\xe9=i}"),
    TEXT("a continuation alone", MALFORMED, MALFORMED, "{a\x80=i}"),
    TEXT("an overlong NUL", MALFORMED, MALFORMED, "{a\xc0\x80=i}"),
    TEXT("an overlong bracket", MALFORMED, MALFORMED, "{a\xe0\x81\xbd=i}"),
    TEXT("a surrogate", MALFORMED, MALFORMED, "{a\xed\xa0\x80=i}"),
    TEXT("above U+10FFFF", MALFORMED, MALFORMED, "{a\xf4\x90\x80\x80=i}"),
    TEXT("half a character at the end", MALFORMED, MALFORMED, "{a\xe2\x82"),
    TEXT("half a character before a bracket", MALFORMED, MALFORMED, "{a\xe2\x82=i}"),
    TEXT("UTF-8 as a type", MALFORMED, MALFORMED, "\xc3\xa9"),
    TEXT("UTF-8 in a name", OK, OK, "{\xc3\xa9t\xc3\xa9=i}"),
    TEXT("the last character in a name", OK, OK, "{\xf4\x8f\xbf\xbf=i}"),
    TEXT("UTF-16", MALFORMED, MALFORMED, "v\0@\0:\0"),
    TEXT("a byte order mark", MALFORMED, MALFORMED, "\xef\xbb\xbfv"),

    // Qualifiers.
    TEXT("each qualifier once", OK, OK, "rnNoORVAi"),
    TEXT("a qualifier twice", MALFORMED, MALFORMED, "rri"),
    TEXT("a qualifier twice, apart", MALFORMED, MALFORMED, "rnri"),
    TEXT("atomic twice", MALFORMED, MALFORMED, "AAi"),
    TEXT("oneway twice", MALFORMED, MALFORMED, "VVv@:"),
    TEXT("each qualifier twice", MALFORMED, MALFORMED, "rnNoORVArnNoORVAi"),
    REPEATED("100,000 qualifiers", MALFORMED, MALFORMED, "", "r", 100000, "i"),
    TEXT("qualifiers of nothing", MALFORMED, MALFORMED, "rnNoORVA"),
    TEXT("a qualifier twice in a pointer", OK, OK, "r^ri"),

    // Types that C cannot pass by value.
    TEXT("a void argument", MALFORMED, UNSUPPORTED, "vv"),
    TEXT("a void argument of a method", MALFORMED, UNSUPPORTED, "v@:v"),
    TEXT("a const void argument", MALFORMED, UNSUPPORTED, "v@:rv"),
    TEXT("void arguments only", MALFORMED, UNSUPPORTED, "vvvvvvvvvv"),
    TEXT("a void field", UNSUPPORTED, UNSUPPORTED, "{S=v}"),
    TEXT("a void member", UNSUPPORTED, UNSUPPORTED, "(U=iv)"),
    TEXT("an array of void", UNSUPPORTED, UNSUPPORTED, "[3v]"),
    TEXT("void alone", OK, OK, "v"),
    TEXT("an unknown type", UNSUPPORTED, UNSUPPORTED, "?"),
    TEXT("an unknown argument", MALFORMED, UNSUPPORTED, "v@:?"),
    TEXT("an array argument", MALFORMED, OK, "v@:[3i]"),
    TEXT("an array argument of gcc's", MALFORMED, OK, "v24@0:8[16rC]16"),
    TEXT("an array argument of arrays", MALFORMED, OK, "v@:[3[4i]]"),
    TEXT("an array argument of variable length", MALFORMED, OK, "v@:[0[0i]]"),
    TEXT("an array argument of structs", MALFORMED, OK, "v@:[3{S=id}]"),
    TEXT("an array argument of objects", MALFORMED, OK, "v@:[3@]i"),
    TEXT("an array as the first argument", MALFORMED, OK, "i[3i]i"),
    TEXT("an array argument of 10^9 bytes", MALFORMED, OK, "v[1000000000c]"),
    TEXT("an array argument of 2^62 ints", MALFORMED, TOO_LARGE, "v[4611686018427387904i]"),
    TEXT("an array argument of void", MALFORMED, UNSUPPORTED, "v@:[3v]"),
    TEXT("an array argument of unknown structs", MALFORMED, UNSUPPORTED, "v@:[3{S}]"),
    TEXT("an array argument of functions", MALFORMED, UNSUPPORTED, "v@:[3?]"),
    TEXT("an atomic array argument", MALFORMED, UNSUPPORTED, "v@:A[3i]"),
    TEXT("an array as the result", MALFORMED, UNSUPPORTED, "[3i]@:"),
    TEXT("a bit-field", UNSUPPORTED, UNSUPPORTED, "b3"),
    TEXT("a bit-field argument", MALFORMED, UNSUPPORTED, "v@:b3"),
    TEXT("a struct with a bit-field", UNSUPPORTED, UNSUPPORTED, "{S=ib3}"),
    TEXT("a struct with a GNU bit-field", OK, OK, "{S=b0I3}"),
    TEXT("such a struct as an argument", MALFORMED, OK, "v@:{S=b0I3b3I29b32q32d}"),
    TEXT("a union with GNU bit-fields", OK, OK, "(U=b0I3b0q40)"),
    TEXT("a GNU bit-field as an argument", MALFORMED, UNSUPPORTED, "v@:b0I3"),
    TEXT("a GNU bit-field at another position", UNSUPPORTED, UNSUPPORTED, "{S=b1I3}"),
    TEXT("GNU bit-fields that overlap", UNSUPPORTED, UNSUPPORTED, "{S=b0I3b2I3}"),
    TEXT("a GNU bit-field across two units", UNSUPPORTED, UNSUPPORTED, "{S=b0I31b31I2}"),
    TEXT("a GNU bit-field in a union, not first", UNSUPPORTED, UNSUPPORTED, "(U=b0I3b3I3)"),
    TEXT("a GNU bit-field wider than its type", UNSUPPORTED, UNSUPPORTED, "{S=b0I33}"),
    TEXT("a GNU bit-field of 2^62 bits", UNSUPPORTED, UNSUPPORTED, "{S=b0I4611686018427387904}"),
    TEXT("a GNU bit-field at 2^62", UNSUPPORTED, UNSUPPORTED, "{S=b4611686018427387904I3}"),
    TEXT("a GNU bit-field of width 0", OK, UNSUPPORTED, "{S=b0I3b32I0c}"),
    TEXT("nothing but a GNU bit-field of width 0", OK, OK, "{S=b0I0}"),
    TEXT("Apple's bit-field among GNU's", UNSUPPORTED, UNSUPPORTED, "{S=b0I3b3}"),
    TEXT("a struct known by name only", UNSUPPORTED, UNSUPPORTED, "{S}"),
    TEXT("such a struct as an argument", MALFORMED, UNSUPPORTED, "v@:{S}"),
    TEXT("a union known by name only", UNSUPPORTED, UNSUPPORTED, "(U)"),
    TEXT("an atomic struct", OK, UNSUPPORTED, "A{S=i}"),
    TEXT("an atomic struct that some compilers pad", UNSUPPORTED, UNSUPPORTED, "A{S=[3c]}"),

    // Encodings that compilers write for types that cannot be passed.
    TEXT("a type without an encoding", UNSUPPORTED, UNSUPPORTED, " "),
    TEXT("a pointer to one", UNSUPPORTED, UNSUPPORTED, "^ "),
    TEXT("a complex one", UNSUPPORTED, UNSUPPORTED, "j "),
    TEXT("a method with one", MALFORMED, UNSUPPORTED, "v18@0:8 16"),
    TEXT("gcc's complex 128-bit integer", UNSUPPORTED, UNSUPPORTED, "jt"),
    TEXT("an unsigned one", UNSUPPORTED, UNSUPPORTED, "jT"),
    TEXT("a complex bool", MALFORMED, MALFORMED, "jB"),
    TEXT("gcc's vector", UNSUPPORTED, UNSUPPORTED, "![16,16f]"),
    TEXT("a struct of one", UNSUPPORTED, UNSUPPORTED, "{S=![16,16f]}"),
    TEXT("a method of gcc's with one", MALFORMED, UNSUPPORTED, "v36@0:8![16,16f]16i32"),
    TEXT("a method of clang's with a vector", MALFORMED, UNSUPPORTED, "v36@0:816i32"),
    TEXT("a vector as the last argument", MALFORMED, UNSUPPORTED, "v32@0:816"),
    TEXT("a vector after the receiver", MALFORMED, UNSUPPORTED, "v24@08"),
    TEXT("two vectors", MALFORMED, UNSUPPORTED, "v52@0:81632i48"),
    TEXT("a vector as the result", MALFORMED, UNSUPPORTED, "16@0:8"),
    TEXT("an empty struct as the last argument", MALFORMED, OK, "v16@0:8{E=}16"),
    TEXT("offsets without a frame size", MALFORMED, OK, "v@0:8i16"),
    TEXT("offsets in registers", MALFORMED, OK, "v8@+8:+12i+16"),
    TEXT("an atom", UNSUPPORTED, UNSUPPORTED, "%"),
    TEXT("a garbage collector's qualifier", UNSUPPORTED, UNSUPPORTED, "|@"),

    // Many arguments.
    REPEATED("255 arguments", MALFORMED, OK, "v", "i", 255, ""),
    REPEATED("256 arguments", MALFORMED, TOO_LARGE, "v", "i", 256, ""),
    REPEATED("100,000 arguments", MALFORMED, TOO_LARGE, "v", "i", 100000, ""),
    REPEATED("255 empty arguments", MALFORMED, OK, "v", "{E=}", 255, ""),
    REPEATED("100,000 arguments of a block", OK, OK, "@?<v", "i", 100000, ">"),
};

static char *put(char *at, piece part, size_t count) {
  if (part.length == 0) return at;
  if (part.length == 1) {
    memset(at, part.bytes[0], count);
    return at + count;
  }
  for (size_t i = 0; i < count; i++, at += part.length) memcpy(at, part.bytes, part.length);
  return at;
}

/// Makes the text in a block of exactly its length, so that a sanitizer finds reads past the end.
static char *make_text(const hostile *input, size_t *length) {
  *length = input->head.length + input->unit.length * input->count + input->middle.length +
            input->closing.length * input->closing_count + input->tail.length;
  char *text = malloc(*length ? *length : 1);
  NEED(text);
  char *at = put(text, input->head, 1);
  at = put(at, input->unit, input->count);
  at = put(at, input->middle, 1);
  at = put(at, input->closing, input->closing_count);
  put(at, input->tail, 1);
  return text;
}

// MARK: Reading

static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double slowest;
static const char *slowest_name = "";

static void expect_quick(double start) {
  double seconds = thread_seconds() - start;
  EXPECT(seconds < seconds_per_read);
  if (seconds <= slowest) return;
  slowest = seconds;
  slowest_name = check_current->name;
}

static void expect_status(fwd_status status, fwd_status expected, const fwd_error *error, size_t length) {
  if (!EXPECT(status == expected)) {
    printf("  got %s, expected %s\n", fwd_status_name(status), fwd_status_name(expected));
  }
  if (status == FWD_OK) return;
  EXPECT(error->status == status);
  EXPECT(error->offset <= length);
  size_t size = strnlen(error->message, sizeof error->message);
  EXPECT(size > 0 && size < sizeof error->message);
  EXPECT(strcmp(error->message, fwd_error_message()) == 0);
  for (size_t i = 0; i < size; i++) {
    char byte = error->message[i];
    if ((byte < 0x20 || byte > 0x7e) && byte != '\n') EXPECT(!"printable characters in the message");
  }
}

static void read_as_type(const hostile *input, const char *text, size_t length) {
  fwd_layout layout = {11, 22, 33};
  fwd_error error;
  memset(&error, 0x5a, sizeof error);
  double start = thread_seconds();
  fwd_status status = fwd_type_layout(text, length, &layout, &error);
  expect_quick(start);
  expect_status(status, input->as_type, &error, length);
  if (status != FWD_OK) EXPECT(layout.size == 11 && layout.alignment == 22 && layout.offset == 33);
}

static void read_as_signature(const hostile *input, const char *text, size_t length) {
  fwd_signature *const untouched = (fwd_signature *)(uintptr_t)8;
  fwd_signature *signature = untouched;
  fwd_error error;
  memset(&error, 0x5a, sizeof error);
  double start = thread_seconds();
  fwd_status status = fwd_signature_create(text, length, &signature, &error);
  if (status == FWD_OK) fwd_signature_release(signature);
  expect_quick(start);
  expect_status(status, input->as_signature, &error, length);
  if (status != FWD_OK) EXPECT(signature == untouched);
  // The status is the same without an error to fill.
  fwd_signature *again = untouched;
  EXPECT(fwd_signature_create(text, length, &again, NULL) == status);
  if (status == FWD_OK) fwd_signature_release(again);
}

static void read_inputs(void) {
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    size_t length;
    char *text = make_text(&inputs[i], &length);
    check_begin(inputs[i].name);
    read_as_type(&inputs[i], text, length);
    check_begin(inputs[i].name);
    read_as_signature(&inputs[i], text, length);
    free(text);
  }
}

/// Parses NULL and texts of impossible lengths.
static void read_impossible(void) {
  check_begin("NULL and lengths that are none");
  fwd_layout layout;
  fwd_signature *signature = NULL;
  fwd_error error;
  const size_t lengths[] = {0, 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    expect_status(fwd_type_layout(NULL, lengths[i], &layout, &error), FWD_MALFORMED, &error, 0);
    expect_status(fwd_signature_create(NULL, lengths[i], &signature, &error), FWD_MALFORMED, &error, 0);
  }
  // A text whose length exceeds the limit is not read.
  expect_status(fwd_type_layout("i", SIZE_MAX, &layout, &error), FWD_OVERFLOW, &error, SIZE_MAX);
  expect_status(fwd_signature_create("i", SIZE_MAX, &signature, &error), FWD_OVERFLOW, &error, SIZE_MAX);
  // `volatile`, so that the compiler does not know that they are NULL.
  fwd_layout *volatile no_layout = NULL;
  fwd_signature **volatile no_signature = NULL;
  expect_status(fwd_type_layout("i", 1, no_layout, &error), FWD_NULL_ARGUMENT, &error, 1);
  expect_status(fwd_signature_create("v", 1, no_signature, &error), FWD_NULL_ARGUMENT, &error, 1);
  EXPECT(!signature);
}

/// The library may cache parsed signatures, but not without a limit: each of these takes 30 MB.
static void read_many_long(void) {
  check_begin("a hundred long signatures, one after another");
  enum { length = 250000 };
  char *text = malloc(length);
  NEED(text);
  memset(text, 'i', length);
  memcpy(text, "@?<v", 4);
  text[length - 1] = '>';
  for (int i = 0; i < 100; i++) {
    memset(text + 4, 'I', (size_t)i);
    fwd_signature *signature = NULL;
    if (!EXPECT(fwd_signature_create(text, length, &signature, NULL) == FWD_OK)) break;
    fwd_signature_release(signature);
  }
  free(text);
}

// MARK: Selectors

static void register_selectors(void) {
  check_begin("selectors' names");
  enum { limit = 65535 };
  char *name = malloc(limit + 2);
  NEED(name);
  memset(name, 'n', limit + 1);
  name[limit + 1] = 0;
  EXPECT(!fwd_selector_register(NULL) && !fwd_selector_register("") && !fwd_selector_find(NULL));
  EXPECT(!fwd_selector_register(name) && !fwd_selector_find(name));
  name[limit] = 0;
  fwd_selector selector = fwd_selector_register(name);
  EXPECT(selector && fwd_selector_find(name) == selector && strcmp(fwd_selector_name(selector), name) == 0);
  EXPECT(fwd_selector_register("\xff\x01") != NULL);
  EXPECT(strcmp(fwd_selector_name(NULL), "") == 0);
  free(name);
}

// MARK: Calls at the limits

/// A call whose function is a closure of the same signature. Each byte of the arguments and of the result is compared.
typedef struct round_trip {
  size_t count;
  const size_t *sizes;
  void **arguments;
  const unsigned char *result;
  size_t result_size;
  size_t calls;
} round_trip;

static void receive(void *context, void *const *arguments, void *result) {
  round_trip *trip = context;
  trip->calls++;
  for (size_t i = 0; i < trip->count; i++) EXPECT(memcmp(arguments[i], trip->arguments[i], trip->sizes[i]) == 0);
  memcpy(result, trip->result, trip->result_size);
}

/// Makes a round trip. The types of `encoding` must have no padding.
static void call_round_trip(const char *name, const char *encoding, size_t length) {
  check_begin(name);
  fwd_signature *signature;
  fwd_error error;
  if (!EXPECT(fwd_signature_create(encoding, length, &signature, &error) == FWD_OK)) {
    printf("%s\n", error.message);
    return;
  }
  fwd_layout layout;
  fwd_signature_result(signature, &layout);
  size_t count = fwd_signature_argument_count(signature), total = 0, sizes[FWD_ARGUMENT_LIMIT];
  void *arguments[FWD_ARGUMENT_LIMIT];
  unsigned char *bytes = malloc(FWD_BY_VALUE_LIMIT + 16 * FWD_ARGUMENT_LIMIT);
  unsigned char *result = malloc(layout.size + 1), *expected = malloc(layout.size + 1);
  NEED(bytes && result && expected);
  for (size_t i = 0; i < FWD_BY_VALUE_LIMIT + 16 * FWD_ARGUMENT_LIMIT; i++) bytes[i] = (unsigned char)(i * 7 + i / 251);
  for (size_t i = 0; i < layout.size; i++) expected[i] = (unsigned char)(i * 5 + i / 253);
  round_trip trip = {count, sizes, arguments, expected, layout.size, 0};
  for (size_t i = 0; i < count; i++) {
    fwd_layout argument;
    fwd_signature_argument(signature, i, &argument);
    sizes[i] = argument.size;
    arguments[i] = bytes + total;
    total += (argument.size + 15) & ~(size_t)15;
  }
  fwd_closure *closure = NULL;
  NEED(fwd_closure_create(signature, receive, &trip, &closure, &error) == FWD_OK);
  result[layout.size] = 0xc5;
  EXPECT(fwd_call(signature, fwd_closure_function(closure), arguments, result) == FWD_OK);
  EXPECT(memcmp(result, expected, layout.size) == 0 && result[layout.size] == 0xc5);
  EXPECT(fwd_call(signature, fwd_closure_function(closure), arguments, NULL) == FWD_OK);
  EXPECT(trip.calls == 2);
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
  free(bytes);
  free(result);
  free(expected);
}

static void call_repeated(const char *name, const char *result, const char *argument, size_t count) {
  size_t length = strlen(result), unit = strlen(argument);
  char *text = malloc(length + unit * count + 1);
  NEED(text);
  memcpy(text, result, length);
  for (size_t i = 0; i < count; i++, length += unit) memcpy(text + length, argument, unit);
  call_round_trip(name, text, length);
  free(text);
}

typedef struct large {
  unsigned char bytes[FWD_BY_VALUE_LIMIT];
} large;

static large compiled_identity(large value) {
  value.bytes[0]++;
  return value;
}

static large *large_result;

static void compiled_taker(large value) { memcpy(large_result, &value, sizeof value); }

/// Calls a compiled function instead of a closure, with an argument of 64 KB and a result of 64 KB.
static void call_compiled(void) {
  check_begin("64 KB to and from a compiled function");
  static const char both[] = "{L=[65536C]}{L=[65536C]}", taker[] = "v{L=[65536C]}";
  fwd_signature *signature, *taker_signature;
  NEED(fwd_signature_create(both, sizeof both - 1, &signature, NULL) == FWD_OK);
  NEED(fwd_signature_create(taker, sizeof taker - 1, &taker_signature, NULL) == FWD_OK);
  large *argument = malloc(sizeof *argument), *result = malloc(sizeof *result);
  NEED(argument && result);
  for (size_t i = 0; i < sizeof argument->bytes; i++) argument->bytes[i] = (unsigned char)(i * 11 + i / 249);
  void *arguments[] = {argument};
  EXPECT(fwd_call(signature, (void (*)(void))compiled_identity, arguments, result) == FWD_OK);
  EXPECT(result->bytes[0] == argument->bytes[0] + 1);
  EXPECT(memcmp(result->bytes + 1, argument->bytes + 1, sizeof result->bytes - 1) == 0);
  memset(result, 0, sizeof *result);
  large_result = result;
  EXPECT(fwd_call(taker_signature, (void (*)(void))compiled_taker, arguments, NULL) == FWD_OK);
  EXPECT(memcmp(result, argument, sizeof *result) == 0);
  fwd_signature_release(signature);
  fwd_signature_release(taker_signature);
  free(argument);
  free(result);
}

// MARK: Forwarding at the limits

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector;
  printf("reported: %s\n", error->message);
  EXPECT(!"no report");
}
static void met_the_dead(void *owner, size_t visited) { (void)owner, (void)visited; }
static void find_responders(void *owner, size_t method) { (void)owner, (void)method; }

static fwd_status answer_large(const void *context, void *receiver, void *const *arguments, void *result,
                               fwd_error *error) {
  (void)context, (void)error;
  ++*(size_t *)receiver;
  memcpy(result, arguments[2], FWD_BY_VALUE_LIMIT - 16);
  return FWD_OK;
}

static void forward_large(void) {
  check_begin("a fan-out of 64 KB frames and results");
  enum { size = FWD_BY_VALUE_LIMIT - 16 };
  static const char encoding[] = "{L=[65520C]}@:{L=[65520C]}";
  static const fwd_proxy_operations operations = {.report = report, .met_the_dead = met_the_dead, .find_responders = find_responders};
  fwd_signature *signature;
  NEED(fwd_signature_create(encoding, sizeof encoding - 1, &signature, NULL) == FWD_OK);
  fwd_proxy_method method = {.selector = fwd_selector_register("large:"), .signature = signature,
                             .policy = FWD_RESULT_ALL_LAST};
  size_t calls = 0;
  fwd_proxy *proxy = new_proxy(&method, 1, &calls, &operations);
  NEED(proxy);
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  *fwd_dispatch_table_entry(table, 0) = (fwd_implementation){.packed = answer_large};
  fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = &calls};
  fwd_garbage garbage = {.first = NULL};
  for (size_t i = 0; i < 3; i++) {
    NEED(fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, i, &garbage));
  }
  fwd_garbage_collect(garbage);
  fwd_dispatch_table_release(table);
  unsigned char *frame = malloc(size + 1), *result = malloc(size);
  NEED(frame && result);
  for (size_t i = 0; i < size + 1; i++) frame[i] = (unsigned char)(i * 13 + i / 247);
  for (size_t skew = 0; skew < 2; skew++) {
    memset(result, 0, size);
    EXPECT(fwd_forward(proxy, method.selector, frame + skew, size, result, size) == FWD_OK);
    EXPECT(memcmp(frame + skew, result, size) == 0);
  }
  EXPECT(fwd_forward(proxy, method.selector, frame, size, NULL, 0) == FWD_OK);
  EXPECT(calls == 9);
  // A frame of a wrong size is not read: this address is not mapped.
  const void *nowhere = (const void *)(uintptr_t)16;
  EXPECT(fwd_forward(proxy, method.selector, nowhere, size - 1, NULL, 0) == FWD_WRONG_SIZE);
  EXPECT(fwd_forward(proxy, method.selector, nowhere, SIZE_MAX, NULL, 0) == FWD_WRONG_SIZE);
  EXPECT(fwd_forward(proxy, method.selector, frame, size, result, size + 1) == FWD_WRONG_SIZE);
  EXPECT(calls == 9);
  free(frame);
  free(result);
  fwd_proxy_core_release(proxy);
  fwd_signature_release(signature);
}

/// Passes identifiers that no subscription has, indices past the end, and NULL.
static void subscribe_at_limits(void) {
  check_begin("identifiers, indices and batches that are none");
  static const fwd_proxy_operations operations = {.report = report, .met_the_dead = met_the_dead, .find_responders = find_responders};
  fwd_signature *signature;
  NEED(fwd_signature_create("v@:", 3, &signature, NULL) == FWD_OK);
  fwd_proxy_method method = {.selector = fwd_selector_register("limit"), .signature = signature};
  fwd_proxy *proxy = new_proxy(&method, 1, &method, &operations);
  NEED(proxy);
  fwd_subscriber_list *list = fwd_proxy_core_list(proxy);
  const fwd_subscription strange[] = {0, 1, 7, 8, UINT32_MAX, (UINT64_C(1) << 28) - 1, UINT64_C(1) << 28,
                                      UINT64_MAX};
  fwd_garbage garbage = {.first = NULL};
  fwd_subscription identifier = 0;
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) EXPECT(!fwd_list_find(list, strange[i]));
    EXPECT(!fwd_list_find(list, identifier ^ UINT64_C(1) << 63));
    EXPECT(!fwd_list_find_object(list, &method, NULL) && fwd_list_end_object(list, &method, &garbage) == 0);
    // A subscriber without functions, at an index far past the end.
    fwd_dispatch_table *table = fwd_dispatch_table_create(1, &method);
    NEED(table);
    fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = &method};
    identifier = fwd_list_insert(list, &subscriber, table, SIZE_MAX - 1, &garbage);
    fwd_dispatch_table_release(table);
    NEED(identifier);
    EXPECT(fwd_list_find(list, identifier) && !fwd_list_may_respond(list, 0));
    EXPECT(!fwd_list_find(list, identifier + 1) && !fwd_list_find(list, identifier + 7));
  }
  EXPECT(fwd_list_count(list) == 2 && fwd_list_prune(list, &garbage));
  EXPECT(fwd_forward(proxy, method.selector, NULL, 0, NULL, 0) == FWD_OK);
  // All subscriptions end, twice.
  fwd_list_end_all(list, &garbage);
  fwd_list_end_all(list, &garbage);
  EXPECT(fwd_list_count(list) == 0 && !fwd_list_find(list, identifier) && garbage.first);
  fwd_garbage_collect(garbage);
  fwd_garbage_collect((fwd_garbage){.first = NULL});

  fwd_batch *batch = NULL;
  fwd_error error;
  fwd_proxy *volatile no_proxy = NULL;
  fwd_batch **volatile no_place = NULL;
  expect_status(fwd_batch_begin(no_proxy, &batch, &error), FWD_NULL_ARGUMENT, &error, 0);
  expect_status(fwd_batch_begin(proxy, no_place, &error), FWD_NULL_ARGUMENT, &error, 0);
  EXPECT(!batch);
  fwd_batch_end(NULL);
  NEED(fwd_batch_begin(proxy, &batch, &error) == FWD_OK);
  EXPECT(fwd_batch_forward(batch, method.selector, NULL, 0, NULL, 0) == FWD_OK);
  EXPECT(fwd_batch_forward(batch, method.selector, NULL, 1, NULL, 0) == FWD_WRONG_SIZE);
  EXPECT(fwd_batch_forward(batch, fwd_selector_register("not of it"), NULL, 0, NULL, 0) == FWD_UNKNOWN_SELECTOR);
  EXPECT(fwd_batch_forward(NULL, method.selector, NULL, 0, NULL, 0) == FWD_NULL_ARGUMENT);
  EXPECT(fwd_batch_run(batch, NULL, NULL) == FWD_NULL_ARGUMENT);
  fwd_batch_end(batch);
  fwd_proxy_core_release(proxy);
  fwd_signature_release(signature);
}

/// Makes calls at the limits, by call plans and compiled entries or by libffi.
static void call_at_limits(bool by_libffi) {
  fwd_use_libffi(by_libffi);
  call_repeated("255 integers", "q", "q", 255);
  call_repeated("255 bytes", "c", "C", 255);
  call_repeated("255 doubles", "d", "d", 255);
  call_repeated("255 floats", "f", "f", 255);
  call_repeated("255 structs of two classes", "{S=qd}", "{S=dq}", 255);
  call_repeated("255 structs of 257 bytes", "{S=[257C]}", "{S=[257C]}", 255);
  call_repeated("255 structs of 3 bytes", "{S=[3C]}", "{S=[3C]}", 255);
  call_repeated("255 128-bit integers", "{S=[4096t]}", "t", 255);
  call_repeated("255 empty structs", "{E=}", "{E=}", 255);
  call_repeated("64 KB in, 64 KB out", "{S=[65536C]}", "{S=[65536C]}", 1);
  call_repeated("64 KB of 128-bit integers", "{S=[4096t]}", "{S=[4096t]}", 1);
  call_repeated("two halves of 64 KB", "v", "{S=[32768C]}", 2);
  call_repeated("16 structs of 4 KB", "{S=[4096C]}", "{S=[4096C]}", 16);
  call_compiled();
  forward_large();
}

// MARK: The thread

static void *run_all(void *unused) {
  (void)unused;
  read_inputs();
  read_impossible();
  read_many_long();
  register_selectors();
  call_at_limits(false);
  call_at_limits(true);
  subscribe_at_limits();
  return NULL;
}

static void tell_what_hangs(int signal_number) {
  (void)signal_number;
  static const char words[] = "does not end: see the subject below\n0 passed, 1 failed\n";
  (void)!write(STDOUT_FILENO, words, sizeof words - 1);
  _exit(1);
}

/// Runs all tests on a stack that this function allocates, to measure how much of it they use.
static void run_on_small_stack(void) {
  const unsigned char paint = 0xa5;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  // The lowest page is a guard page: an overflow faults.
  unsigned char *memory = mmap(NULL, stack_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  NEED(memory != MAP_FAILED);
  NEED(mprotect(memory, page, PROT_NONE) == 0);
  unsigned char *stack = memory + page;
  memset(stack, paint, stack_size);
  pthread_attr_t attributes;
  pthread_t thread;
  NEED(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, stack_size) == 0);
  NEED(pthread_create(&thread, &attributes, run_all, NULL) == 0);
  pthread_join(thread, NULL);
  size_t unused = 0;
  while (unused < stack_size && stack[unused] == paint) unused++;
  printf("stack used: %zu of %d KB; slowest: %s, %.0f ms\n", (stack_size - unused) >> 10, stack_size >> 10,
         slowest_name, slowest * 1e3);
  pthread_attr_destroy(&attributes);
  munmap(memory, stack_size + page);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGALRM, tell_what_hangs);
  alarm(patience_seconds);
  // Sanitizers reserve more address space than that for themselves.
  struct rlimit limit = {memory_limit, memory_limit};
  if (!FWD_IS_SANITIZED) NEED(setrlimit(RLIMIT_AS, &limit) == 0);
  run_on_small_stack();
  check_begin("memory");
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("memory used: %ld of 512 MB\n", usage.ru_maxrss >> 10);
  if (!FWD_IS_SANITIZED) EXPECT(usage.ru_maxrss >> 10 < 512);
  return check_finish();
}
