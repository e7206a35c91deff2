// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compares the list of subscribers with a simple model of it, an array, in random episodes: `list_model [EPISODES
/// [SEED]]`. Subscribers are C contexts, and objects of a minimal Swift runtime (objects.h). So they can be held in all
/// ways, die at any time, and get the address of an object that has died. Changes are made between fan-outs and inside
/// them, and while batches are open. At the end the program measures the memory and the time of large lists.

#include <malloc.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "fwd_draft.h"
#include "fwd_fan_out.h"
#include "objects.h"
#include "members/responders.h"
#include "members/subscriber_list.h"
#include "proxies.h"
#include "random.h"

static unsigned episodes = 250;
static uint64_t seed;

static bool chance(unsigned percent) { return below(100) < percent; }

// MARK: The model

enum { method_note, method_ask, method_measure, method_count };
static const char *const selector_names[method_count] = {"note", "ask:", "measure:"};
static const char *const encodings[method_count] = {"v@:", "i@:i", "v@:d"};
static fwd_selector selectors[method_count];
static fwd_signature *signatures[method_count];

/// An object. It may have died, and its memory may have been freed.
typedef struct subject {
  fake_object *object;
  /// Whether the model has a reference of its own.
  bool is_kept;
  bool has_died;
} subject;

typedef struct table {
  /// The model's own reference, or NULL once it has been released.
  fwd_dispatch_table *handle;
  const void *key;
  bool implements[method_count];
} table;

/// A subscription, which is also the receiver of its deliveries. It is freed at the end of the episode, so that
/// deliveries after its end are detected.
typedef struct member {
  fwd_subscription identifier;
  /// Counts the members in the order in which they joined.
  size_t joined;
  fwd_hold hold;
  subject *subject;
  const table *table;
  bool has_ended;
  /// The number of the draft in which it has left; 0 if it has not. Fan-outs that began before still call it.
  size_t left_in;
  /// How often it has been blocked, minus how often it has been unblocked.
  unsigned blocks;
  /// The number of deliveries that may still begin, if it is limited.
  bool is_limited;
  size_t remaining;
  int64_t priority;
  unsigned destroyed;
  struct member *next;
} member;

enum { subject_limit = 60, table_limit = 10, order_limit = 600, batch_limit = 3 };

static subject *subjects[subject_limit];
static table *tables[table_limit];
/// The subscriptions that have not ended, in the order of the list.
static member *order[order_limit];
static size_t count;
static member *all_members;
static fwd_proxy *proxy;
static fwd_subscriber_list *list;
static fake_object *owner;

/// A block that is freed at the end of the episode.
typedef struct scrap {
  struct scrap *next;
} scrap;
static scrap *scraps;

static void *keep(size_t size) {
  scrap *made = calloc(1, sizeof *made + 16 + size);
  NEED(made);
  made->next = scraps;
  scraps = made;
  return (char *)made + 16;
}

static bool is_dead(const member *self) { return self->subject && self->subject->has_died; }
static bool is_used_up(const member *self) { return self->is_limited && self->remaining == 0; }
static bool is_live(const member *self) { return !is_dead(self) && !is_used_up(self); }

// MARK: Deliveries

/// The members that a running fan-out must call, in order, except those that end or die before their turn.
typedef struct expectation {
  member *const *members;
  size_t count, next;
  size_t method;
  /// Objects of a batch do not die.
  bool is_batch;
  /// How many drafts had been published when the fan-out, or its batch, began.
  size_t drafts;
  struct expectation *outer;
} expectation;
static expectation *innermost;
static size_t depth, deliveries, joins;
/// How many drafts have been published, and how many deliveries were made to members that had left in one.
static size_t drafts, late_deliveries;

/// Whether the member has ended for a fan-out.
static bool has_ended_for(const expectation *self, const member *subscriber) {
  return subscriber->left_in ? self->drafts >= subscriber->left_in : subscriber->has_ended;
}

static bool is_gone(const expectation *self, const member *subscriber) {
  if (has_ended_for(self, subscriber) || is_used_up(subscriber)) return true;
  return !self->is_batch && subscriber->hold == FWD_HOLD_WEAK && is_dead(subscriber);
}

/// Skips members that must not be called now. Checked at each turn, since a member may be unblocked before its turn.
static void skip_gone(expectation *self) {
  for (; self->next < self->count; self->next++) {
    if (!is_gone(self, self->members[self->next]) && self->members[self->next]->blocks == 0) break;
  }
}

static void act(void);

static void take_delivery(void *receiver, size_t method) {
  member *subscriber = receiver;
  expectation *expected = innermost;
  deliveries++;
  NEED(expected && expected->method == method);
  EXPECT(!has_ended_for(expected, subscriber) && subscriber->destroyed == 0 && subscriber->table->implements[method]);
  late_deliveries += subscriber->has_ended;
  EXPECT(subscriber->blocks == 0 && !is_used_up(subscriber));
  if (subscriber->subject) EXPECT(object_strong(subscriber->subject->object) > 0);
  skip_gone(expected);
  NEED(expected->next < expected->count && expected->members[expected->next] == subscriber);
  expected->next++;
  if (subscriber->is_limited) subscriber->remaining--;
  if (depth < 3 && chance(6)) act();
}

static void note(void *receiver, fwd_selector selector) {
  EXPECT(selector == selectors[method_note]);
  take_delivery(receiver, method_note);
}
static int ask(void *receiver, fwd_selector selector, int value) {
  EXPECT(selector == selectors[method_ask] && value == 7);
  take_delivery(receiver, method_ask);
  return value + 1;
}
static void measure(void *receiver, fwd_selector selector, double value) {
  EXPECT(selector == selectors[method_measure] && value == 0.5);
  take_delivery(receiver, method_measure);
}

static fwd_status packed(const void *context, void *receiver, void *const *arguments, void *result,
                         fwd_error *error) {
  (void)error;
  size_t method = (size_t)(uintptr_t)context;
  if (method == method_ask) {
    int value;
    memcpy(&value, arguments[2], sizeof value);
    EXPECT(value == 7);
    value++;
    memcpy(result, &value, sizeof value);
  }
  take_delivery(receiver, method);
  return FWD_OK;
}

static void report(void *unused, fwd_selector selector, const fwd_error *error) {
  (void)unused, (void)selector, (void)error;
  EXPECT(!"a report");
}

