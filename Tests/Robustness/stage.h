// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// A stage: a proxy and a lock for the writers of its list, as the Swift module has them, for programs without Swift.
/// Include it once in a program.

#ifndef FWD_STAGE_H
#define FWD_STAGE_H

#include <string.h>

#include "check.h"
#include "fwd_fan_out.h"
#include "fwd_lock.h"
#include "fwd_signature.h"
#include "members/subscriber_list.h"
#include "objects.h"
#include "proxies.h"

typedef struct stage {
  fwd_proxy *proxy;
  fwd_subscriber_list *list;
  fwd_dispatch_table *table;
  fwd_lock lock;
} stage;

static fwd_selector stage_note;
static fake_object *stage_owner;

static void stage_report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector, (void)error;
  EXPECT(!"no report");
}
/// How many records the last fan-out wanted to be looked at that met ended subscriptions.
static atomic_size_t stage_met;
static void stage_met_the_dead(void *owner, size_t count) {
  (void)owner;
  atomic_store(&stage_met, count);
}

static void stage_find_responders(void *owner, size_t method) { (void)owner, (void)method; }

/// The function of all subscribers. The context is a count of deliveries, or NULL.
static void stage_take_note(void *context, fwd_selector selector) {
  (void)selector;
  if (context) atomic_fetch_add_explicit((atomic_size_t *)context, 1, memory_order_relaxed);
}

static stage *stage_create(void) {
  static const fwd_proxy_operations operations = {
      .report = stage_report, .met_the_dead = stage_met_the_dead, .find_responders = stage_find_responders};
  stage *made = calloc(1, sizeof *made);
  NEED(made);
  if (!stage_owner) stage_owner = object_create(NULL, NULL);
  stage_note = fwd_selector_register("note");
  fwd_proxy_method method;
  memset(&method, 0, sizeof method);
  method.selector = stage_note;
  NEED(stage_note && fwd_signature_create("v@:", 3, &method.signature, NULL) == FWD_OK);
  made->proxy = new_proxy(&method, 1, stage_owner, &operations);
  NEED(made->proxy);
  fwd_signature_release(method.signature);
  made->list = fwd_proxy_core_list(made->proxy);
  made->table = fwd_dispatch_table_create(1, NULL);
  NEED(made->table);
  fwd_dispatch_table_entry(made->table, 0)->function = (void (*)(void))stage_take_note;
  return made;
}

static void stage_destroy(stage *self) {
  fwd_proxy_core_release(self->proxy);
  fwd_dispatch_table_release(self->table);
  free(self);
}

/// Subscribes a context, or an object that is held strongly or weakly.
static fwd_subscription stage_join(stage *self, fwd_hold hold, void *object, void *context, void (*destroy)(void *),
                                   size_t index) {
  fwd_subscriber subscriber = {.hold = hold, .object = object, .receiver = context, .destroy = destroy};
  fwd_garbage garbage = {.first = NULL};
  fwd_lock_lock(&self->lock);
  fwd_subscription made = fwd_list_insert(self->list, &subscriber, self->table, index, &garbage);
  fwd_lock_unlock(&self->lock);
  fwd_garbage_collect(garbage);
  return made;
}

/// Ends a subscription. Returns false if it had ended already.
static bool stage_leave(stage *self, fwd_subscription subscription) {
  fwd_garbage garbage = {.first = NULL};
  fwd_lock_lock(&self->lock);
  fwd_record *record = fwd_list_find(self->list, subscription);
  if (record) fwd_list_end(self->list, record, &garbage);
  fwd_lock_unlock(&self->lock);
  fwd_garbage_collect(garbage);
  return record != NULL;
}

static fwd_status stage_forward(stage *self) { return fwd_forward(self->proxy, stage_note, NULL, 0, NULL, 0); }

#endif
