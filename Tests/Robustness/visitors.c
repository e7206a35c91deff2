// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Tests visitors that change the proxy which they visit: `fwd_collect` and `fwd_proxy_visit_subscribers`, while
/// subscriptions end and begin and objects die. Then reads options of all sizes, in blocks of exactly their size.

#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fwd_fan_out.h"
#include "fwd_options.h"
#include "objects.h"
#include "proxies.h"

enum { subscriber_count = 40 };

static fwd_proxy *proxy;
static fwd_subscriber_list *list;
static fwd_selector ask, make;
static fwd_subscription subscriptions[subscriber_count];
static fake_object *objects[subscriber_count];
static size_t destroyed, reported;

static int32_t answer(void *context, fwd_selector selector, int32_t number) {
  (void)context, (void)selector;
  return number + 1;
}

/// Returns an object, with a reference for the caller.
static void *give_object(void *context, fwd_selector selector) {
  (void)context, (void)selector;
  return object_create(NULL, NULL);
}

static void destroy(void *context) {
  (void)context;
  destroyed++;
}

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector, (void)error;
  reported++;
}

static void prune(void *owner, size_t visited) {
  (void)owner, (void)visited;
  fwd_garbage garbage = {0};
  NEED(fwd_list_prune(list, &garbage));
  fwd_garbage_collect(garbage);
}

static void begin(size_t index) {
  static const char key;
  fwd_dispatch_table *table = fwd_dispatch_table_create(2, &key);
  NEED(table);
  fwd_dispatch_table_entry(table, 0)->function = (void (*)(void))answer;
  fwd_dispatch_table_entry(table, 1)->function = (void (*)(void))give_object;
  fwd_subscriber subscriber = {.receiver = &objects[index], .destroy = destroy};
  objects[index] = NULL;
  // Every third subscriber is an object that is held weakly.
  if (index % 3 == 0) {
    objects[index] = object_create(NULL, NULL);
    subscriber = (fwd_subscriber){.object = objects[index], .hold = FWD_HOLD_WEAK, .receiver = objects[index]};
  }
  fwd_garbage garbage = {0};
  subscriptions[index] = fwd_list_insert(list, &subscriber, table, fwd_list_count(list), &garbage);
  NEED(subscriptions[index]);
  fwd_dispatch_table_release(table);
  fwd_garbage_collect(garbage);
}

static void end(size_t index) {
  fwd_record *record = fwd_list_find(list, subscriptions[index]);
  fwd_garbage garbage = {0};
  if (record) fwd_list_end(list, record, &garbage);
  fwd_garbage_collect(garbage);
  if (objects[index]) swift_release(objects[index]);
  objects[index] = NULL;
  subscriptions[index] = 0;
}

static void find_responders(void *owner, size_t method) { (void)owner, (void)method; }

static void make_proxy(void *owner) {
  static const fwd_proxy_operations operations = {.report = report, .met_the_dead = prune, .find_responders = find_responders};
  ask = fwd_selector_register("ask:");
  make = fwd_selector_register("make");
  fwd_proxy_method methods[2] = {{.selector = ask, .policy = FWD_RESULT_ALL_LAST}, {.selector = make}};
  NEED(fwd_signature_create("i@:i", 4, &methods[0].signature, NULL) == FWD_OK);
  NEED(fwd_signature_create("@@:", 3, &methods[1].signature, NULL) == FWD_OK);
  proxy = new_proxy(methods, 2, owner, &operations);
  NEED(proxy);
  list = fwd_proxy_core_list(proxy);
  fwd_signature_release(methods[0].signature);
  fwd_signature_release(methods[1].signature);
  for (size_t i = 0; i < subscriber_count; i++) begin(i);
}

static void destroy_proxy(void) {
  for (size_t i = 0; i < subscriber_count; i++) {
    if (subscriptions[i]) end(i);
  }
  fwd_proxy_core_release(proxy);
}

// MARK: Visitors

typedef struct visit {
  size_t count;
  size_t stop_at;
  /// Whether each visit ends the visited subscription and one that has not been visited yet, and begins a new one.
  bool changes;
  int32_t sum;
} visit;

/// Returns the index of a subscription that has not ended, or the count.
static size_t find(fwd_subscription subscription) {
  size_t index = 0;
  while (index < subscriber_count && subscriptions[index] != subscription) index++;
  return index;
}

