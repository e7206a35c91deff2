// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// References to proxies that may be gone: threads end subscriptions, and ask for the owner, while proxies die and their
/// anchors are used again.

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "check.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"
#include "fwd_lock.h"
#include "members/garbage.h"
#include "members/subscriber_list.h"
#include "objects.h"
#include "proxies.h"

enum { subscription_count = 10, thread_count = 3, rounds = 1000 };

static fwd_proxy_method method;

static const fwd_proxy_operations operations = QUIET_OPERATIONS;

static void take(void *context, fwd_selector selector) { (void)context, (void)selector; }

/// The owner of a proxy is deinitialised, as `DynamicProxy` is.
static void end_proxy(fake_object *self) {
  fwd_proxy *proxy = self->tag;
  fwd_proxy_core_disown(proxy);
  bool is_alone = fwd_proxy_core_is_alone(proxy);
  fwd_garbage garbage = {.first = NULL};
  if (!is_alone) fwd_lock_lock(fwd_proxy_core_lock(proxy));
  fwd_proxy_core_close(proxy, &garbage);
  if (!is_alone) fwd_lock_unlock(fwd_proxy_core_lock(proxy));
  fwd_garbage_free(garbage);
  fwd_proxy_core_release(proxy);
}

/// Creates an object that owns a proxy.
static fake_object *make_owner(fwd_method_set *methods, bool keeps_methods) {
  fwd_proxy *proxy = fwd_proxy_core_create(methods, keeps_methods, false, 0, NULL, &operations);
  NEED(proxy);
  fake_object *owner = object_create(end_proxy, proxy);
  NEED(fwd_proxy_core_adopt(proxy, owner, NULL));
  return owner;
}

static fwd_dispatch_table *make_table(void) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
  NEED(table);
  fwd_dispatch_table_entry(table, 0)->function = (void (*)(void))take;
  return table;
}

static fwd_subscription subscribe(fwd_proxy *proxy, fwd_dispatch_table *table, fwd_subscriber subscriber) {
  fwd_garbage garbage = {.first = NULL};
  fwd_lock_lock(fwd_proxy_core_lock(proxy));
  fwd_subscription made = fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage);
  fwd_lock_unlock(fwd_proxy_core_lock(proxy));
  NEED(made);
  fwd_garbage_collect(garbage);
  return made;
}

// MARK: What has waited for readers

static fake_object *last_owner;
static size_t notified;

static void *release_last_owner(void *unused) {
  (void)unused;
  swift_release(last_owner);
  return NULL;
}

/// Runs while another thread releases the last reference to the owner.
static void notify(void *context) {
  (void)context;
  notified++;
  fwd_proxy *proxy = last_owner->tag;
  pthread_t thread;
  NEED(pthread_create(&thread, NULL, release_last_owner, NULL) == 0);
  pthread_join(thread, NULL);
  EXPECT(fwd_forward(proxy, method.selector, NULL, 0, NULL, 0) == FWD_OK);
}

/// The end of a weak subscription also frees what waited for readers, and then a notifier of that may use the proxy.
static void waiting_garbage_keeps_the_owner(void) {
  check_begin("a notifier that has waited for readers runs while the owner lives");
  fwd_method_set *methods = fwd_method_set_create(&method, 1);
  NEED(methods);
  last_owner = make_owner(methods, false);
  fwd_proxy *proxy = last_owner->tag;
  fwd_dispatch_table *table = make_table();
  fake_object *stays = object_create(NULL, NULL), *leaves = object_create(NULL, NULL);
  subscribe(proxy, table, (fwd_subscriber){.hold = FWD_HOLD_WEAK, .object = stays, .receiver = stays});
  // Its limit leaves garbage.
  fwd_subscription weak = subscribe(
      proxy, table, (fwd_subscriber){.hold = FWD_HOLD_WEAK, .object = leaves, .receiver = leaves, .limit = 5});
  fwd_subscription context = subscribe(proxy, table, (fwd_subscriber){.hold = FWD_HOLD_NONE, .destroy = notify});
  fwd_dispatch_table_release(table);
  fwd_proxy_reference reference = fwd_proxy_core_reference(proxy);
  fwd_reading reading = fwd_list_enter(fwd_proxy_list(proxy));
  EXPECT(fwd_proxy_reference_leave(reference, context) == FWD_LEAVING_DONE && notified == 0);
  // The reader has left, and has not looked yet whether something waits for it.
  atomic_store(&reading.guard.hazard->domain, NULL);
  EXPECT(fwd_proxy_reference_leave(reference, weak) == FWD_LEAVING_DONE && notified == 1);
  fwd_method_set_release(methods);
  swift_release(stays);
  swift_release(leaves);
}