static void prune(void);
static void note_the_dead(void);
static unsigned prunes_percent, priorities_percent;
static void met_the_dead(void *unused, size_t visited) {
  EXPECT(unused == owner);
  if (chance(prunes_percent)) {
    prune();
  } else {
    fwd_garbage garbage = {.first = NULL};
    fwd_list_prune_visited(list, visited, &garbage);
    note_the_dead();
    fwd_garbage_collect(garbage);
  }
}

static size_t arrays_made, arrays_read;
static void find_responders(void *unused, size_t method) {
  EXPECT(unused == owner);
  fwd_garbage garbage = {.first = NULL};
  fwd_list_find_responders(list, method, &garbage);
  arrays_made++;
  fwd_garbage_collect(garbage);
}

static void end_expectation(expectation *self) {
  skip_gone(self);
  EXPECT(self->next == self->count);
  innermost = self->outer;
  depth--;
}

static fwd_status call(fwd_batch *batch, size_t method) {
  int value = 7, result = 0;
  double length = 0.5;
  const void *frame = method == method_ask ? (void *)&value : (void *)&length;
  size_t size = method == method_ask ? sizeof value : method == method_measure ? sizeof length : 0;
  void *room = method == method_ask ? &result : NULL;
  size_t room_size = room ? sizeof result : 0;
  if (!size) frame = NULL;
  fwd_status status =
      batch ? fwd_batch_forward(batch, selectors[method], frame, size, room, room_size)
            : fwd_forward_method(proxy, fwd_proxy_core_method(proxy, selectors[method]), frame, size, room, room_size);
  EXPECT(status != FWD_OK || method != method_ask || result == 8 || result == 0);
  return status;
}

static void fan_out_to_list(void) {
  size_t method = below(method_count);
  member *expected[order_limit];
  expectation self = {.members = expected, .method = method, .drafts = drafts, .outer = innermost};
  for (size_t i = 0; i < count; i++) {
    if (order[i]->table->implements[method] && !is_gone(&self, order[i])) expected[self.count++] = order[i];
  }
  innermost = &self;
  depth++;
  bool somebody = self.count > 0;
  fwd_use_libffi(chance(10));
  arrays_read += fwd_list_responders(list, method) != NULL;
  fwd_status status = call(NULL, method);
  EXPECT(method != method_ask || !somebody || status == FWD_OK || self.count > 0);
  end_expectation(&self);
}

// MARK: Batches

typedef struct batch {
  fwd_batch *handle;
  member *members[order_limit];
  size_t count;
  size_t drafts;
} batch;
static batch batches[batch_limit];
static size_t open_batches, batches_begun;
/// The batch that the thread has entered.
static batch *entered;

static void begin_batch(void) {
  batch *self = NULL;
  for (size_t i = 0; i < batch_limit; i++) {
    if (!batches[i].handle) self = &batches[i];
  }
  if (!self) return;
  NEED(fwd_batch_begin(proxy, &self->handle, NULL) == FWD_OK);
  self->count = 0;
  self->drafts = drafts;
  for (size_t i = 0; i < count; i++) {
    if (is_live(order[i])) self->members[self->count++] = order[i];
  }
  open_batches++;
  batches_begun++;
}

/// Forwards to a batch: to `handle`, or, if that is NULL, to the one that the thread has entered.
static void forward_to(const batch *self, fwd_batch *handle) {
  size_t method = below(method_count);
  member *expected[order_limit];
  expectation run = {
      .members = expected, .method = method, .is_batch = true, .drafts = self->drafts, .outer = innermost};
  for (size_t i = 0; i < self->count; i++) {
    member *subscriber = self->members[i];
    if (!is_gone(&run, subscriber) && subscriber->table->implements[method]) expected[run.count++] = subscriber;
  }
  innermost = &run;
  depth++;
  call(handle, method);
  end_expectation(&run);
}

static void forward_batch(void) {
  batch *self = &batches[below(batch_limit)];
  if (!self->handle) return;
  if (chance(50)) {
    forward_to(self, self->handle);
    return;
  }
  batch *outer = entered;
  entered = self;
  fwd_batch_use use = {.batch = self->handle};
  fwd_batch_enter(&use);
  forward_to(self, NULL);
  fwd_batch_leave(&use);
  entered = outer;
}

static void fan_out(void) {
  if (entered) {
    forward_to(entered, NULL);
  } else {
    fan_out_to_list();
  }
}

/// Ends a batch. Not inside of a fan-out, which may be one of the batch.
static void end_batch(void) {
  batch *self = &batches[below(batch_limit)];
  if (!self->handle || depth > 0) return;
  fwd_batch *handle = self->handle;
  self->handle = NULL;
  fwd_batch_end(handle);
  open_batches--;
}

// MARK: Checks

static member *live_member(size_t place) {
  fwd_record *record = fwd_list_record(list, place);
  if (fwd_held_has_ended(fwd_record_held(record))) {
    EXPECT(!fwd_list_find(list, fwd_record_identifier(record)));
    return NULL;
  }
  return record->receiver;
}

static void check_order(void) {
  size_t seen = 0;
  for (size_t i = 0; i < fwd_list_count(list); i++) {
    member *subscriber = live_member(i);
    if (!subscriber) continue;
    NEED(seen < count && order[seen] == subscriber);
    fwd_record *record = fwd_list_find(list, subscriber->identifier);
    EXPECT(record && record->receiver == subscriber && record == fwd_list_record(list, i));
    EXPECT(fwd_record_is_live(record) == is_live(subscriber));
    EXPECT(fwd_record_is_blocked(record) == (subscriber->blocks > 0));
    // Only some records, since finding an index takes a search in a long list.
    if (i % 8 == seen % 8) EXPECT(fwd_list_index(list, record) == i);
    // A subscription has a gate only if it needs one.
    bool needs_gate = subscriber->blocks > 0 || subscriber->is_limited;
    EXPECT(fwd_held_is_gated(fwd_record_held(record)) == needs_gate);
    seen++;
  }
  EXPECT(seen == count);
}

/// Returns the oldest subscription of an object.
static const member *first_of(const void *address, const void *key) {
  const member *first = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!order[i]->subject || order[i]->subject->object != address || is_used_up(order[i])) continue;
    if (key && order[i]->table->key != key) continue;
    if (!first || order[i]->joined < first->joined) first = order[i];
  }
  return first;
}