static bool visit_any(visit *self, fwd_subscription subscription) {
  size_t index = find(subscription);
  // A subscription that has ended is not visited.
  EXPECT(index < subscriber_count);
  if (self->changes) {
    size_t later = (index + 7) % subscriber_count;
    end(index);
    begin(index);
    if (subscriptions[later]) end(later);
  }
  return ++self->count != self->stop_at;
}

static bool take_number(void *context, fwd_subscription subscription, const void *result) {
  visit *self = context;
  int32_t number;
  memcpy(&number, result, sizeof number);
  self->sum += number;
  return visit_any(self, subscription);
}

static bool take_object(void *context, fwd_subscription subscription, const void *result) {
  void *object;
  memcpy(&object, result, sizeof object);
  // The visitor may retain the object.
  swift_release(swift_retain(object));
  return visit_any(context, subscription);
}

static bool take_subscriber(void *context, const fwd_subscriber_info *subscriber) {
  EXPECT(subscriber->size == sizeof *subscriber && (subscriber->object == NULL) != (subscriber->context == NULL));
  size_t index = find(subscriber->subscription);
  EXPECT(index < subscriber_count);
  bool goes_on = visit_any(context, subscriber->subscription);
  // The object is retained while it is visited.
  if (subscriber->object) object_check(subscriber->object);
  return goes_on;
}

static void check_visitors(void *owner) {
  int32_t number = 1;
  check_begin("each result is collected once");
  make_proxy(owner);
  visit all = {0};
  EXPECT(fwd_collect(proxy, ask, &number, sizeof number, take_number, &all) == FWD_OK);
  EXPECT(all.count == subscriber_count && all.sum == 2 * subscriber_count);
  visit some = {.stop_at = 5};
  EXPECT(fwd_collect(proxy, ask, &number, sizeof number, take_number, &some) == FWD_OK && some.count == 5);
  check_begin("a collected object is released after the visitor");
  long before = atomic_load(&objects_allocated);
  visit made = {0};
  EXPECT(fwd_collect(proxy, make, NULL, 0, take_object, &made) == FWD_OK && made.count == subscriber_count);
  EXPECT(atomic_load(&objects_allocated) == before);
  check_begin("each subscriber is visited once");
  visit seen = {0};
  EXPECT(fwd_proxy_visit_subscribers(proxy, take_subscriber, &seen) == FWD_OK && seen.count == subscriber_count);
  check_begin("visitors may end and begin subscriptions");
  for (int round = 0; round < 3; round++) {
    visit changing = {.changes = true};
    EXPECT(fwd_collect(proxy, ask, &number, sizeof number, take_number, &changing) == FWD_OK);
    EXPECT(changing.count > 0 && changing.count <= subscriber_count);
    for (size_t i = 0; i < subscriber_count; i++) {
      if (!subscriptions[i]) begin(i);
    }
    visit listing = {.changes = true};
    EXPECT(fwd_proxy_visit_subscribers(proxy, take_subscriber, &listing) == FWD_OK);
    EXPECT(listing.count > 0 && listing.count <= subscriber_count);
    for (size_t i = 0; i < subscriber_count; i++) {
      if (!subscriptions[i]) begin(i);
    }
  }
  check_begin("a frame without alignment is copied, and a wrong one refused");
  char bytes[sizeof number + 1];
  memcpy(bytes + 1, &number, sizeof number);
  visit unaligned = {0};
  EXPECT(fwd_collect(proxy, ask, bytes + 1, sizeof number, take_number, &unaligned) == FWD_OK);
  EXPECT(unaligned.sum == 2 * subscriber_count);
  EXPECT(fwd_collect(proxy, ask, bytes, sizeof bytes, take_number, &unaligned) == FWD_WRONG_SIZE);
  EXPECT(fwd_collect(proxy, ask, NULL, sizeof number, take_number, &unaligned) == FWD_NULL_ARGUMENT);
  EXPECT(fwd_collect(proxy, ask, &number, sizeof number, NULL, NULL) == FWD_NULL_ARGUMENT);
  EXPECT(fwd_proxy_visit_subscribers(proxy, NULL, NULL) == FWD_NULL_ARGUMENT);
  EXPECT(reported == 0);
  destroy_proxy();
}

// MARK: Options

/// Makes options in a block of exactly their size, so that a sanitizer finds reads past the end. The block is filled
/// with `filling` behind the known members.
static void *block_of(const void *known, size_t known_size, size_t size, unsigned char filling) {
  unsigned char *block = malloc(size);
  NEED(block);
  memset(block, filling, size);
  memcpy(block, known, known_size < size ? known_size : size);
  return block;
}

