// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The events of a script that runs twice. The first run records them, and the second run is compared with the first.
/// Include it once in a program.

#ifndef FWD_EVENTS_H
#define FWD_EVENTS_H

#include "check.h"

typedef enum event_kind {
  FORWARDED,
  RETURNED,
  DELIVERED,
  INTERCEPTED,
  SENT_ON,
  REPORTED,
  SUBSCRIBED,
  ENDED,
  RELEASED,
  DIED,
  DESTROYED,
} event_kind;
static const char *const event_names[] = {"forwarded", "returned", "delivered",  "intercepted", "sent on",  "reported",
                                          "subscribed", "ended",   "released", "died",        "destroyed"};

typedef struct event {
  event_kind kind;
  /// The kind says what they mean: numbers of methods, subscribers, interceptors and objects, or statuses.
  size_t first, second, third;
} event;

enum { event_limit = 1 << 18, shown_events = 8 };
static event events[event_limit];
/// The events of the first run, and of the run that is under way.
static size_t expected_count, event_count;
static bool is_first_run, has_diverged;
static size_t all_events;

static void print_event(const char *run, size_t index, event shown) {
  printf("  %zu %s: %s %zu %zu %zu\n", index, run, event_names[shown.kind], shown.first, shown.second, shown.third);
}

static bool event_equal(event left, event right) {
  return left.kind == right.kind && left.first == right.first && left.second == right.second &&
         left.third == right.third;
}

/// Shows where the second run does something else. `now` is NULL if the second run ends too early.
static void diverge(const event *now) {
  has_diverged = true;
  EXPECT(!"the same events in both runs");
  size_t from = event_count > shown_events ? event_count - shown_events : 0;
  for (size_t i = from; i < event_count; i++) print_event("both", i, events[i]);
  if (event_count < expected_count) print_event("libffi", event_count, events[event_count]);
  if (now) print_event("loops", event_count, *now);
}

static void note(event_kind kind, size_t first, size_t second, size_t third) {
  event now = {kind, first, second, third};
  all_events++;
  if (is_first_run) {
    NEED(event_count < event_limit);
    events[event_count++] = now;
  } else if (!has_diverged) {
    if (event_count == expected_count || !event_equal(events[event_count], now)) {
      diverge(&now);
    } else {
      event_count++;
    }
  }
}

/// Begins the first or the second run.
static void begin_run(bool is_first) {
  if (!is_first) expected_count = event_count;
  is_first_run = is_first;
  has_diverged = false;
  event_count = 0;
}

/// Ends the second run, which may have made fewer events than the first.
static void end_comparison(void) {
  if (!has_diverged && event_count < expected_count) diverge(NULL);
}

#endif