static void check_index(void) {
  size_t objects = 0;
  for (size_t i = 0; i < subject_limit; i++) {
    // The address is only compared: the object's memory may have been freed.
    if (!subjects[i]) continue;
    const void *address = subjects[i]->object;
    const table *named = tables[below(table_limit)];
    const void *key = named ? named->key : NULL;
    for (int with_key = 0; with_key < 2; with_key++) {
      const void *asked = with_key ? key : NULL;
      const member *expected = first_of(address, asked);
      fwd_record *found = fwd_list_find_object(list, address, asked);
      EXPECT(found ? expected && found->identifier == expected->identifier : !expected);
    }
  }
  for (size_t i = 0; i < count; i++) {
    bool is_first = order[i]->subject != NULL;
    for (size_t j = 0; j < i && is_first; j++) {
      is_first = !order[j]->subject || order[j]->subject->object != order[i]->subject->object;
    }
    objects += is_first;
  }
  EXPECT(list->index.count == objects);
}

static void check_methods(void) {
  for (size_t method = 0; method < method_count; method++) {
    bool may = false, live = false;
    for (size_t i = 0; i < count; i++) {
      if (!order[i]->table->implements[method] || order[i]->blocks > 0) continue;
      may = true;
      live = live || is_live(order[i]);
    }
    EXPECT(fwd_list_may_respond(list, method) == may);
    EXPECT(fwd_proxy_responds(proxy, selectors[method]) == live);
  }
}

/// Checks, outside of fan-outs, that ended subscriptions have released their objects and contexts.
static void check_references(void) {
  size_t live = 0;
  for (size_t i = 0; i < count; i++) live += is_live(order[i]);
  EXPECT(fwd_proxy_subscriber_count(proxy) == live);
  for (member *each = all_members; each; each = each->next) {
    // The slot may belong to another subscription now.
    if (each->has_ended) EXPECT(!fwd_list_find(list, each->identifier));
    unsigned expected = each->has_ended && each->hold == FWD_HOLD_NONE;
    EXPECT(each->destroyed <= expected && (each->destroyed == expected || open_batches > 0));
  }
  if (open_batches > 0) return;
  prune();
  // Twice: the first call may end a subscription whose limit is used up, and so release an object that others hold
  // weakly.
  prune();
  EXPECT(fwd_list_count(list) == count);
  // Without readers, ended records are freed at once, with their references.
  for (size_t i = 0; i < subject_limit; i++) {
    subject *self = subjects[i];
    if (!self) continue;
    long strong = self->is_kept, weak = 0;
    for (size_t j = 0; j < count; j++) {
      if (order[j]->subject != self) continue;
      strong += order[j]->hold == FWD_HOLD_STRONG;
      weak += order[j]->hold == FWD_HOLD_WEAK;
    }
    EXPECT(self->has_died == (strong == 0));
    if (self->has_died) {
      EXPECT(weak == 0);
      continue;
    }
    if (fwd_weak_kind_in_use() == FWD_WEAK_STOCK) weak *= 2;
    EXPECT(object_strong(self->object) == strong && object_unowned(self->object) == weak + 1);
  }
}

static void check_all(void) {
  check_order();
  check_index();
  check_methods();
  if (depth == 0) check_references();
}

// MARK: Changes

static void note_end(member *self) {
  EXPECT(!self->has_ended);
  self->has_ended = true;
  size_t i = 0;
  while (order[i] != self) i++;
  memmove(&order[i], &order[i + 1], (--count - i) * sizeof *order);
}

/// Notes the ends of subscriptions that the list has found dead or used up.
static void note_the_dead(void) {
  for (size_t i = count; i-- > 0;) {
    if (!is_live(order[i]) && !fwd_list_find(list, order[i]->identifier)) note_end(order[i]);
  }
}

static void note_destroyed(void *receiver) {
  member *self = receiver;
  EXPECT(self->has_ended && self->destroyed == 0);
  self->destroyed++;
}

static void note_death(fake_object *self) { ((subject *)self->tag)->has_died = true; }

static subject *some_subject(void) {
  subject **place = &subjects[below(subject_limit)];
  if (!*place || ((*place)->has_died && chance(50))) {
    subject *made = keep(sizeof *made);
    *made = (subject){.object = object_create(note_death, made), .is_kept = true};
    *place = made;
  }
  return *place;
}

static table *some_table(void) {
  table **place = &tables[below(table_limit)];
  if (!*place || !(*place)->handle) {
    table *made = keep(sizeof *made);
    // Some tables share a key.
    made->key = &selectors[below(2)];
    made->handle = fwd_dispatch_table_create(method_count, made->key);
    NEED(made->handle);
    static void (*const functions[])(void) = {(void (*)(void))note, (void (*)(void))ask,
                                              (void (*)(void))measure};
    for (size_t method = 0; method < method_count; method++) {
      fwd_implementation *entry = fwd_dispatch_table_entry(made->handle, method);
      size_t kind = below(5);
      made->implements[method] = kind > 0;
      if (kind == 1) {
        *entry = (fwd_implementation){.packed = packed, .context = (void *)(uintptr_t)method};
      } else if (kind > 1) {
        entry->function = functions[method];
      }
    }
    *place = made;
  }
  return *place;
}

/// Releases the model's reference to a table. Its subscriptions keep the table.
static void drop_table(void) {
  table *self = tables[below(table_limit)];
  if (!self || !self->handle) return;
  fwd_dispatch_table_release(self->handle);
  self->handle = NULL;
}

/// Checks that `index`, before which there are `before` members, is directly behind the last live member that has this
/// priority or a higher one.
static void check_priority_index(size_t index, size_t before, int64_t priority, const member *except) {
  bool is_behind = false;
  for (size_t i = 0; i < count; i++) {
    bool is_bound = order[i] != except && is_live(order[i]) && order[i]->priority >= priority;
    // All such members are before the index, and the last live member before the index is such a member.
    if (is_bound) EXPECT(i < before);
    if (i < before && order[i] != except && is_live(order[i])) is_behind = is_bound;
  }
  // If all members have the priority, the index is the end of the list, behind dead members too.
  EXPECT(index == 0 || is_behind || index == fwd_list_count(list));
}

