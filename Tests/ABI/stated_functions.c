// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Functions over types whose encodings do not carry their layout. Compiled by clang and by gcc, with PREFIX.

#include "stated_case.h"

#include <stddef.h>
#include <string.h>

#define JOIN(prefix, name) prefix##_##name
#define EXPAND(prefix, name) JOIN(prefix, name)
#define NAME(name) EXPAND(PREFIX, name)
#define PACKED __attribute__((packed))
#define ALIGNED(n) __attribute__((aligned(n)))

// The parts of a row: what carries value, and where the members lie.
#define V(member) memset((void *)&x.member, 0xff, sizeof x.member);
#define BITS(member) x.member = -1;
#define UBITS(member) x.member = 1;
#define AT(type, member) {offsetof(type, member), 0}
#define BIT(n) {0, n}
#define NONE 0
#define SIDE_BY_SIDE NULL, 0, 0
#define PLACES(...) PLACES_ALIGNED(0, __VA_ARGS__)
#define PLACES_ALIGNED(alignment, ...)                                                                            \
  (const fwd_stated_member[]){__VA_ARGS__}, sizeof((fwd_stated_member[]){__VA_ARGS__}) / sizeof(fwd_stated_member), \
      alignment
#define USUAL_ALIGNED(alignment) NULL, 0, alignment

// Types of which only a part is stated.
typedef struct PACKED { char a; int b; } inner;
typedef struct ALIGNED(8) { int a; } wide;
typedef struct ALIGNED(16) { long a, b; } broad;
typedef struct { int a : 3; } bits;
typedef struct ALIGNED(8) { int size_of_nothing[0]; } nothing;

