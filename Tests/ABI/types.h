// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// C types whose encodings and layouts are compared with those of the compilers.
///
/// `layouts.m` (clang) and `layouts.c` (any C compiler) include this table. They print one line for each type, in the
/// order of the table, with tabs between the columns:
///
///     index  group  encoding  size  alignment  offset of the first member  of the second  ...
///
/// - `index` counts from 0.
/// - `group` is `known`, or `refused` for types whose encodings do not give their layout. For these the library must
///   return FWD_UNSUPPORTED.
/// - `encoding` is `-` if the compiler has no `@encode`.
/// - The offsets are printed for structs and unions that this file defines, one for each direct member. An anonymous
///   member has the offset of its own first member.
///
///     clang -x objective-c -fblocks -fobjc-runtime=gnustep-2.0 -w layouts.m -o a && ./a
///     gcc -w layouts.c -o b && ./b
///
/// No Objective-C runtime is needed: `@encode` is a string literal.

#ifndef FWD_TESTS_ABI_TYPES_H
#define FWD_TESTS_ABI_TYPES_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#if defined(__OBJC__)
@class Thing;
@protocol Doing;
typedef Thing *thing;
typedef id<Doing> doer;
#else
typedef struct objc_object *id;
typedef struct objc_class *Class;
typedef struct objc_selector *SEL;
typedef void *thing;
typedef void *doer;
#endif
#if defined(__BLOCKS__)
typedef int (^block)(id, double);
#else
typedef void *block;
#endif

// MARK: Names for types that a macro argument cannot spell

typedef signed char schar;
typedef unsigned char uchar;
typedef unsigned short ushort_;
typedef unsigned int uint_;
typedef unsigned long ulong_;
typedef long long llong;
typedef unsigned long long ullong;
typedef __int128 int128;
typedef unsigned __int128 uint128;
typedef long double ldouble;

typedef char *string;
typedef const char *const_string;
typedef void *pointer;
typedef void **pointer_pointer;
typedef const void *const_pointer;
typedef int *int_pointer;
typedef int ***int_pointer_3;
typedef uchar *uchar_pointer;
typedef schar *schar_pointer;
typedef string *string_pointer;
typedef int (*function_pointer)(int, double);
typedef void (**function_pointer_pointer)(void);
typedef int (*array_pointer)[3][4];
typedef struct only_declared *opaque_pointer;
typedef struct only_declared **opaque_pointer_2;
typedef id *id_pointer;
typedef ldouble *ldouble_pointer;
typedef _Complex double *complex_pointer;
typedef _Atomic int *atomic_pointer;

typedef int array_int_0[0];
typedef int array_int_1[1];
typedef int array_int_7[7];
typedef char array_char_3[3];
typedef ldouble array_ldouble_2[2];
typedef int128 array_int128_3[3];
typedef bool array_bool_5[5];
typedef string array_string_4[4];
typedef function_pointer array_function_2[2];
typedef short array_2d[3][4];
typedef double array_3d[2][3][4];
typedef char array_0_in_2d[0][4];
typedef char array_2d_of_0[4][0];
typedef _Complex float array_complex_3[3];
typedef int array_large[1000000];
typedef char array_huge[1000][1000][1000];

typedef _Complex signed char complex_schar;
typedef _Complex unsigned char complex_uchar;
typedef _Complex short complex_short;
typedef _Complex unsigned short complex_ushort;
typedef _Complex int complex_int;
typedef _Complex unsigned int complex_uint;
typedef _Complex long complex_long;
typedef _Complex unsigned long complex_ulong;
typedef _Complex long long complex_llong;
typedef _Complex unsigned long long complex_ullong;
typedef _Complex float complex_float;
typedef _Complex double complex_double;
typedef _Complex long double complex_ldouble;

// clang encodes every enum without a fixed underlying type as `i`, even one of 64 bits. So an enum of 64 bits is not
// here: its encoding gives the wrong size.
enum plain { plain_a, plain_b };
enum negative { negative_a = -1, negative_b };