/// Makes a member that is in no list, and the subscriber for it. NULL if its object is dead.
static member *make_member(table *joined, fwd_subscriber *subscriber) {
  member *made = keep(sizeof *made);
  made->hold = (fwd_hold)below(3);
  made->table = joined;
  made->is_limited = chance(20);
  if (made->is_limited) made->remaining = 1 + below(4);
  *subscriber = (fwd_subscriber){.hold = made->hold, .receiver = made, .limit = made->remaining};
  if (made->hold == FWD_HOLD_NONE) {
    subscriber->destroy = note_destroyed;
  } else {
    made->subject = some_subject();
    // Only a live object can be subscribed, since the caller must have a reference to it.
    if (!made->subject->is_kept) return NULL;
    subscriber->object = made->subject->object;
  }
  made->next = all_members;
  all_members = made;
  return made;
}

static size_t duplicates, plain_ends;

static void insert(size_t size_limit) {
  if (count >= size_limit) return;
  table *joined = some_table();
  fwd_subscriber subscriber;
  member *made = make_member(joined, &subscriber);
  if (!made) return;
  size_t places = fwd_list_count(list), before = 0;
  size_t index = chance(60) ? FWD_LIST_END : chance(10) ? 0 : below(places + 1);
  bool has_priority = chance(priorities_percent);
  if (has_priority) {
    made->priority = (int64_t)below(7) - 3;
    index = fwd_list_priority_index(list, made->priority, NULL);
  }
  subscriber.priority = made->priority;
  for (size_t i = 0; i < places && i < index; i++) before += live_member(i) != NULL;
  if (has_priority) check_priority_index(index, before, made->priority, NULL);
  fwd_garbage garbage = {.first = NULL};
  // Also by the way of `fwd_proxy_core_join`, which adds no duplicate.
  const void *unless = chance(50) ? joined->key : NULL;
  const member *earlier = unless && subscriber.object ? first_of(subscriber.object, unless) : NULL;
  made->identifier = fwd_list_insert_unless(list, &subscriber, joined->handle, index, unless, &garbage);
  if (earlier) {
    EXPECT(!made->identifier && !garbage.first);
    duplicates++;
    all_members = made->next;
    return;
  }
  NEED(made->identifier);
  made->joined = ++joins;
  memmove(&order[before + 1], &order[before], (count++ - before) * sizeof *order);
  order[before] = made;
  note_the_dead();
  fwd_garbage_collect(garbage);
}

static void end_one(void) {
  if (count == 0) return;
  member *self = order[below(count)];
  fwd_record *record = fwd_list_find(list, self->identifier);
  NEED(record);
  fwd_garbage garbage = {.first = NULL};
  // Also by the way of `fwd_proxy_reference_leave`.
  if (chance(50) && fwd_list_end_plain(list, record, fwd_record_word(record))) {
    plain_ends++;
    EXPECT(!garbage.first);
    if (fwd_list_compact_in_place(list)) fwd_list_compact_if_worth(list, &garbage);
  } else {
    fwd_list_end(list, record, &garbage);
  }
  note_end(self);
  EXPECT(!fwd_list_find(list, self->identifier));
  fwd_garbage_collect(garbage);
}

static void end_object(void) {
  subject *self = subjects[below(subject_limit)];
  if (!self) return;
  fwd_garbage garbage = {.first = NULL};
  size_t expected = 0, ended = fwd_list_end_object(list, self->object, &garbage);
  for (size_t i = count; i-- > 0;) {
    if (!order[i]->subject || order[i]->subject->object != self->object) continue;
    expected += !is_used_up(order[i]);
    note_end(order[i]);
  }
  EXPECT(ended == expected && !fwd_list_find_object(list, self->object, NULL));
  fwd_garbage_collect(garbage);
}

static void end_all(void) {
  fwd_garbage garbage = {.first = NULL};
  fwd_list_end_all(list, &garbage);
  while (count > 0) note_end(order[count - 1]);
  EXPECT(fwd_list_count(list) == 0);
  fwd_garbage_collect(garbage);
}

static void prune(void) {
  fwd_garbage garbage = {.first = NULL};
  EXPECT(fwd_list_prune(list, &garbage));
  note_the_dead();
  for (size_t i = 0; i < count; i++) EXPECT(is_live(order[i]));
  EXPECT(fwd_list_count(list) == count);
  fwd_garbage_collect(garbage);
}

static void move(void) {
  size_t places = fwd_list_count(list);
  if (places == 0) return;
  size_t from = below(places), to = below(places);
  int64_t priority = 0;
  member *by_priority = chance(priorities_percent) ? live_member(from) : NULL;
  if (by_priority) {
    priority = (int64_t)below(7) - 3;
    size_t index = fwd_list_priority_index(list, priority, fwd_list_record(list, from)), before = 0;
    for (size_t i = 0; i < index; i++) before += live_member(i) != NULL;
    check_priority_index(index, before, priority, by_priority);
    to = index > from ? index - 1 : index;
  }
  member **moved = malloc(places * sizeof *moved);
  NEED(moved);
  member *mover = live_member(from);
  size_t filled = 0;
  for (size_t i = 0; i < places; i++) {
    if (i != from) moved[filled++] = live_member(i);
  }
  memmove(&moved[to + 1], &moved[to], (filled - to) * sizeof *moved);
  moved[to] = mover;
  fwd_garbage garbage = {.first = NULL};
  EXPECT(fwd_list_move(list, from, to, priority, &garbage));
  if (mover) mover->priority = priority;
  size_t live = 0;
  for (size_t i = 0; i < places; i++) {
    if (moved[i]) order[live++] = moved[i];
  }
  EXPECT(live == count);
  check_order();
  free(moved);
  fwd_garbage_collect(garbage);
}

static void block(void) {
  if (count == 0) return;
  member *self = order[below(count)];
  EXPECT(fwd_list_block(list, fwd_list_find(list, self->identifier)));
  self->blocks++;
}

static void unblock(void) {
  if (count == 0) return;
  // Mostly chooses a blocked subscription.
  size_t place = below(count);
  for (size_t i = 0; i < count && order[place]->blocks == 0 && chance(95); i++) place = (place + 1) % count;
  member *self = order[place];
  fwd_garbage garbage = {.first = NULL};
  bool was_blocked = fwd_list_unblock(list, fwd_list_find(list, self->identifier), &garbage);
  EXPECT(was_blocked == (self->blocks > 0));
  self->blocks -= self->blocks > 0;
  fwd_garbage_collect(garbage);
}