static void check_options(void) {
  check_begin("options of other sizes are read up to their end, or refused");
  for (size_t size = sizeof(size_t); size < sizeof(fwd_proxy_options) + 40; size++) {
    fwd_proxy_options known = FWD_PROXY_OPTIONS_INIT, options;
    fwd_error error;
    known.size = size;
    known.method_count = 3;
    for (int filling = 0; filling < 2; filling++) {
      fwd_proxy_options *given = block_of(&known, sizeof known, size, (unsigned char)filling);
      memset(&options, 0xA5, sizeof options);
      fwd_status status = fwd_proxy_options_read(given, &options, &error);
      fwd_status expected = size < sizeof known                ? FWD_WRONG_SIZE
                            : filling && size > sizeof known ? FWD_WRONG_VERSION
                                                               : FWD_OK;
      EXPECT(status == expected && (status == FWD_OK || error.status == status));
      if (status == FWD_OK) EXPECT(memcmp((char *)&options + sizeof(size_t), (char *)&known + sizeof(size_t),
                                          sizeof known - sizeof(size_t)) == 0);
      free(given);
    }
  }
  const size_t wild[] = {0, 1, 7, 4097, SIZE_MAX / 2, SIZE_MAX};
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    size_t *given = malloc(sizeof(size_t));
    NEED(given);
    *given = wild[i];
    fwd_proxy_options options;
    fwd_subscribe_options subscribing;
    EXPECT(fwd_proxy_options_read((const fwd_proxy_options *)given, &options, NULL) == FWD_WRONG_SIZE);
    EXPECT(fwd_subscribe_options_read((const fwd_subscribe_options *)given, &subscribing, NULL) == FWD_WRONG_SIZE);
    free(given);
  }

  check_begin("an array of options is read with its own stride");
  for (size_t stride = sizeof(fwd_method_options); stride < sizeof(fwd_method_options) + 24; stride++) {
    char *methods = calloc(3, stride);
    NEED(methods);
    for (size_t i = 0; i < 3; i++) {
      fwd_method_options method = {.selector = "ask:", .policy = (fwd_result_policy)i};
      memcpy(methods + i * stride, &method, sizeof method);
    }
    fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
    options.methods = (const fwd_method_options *)(void *)methods;
    options.method_count = 3;
    options.method_size = stride;
    for (size_t i = 0; i < 3; i++) {
      fwd_method_options method;
      EXPECT(fwd_method_options_read(&options, i, &method, NULL) == FWD_OK && (size_t)method.policy == i);
    }
    free(methods);
  }

  check_begin("an array of callbacks is read with its own stride");
  for (size_t stride = sizeof(fwd_callback); stride < sizeof(fwd_callback) + 24; stride++) {
    char *callbacks = calloc(3, stride);
    NEED(callbacks);
    for (size_t i = 0; i < 3; i++) {
      fwd_callback callback = {.offset = 8 * i, .selector = "ask:", .failure_result_size = i};
      memcpy(callbacks + i * stride, &callback, sizeof callback);
    }
    for (size_t i = 0; i < 3; i++) {
      fwd_callback callback;
      const fwd_callback *given = (const fwd_callback *)(void *)callbacks;
      EXPECT(fwd_callback_read(given, stride, i, &callback, NULL) == FWD_OK);
      EXPECT(callback.offset == 8 * i && callback.failure_result_size == i);
    }
    if (stride > sizeof(fwd_callback)) {
      // The last byte is of a member that the library does not know.
      callbacks[3 * stride - 1] = 1;
      fwd_callback callback;
      EXPECT(fwd_callback_read((const fwd_callback *)(void *)callbacks, stride, 2, &callback, NULL) ==
             FWD_WRONG_VERSION);
    }
    free(callbacks);
  }
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
    fwd_callback given = {.selector = "ask:"}, callback;
    EXPECT(fwd_callback_read(&given, wild[i], 0, &callback, NULL) == FWD_WRONG_SIZE);
  }
}

int main(void) {
  fake_object *owner = object_create(NULL, NULL);
  check_visitors(owner);
  check_options();
  check_begin("nothing is left");
  swift_release(owner);
  EXPECT(atomic_load(&objects_alive) == 0 && atomic_load(&objects_allocated) == 0);
  EXPECT(destroyed > 0);
  return check_finish();
}