// MARK: Structs

struct empty {};
struct one_char { char a; };
struct one_bool { bool a; };
struct one_short { short a; };
struct one_int { int a; };
struct one_long { long a; };
struct one_float { float a; };
struct one_double { double a; };
struct one_ldouble { long double a; };
struct one_int128 { __int128 a; };
struct one_pointer { void *a; };
struct one_complex { _Complex float a; };
struct chars_2 { char a, b; };
struct chars_3 { char a, b, c; };
struct chars_7 { char a, b, c, d, e, f, g; };
struct char_short { char a; short b; };
struct char_int { char a; int b; };
struct int_char { int a; char b; };
struct char_long { char a; long b; };
struct long_char { long a; char b; };
struct char_int_char { char a; int b; char c; };
struct char_double_char { char a; double b; char c; };
struct char_ldouble { char a; long double b; };
struct ldouble_char { long double a; char b; };
struct char_int128 { char a; __int128 b; };
struct int128_char { __int128 a; char b; };
struct short_char_int_char_long { short a; char b; int c; char d; long e; };
struct floats_2 { float a, b; };
struct floats_3 { float a, b, c; };
struct floats_4 { float a, b, c, d; };
struct doubles_2 { double a, b; };
struct doubles_4 { double a, b, c, d; };
struct int_float { int a; float b; };
struct float_double { float a; double b; };
struct double_int { double a; int b; };
struct bool_bool_int { bool a; bool b; int c; };
struct complexes { char a; _Complex float b; char c; _Complex double d; char e; _Complex long double f; };
struct int_complexes { char a; _Complex int b; char c; _Complex char d; short e; _Complex short f; };
struct pointers { string a; void *b; function_pointer c; id d; Class e; SEL f; block g; thing h; doer i; };
struct all_scalars {
  char a; uchar b; short c; ushort_ d; int e; uint_ f; long g; ulong_ h; llong i; ullong j; int128 k; uint128 l;
  bool m; float n; double o; ldouble p; string q; void *r;
};
struct all_scalars_backwards {
  void *r; string q; ldouble p; double o; float n; bool m; uint128 l; int128 k; ullong j; llong i; ulong_ h; long g;
  uint_ f; int e; ushort_ d; short c; uchar b; char a;
};
struct alternating { char a; long b; char c; long d; char e; int f; char g; short h; char i; ldouble j; char k; };
struct enums { char a; enum plain b; char c; enum negative d; };
struct atomics {
  char a; _Atomic char b; _Atomic short c; _Atomic int d; char e; _Atomic llong f; void *_Atomic g; _Atomic bool h;
  _Atomic double i;
};
struct qualified { const int a; volatile double b; const char *const c; char *restrict d; };

// Structs with arrays.
struct array_3_int { char a[3]; int b; };
struct int_array_5 { int a; char b[5]; };
struct array_of_ldouble { char a; long double b[2]; char c; };
struct array_2d_inside { char a; short b[3][5]; char c; };
struct array_0_first { int a[0]; char b; };
struct array_0_middle { char a; long b[0]; char c; };
struct array_0_last { char a; double b[0]; };
struct array_0_only { int128 a[0]; };
struct array_0_of_0 { char a; short b[3][0]; char c; };
struct flexible { int a; short b[]; };
struct flexible_wide { char a; double b[]; };
struct flexible_structs { short a; struct char_int b[]; };
struct pointer_array { char a; void *b[3]; };
struct function_table { void (*a)(void); int (*b[4])(int); const char *c; };