static void kill(void) {
  subject *self = subjects[below(subject_limit)];
  if (!self || !self->is_kept) return;
  self->is_kept = false;
  swift_release(self->object);
}

// MARK: Drafts

static size_t size_limit;
static unsigned ending_percent;

/// A member that joins in a draft.
typedef struct newcomer {
  member *member;
  fwd_prepared prepared;
  /// Whether it is in the draft.
  bool has_joined;
} newcomer;

enum { newcomer_limit = 40 };

static void check_draft(void) {
  EXPECT(fwd_list_count(list) == count);
  for (size_t i = 0; i < count; i++) EXPECT(fwd_list_record(list, i)->receiver == order[i]);
  check_index();
}

static void prepare(newcomer *made, fwd_garbage *garbage) {
  table *joined = some_table();
  fwd_subscriber subscriber;
  *made = (newcomer){.member = make_member(joined, &subscriber)};
  if (!made->member) return;
  made->member->identifier = fwd_list_prepare(list, &subscriber, joined->handle, &made->prepared, garbage);
  NEED(made->member->identifier);
  EXPECT(!fwd_list_find(list, made->member->identifier));
}

static void draft_join(newcomer *made) {
  if (!made->member || made->has_joined || count >= order_limit - 1) return;
  size_t index = chance(50) ? FWD_LIST_END : below(count + 1);
  bool has_priority = chance(priorities_percent);
  if (has_priority) {
    made->member->priority = (int64_t)below(7) - 3;
    index = fwd_list_priority_index(list, made->member->priority, NULL);
    check_priority_index(index, index, made->member->priority, NULL);
  }
  NEED(fwd_draft_join(list, made->prepared, made->member->priority, index));
  made->has_joined = true;
  made->member->joined = ++joins;
  size_t place = index < count ? index : count;
  memmove(&order[place + 1], &order[place], (count++ - place) * sizeof *order);
  order[place] = made->member;
}

/// Takes the member at a place out, unless it has joined in the same draft.
static void draft_leave(size_t place, const newcomer *newcomers) {
  member *self = order[place];
  for (size_t i = 0; i < newcomer_limit; i++) {
    if (newcomers[i].member == self) return;
  }
  fwd_record *record = fwd_list_find(list, self->identifier);
  NEED(record && fwd_draft_leave(list, record));
  EXPECT(!fwd_list_find(list, self->identifier));
  memmove(&order[place], &order[place + 1], (--count - place) * sizeof *order);
}

static void draft_move(int64_t *priority, member **moved) {
  size_t from = below(count), to = below(count);
  *moved = order[from];
  *priority = (*moved)->priority;
  int64_t next = chance(priorities_percent) ? (int64_t)below(7) - 3 : 0;
  NEED(fwd_draft_move(list, from, to, next));
  (*moved)->priority = next;
  memmove(&order[from], &order[from + 1], (count - 1 - from) * sizeof *order);
  memmove(&order[to + 1], &order[to], (count - 1 - to) * sizeof *order);
  order[to] = *moved;
}

static void change_by_draft(void) {
  newcomer newcomers[newcomer_limit];
  fwd_garbage garbage = {.first = NULL};
  size_t newcomer_count = below(newcomer_limit), moves = 0;
  for (size_t i = 0; i < newcomer_limit; i++) newcomers[i] = (newcomer){.member = NULL};
  for (size_t i = 0; i < newcomer_count; i++) prepare(&newcomers[i], &garbage);
  if (chance(30)) kill();
  NEED(fwd_draft_begin(list));
  // The draft has no record that has ended, also those that the model has noted.
  member *before[order_limit], *moved[newcomer_limit];
  int64_t priorities[newcomer_limit];
  size_t count_before = count;
  memcpy(before, order, count * sizeof *order);
  check_draft();
  if (chance(5)) {
    NEED(fwd_draft_leave_all(list));
    count = 0;
  }
  for (size_t steps = below(newcomer_limit); steps > 0; steps--) {
    unsigned choice = (unsigned)below(100);
    if (choice < 45) {
      draft_join(&newcomers[below(newcomer_limit)]);
    } else if (choice < 85 && count > 0) {
      draft_leave(below(count), newcomers);
    } else if (choice < 95 && count > 0 && moves < newcomer_limit) {
      draft_move(&priorities[moves], &moved[moves]);
      moves++;
    } else {
      kill();
    }
  }
  check_draft();
  bool is_published = chance(70);
  if (is_published) {
    fwd_draft_publish(list, &garbage);
    drafts++;
    for (size_t i = 0; i < count_before; i++) {
      bool stays = false;
      for (size_t j = 0; j < count && !stays; j++) stays = order[j] == before[i];
      if (stays) continue;
      before[i]->has_ended = true;
      before[i]->left_in = drafts;
    }
  } else {
    fwd_draft_discard(list, &garbage);
    while (moves > 0) {
      moves--;
      moved[moves]->priority = priorities[moves];
    }
    memcpy(order, before, count_before * sizeof *order);
    count = count_before;
  }
  check_order();
  check_index();
  for (size_t i = 0; i < newcomer_limit; i++) {
    if (!newcomers[i].member || (newcomers[i].has_joined && is_published)) continue;
    EXPECT(!fwd_list_find(list, newcomers[i].member->identifier));
    newcomers[i].member->has_ended = true;
    fwd_list_abandon(list, newcomers[i].prepared, &garbage);
  }
  fwd_garbage_collect(garbage);
}

// MARK: Episodes

static void act(void) {
  unsigned choice = (unsigned)below(119);
  if (choice >= 113) {
    // Fan-outs ask for it only where few respond.
    find_responders(owner, below(method_count));
  } else if (choice >= 110) {
    change_by_draft();
  } else if (choice >= 105) {
    unblock();
  } else if (choice >= 100) {
    block();
  } else if (choice < 40) {
    if (chance(ending_percent)) {
      end_one();
    } else {
      insert(size_limit);
    }
  } else if (choice < 52) {
    kill();
  } else if (choice < 57) {
    end_object();
  } else if (choice < 63) {
    move();
  } else if (choice < 65) {
    prune();
  } else if (choice < 68) {
    drop_table();
  } else if (choice < 80) {
    fan_out();
  } else if (choice < 86) {
    forward_batch();
  } else if (choice < 89) {
    begin_batch();
  } else if (choice < 93) {
    end_batch();
  } else if (choice < 99) {
    check_all();
  } else if (chance(10)) {
    end_all();
  }
}

