// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Objective-C, since only there the compiler tells the encoding of a type. Nothing of an Objective-C runtime is used.

#include "c_types.h"

#include "CTestFixtures.h"
#include <signal.h>
#include <string.h>
#include <time.h>

#define ROW(type) {#type, @encode(type), sizeof(type), _Alignof(type)}

static const struct fixture_c_type rows[] = {
    ROW(signed char),
    ROW(unsigned char),
    ROW(short),
    ROW(unsigned short),
    ROW(int),
    ROW(unsigned int),
    ROW(long),
    ROW(unsigned long),
    ROW(long long),
    ROW(unsigned long long),
    ROW(__int128),
    ROW(unsigned __int128),
    ROW(_Bool),
    ROW(float),
    ROW(double),
    ROW(long double),
    ROW(const char *),
    ROW(char *),
    ROW(const unsigned char *),
    ROW(const void *),
    ROW(void *),
    ROW(struct unknown *),
    ROW(const int *),
    ROW(double *),
    ROW(const char *const *),
    ROW(void **),
    ROW(const struct timespec *),
    ROW(const union sigval *),
    ROW(const struct fixture_point *),
    ROW(const enum fixture_color *),
    ROW(void (*)(int)),
    ROW(id),
    ROW(Class),
    ROW(SEL),
    ROW(struct fixture_point),
    ROW(struct fixture_packed),
    ROW(enum fixture_color),
};

const struct fixture_c_type *fixture_c_type_named(const char *name) {
  for (size_t index = 0; index < sizeof rows / sizeof *rows; index++)
    if (strcmp(rows[index].name, name) == 0) return &rows[index];
  return NULL;
}
