// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Makes a chosen allocation fail, and counts what is not freed. Include it once in a program, which is linked with
/// `--wrap` for each function of `shim_allocating` (scripts/shims.sh).

#ifndef FWD_ALLOCATIONS_H
#define FWD_ALLOCATIONS_H

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include <ffi.h>

enum { never = -1 };

/// How many allocations have been asked for since `arm`, and which of them is to fail. None to begin with:
/// a sanitizer may ask before main.
static size_t requests, failing = (size_t)never;
/// Whether it has failed, and whether only a block was not made smaller, which is no failure to anyone.
static bool injected, injected_shrink;
/// Blocks, mappings and trampolines that are not freed.
static long live;

static void arm(size_t which) {
  requests = 0;
  failing = which;
  injected = injected_shrink = false;
}
static void disarm(void) { failing = (size_t)never; }

static bool is_refused(void) {
  if (requests++ != failing) return false;
  injected = true;
  errno = ENOMEM;
  return true;
}

static void *count_live(void *made) {
  if (made) live++;
  return made;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void __real_free(void *block);
void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
void *__real_ffi_closure_alloc(size_t size, void **code);
void __real_ffi_closure_free(void *closure);

void *__wrap_malloc(size_t size) { return is_refused() ? NULL : count_live(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : count_live(__real_calloc(count, size)); }
void *__wrap_realloc(void *block, size_t size) {
  if (is_refused()) {
    injected_shrink = block && size <= malloc_usable_size(block);
    return NULL;
  }
  void *made = __real_realloc(block, size);
  return block ? made : count_live(made);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return is_refused() ? NULL : count_live(__real_aligned_alloc(alignment, size));
}
int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
  if (is_refused()) return ENOMEM;
  int status = __real_posix_memalign(block, alignment, size);
  if (status == 0) live++;
  return status;
}
char *__wrap_strdup(const char *text) { return is_refused() ? NULL : count_live(__real_strdup(text)); }
char *__wrap_strndup(const char *text, size_t size) {
  return is_refused() ? NULL : count_live(__real_strndup(text, size));
}
void __wrap_free(void *block) {
  if (block) live--;
  __real_free(block);
}
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  if (is_refused()) return MAP_FAILED;
  void *made = __real_mmap(address, size, protection, flags, file, offset);
  if (made != MAP_FAILED) live++;
  return made;
}
int __wrap_munmap(void *address, size_t size) {
  live--;
  return __real_munmap(address, size);
}
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  return is_refused() ? EAGAIN : __real_pthread_key_create(key, destructor);
}
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  return is_refused() ? ENOMEM : __real_pthread_atfork(prepare, parent, child);
}
int __wrap_pthread_setspecific(pthread_key_t key, const void *value) {
  return is_refused() ? ENOMEM : __real_pthread_setspecific(key, value);
}
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
  return is_refused() ? ENOMEM : __real_pthread_getattr_np(thread, attributes);
}
void *__wrap_ffi_closure_alloc(size_t size, void **code) {
  return is_refused() ? NULL : count_live(__real_ffi_closure_alloc(size, code));
}
void __wrap_ffi_closure_free(void *closure) {
  if (closure) live--;
  __real_ffi_closure_free(closure);
}

#endif