// name, definition, encoding, value, whether its own layout is stated, how, another type that is stated,
// how, where it cannot be passed.
#define ROWS(ROW, PART, PART_TOO, PLAIN)                                                                        \
  /* Packed. */                                                                                                 \
  ROW(pk_ci, struct PACKED { char a; int b; }, "{pk_ci=ci}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)          \
  ROW(pk_ic, struct PACKED { int a; char b; }, "{pk_ic=ic}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)          \
  ROW(pk_cs, struct PACKED { char a; short b; }, "{pk_cs=cs}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)        \
  ROW(pk_cd, struct PACKED { char a; double b; }, "{pk_cd=cd}", V(a) V(b), PLACES(AT(pk_cd, a), AT(pk_cd, b)),  \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_ff, struct PACKED { float a; float b; }, "{pk_ff=ff}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)       \
  ROW(pk_df, struct PACKED { double a; float b; }, "{pk_df=df}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)      \
  ROW(pk_fd, struct PACKED { float a; double b; }, "{pk_fd=fd}", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)      \
  ROW(pk_ddd, struct PACKED { double a; double b; double c; }, "{pk_ddd=ddd}", V(a) V(b) V(c), SIDE_BY_SIDE,    \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_cdd, struct PACKED { char a; double b; double c; }, "{pk_cdd=cdd}", V(a) V(b) V(c), SIDE_BY_SIDE,      \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_fjf, struct PACKED { float a; _Complex float b; }, "{pk_fjf=fjf}", V(a) V(b), SIDE_BY_SIDE,            \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_t, struct PACKED { __int128 a; }, "{pk_t=t}", V(a), SIDE_BY_SIDE, REFUSED_NOWHERE)                     \
  ROW(pk_D, struct PACKED { long double a; }, "{pk_D=D}", memset((void *)&x, 0xff, LONG_DOUBLE_BYTES);,         \
      SIDE_BY_SIDE, REFUSED_NOWHERE)                                                                            \
  ROW(pk_array, struct PACKED { char a; int b[2]; }, "{pk_array=c[2i]}", V(a) V(b), SIDE_BY_SIDE,               \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_word, struct PACKED { char a; long b; char c[7]; }, "{pk_word=cq[7c]}", V(a) V(b) V(c), SIDE_BY_SIDE,  \
      REFUSED_NOWHERE)                                                                                          \
  ROW(pk_al2, struct PACKED ALIGNED(2) { char a; int b; char c; }, "{pk_al2=cic}", V(a) V(b) V(c),              \
      SIDE_BY_SIDE, REFUSED_NOWHERE)                                                                            \
  ROW(pk_al16, struct PACKED ALIGNED(16) { char a; int b; }, "{pk_al16=ci}", V(a) V(b), PLACES_ALIGNED(1,       \
      AT(pk_al16, a), AT(pk_al16, b)), REFUSED_NOWHERE)                                                         \
  ROW(pk_al16t, struct PACKED ALIGNED(16) { __int128 a; }, "{pk_al16t=t}", V(a), PLACES_ALIGNED(1, AT(pk_al16t, \
      a)), REFUSED_NOWHERE)                                                                                     \
  ROW(pk_u, union PACKED { char a[5]; float b; }, "(pk_u=[5c]f)", V(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)     \
  /* By the usual rules a struct of another layout would be passed otherwise. */                                \
  PART(in_char, struct { char a[3]; inner b; }, "{in_char=[3c]{inner=ci}}", V(a) V(b), inner, SIDE_BY_SIDE,     \
      REFUSED_NOWHERE)                                                                                          \
  PART(in_unaligned, struct { char a; inner b; }, "{in_unaligned=c{inner=ci}}", V(a) V(b), inner, SIDE_BY_SIDE, \
      REFUSED_NOWHERE)                                                                                          \
  PART(in_array, struct { inner a[3]; }, "{in_array=[3{inner=ci}]}", V(a), inner, SIDE_BY_SIDE,                 \
      REFUSED_NOWHERE)                                                                                          \
  PART(in_union, union { inner a; float b; }, "(in_union={inner=ci}f)", V(a) V(b), inner, SIDE_BY_SIDE,         \
      REFUSED_NOWHERE)                                                                                          \
  /* Aligned as wholes, and by members. */                                                                      \
  ROW(al8_i, struct ALIGNED(8) { int a; }, "{al8_i=i}", V(a), SIDE_BY_SIDE, REFUSED_NOWHERE)                    \
  ROW(al8_f, struct ALIGNED(8) { float a; }, "{al8_f=f}", V(a), SIDE_BY_SIDE, REFUSED_NOWHERE)                  \
  ROW(al8_c, struct ALIGNED(8) { char a; }, "{al8_c=c}", V(a), SIDE_BY_SIDE, REFUSED_NOWHERE)                   \
  ROW(al16_i, struct ALIGNED(16) { int a; }, "{al16_i=i}", V(a), USUAL_ALIGNED(4), REFUSED_NOWHERE)             \
  ROW(al16_f, struct ALIGNED(16) { float a; }, "{al16_f=f}", V(a), USUAL_ALIGNED(4), REFUSED_NOWHERE)           \
  ROW(al16_qq, struct ALIGNED(16) { long a; long b; }, "{al16_qq=qq}", V(a) V(b), USUAL_ALIGNED(8),             \
      REFUSED_NOWHERE)                                                                                          \
  ROW(al16_dd, struct ALIGNED(16) { double a; double b; }, "{al16_dd=dd}", V(a) V(b), USUAL_ALIGNED(8),         \
      REFUSED_NOWHERE)                                                                                          \
  ROW(al16_fff, struct ALIGNED(16) { float a; float b; float c; }, "{al16_fff=fff}", V(a) V(b) V(c),            \
      USUAL_ALIGNED(4), REFUSED_NOWHERE)                                                                        \
  ROW(al16_qqq, struct ALIGNED(16) { long a; long b; long c; }, "{al16_qqq=qqq}", V(a) V(b) V(c), SIDE_BY_SIDE, \
      REFUSED_NOWHERE)                                                                                          \
  ROW(al16_4d, struct ALIGNED(16) { double a; double b; double c; double d; }, "{al16_4d=dddd}", V(a) V(b) V(c) \
      V(d), USUAL_ALIGNED(8), REFUSED_ON_AARCH64)                                                                  \
  ROW(am16_qq, struct { _Alignas(16) long a; long b; }, "{am16_qq=qq}", V(a) V(b), USUAL_ALIGNED(16),           \
      REFUSED_NOWHERE)                                                                                          \
  ROW(am16_dd, struct { _Alignas(16) double a; double b; }, "{am16_dd=dd}", V(a) V(b), USUAL_ALIGNED(16),       \
      REFUSED_NOWHERE)                                                                                          \
  ROW(am16_4d, struct { _Alignas(16) double a; double b; double c; double d; }, "{am16_4d=dddd}", V(a) V(b)     \
      V(c) V(d), USUAL_ALIGNED(16), REFUSED_NOWHERE)                                                            \
  ROW(am8_cc, struct { char a; _Alignas(8) char b; }, "{am8_cc=cc}", V(a) V(b), PLACES(AT(am8_cc, a),           \
      AT(am8_cc, b)), REFUSED_NOWHERE)                                                                          \
  ROW(am16_cc, struct { char a; _Alignas(16) char b; }, "{am16_cc=cc}", V(a) V(b), PLACES(AT(am16_cc, a),       \
      AT(am16_cc, b)), REFUSED_NOWHERE)                                                                         \
  ROW(al16_unsaid, struct ALIGNED(16) { long a; long b; }, "{al16_unsaid=qq}", V(a) V(b), SIDE_BY_SIDE,         \
      REFUSED_ON_AARCH64)                                                                                       \
  ROW(al32, struct ALIGNED(32) { long a; }, "{al32=q}", V(a), USUAL_ALIGNED(8), REFUSED)                        \
  PART(al16_inside, struct { broad a; }, "{al16_inside={broad=qq}}", V(a), broad, SIDE_BY_SIDE,                 \
      REFUSED_NOWHERE)                                                                                          \
  PART(al8_inside, struct { float a; wide b; }, "{al8_inside=f{wide=i}}", V(a) V(b.a), wide, SIDE_BY_SIDE,      \
      REFUSED_NOWHERE)                                                                                          \
  /* Bit-fields, as Apple's and as GNU's encodings have them. */                                                \
  ROW(bf_33, struct { int a : 3; int b : 5; }, "{bf_33=b3b5}", BITS(a) BITS(b), PLACES(BIT(0), BIT(3)),         \
      REFUSED_NOWHERE)                                                                                          \
  ROW(bf_gnu, struct { int a : 3; int b : 5; }, "{bf_gnu=b0i3b3i5}", BITS(a) BITS(b), SIDE_BY_SIDE,             \
      REFUSED_NOWHERE)                                                                                          \
  ROW(bf_3f, struct { int a : 3; float b; }, "{bf_3f=b0i3f}", BITS(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)      \
  ROW(bf_f3d, struct { float a; int b : 3; double c; }, "{bf_f3d=fb3d}", V(a) BITS(b) V(c), PLACES(AT(bf_f3d,   \
      a), BIT(32), AT(bf_f3d, c)), REFUSED_NOWHERE)                                                             \
  ROW(bf_d3, struct { double a; int b : 3; }, "{bf_d3=db3}", V(a) BITS(b), PLACES(AT(bf_d3, a), BIT(64)),       \
      REFUSED_NOWHERE)                                                                                          \
  ROW(bf_1d, struct { _Bool a : 1; double b; }, "{bf_1d=b0B1d}", UBITS(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)  \
  ROW(bf_long, struct { long a : 40; long b : 40; }, "{bf_long=b40b40}", BITS(a) BITS(b), PLACES(BIT(0),        \
      BIT(64)), REFUSED_NOWHERE)                                                                                \
  ROW(bf_mid, struct { char a; int b : 20; short c; }, "{bf_mid=cb8i20s}", V(a) BITS(b) V(c), SIDE_BY_SIDE,     \
      REFUSED_NOWHERE)                                                                                          \
  ROW(bf_large, struct { long a : 40; double b; double c; }, "{bf_large=b0q40dd}", BITS(a) V(b) V(c),           \
      SIDE_BY_SIDE, REFUSED_NOWHERE)                                                                            \
  ROW(bf_pk, struct PACKED { long a : 60; long b : 60; }, "{bf_pk=b60b60}", BITS(a) BITS(b), PLACES(BIT(0),     \
      BIT(60)), REFUSED_NOWHERE)                                                                                \
  ROW(bf_pks, struct PACKED { int a : 3; short b; }, "{bf_pks=b3s}", BITS(a) V(b), PLACES(BIT(0), AT(bf_pks,    \
      b)), REFUSED_NOWHERE)                                                                                     \
  ROW(bf_pkd, struct PACKED { double a; char b : 1; long c : 62; }, "{bf_pkd=db1b62}", V(a) BITS(b) BITS(c),    \
      PLACES(AT(bf_pkd, a), BIT(64), BIT(65)), REFUSED_NOWHERE)                                                 \
  ROW(bf_pkc, struct PACKED { char a; long b : 60; }, "{bf_pkc=cb60}", V(a) BITS(b), PLACES(AT(bf_pkc, a),      \
      BIT(8)), REFUSED_NOWHERE)                                                                                 \
  ROW(bf_al16, struct ALIGNED(16) { int a : 3; }, "{bf_al16=b3}", BITS(a), PLACES_ALIGNED(4, BIT(0)),           \
      REFUSED_NOWHERE)                                                                                          \
  ROW(bf_u, union { int a : 3; double b; }, "(bf_u=b3d)", BITS(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)          \
  ROW(bf_uf, union { long a : 3; float b; }, "(bf_uf=b3f)", BITS(a) V(b), SIDE_BY_SIDE, REFUSED_NOWHERE)        \
  PART(bf_inside, struct { char a; bits b; float c; }, "{bf_inside=c{bits=b3}f}", V(a) BITS(b.a) V(c), bits,    \
      PLACES(BIT(0)), REFUSED_NOWHERE)                                                                          \
  ROW(bf_unnamed, struct { float a; int : 20; double b; }, "{bf_unnamed=\"a\"f\"\"b20\"b\"d}", V(a) V(b),       \
      PLACES(AT(bf_unnamed, a), BIT(32), AT(bf_unnamed, b)), REFUSED)                                           \
  ROW(bf_zero, struct { float a; int : 0; float b; }, "{bf_zero=fb0f}", V(a) V(b), PLACES(AT(bf_zero, a),       \
      BIT(32), AT(bf_zero, b)), REFUSED)                                                                        \
  ROW(bf_wide, struct PACKED { char a; __int128 b : 100; }, "{bf_wide=cb100}", V(a) BITS(b), PLACES(AT(bf_wide, \
      a), BIT(8)), REFUSED)                                                                                     \
  ROW(bf_unsaid, struct { int a : 3; float b; }, "{bf_unsaid=b3f}", BITS(a) V(b), SIDE_BY_SIDE, REFUSED)        \
  /* Known by name only. */                                                                                     \
  ROW(op_8, struct { long a; }, "{op_8}", V(a), SIDE_BY_SIDE, REFUSED)                                          \
  ROW(op_24, struct { long a; long b; long c; }, "{op_24}", V(a) V(b) V(c), SIDE_BY_SIDE, REFUSED_ON_AARCH64)   \
  ROW(op_32, struct { double a; double b; double c; double d; }, "{op_32=}", V(a) V(b) V(c) V(d), SIDE_BY_SIDE, \
      REFUSED_ON_AARCH64)                                                                                       \
  ROW(op_80, struct { double a[10]; }, "{op_80}", V(a), SIDE_BY_SIDE, REFUSED_NOWHERE)                          \
  PART(op_inside, struct { char a; inner b; }, "{op_inside=c{inner}}", V(a) V(b), inner, SIDE_BY_SIDE, REFUSED) \
  /* At offsets that their alignment forbids. */                                                                \
  PART_TOO(un_wide, struct PACKED { int a; wide b; }, "{un_wide=i{wide=i}}", V(a) V(b.a), wide,                 \
      PLACES(AT(un_wide, a), AT(un_wide, b)), REFUSED_ON_X86_64)                                                \
  PART_TOO(un_nothing, struct PACKED { int a; nothing b; int c; }, "{un_nothing=i{nothing=}i}", V(a) V(c),      \
      nothing, PLACES(AT(un_nothing, a), AT(un_nothing, b), AT(un_nothing, c)), REFUSED_ON_X86_64)              \
  PART_TOO(un_memory, struct PACKED { char a; wide b; }, "{un_memory=c{wide=i}}", V(a) V(b.a), wide,            \
      SIDE_BY_SIDE, REFUSED_NOWHERE)                                                                            \
  /* Atomic, which needs no statement. Of small ones a member is passed by each compiler in its own way. */     \
  PLAIN(at_i, struct { _Atomic int a; }, "{at_i=Ai}", V(a), REFUSED_ON_X86_64)                                  \
  PLAIN(at_qq, struct { _Atomic long a; long b; }, "{?=Aqq}", V(a) V(b), REFUSED_ON_X86_64)                     \
  PLAIN(at_dd, struct { _Atomic double a; _Atomic double b; }, "{at_dd=AdAd}", V(a) V(b), REFUSED)              \
  PLAIN(at_qqq, struct { _Atomic long a; _Atomic long b; _Atomic long c; }, "{?=AqAqAq}", V(a) V(b) V(c),       \
      REFUSED_NOWHERE)                                                                                          \
  PLAIN(at_4d, struct { _Atomic double a; double b; double c; double d; }, "{?=Adddd}", V(a) V(b) V(c) V(d),    \
      REFUSED_ON_AARCH64)                                                                                       \
  PLAIN(at_arr, struct { _Atomic int a[6]; }, "{?=[6Ai]}", V(a), REFUSED_NOWHERE)                               \
  PLAIN(at_s, struct { _Atomic struct { int a; int b; } a; }, "{?=A{?=ii}}", V(a), REFUSED)                     \
  PLAIN(at_s24, struct { double a; _Atomic struct { long a; long b; } b; }, "{?=dA{?=qq}}", V(a) V(b),          \
      REFUSED_NOWHERE)                                                                                          \
  PLAIN(at_s20, struct { _Atomic struct { int a[5]; } a; }, "{?=A{?=[5i]}}", V(a), REFUSED_NOWHERE)             \
  PLAIN(at_j24, struct { _Atomic _Complex float a; long b; long c; }, "{?=Ajfqq}", V(a) V(b) V(c),              \
      REFUSED_NOWHERE)                                                                                          \
  PLAIN(at_top, _Atomic int, "Ai", memset((void *)&x, 0xff, sizeof x);, REFUSED_NOWHERE)                        \
  PLAIN(at_topq, _Atomic long, "Aq", memset((void *)&x, 0xff, sizeof x);, REFUSED_NOWHERE)                      \
  PLAIN(at_topd, _Atomic double, "Ad", memset((void *)&x, 0xff, sizeof x);, REFUSED_NOWHERE)                    \
  PLAIN(at_topt, _Atomic __int128, "At", memset((void *)&x, 0xff, sizeof x);, REFUSED_NOWHERE)                  \
  PLAIN(at_topD, _Atomic long double, "AD", memset((void *)&x, 0xff, LONG_DOUBLE_BYTES);, REFUSED_NOWHERE)

// MARK: Functions

#define DEFINE(type, definition, ...) typedef definition type;
ROWS(DEFINE, DEFINE, DEFINE, DEFINE)

#define RECORD(index, value) memcpy(stated_got[index], (void *)&value, sizeof value);
#define GIVE(type)                                          \
  type result;                                              \
  memcpy((void *)&result, stated_sent[3], sizeof result);   \
  return result;
#define TAKE(type, index)                                   \
  type v##index;                                            \
  memcpy((void *)&v##index, stated_sent[index], sizeof v##index);
#define CALL(type, ...)                                     \
  TAKE(type, 0) TAKE(type, 1) TAKE(type, 2)                 \
  type result = __VA_ARGS__;                                \
  memcpy(stated_got[3], (void *)&result, sizeof result);

// With registers left; with all but the last of x86-64's integer registers, and of the vector registers, taken; and
// so of AArch64's.
#define FUNCTIONS(type, definition, encoding, value, ...)                                                              \
  static void NAME(mark_##type)(unsigned char *bytes) {                                                                \
    type x;                                                                                                            \
    memset((void *)&x, 0, sizeof x);                                                                                   \
    value memcpy(bytes, (void *)&x, sizeof x);                                                                         \
  }                                                                                                                    \
  type NAME(few_##type)(long a, type x, long b, double d, type y, type z) {                                            \
    RECORD(0, x) RECORD(1, y) RECORD(2, z)                                                                             \
    stated_words[0] = a, stated_words[1] = b, stated_doubles[0] = d;                                                   \
    GIVE(type)                                                                                                         \
  }                                                                                                                    \
  static void NAME(call_few_##type)(void (*function)(void)) {                                                          \
    CALL(type, ((type(*)(long, type, long, double, type, type))function)(1, v0, 2, 0.5, v1, v2))                       \
  }                                                                                                                    \
  type NAME(some_##type)(long a, long b, long c, long d, long e, double f, double g, double h, double i, double j,     \
                         double k, double l, type x, long m, type y, double n, long o, type z, long p) {               \
    RECORD(0, x) RECORD(1, y) RECORD(2, z)                                                                             \
    stated_words[0] = a + b + c + d + e, stated_words[1] = m, stated_words[2] = o, stated_words[3] = p;                \
    stated_doubles[0] = f + g + h + i + j + k + l, stated_doubles[1] = n;                                              \
    GIVE(type)                                                                                                         \
  }                                                                                                                    \
  static void NAME(call_some_##type)(void (*function)(void)) {                                                         \
    CALL(type, ((type(*)(long, long, long, long, long, double, double, double, double, double, double, double, type,   \
                         long, type, double, long, type, long))function)(1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7, v0, 6,    \
                                                                         v1, 0.5, 7, v2, 8))                           \
  }                                                                                                                    \
  type NAME(many_##type)(long a, long b, long c, long d, long e, long f, long g, double h, double i, double j,         \
                         double k, double l, double m, type x, long n, type y, double o, type z, long p) {             \
    RECORD(0, x) RECORD(1, y) RECORD(2, z)                                                                             \
    stated_words[0] = a + b + c + d + e + f + g, stated_words[1] = n, stated_words[2] = p;                             \
    stated_doubles[0] = h + i + j + k + l + m, stated_doubles[1] = o;                                                  \
    GIVE(type)                                                                                                         \
  }                                                                                                                    \
  static void NAME(call_many_##type)(void (*function)(void)) {                                                         \
    CALL(type, ((type(*)(long, long, long, long, long, long, long, double, double, double, double, double, double,     \
                         type, long, type, double, type, long))function)(1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, v0,    \
                                                                         8, v1, 0.5, v2, 9))                           \
  }
ROWS(FUNCTIONS, FUNCTIONS, FUNCTIONS, FUNCTIONS)

// MARK: The table

#define SIZES(type) sizeof(type), _Alignof(type)
#define ALL(type)                                                              \
  NAME(mark_##type),                                                           \
      {(void (*)(void))NAME(few_##type), (void (*)(void))NAME(some_##type),    \
       (void (*)(void))NAME(many_##type)},                                     \
      {NAME(call_few_##type), NAME(call_some_##type), NAME(call_many_##type)},
#define ROW_CASE(type, definition, encoding, value, how, refused) \
  {#type, encoding, refused, SIZES(type), {{#type, SIZES(type), how}}, 1, ALL(type)},
#define PART_CASE(type, definition, encoding, value, part, how, refused) \
  {#type, encoding, refused, SIZES(type), {{#part, SIZES(part), how}}, 1, ALL(type)},
#define PART_TOO_CASE(type, definition, encoding, value, part, how, refused) \
  {#type, encoding, refused, SIZES(type), {{#type, SIZES(type), how}, {#part, SIZES(part), NULL, 0, 0}}, 2, ALL(type)},
#define PLAIN_CASE(type, definition, encoding, value, refused) \
  {#type, encoding, refused, SIZES(type), {{NULL, 0, 0, NULL, 0, 0}}, 0, ALL(type)},
static const stated_case cases[] = {ROWS(ROW_CASE, PART_CASE, PART_TOO_CASE, PLAIN_CASE)};
const stated_table NAME(stated) = {cases, sizeof cases / sizeof *cases};