static void make_proxy(void) {
  static const fwd_proxy_operations operations = {
      .report = report, .met_the_dead = met_the_dead, .find_responders = find_responders};
  fwd_proxy_method methods[method_count];
  memset(methods, 0, sizeof methods);
  for (size_t i = 0; i < method_count; i++) {
    methods[i].selector = selectors[i];
    methods[i].signature = signatures[i];
  }
  methods[method_ask].policy = FWD_RESULT_ALL_LAST;
  methods[method_ask].no_responder = FWD_NO_RESPONDER_IGNORE;
  proxy = new_proxy(methods, method_count, owner, &operations);
  NEED(proxy);
  list = fwd_proxy_core_list(proxy);
}

static void run_episode(void) {
  make_proxy();
  const size_t limits[] = {3, 10, 60, order_limit - 1};
  size_limit = limits[below(4)];
  ending_percent = 20 + (unsigned)below(40);
  // In half of the episodes there are no priorities: then the list does not allocate memory for them.
  priorities_percent = chance(50) ? 0 : 40;
  prunes_percent = chance(50) ? 100 : (unsigned)below(100);
  for (size_t rounds = 50 + below(20 * size_limit + 200); rounds > 0; rounds--) act();
  check_all();
  for (size_t i = 0; i < batch_limit; i++) {
    if (batches[i].handle) fwd_batch_end(batches[i].handle);
    batches[i].handle = NULL;
  }
  open_batches = 0;
  check_all();
  // Destroying the proxy ends all remaining subscriptions.
  while (count > 0) note_end(order[count - 1]);
  fwd_proxy_core_release(proxy);
  for (member *each = all_members; each; each = each->next) {
    EXPECT(each->destroyed == (each->has_ended && each->hold == FWD_HOLD_NONE));
  }
  for (size_t i = 0; i < subject_limit; i++) {
    if (subjects[i] && subjects[i]->is_kept) swift_release(subjects[i]->object);
    subjects[i] = NULL;
  }
  for (size_t i = 0; i < table_limit; i++) {
    if (tables[i]) fwd_dispatch_table_release(tables[i]->handle);
    tables[i] = NULL;
  }
  EXPECT(atomic_load(&objects_allocated) == 1 && object_strong(owner) == 1);
  all_members = NULL;
  while (scraps) {
    scrap *next = scraps->next;
    free(scraps);
    scraps = next;
  }
}

// MARK: Size

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static size_t memory_in_use(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 information = mallinfo2();
  return information.uordblks + information.hblkhd;
#else
  return 0;
#endif
}

static void ignore(void *receiver, fwd_selector selector) {
  (void)selector;
  ++*(size_t *)receiver;
}

/// Measures a list of weak subscribers with one table, which subscribe, are called, are found and unsubscribe.
static void measure_list(size_t size) {
  make_proxy();
  fwd_dispatch_table *joined = fwd_dispatch_table_create(method_count, NULL);
  NEED(joined);
  fwd_dispatch_table_entry(joined, method_note)->function = (void (*)(void))ignore;
  fake_object **objects = malloc(size * sizeof *objects);
  fwd_subscription *identifiers = malloc(size * sizeof *identifiers);
  NEED(objects && identifiers);
  for (size_t i = 0; i < size; i++) objects[i] = object_create(NULL, NULL);
  size_t calls = 0, at_first = memory_in_use();
  fwd_garbage garbage = {.first = NULL};
  double start = seconds();
  for (size_t i = 0; i < size; i++) {
    fwd_subscriber subscriber = {.object = objects[i], .hold = FWD_HOLD_WEAK, .receiver = &calls};
    identifiers[i] = fwd_list_insert(list, &subscriber, joined, FWD_LIST_END, &garbage);
    NEED(identifiers[i]);
    fwd_garbage_collect(garbage);
    garbage = (fwd_garbage){.first = NULL};
  }
  double joined_at = seconds();
  size_t used = memory_in_use() - at_first, footprint = fwd_list_footprint(list);
  EXPECT(fwd_forward(proxy, selectors[method_note], NULL, 0, NULL, 0) == FWD_OK && calls == size);
  double called_at = seconds();
  for (size_t i = 0; i < size; i++) {
    EXPECT(fwd_record_identifier(fwd_list_find_object(list, objects[i], NULL)) == identifiers[i]);
  }
  double found_at = seconds();
  printf("%zu weak subscribers: %.1f bytes each, %.1f of them allocated; ns each: joining %.0f, a "
         "delivery %.0f, finding %.0f",
         size, (double)footprint / (double)size, (double)used / (double)size,
         (joined_at - start) / (double)size * 1e9, (called_at - joined_at) / (double)size * 1e9,
         (found_at - called_at) / (double)size * 1e9);
  EXPECT(footprint <= 64 * size);
  // Not for stock references, which allocate memory outside of the list.
  if (!FWD_IS_SANITIZED && at_first > 0 && fwd_weak_kind_in_use() == FWD_WEAK_UNOWNED) {
    // Includes malloc's own overhead.
    size_t noise = footprint / 50 + 8192;
    EXPECT(used <= footprint + noise && used + noise >= footprint);
  }
  // Unsubscribes in a scattered order.
  found_at = seconds();
  size_t step = 7919, index = 0;
  for (size_t i = 0; i < size; i++, index = (index + step) % size) {
    fwd_record *record = fwd_list_find(list, identifiers[index]);
    if (!EXPECT(record)) break;
    fwd_list_end(list, record, &garbage);
    fwd_garbage_collect(garbage);
    garbage = (fwd_garbage){.first = NULL};
  }
  printf(", leaving %.0f\n", (seconds() - found_at) / (double)size * 1e9);
  EXPECT(fwd_list_count(list) <= 32 && fwd_proxy_subscriber_count(proxy) == 0);
  fwd_proxy_core_release(proxy);
  fwd_dispatch_table_release(joined);
  for (size_t i = 0; i < size; i++) {
    EXPECT(object_unowned(objects[i]) == 1);
    swift_release(objects[i]);
  }
  free(objects);
  free(identifiers);
}