// Structs with structs and unions, up to four levels.
struct nested_2 { char a; struct char_int b; char c; };
struct nested_3 { short a; struct nested_2 b; char c; };
struct nested_4 { char a; struct nested_3 b; struct nested_2 c; struct char_ldouble d; };
struct nested_5 { char a; struct nested_4 b[2]; char c; };
struct nested_empty { char a; struct empty b; int c; struct empty d; };
struct empties { struct empty a, b; };
struct array_of_empty { char a; struct empty b[7]; short c; };
struct array_of_structs { char a; struct char_short b[3]; char c; };
struct array_of_structs_2d { char a; struct char_double_char b[2][2]; char c; };
struct anonymous_struct { char a; struct { short b; char c; }; int d; };
struct anonymous_union { char a; union { int b; double c; }; char d; };
struct anonymous_deep {
  char a; struct { char b; union { short c; struct { char d; union { float e; long f; }; }; }; }; char g;
};
struct unnamed_type { char a; struct { int x; double y; } b; union { char z; short w; } c; };
struct list { struct list *a; char b; struct list **c; };
struct tree { struct tree *a[2]; struct { struct tree *up; int depth; } b; };
struct holds_opaque { char a; struct only_declared *b; struct only_declared **c; };
struct points { struct doubles_2 a, b; };
typedef struct { double a, b, c; } untagged;
struct holds_untagged { char a; untagged b; untagged *c; untagged **d; };

// MARK: Unions

union empty_union {};
union int_or_float { int a; float b; };
union char_or_int { char a; int b; };
union long_or_double { long a; double b; };
union chars_5_or_int { char a[5]; int b; };
union chars_9_or_long { char a[9]; long b; };
union ldouble_or_int { long double a; int b; };
union chars_17_or_ldouble { char a[17]; long double b; };
union int128_or_pointer { int128 a; void *b; };
union complex_or_char { _Complex float a; char b[9]; };
union structs { struct char_int a; struct chars_7 b; struct chars_3 c; };
union nested_union_2 { char a; union chars_5_or_int b; };
union nested_union_3 { union nested_union_2 a; struct { char b; union nested_union_2 c; } d; };
union nested_union_4 { union nested_union_3 a[3]; struct nested_3 b; char c[71]; };
union only_array_0 { int a[0]; };
union empty_or_short { struct empty a; short b; };
union anonymous_inside { struct { char a; int b; }; double c; };
union function_or_pointer { void (*a)(void); void *b; char c; };
struct union_inside { char a; union chars_9_or_long b; char c; };
struct union_array { char a; union int_or_float b[3]; char c; };
struct union_pointer { union int_or_float *a; union int_or_float **b; };

// MARK: Types whose encodings do not give their layout

struct bit_fields { unsigned a : 3; int b : 5; };
struct bit_field_between { int a; unsigned b : 1; double c; };
struct bit_field_bool { bool a : 1; bool b : 1; long c : 40; };
struct bit_field_nested { char a; struct bit_fields b; };
struct bit_field_array { struct bit_fields a[2]; };
struct bit_field_unnamed { char a; int : 0; char b; };
union bit_field_union { int a; unsigned b : 7; };
typedef _Atomic(struct one_int) atomic_struct;
typedef _Atomic(struct chars_3) atomic_chars_3;
typedef _Atomic(union int_or_float) atomic_union;
typedef _Atomic(_Complex float) atomic_complex;
struct atomic_struct_inside { char a; _Atomic(struct chars_3) b; };

