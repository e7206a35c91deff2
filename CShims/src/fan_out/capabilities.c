// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Questions about the subscribers of a proxy: how many there are, which they are, and whether one responds.

#include <string.h>

#include "base/error.h"
#include "base/small_code.h"
#include "fan_out/implementation.h"
#include "fan_out/nesting.h"
#include "fan_out/proxy.h"
#include "fwd_fan_out.h"

FWD_SMALL_CODE_BEGIN

/// What a query has visited.
typedef struct visit_counts {
  size_t count;
  /// The number of records whose objects have died or whose deliveries are used up.
  size_t gone;
} visit_counts;

static bool is_live(const fwd_record *record, visit_counts *visits) {
  if (fwd_held_has_ended(fwd_record_held(record))) return false;
  if (fwd_record_is_live(record)) return true;
  visits->gone++;
  return false;
}

/// Receives a record. Returns whether to go on.
typedef bool (*record_visitor)(void *visitor, const fwd_record *record, visit_counts *visits);

/// Visits the records of a list in order. Then tells the list what has been found: what a dead subscriber's closures captured
/// is released here.
static void visit_records(fwd_proxy *proxy, record_visitor visit, void *visitor) {
  fwd_reading reading = fwd_list_enter(fwd_proxy_list(proxy));
  bool goes_on = true;
  visit_counts visits = {0, 0};
  fwd_span span;
  for (bool found = fwd_span_first(fwd_proxy_list(proxy), &span); found && goes_on; found = fwd_span_next(&span)) {
    for (size_t i = 0; i < span.count && goes_on; i++) {
      visits.count++;
      goes_on = visit(visitor, span.records[i], &visits);
    }
  }
  fwd_list_leave(&reading);
  if (visits.gone > 0 && !fwd_proxy_is_closing(proxy)) proxy->operations->met_the_dead(proxy->owner, visits.count);
}

// MARK: Whether one responds

typedef struct response_visitor {
  size_t index;
  bool responds;
} response_visitor;

static bool visit_until_response(void *visitor, const fwd_record *record, visit_counts *visits) {
  response_visitor *self = visitor;
  // First, since the table of a subscription that has ended may be gone.
  uintptr_t held = fwd_record_held(record);
  if (fwd_held_has_ended(held) || fwd_held_is_blocked(held)) return true;
  const fwd_implementation *implementation = fwd_record_implementation(record, self->index);
  if (fwd_implementation_is_empty(implementation) || implementation->packed == fwd_tell_packed) return true;
  fwd_taken taken;
  if (!is_live(record, visits) || !fwd_record_take(record, &taken)) return true;
  // A subscriber that is a proxy implements every method, but responds to those that its own subscribers implement.
  self->responds = implementation->packed != fwd_forward_packed ||
                   fwd_proxy_core_responds(record->receiver, implementation->context);
  fwd_record_drop(taken);
  return !self->responds;
}

static bool subscriber_responds(fwd_proxy *proxy, const fwd_proxy_method *method) {
  response_visitor visitor = {fwd_compiled_method_of(method)->index, false};
  uint32_t tables = fwd_list_tables(fwd_proxy_list(proxy), visitor.index);
  if (tables & FWD_ANSWERED) return true;
  if (fwd_tables_have_some(tables)) visit_records(proxy, visit_until_response, &visitor);
  return visitor.responds;
}

bool fwd_proxy_core_responds(fwd_proxy *proxy, const fwd_proxy_method *method) {
  // An interceptor that responds is still noted when its own notifier runs.
  if (fwd_proxy_is_closing(proxy)) return false;
  if (fwd_list_is_blocked(fwd_proxy_list(proxy), fwd_compiled_method_of(method)->index)) return false;
  // A chain of proxies is asked from one to the next, each in a frame, as those of fan-outs are.
  fwd_nesting_frame frame = {.outer = NULL};
  if (!fwd_nesting_has_room(&frame, 0)) return false;
  fwd_nesting_enter(&frame, FWD_NESTING_OTHER);
  bool responds = subscriber_responds(proxy, method) ||
                  (atomic_load_explicit(&proxy->forwards_unhandled, memory_order_acquire) &&
                   proxy->operations->forwards_unhandled(proxy->owner, method->selector));
  fwd_nesting_leave(&frame, false);
  return responds;
}

bool fwd_proxy_responds(fwd_proxy *proxy, fwd_selector selector) {
  const fwd_proxy_method *method = proxy ? fwd_proxy_core_method(proxy, selector) : NULL;
  if (!method) return false;
  // A subscriber that is released meanwhile may hold the caller's last reference to the proxy.
  void *owner = fwd_proxy_hold(proxy);
  bool responds = fwd_proxy_core_responds(proxy, method);
  fwd_object_release(owner);
  return responds;
}