/// Measures what subscribers that join and leave during one batch keep until the batch ends. The limits are a tenth above
/// the figures in FanOut.md.
static void measure_batch(size_t size, size_t index, double limit) {
  make_proxy();
  fwd_dispatch_table *joined = fwd_dispatch_table_create(method_count, NULL);
  fake_object *subscriber = object_create(NULL, NULL);
  NEED(joined);
  fwd_subscriber made = {.object = subscriber, .hold = FWD_HOLD_WEAK};
  for (size_t i = 0; i < 64; i++) {
    fwd_garbage garbage = {.first = NULL};
    NEED(fwd_list_insert(list, &made, joined, FWD_LIST_END, &garbage));
    fwd_garbage_collect(garbage);
  }
  fwd_batch *begun = NULL;
  NEED(fwd_batch_begin(proxy, &begun, NULL) == FWD_OK);
  size_t at_first = memory_in_use();
  for (size_t i = 0; i < size; i++) {
    fwd_garbage garbage = {.first = NULL};
    fwd_subscription identifier = fwd_list_insert(list, &made, joined, index, &garbage);
    NEED(identifier);
    fwd_list_end(list, fwd_list_find(list, identifier), &garbage);
    fwd_garbage_collect(garbage);
  }
  size_t kept = memory_in_use() - at_first;
  fwd_batch_end(begun);
  size_t left = memory_in_use() - at_first;
  printf("%zu subscribers that joined %s and left during a batch: %.0f bytes each, until it ended\n", size,
         index == 0 ? "at the front" : "at the end", (double)kept / (double)size);
  // The limits do not hold for stock references: Swift allocates memory for each.
  if (!FWD_IS_SANITIZED && at_first > 0 && fwd_weak_kind_in_use() == FWD_WEAK_UNOWNED) {
    EXPECT((double)kept <= limit * (double)size);
    // The slots of the records stay. Their slabs are up to an eighth larger.
    EXPECT((double)left <= 45 * (double)size);
  }
  fwd_proxy_core_release(proxy);
  fwd_dispatch_table_release(joined);
  EXPECT(object_unowned(subscriber) == 1);
  swift_release(subscriber);
}

/// Measures many subscriptions of one object. The end of one must not visit all the others.
static void measure_chain(size_t size) {
  make_proxy();
  fwd_dispatch_table *joined = fwd_dispatch_table_create(method_count, NULL);
  fake_object *subscriber = object_create(NULL, NULL);
  fwd_subscription *identifiers = malloc(size * sizeof *identifiers);
  NEED(joined && identifiers);
  fwd_garbage garbage = {.first = NULL};
  double start = seconds();
  for (size_t i = 0; i < size; i++) {
    fwd_subscriber made = {.object = subscriber, .hold = i % 2 ? FWD_HOLD_WEAK : FWD_HOLD_STRONG};
    identifiers[i] = fwd_list_insert(list, &made, joined, FWD_LIST_END, &garbage);
    NEED(identifiers[i]);
  }
  fwd_garbage_collect(garbage);
  garbage = (fwd_garbage){.first = NULL};
  EXPECT(list->index.count == 1 && object_strong(subscriber) == 1 + (long)size / 2);
  EXPECT(fwd_record_identifier(fwd_list_find_object(list, subscriber, NULL)) == identifiers[0]);
  for (size_t i = 0, index = 0; i < size / 2; i++, index = (index + 7919) % size) {
    fwd_list_end(list, fwd_list_find(list, identifiers[index]), &garbage);
  }
  EXPECT(fwd_list_end_object(list, subscriber, &garbage) == size - size / 2);
  fwd_garbage_collect(garbage);
  EXPECT(list->index.count == 0 && object_strong(subscriber) == 1);
  printf("%zu subscriptions of one object: %.0f ns each to join and leave\n", size,
         (seconds() - start) / (double)size * 1e9);
  EXPECT(seconds() - start < 10);
  fwd_proxy_core_release(proxy);
  fwd_dispatch_table_release(joined);
  EXPECT(object_unowned(subscriber) == 1);
  swift_release(subscriber);
  free(identifiers);
}

typedef enum pattern {
  AT_END,
  AT_FRONT,
  BEHIND_LOW,
  RISING,
  FALLING,
  MIXED,
  BEFORE_ANY,
  AFTER_FIRST,
  pattern_count
} pattern;
static const char *const pattern_names[pattern_count] = {
    "at the end", "at the front", "last behind a low priority", "with rising priorities", "with falling priorities",
    "with mixed priorities", "before any other", "after the first"};

/// Returns the limit of the mean time of a change while a list grows to a size, or shrinks from it: half of the time to
/// copy half of that many pointers. A list that copied all of its pointers for each change would take at least twice the
/// limit, since its mean length is half of the size. To search all records would take even longer.
static double time_limit(size_t size) {
  // Sanitizers slow the list down more than they slow down a copy.
  if (FWD_IS_SANITIZED) return INFINITY;
  enum { attempts = 5, copies = 10 };
  // Volatile, so that the compiler leaves no copy out.
  static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
  size_t bytes = size / 2 * sizeof(void *);
  char *memory = calloc(2, bytes);
  NEED(memory);
  double shortest = INFINITY;
  for (int i = 0; i < attempts; i++) {
    double start = seconds();
    for (int j = 0; j < copies; j++) copy(memory + bytes, memory, bytes);
    double each = (seconds() - start) / copies;
    if (each < shortest) shortest = each;
  }
  free(memory);
  return shortest / 2;
}