// MARK: Threads

static struct {
  pthread_mutex_t lock;
  fwd_proxy_reference reference;
  fwd_subscription subscriptions[subscription_count];
  bool exists;
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool is_done;
static atomic_size_t left, retained;

/// Ends the subscriptions of the newest proxy, and forwards with it.
static void *end_subscriptions(void *unused) {
  (void)unused;
  while (!atomic_load(&is_done)) {
    pthread_mutex_lock(&shown.lock);
    bool exists = shown.exists;
    fwd_proxy_reference reference = shown.reference;
    fwd_subscription subscriptions[subscription_count];
    memcpy(subscriptions, shown.subscriptions, sizeof subscriptions);
    pthread_mutex_unlock(&shown.lock);
    for (size_t i = 0; exists && i < subscription_count; i++) {
      fake_object *owner = fwd_proxy_reference_retain_owner(reference);
      if (owner) {
        atomic_fetch_add(&retained, 1);
        fwd_forward(owner->tag, method.selector, NULL, 0, NULL, 0);
        swift_release(owner);
      }
      if (fwd_proxy_reference_leave(reference, subscriptions[i]) == FWD_LEAVING_DONE) atomic_fetch_add(&left, 1);
    }
  }
  return NULL;
}

/// Makes a proxy and ends it, on a thread that leaves an anchor.
static void *use_briefly(void *methods) {
  fake_object *owner = make_owner(methods, true);
  fwd_proxy_core_reference(owner->tag);
  swift_release(owner);
  return NULL;
}

static void threads_end_subscriptions_of_dying_proxies(void) {
  check_begin("threads end subscriptions of dying proxies");
  pthread_t threads[thread_count];
  for (size_t i = 0; i < thread_count; i++) NEED(pthread_create(&threads[i], NULL, end_subscriptions, NULL) == 0);
  fwd_method_set *methods = fwd_method_set_create(&method, 1);
  NEED(methods);
  for (size_t round = 0; round < rounds; round++) {
    fake_object *owner = make_owner(methods, round % 2);
    fwd_dispatch_table *table = make_table();
    fake_object *objects[subscription_count];
    fwd_subscription made[subscription_count];
    for (size_t i = 0; i < subscription_count; i++) {
      objects[i] = object_create(NULL, NULL);
      fwd_subscriber subscriber = {.hold = i % 3 == 2 ? FWD_HOLD_STRONG : FWD_HOLD_WEAK, .object = objects[i],
                                   .receiver = objects[i], .limit = i % 4 == 1 ? 3 : 0};
      made[i] = subscribe(owner->tag, table, subscriber);
    }
    fwd_dispatch_table_release(table);
    pthread_mutex_lock(&shown.lock);
    shown.reference = fwd_proxy_core_reference(owner->tag);
    memcpy(shown.subscriptions, made, sizeof made);
    shown.exists = true;
    pthread_mutex_unlock(&shown.lock);
    if (round % 50 == 0) {
      pthread_t brief;
      NEED(pthread_create(&brief, NULL, use_briefly, methods) == 0);
      pthread_join(brief, NULL);
    }
    // In some rounds the threads come before the end, in some not.
    for (size_t i = 0; i < round % 8; i++) sched_yield();
    for (size_t i = 0; i < subscription_count; i += 2) swift_release(objects[i]);
    swift_release(owner);
    for (size_t i = 1; i < subscription_count; i += 2) swift_release(objects[i]);
  }
  atomic_store(&is_done, true);
  for (size_t i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  fwd_method_set_release(methods);
  EXPECT(atomic_load(&left) > 0 && atomic_load(&retained) > 0);
}

int main(void) {
  method.selector = fwd_selector_register("take");
  NEED(fwd_signature_create("v@:", 3, &method.signature, NULL) == FWD_OK);
  waiting_garbage_keeps_the_owner();
  threads_end_subscriptions_of_dying_proxies();
  fwd_signature_release(method.signature);
  check_begin("all objects are freed");
  EXPECT(atomic_load(&objects_allocated) == 0);
  return check_finish();
}