static fwd_explained explain(const fwd_record *record, size_t index) {
  fwd_explained explained = {.fate = FWD_FATE_ENDED, .subscription = record->identifier};
  uintptr_t held = fwd_record_held(record);
  // The table and the object of a subscription that has ended may be gone.
  if (fwd_held_has_ended(held)) return explained;
  const void *object = fwd_held_object(fwd_held_behind_gate(held));
  // The first word of a Swift object is its metadata, also after its death: the record keeps the memory.
  if (object) memcpy(&explained.object_type, object, sizeof explained.object_type);
  fwd_taken taken;
  if (!fwd_record_take(record, &taken)) {
    explained.fate = fwd_held_is_used_up(held) ? FWD_FATE_USED_UP : FWD_FATE_DEAD;
    return explained;
  }
  if (!object) explained.context = record->receiver;
  const fwd_implementation *implementation = fwd_record_implementation(record, index);
  if (fwd_implementation_is_empty(implementation)) {
    explained.fate = FWD_FATE_NOT_IMPLEMENTED;
  } else if (fwd_held_is_blocked(held)) {
    explained.fate = FWD_FATE_BLOCKED;
  } else if (implementation->packed == fwd_forward_packed &&
             !fwd_proxy_core_responds(record->receiver, implementation->context)) {
    explained.fate = FWD_FATE_NO_RESPONDER;
  } else if (implementation->packed == fwd_tell_packed) {
    explained.fate = FWD_FATE_TOLD;
  } else {
    explained.fate = FWD_FATE_CALLED;
  }
  fwd_record_drop(taken);
  return explained;
}

typedef struct explaining_visitor {
  size_t index;
  void (*visit)(void *context, const fwd_explained *explained);
  void *context;
} explaining_visitor;

static bool visit_to_explain(void *visitor, const fwd_record *record, visit_counts *visits) {
  (void)visits;
  const explaining_visitor *self = visitor;
  fwd_explained explained = explain(record, self->index);
  self->visit(self->context, &explained);
  return true;
}

void fwd_proxy_core_explain(fwd_proxy *proxy, const fwd_proxy_method *method,
                            void (*visit)(void *context, const fwd_explained *explained), void *context) {
  visit_records(proxy, visit_to_explain, &(explaining_visitor){fwd_compiled_method_of(method)->index, visit, context});
}

// MARK: Which there are

static bool visit_to_count(void *visitor, const fwd_record *record, visit_counts *visits) {
  *(size_t *)visitor += is_live(record, visits);
  return true;
}

size_t fwd_proxy_subscriber_count(fwd_proxy *proxy) {
  if (!proxy) return 0;
  void *owner = fwd_proxy_hold(proxy);
  size_t count = 0;
  visit_records(proxy, visit_to_count, &count);
  fwd_object_release(owner);
  return count;
}

typedef struct core_visitor {
  bool (*visit)(void *context, void *object, fwd_subscription identifier, const fwd_dispatch_table *table);
  void *context;
} core_visitor;

static bool visit_for_core(void *visitor, const fwd_record *record, visit_counts *visits) {
  const core_visitor *self = visitor;
  fwd_taken taken;
  if (!is_live(record, visits) || !fwd_record_take(record, &taken)) return true;
  bool goes_on = self->visit(self->context, taken.object, record->identifier, record->table);
  fwd_record_drop(taken);
  return goes_on;
}

void fwd_proxy_core_visit(fwd_proxy *proxy,
                          bool (*visit)(void *context, void *object, fwd_subscription identifier,
                                        const fwd_dispatch_table *table),
                          void *context) {
  visit_records(proxy, visit_for_core, &(core_visitor){visit, context});
}

typedef struct c_visitor {
  fwd_subscriber_visitor visit;
  void *context;
} c_visitor;

static bool visit_for_c(void *visitor, const fwd_record *record, visit_counts *visits) {
  const c_visitor *self = visitor;
  fwd_taken taken;
  if (!is_live(record, visits) || !fwd_record_take(record, &taken)) return true;
  fwd_subscriber_info subscriber = {
      .size = sizeof subscriber,
      .subscription = record->identifier,
      .context = taken.object ? NULL : record->receiver,
      .object = taken.object,
      .is_blocked = fwd_held_is_blocked(fwd_record_held(record)),
  };
  bool goes_on = self->visit(self->context, &subscriber);
  fwd_record_drop(taken);
  return goes_on;
}

fwd_status fwd_proxy_visit_subscribers(fwd_proxy *proxy, fwd_subscriber_visitor visit, void *context) {
  if (!proxy || !visit) {
    return fwd_fail(NULL, FWD_NULL_ARGUMENT, 0, "fwd_proxy_visit_subscribers: no %s", proxy ? "visitor" : "proxy");
  }
  // The visitor may release the caller's last reference to the proxy.
  void *owner = fwd_proxy_hold(proxy);
  visit_records(proxy, visit_for_c, &(c_visitor){visit, context});
  fwd_object_release(owner);
  return FWD_OK;
}

FWD_SMALL_CODE_END