/// Inserts many subscribers in one pattern. Returns the mean time of an insertion. It must not grow with their number.
static double measure_pattern(pattern shape, size_t size, fwd_dispatch_table *joined) {
  make_proxy();
  fwd_subscription *identifiers = malloc(size * sizeof *identifiers);
  NEED(identifiers);
  size_t calls = 0;
  double start = seconds();
  for (size_t i = 0; i < size; i++) {
    fwd_garbage garbage = {.first = NULL};
    fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = &calls};
    size_t index = shape == AT_END ? FWD_LIST_END : 0;
    if (shape == BEHIND_LOW && i == 0) subscriber.priority = -1;
    if (shape == RISING) subscriber.priority = (int64_t)i;
    if (shape == FALLING) subscriber.priority = -(int64_t)i;
    if (shape == MIXED) subscriber.priority = (int64_t)below(1000);
    if (shape >= BEHIND_LOW && shape <= MIXED) index = fwd_list_priority_index(list, subscriber.priority, NULL);
    if (shape >= BEFORE_ANY && i > 0) {
      fwd_subscription anchor = identifiers[shape == BEFORE_ANY ? below(i) : 0];
      index = fwd_list_index(list, fwd_list_find(list, anchor)) + (shape == AFTER_FIRST);
    }
    identifiers[i] = fwd_list_insert(list, &subscriber, joined, index, &garbage);
    NEED(identifiers[i]);
    fwd_garbage_collect(garbage);
  }
  double inserted_at = seconds();
  EXPECT(fwd_forward(proxy, selectors[method_note], NULL, 0, NULL, 0) == FWD_OK && calls == size);
  double called_at = seconds(), each = (inserted_at - start) / (double)size;
  printf("%zu subscribers %s: ns each: inserting %.0f, a delivery %.1f\n", size, pattern_names[shape], each * 1e9,
         (called_at - inserted_at) / (double)size * 1e9);
  fwd_proxy_core_release(proxy);
  free(identifiers);
  return each;
}

/// Removes the first subscriber again and again, as a subscriber does that unsubscribes when it is called. Returns the
/// mean time of a removal.
static double measure_removal(size_t size, fwd_dispatch_table *joined) {
  make_proxy();
  size_t calls = 0;
  for (size_t i = 0; i < size; i++) {
    fwd_garbage garbage = {.first = NULL};
    fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = &calls};
    NEED(fwd_list_insert(list, &subscriber, joined, FWD_LIST_END, &garbage));
    fwd_garbage_collect(garbage);
  }
  double start = seconds();
  for (size_t i = 0; i + 1 < size; i++) {
    fwd_garbage garbage = {.first = NULL};
    fwd_reading reading = fwd_list_enter(list);
    fwd_span span;
    EXPECT(fwd_span_first(list, &span) && span.count > 0);
    fwd_subscription first = span.records[0]->identifier;
    fwd_list_leave(&reading);
    fwd_record *record = fwd_list_find(list, first);
    if (!EXPECT(record)) break;
    fwd_list_end(list, record, &garbage);
    fwd_garbage_collect(garbage);
  }
  double each = (seconds() - start) / (double)size;
  printf("%zu subscribers: %.0f ns each to find and remove the first\n", size, each * 1e9);
  EXPECT(fwd_proxy_subscriber_count(proxy) == 1);
  fwd_proxy_core_release(proxy);
  return each;
}

static void measure_positions(size_t size) {
  fwd_dispatch_table *joined = fwd_dispatch_table_create(method_count, NULL);
  NEED(joined);
  fwd_dispatch_table_entry(joined, method_note)->function = (void (*)(void))ignore;
  // Other processes may disturb a measurement, so it is repeated until one is below the limit.
  enum { attempts = 5 };
  for (pattern shape = 0; shape < pattern_count; shape++) {
    double limit = time_limit(size), each = INFINITY;
    for (int i = 0; i < attempts && each >= limit; i++) each = measure_pattern(shape, size, joined);
    if (!EXPECT(each < limit)) printf("  the limit is %.0f ns\n", limit * 1e9);
  }
  double limit = time_limit(size), each = INFINITY;
  for (int i = 0; i < attempts && each >= limit; i++) each = measure_removal(size, joined);
  if (!EXPECT(each < limit)) printf("  the limit is %.0f ns\n", limit * 1e9);
  fwd_dispatch_table_release(joined);
}

int main(int argument_count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argument_count > 1) episodes = (unsigned)strtoul(arguments[1], NULL, 10);
  seed = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : (uint64_t)time(NULL);
  printf("%u episodes, seed %llu, %s references\n", episodes, (unsigned long long)seed,
         fwd_weak_kind_in_use() == FWD_WEAK_STOCK ? "stock" : "unowned");
  owner = object_create(NULL, NULL);
  for (size_t i = 0; i < method_count; i++) {
    selectors[i] = fwd_selector_register(selector_names[i]);
    NEED(fwd_signature_create(encodings[i], strlen(encodings[i]), &signatures[i], NULL) == FWD_OK);
  }
  check_begin("the list and its model");
  for (unsigned episode = 0; episode < episodes; episode++) {
    // Each episode has its own seed, so that a failure can be repeated without the episodes before it.
    state = (seed + episode) * 0x9E3779B97F4A7C15u | 1;
    for (int i = 0; i < 8; i++) next_random();
    size_t failed = atomic_load(&check_sequential.failures);
    run_episode();
    if (atomic_load(&check_sequential.failures) == failed) continue;
    printf("in the episode of seed %llu\n", (unsigned long long)(seed + episode));
    break;
  }
  printf("%zu deliveries, %zu of them to members that had left in a draft; %zu batches, %zu drafts, %zu fan-outs by %zu "
         "arrays of responders\n",
         deliveries, late_deliveries, batches_begun, drafts, arrays_read, arrays_made);
  if (episodes >= 100) EXPECT(arrays_read > 0 && duplicates > 0);
  if (episodes >= 100 && fwd_weak_kind_in_use() == FWD_WEAK_UNOWNED) EXPECT(plain_ends > 0);
  fwd_use_libffi(false);
#if !defined(FWD_SMALL_SEGMENT)
  check_begin("the size of lists");
  const size_t sizes[] = {1000, 100000, 1000000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) measure_list(sizes[i]);
  check_begin("many subscriptions of one object");
  measure_chain(100000);
  check_begin("memory that a batch keeps");
  measure_batch(100000, FWD_LIST_END, 88);
  measure_batch(100000, 0, 1100);
  check_begin("insertion at any position");
  measure_positions(100000);
#else
  (void)measure_list, (void)measure_chain, (void)measure_batch, (void)measure_positions;
#endif
  check_begin("what is left");
  EXPECT(atomic_load(&objects_allocated) == 1 && object_strong(owner) == 1);
  for (size_t i = 0; i < method_count; i++) fwd_signature_release(signatures[i]);
  swift_release(owner);
  return check_finish();
}