/// The table. It has `TYPE(group, type)` for each type without members, and `RECORD(group, type, members)` for each
/// type with members, which are a sequence of `MEMBER(type, name)`.
#define ABI_TYPES(TYPE, RECORD, MEMBER) \
  TYPE(known, char) TYPE(known, schar) TYPE(known, uchar) TYPE(known, short) TYPE(known, ushort_) TYPE(known, int) \
  TYPE(known, uint_) TYPE(known, long) TYPE(known, ulong_) TYPE(known, llong) TYPE(known, ullong) \
  TYPE(known, int128) TYPE(known, uint128) TYPE(known, bool) TYPE(known, float) TYPE(known, double) \
  TYPE(known, ldouble) TYPE(known, int8_t) TYPE(known, uint16_t) TYPE(known, int32_t) TYPE(known, uint64_t) \
  TYPE(known, size_t) TYPE(known, ptrdiff_t) TYPE(known, intmax_t) TYPE(known, uintptr_t) TYPE(known, wchar_t) \
  TYPE(known, time_t) TYPE(known, max_align_t) TYPE(known, va_list) TYPE(known, enum plain) \
  TYPE(known, enum negative) TYPE(known, const int) TYPE(known, volatile long) \
  TYPE(known, string) TYPE(known, const_string) TYPE(known, pointer) TYPE(known, pointer_pointer) \
  TYPE(known, const_pointer) TYPE(known, int_pointer) TYPE(known, int_pointer_3) TYPE(known, uchar_pointer) \
  TYPE(known, schar_pointer) TYPE(known, string_pointer) TYPE(known, function_pointer) \
  TYPE(known, function_pointer_pointer) TYPE(known, array_pointer) TYPE(known, opaque_pointer) \
  TYPE(known, opaque_pointer_2) TYPE(known, id) TYPE(known, Class) TYPE(known, SEL) TYPE(known, block) \
  TYPE(known, thing) TYPE(known, doer) TYPE(known, id_pointer) TYPE(known, ldouble_pointer) \
  TYPE(known, complex_pointer) TYPE(known, atomic_pointer) TYPE(known, _Atomic char) TYPE(known, _Atomic short) \
  TYPE(known, _Atomic int) TYPE(known, _Atomic llong) TYPE(known, _Atomic int128) TYPE(known, _Atomic float) \
  TYPE(known, _Atomic double) TYPE(known, _Atomic ldouble) TYPE(known, _Atomic bool) TYPE(known, _Atomic pointer) \
  TYPE(known, array_int_0) TYPE(known, array_int_1) TYPE(known, array_int_7) TYPE(known, array_char_3) \
  TYPE(known, array_ldouble_2) TYPE(known, array_int128_3) TYPE(known, array_bool_5) TYPE(known, array_string_4) \
  TYPE(known, array_function_2) TYPE(known, array_2d) TYPE(known, array_3d) TYPE(known, array_0_in_2d) \
  TYPE(known, array_2d_of_0) TYPE(known, array_complex_3) TYPE(known, array_large) TYPE(known, array_huge) \
  TYPE(known, complex_schar) TYPE(known, complex_uchar) TYPE(known, complex_short) TYPE(known, complex_ushort) \
  TYPE(known, complex_int) TYPE(known, complex_uint) TYPE(known, complex_long) TYPE(known, complex_ulong) \
  TYPE(known, complex_llong) TYPE(known, complex_ullong) TYPE(known, complex_float) TYPE(known, complex_double) \
  TYPE(known, complex_ldouble) TYPE(known, div_t) TYPE(known, lldiv_t) TYPE(known, struct tm) \
  TYPE(known, struct timespec) TYPE(known, mbstate_t) TYPE(known, struct empty) \
  RECORD(known, struct one_char, MEMBER(struct one_char, a)) \
  RECORD(known, struct one_bool, MEMBER(struct one_bool, a)) \
  RECORD(known, struct one_short, MEMBER(struct one_short, a)) \
  RECORD(known, struct one_int, MEMBER(struct one_int, a)) \
  RECORD(known, struct one_long, MEMBER(struct one_long, a)) \
  RECORD(known, struct one_float, MEMBER(struct one_float, a)) \
  RECORD(known, struct one_double, MEMBER(struct one_double, a)) \
  RECORD(known, struct one_ldouble, MEMBER(struct one_ldouble, a)) \
  RECORD(known, struct one_int128, MEMBER(struct one_int128, a)) \
  RECORD(known, struct one_pointer, MEMBER(struct one_pointer, a)) \
  RECORD(known, struct one_complex, MEMBER(struct one_complex, a)) \
  RECORD(known, struct chars_2, MEMBER(struct chars_2, a) MEMBER(struct chars_2, b)) \
  RECORD(known, struct chars_3, MEMBER(struct chars_3, a) MEMBER(struct chars_3, b) MEMBER(struct chars_3, c)) \
  RECORD(known, struct chars_7, MEMBER(struct chars_7, a) MEMBER(struct chars_7, b) MEMBER(struct chars_7, c) \
      MEMBER(struct chars_7, d) MEMBER(struct chars_7, e) MEMBER(struct chars_7, f) MEMBER(struct chars_7, g)) \
  RECORD(known, struct char_short, MEMBER(struct char_short, a) MEMBER(struct char_short, b)) \
  RECORD(known, struct char_int, MEMBER(struct char_int, a) MEMBER(struct char_int, b)) \
  RECORD(known, struct int_char, MEMBER(struct int_char, a) MEMBER(struct int_char, b)) \
  RECORD(known, struct char_long, MEMBER(struct char_long, a) MEMBER(struct char_long, b)) \
  RECORD(known, struct long_char, MEMBER(struct long_char, a) MEMBER(struct long_char, b)) \
  RECORD(known, struct char_int_char, MEMBER(struct char_int_char, a) MEMBER(struct char_int_char, b) \
      MEMBER(struct char_int_char, c)) \
  RECORD(known, struct char_double_char, MEMBER(struct char_double_char, a) \
      MEMBER(struct char_double_char, b) MEMBER(struct char_double_char, c)) \
  RECORD(known, struct char_ldouble, MEMBER(struct char_ldouble, a) MEMBER(struct char_ldouble, b)) \
  RECORD(known, struct ldouble_char, MEMBER(struct ldouble_char, a) MEMBER(struct ldouble_char, b)) \
  RECORD(known, struct char_int128, MEMBER(struct char_int128, a) MEMBER(struct char_int128, b)) \
  RECORD(known, struct int128_char, MEMBER(struct int128_char, a) MEMBER(struct int128_char, b)) \
  RECORD(known, struct short_char_int_char_long, MEMBER(struct short_char_int_char_long, a) \
      MEMBER(struct short_char_int_char_long, b) MEMBER(struct short_char_int_char_long, c) \
      MEMBER(struct short_char_int_char_long, d) MEMBER(struct short_char_int_char_long, e)) \
  RECORD(known, struct floats_2, MEMBER(struct floats_2, a) MEMBER(struct floats_2, b)) \
  RECORD(known, struct floats_3, MEMBER(struct floats_3, a) MEMBER(struct floats_3, b) MEMBER(struct floats_3, c)) \
  RECORD(known, struct floats_4, MEMBER(struct floats_4, a) MEMBER(struct floats_4, b) \
      MEMBER(struct floats_4, c) MEMBER(struct floats_4, d)) \
  RECORD(known, struct doubles_2, MEMBER(struct doubles_2, a) MEMBER(struct doubles_2, b)) \
  RECORD(known, struct doubles_4, MEMBER(struct doubles_4, a) MEMBER(struct doubles_4, b) \
      MEMBER(struct doubles_4, c) MEMBER(struct doubles_4, d)) \
  RECORD(known, struct int_float, MEMBER(struct int_float, a) MEMBER(struct int_float, b)) \
  RECORD(known, struct float_double, MEMBER(struct float_double, a) MEMBER(struct float_double, b)) \
  RECORD(known, struct double_int, MEMBER(struct double_int, a) MEMBER(struct double_int, b)) \
  RECORD(known, struct bool_bool_int, MEMBER(struct bool_bool_int, a) MEMBER(struct bool_bool_int, b) \
      MEMBER(struct bool_bool_int, c)) \
  RECORD(known, struct complexes, MEMBER(struct complexes, a) MEMBER(struct complexes, b) \
      MEMBER(struct complexes, c) MEMBER(struct complexes, d) MEMBER(struct complexes, e) \
      MEMBER(struct complexes, f)) \
  RECORD(known, struct int_complexes, MEMBER(struct int_complexes, a) MEMBER(struct int_complexes, b) \
      MEMBER(struct int_complexes, c) MEMBER(struct int_complexes, d) MEMBER(struct int_complexes, e) \
      MEMBER(struct int_complexes, f)) \
  RECORD(known, struct pointers, MEMBER(struct pointers, a) MEMBER(struct pointers, b) \
      MEMBER(struct pointers, c) MEMBER(struct pointers, d) MEMBER(struct pointers, e) \
      MEMBER(struct pointers, f) MEMBER(struct pointers, g) MEMBER(struct pointers, h) MEMBER(struct pointers, i)) \
  RECORD(known, struct all_scalars, MEMBER(struct all_scalars, a) MEMBER(struct all_scalars, b) \
      MEMBER(struct all_scalars, c) MEMBER(struct all_scalars, d) MEMBER(struct all_scalars, e) \
      MEMBER(struct all_scalars, f) MEMBER(struct all_scalars, g) MEMBER(struct all_scalars, h) \
      MEMBER(struct all_scalars, i) MEMBER(struct all_scalars, j) MEMBER(struct all_scalars, k) \
      MEMBER(struct all_scalars, l) MEMBER(struct all_scalars, m) MEMBER(struct all_scalars, n) \
      MEMBER(struct all_scalars, o) MEMBER(struct all_scalars, p) MEMBER(struct all_scalars, q) \
      MEMBER(struct all_scalars, r)) \
  RECORD(known, struct all_scalars_backwards, MEMBER(struct all_scalars_backwards, r) \
      MEMBER(struct all_scalars_backwards, q) MEMBER(struct all_scalars_backwards, p) \
      MEMBER(struct all_scalars_backwards, o) MEMBER(struct all_scalars_backwards, n) \
      MEMBER(struct all_scalars_backwards, m) MEMBER(struct all_scalars_backwards, l) \
      MEMBER(struct all_scalars_backwards, k) MEMBER(struct all_scalars_backwards, j) \
      MEMBER(struct all_scalars_backwards, i) MEMBER(struct all_scalars_backwards, h) \
      MEMBER(struct all_scalars_backwards, g) MEMBER(struct all_scalars_backwards, f) \
      MEMBER(struct all_scalars_backwards, e) MEMBER(struct all_scalars_backwards, d) \
      MEMBER(struct all_scalars_backwards, c) MEMBER(struct all_scalars_backwards, b) \
      MEMBER(struct all_scalars_backwards, a)) \
  RECORD(known, struct alternating, MEMBER(struct alternating, a) MEMBER(struct alternating, b) \
      MEMBER(struct alternating, c) MEMBER(struct alternating, d) MEMBER(struct alternating, e) \
      MEMBER(struct alternating, f) MEMBER(struct alternating, g) MEMBER(struct alternating, h) \
      MEMBER(struct alternating, i) MEMBER(struct alternating, j) MEMBER(struct alternating, k)) \
  RECORD(known, struct enums, MEMBER(struct enums, a) MEMBER(struct enums, b) MEMBER(struct enums, c) \
      MEMBER(struct enums, d)) \
  RECORD(known, struct atomics, MEMBER(struct atomics, a) MEMBER(struct atomics, b) MEMBER(struct atomics, c) \
      MEMBER(struct atomics, d) MEMBER(struct atomics, e) MEMBER(struct atomics, f) MEMBER(struct atomics, g) \
      MEMBER(struct atomics, h) MEMBER(struct atomics, i)) \
  RECORD(known, struct qualified, MEMBER(struct qualified, a) MEMBER(struct qualified, b) \
      MEMBER(struct qualified, c) MEMBER(struct qualified, d)) \
  RECORD(known, struct array_3_int, MEMBER(struct array_3_int, a) MEMBER(struct array_3_int, b)) \
  RECORD(known, struct int_array_5, MEMBER(struct int_array_5, a) MEMBER(struct int_array_5, b)) \
  RECORD(known, struct array_of_ldouble, MEMBER(struct array_of_ldouble, a) \
      MEMBER(struct array_of_ldouble, b) MEMBER(struct array_of_ldouble, c)) \
  RECORD(known, struct array_2d_inside, MEMBER(struct array_2d_inside, a) MEMBER(struct array_2d_inside, b) \
      MEMBER(struct array_2d_inside, c)) \
  RECORD(known, struct array_0_first, MEMBER(struct array_0_first, a) MEMBER(struct array_0_first, b)) \
  RECORD(known, struct array_0_middle, MEMBER(struct array_0_middle, a) MEMBER(struct array_0_middle, b) \
      MEMBER(struct array_0_middle, c)) \
  RECORD(known, struct array_0_last, MEMBER(struct array_0_last, a) MEMBER(struct array_0_last, b)) \
  RECORD(known, struct array_0_only, MEMBER(struct array_0_only, a)) \
  RECORD(known, struct array_0_of_0, MEMBER(struct array_0_of_0, a) MEMBER(struct array_0_of_0, b) \
      MEMBER(struct array_0_of_0, c)) \
  RECORD(known, struct flexible, MEMBER(struct flexible, a) MEMBER(struct flexible, b)) \
  RECORD(known, struct flexible_wide, MEMBER(struct flexible_wide, a) MEMBER(struct flexible_wide, b)) \
  RECORD(known, struct flexible_structs, MEMBER(struct flexible_structs, a) MEMBER(struct flexible_structs, b)) \
  RECORD(known, struct pointer_array, MEMBER(struct pointer_array, a) MEMBER(struct pointer_array, b)) \
  RECORD(known, struct function_table, MEMBER(struct function_table, a) MEMBER(struct function_table, b) \
      MEMBER(struct function_table, c)) \
  RECORD(known, struct nested_2, MEMBER(struct nested_2, a) MEMBER(struct nested_2, b) MEMBER(struct nested_2, c)) \
  RECORD(known, struct nested_3, MEMBER(struct nested_3, a) MEMBER(struct nested_3, b) MEMBER(struct nested_3, c)) \
  RECORD(known, struct nested_4, MEMBER(struct nested_4, a) MEMBER(struct nested_4, b) \
      MEMBER(struct nested_4, c) MEMBER(struct nested_4, d)) \
  RECORD(known, struct nested_5, MEMBER(struct nested_5, a) MEMBER(struct nested_5, b) MEMBER(struct nested_5, c)) \
  RECORD(known, struct nested_empty, MEMBER(struct nested_empty, a) MEMBER(struct nested_empty, b) \
      MEMBER(struct nested_empty, c) MEMBER(struct nested_empty, d)) \
  RECORD(known, struct empties, MEMBER(struct empties, a) MEMBER(struct empties, b)) \
  RECORD(known, struct array_of_empty, MEMBER(struct array_of_empty, a) MEMBER(struct array_of_empty, b) \
      MEMBER(struct array_of_empty, c)) \
  RECORD(known, struct array_of_structs, MEMBER(struct array_of_structs, a) \
      MEMBER(struct array_of_structs, b) MEMBER(struct array_of_structs, c)) \
  RECORD(known, struct array_of_structs_2d, MEMBER(struct array_of_structs_2d, a) \
      MEMBER(struct array_of_structs_2d, b) MEMBER(struct array_of_structs_2d, c)) \
  RECORD(known, struct anonymous_struct, MEMBER(struct anonymous_struct, a) \
      MEMBER(struct anonymous_struct, b) MEMBER(struct anonymous_struct, d)) \
  RECORD(known, struct anonymous_union, MEMBER(struct anonymous_union, a) MEMBER(struct anonymous_union, b) \
      MEMBER(struct anonymous_union, d)) \
  RECORD(known, struct anonymous_deep, MEMBER(struct anonymous_deep, a) MEMBER(struct anonymous_deep, b) \
      MEMBER(struct anonymous_deep, g)) \
  RECORD(known, struct unnamed_type, MEMBER(struct unnamed_type, a) MEMBER(struct unnamed_type, b) \
      MEMBER(struct unnamed_type, c)) \
  RECORD(known, struct list, MEMBER(struct list, a) MEMBER(struct list, b) MEMBER(struct list, c)) \
  RECORD(known, struct tree, MEMBER(struct tree, a) MEMBER(struct tree, b)) \
  RECORD(known, struct holds_opaque, MEMBER(struct holds_opaque, a) MEMBER(struct holds_opaque, b) \
      MEMBER(struct holds_opaque, c)) \
  RECORD(known, struct points, MEMBER(struct points, a) MEMBER(struct points, b)) \
  RECORD(known, struct holds_untagged, MEMBER(struct holds_untagged, a) MEMBER(struct holds_untagged, b) \
      MEMBER(struct holds_untagged, c) MEMBER(struct holds_untagged, d)) \
  TYPE(known, union empty_union) \
  RECORD(known, union int_or_float, MEMBER(union int_or_float, a) MEMBER(union int_or_float, b)) \
  RECORD(known, union char_or_int, MEMBER(union char_or_int, a) MEMBER(union char_or_int, b)) \
  RECORD(known, union long_or_double, MEMBER(union long_or_double, a) MEMBER(union long_or_double, b)) \
  RECORD(known, union chars_5_or_int, MEMBER(union chars_5_or_int, a) MEMBER(union chars_5_or_int, b)) \
  RECORD(known, union chars_9_or_long, MEMBER(union chars_9_or_long, a) MEMBER(union chars_9_or_long, b)) \
  RECORD(known, union ldouble_or_int, MEMBER(union ldouble_or_int, a) MEMBER(union ldouble_or_int, b)) \
  RECORD(known, union chars_17_or_ldouble, MEMBER(union chars_17_or_ldouble, a) \
      MEMBER(union chars_17_or_ldouble, b)) \
  RECORD(known, union int128_or_pointer, MEMBER(union int128_or_pointer, a) MEMBER(union int128_or_pointer, b)) \
  RECORD(known, union complex_or_char, MEMBER(union complex_or_char, a) MEMBER(union complex_or_char, b)) \
  RECORD(known, union structs, MEMBER(union structs, a) MEMBER(union structs, b) MEMBER(union structs, c)) \
  RECORD(known, union nested_union_2, MEMBER(union nested_union_2, a) MEMBER(union nested_union_2, b)) \
  RECORD(known, union nested_union_3, MEMBER(union nested_union_3, a) MEMBER(union nested_union_3, d)) \
  RECORD(known, union nested_union_4, MEMBER(union nested_union_4, a) MEMBER(union nested_union_4, b) \
      MEMBER(union nested_union_4, c)) \
  RECORD(known, union only_array_0, MEMBER(union only_array_0, a)) \
  RECORD(known, union empty_or_short, MEMBER(union empty_or_short, a) MEMBER(union empty_or_short, b)) \
  RECORD(known, union anonymous_inside, MEMBER(union anonymous_inside, a) MEMBER(union anonymous_inside, c)) \
  RECORD(known, union function_or_pointer, MEMBER(union function_or_pointer, a) \
      MEMBER(union function_or_pointer, b) MEMBER(union function_or_pointer, c)) \
  RECORD(known, struct union_inside, MEMBER(struct union_inside, a) MEMBER(struct union_inside, b) \
      MEMBER(struct union_inside, c)) \
  RECORD(known, struct union_array, MEMBER(struct union_array, a) MEMBER(struct union_array, b) \
      MEMBER(struct union_array, c)) \
  RECORD(known, struct union_pointer, MEMBER(struct union_pointer, a) MEMBER(struct union_pointer, b)) \
  RECORD(known, untagged, MEMBER(untagged, a) MEMBER(untagged, b) MEMBER(untagged, c)) \
  TYPE(refused, struct bit_fields) TYPE(refused, struct bit_field_between) TYPE(refused, struct bit_field_bool) \
  TYPE(refused, struct bit_field_nested) TYPE(refused, struct bit_field_array) \
  TYPE(refused, struct bit_field_unnamed) TYPE(refused, union bit_field_union) \
  TYPE(refused, struct atomic_struct_inside) TYPE(refused, atomic_struct) TYPE(refused, atomic_chars_3) \
  TYPE(refused, atomic_union) TYPE(known, atomic_complex)

#endif
