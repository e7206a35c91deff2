// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The part of libclang's C interface that the tool uses, found at run time. Declared here, so that neither libclang's
/// headers nor the library are needed to build the tool. The interface has been stable since LLVM 3
/// (https://clang.llvm.org/docs/LibClang.html): the same declarations hold for versions 14 to 22.

#ifndef CLANG_INDEX_H
#define CLANG_INDEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct clang_type {
  int kind;
  void *data[2];
} clang_type;

typedef struct clang_cursor {
  int kind;
  int extra;
  const void *data[3];
} clang_cursor;

typedef struct clang_string {
  const void *data;
  unsigned flags;
} clang_string;

typedef struct clang_location {
  const void *data[2];
  unsigned number;
} clang_location;

typedef struct clang_unsaved_file {
  const char *name;
  const char *contents;
  unsigned long length;
} clang_unsaved_file;

typedef int (*clang_cursor_visitor)(clang_cursor cursor, clang_cursor parent, void *context);
typedef int (*clang_field_visitor)(clang_cursor field, void *context);

/// Each function of libclang that is used: its result, its name without `clang_`, and its parameters.
#define CLANG_INDEX_FUNCTIONS(X)                                                                                      \
  X(void *, createIndex, (int exclude_declarations, int display_diagnostics))                                         \
  X(void, disposeIndex, (void *index))                                                                                \
  X(int, parseTranslationUnit2,                                                                                       \
    (void *index, const char *name, const char *const *arguments, int argument_count, clang_unsaved_file *files,      \
     unsigned file_count, unsigned options, void **unit))                                                             \
  X(void, disposeTranslationUnit, (void *unit))                                                                       \
  X(unsigned, getNumDiagnostics, (void *unit))                                                                        \
  X(void *, getDiagnostic, (void *unit, unsigned index))                                                              \
  X(int, getDiagnosticSeverity, (void *diagnostic))                                                                   \
  X(clang_string, getDiagnosticSpelling, (void *diagnostic))                                                          \
  X(clang_location, getDiagnosticLocation, (void *diagnostic))                                                        \
  X(void, disposeDiagnostic, (void *diagnostic))                                                                      \
  X(void, getPresumedLocation, (clang_location location, clang_string *file, unsigned *line, unsigned *column))       \
  X(clang_cursor, getTranslationUnitCursor, (void *unit))                                                             \
  X(unsigned, visitChildren, (clang_cursor cursor, clang_cursor_visitor visitor, void *context))                      \
  X(clang_location, getCursorLocation, (clang_cursor cursor))                                                         \
  X(clang_string, getCursorSpelling, (clang_cursor cursor))                                                           \
  X(clang_type, getCursorType, (clang_cursor cursor))                                                                 \
  X(clang_cursor, getCanonicalCursor, (clang_cursor cursor))                                                          \
  X(unsigned, equalCursors, (clang_cursor cursor, clang_cursor other))                                                \
  X(unsigned, hashCursor, (clang_cursor cursor))                                                                      \
  X(unsigned, isCursorDefinition, (clang_cursor cursor))                                                              \
  X(clang_string, Cursor_getMangling, (clang_cursor cursor))                                                          \
  X(unsigned, Cursor_isBitField, (clang_cursor field))                                                                \
  X(unsigned, Cursor_isAnonymous, (clang_cursor cursor))                                                              \
  X(int, getFieldDeclBitWidth, (clang_cursor field))                                                                  \
  X(long long, Cursor_getOffsetOfField, (clang_cursor field))                                                         \
  X(clang_type, getTypedefDeclUnderlyingType, (clang_cursor declaration))                                             \
  X(clang_type, getEnumDeclIntegerType, (clang_cursor declaration))                                                   \
  X(clang_cursor, getTypeDeclaration, (clang_type type))                                                              \
  X(clang_type, getCanonicalType, (clang_type type))                                                                  \
  X(clang_type, getPointeeType, (clang_type type))                                                                    \
  X(clang_type, getResultType, (clang_type type))                                                                     \
  X(int, getNumArgTypes, (clang_type type))                                                                           \
  X(clang_type, getArgType, (clang_type type, unsigned index))                                                        \
  X(unsigned, isFunctionTypeVariadic, (clang_type type))                                                              \
  X(int, getFunctionTypeCallingConv, (clang_type type))                                                               \
  X(unsigned, isConstQualifiedType, (clang_type type))                                                                \
  X(clang_type, getArrayElementType, (clang_type type))                                                               \
  X(long long, getArraySize, (clang_type type))                                                                       \
  X(clang_type, getElementType, (clang_type type))                                                                    \
  X(clang_string, getTypeSpelling, (clang_type type))                                                                 \
  X(long long, Type_getSizeOf, (clang_type type))                                                                     \
  X(long long, Type_getAlignOf, (clang_type type))                                                                    \
  X(unsigned, Type_visitFields, (clang_type type, clang_field_visitor visitor, void *context))                        \
  X(clang_type, Type_getValueType, (clang_type type))                                                                 \
  X(int, Type_getNullability, (clang_type type))                                                                      \
  X(const char *, getCString, (clang_string string))                                                                  \
  X(void, disposeString, (clang_string string))                                                                       \
  X(clang_string, getClangVersion, (void))

/// Pointers to these functions, each a member of its name.
typedef struct clang_index {
#define CLANG_INDEX_MEMBER(result, name, parameters) result(*name) parameters;
  CLANG_INDEX_FUNCTIONS(CLANG_INDEX_MEMBER)
#undef CLANG_INDEX_MEMBER
} clang_index;

/// Opens libclang, which stays open, and finds the functions. If it cannot, returns false and writes the reason to `reason`,
/// cut to `capacity` bytes with a NUL.
bool clang_index_open(const char *path, clang_index *functions, char *reason, size_t capacity);

/// The kinds of declarations that are used (CXCursorKind).
enum {
  clang_cursor_struct = 2,
  clang_cursor_union = 3,
  clang_cursor_function = 8,
  clang_cursor_variable = 9,
  clang_cursor_parameter = 10,
  clang_cursor_typedef = 20,
  clang_cursor_packed = 408,
  clang_cursor_aligned = 441,
};

/// The kinds of types that are used (CXTypeKind).
enum {
  clang_type_invalid = 0,
  clang_type_void = 2,
  clang_type_bool = 3,
  /// char, where it is unsigned.
  clang_type_char_u = 4,
  clang_type_uchar = 5,
  clang_type_char16 = 6,
  clang_type_char32 = 7,
  clang_type_ushort = 8,
  clang_type_uint = 9,
  clang_type_ulong = 10,
  clang_type_ulonglong = 11,
  clang_type_uint128 = 12,
  /// char, where it is signed.
  clang_type_char_s = 13,
  clang_type_schar = 14,
  clang_type_wchar = 15,
  clang_type_short = 16,
  clang_type_int = 17,
  clang_type_long = 18,
  clang_type_longlong = 19,
  clang_type_int128 = 20,
  clang_type_float = 21,
  clang_type_double = 22,
  clang_type_long_double = 23,
  clang_type_complex = 100,
  clang_type_pointer = 101,
  clang_type_block = 102,
  clang_type_record = 105,
  clang_type_enum = 106,
  clang_type_typedef = 107,
  clang_type_function_no_prototype = 110,
  clang_type_function = 111,
  clang_type_array = 112,
  clang_type_incomplete_array = 114,
  clang_type_variable_array = 115,
  clang_type_elaborated = 119,
  clang_type_atomic = 177,
};

#endif
