// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the rows of the table (sequence_calls.c) and its columns (sequences.c, sequence_columns.c) share.

#ifndef SCENE_H
#define SCENE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "forwarding.h"

// gcc and clang tell of sanitizers in different ways.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#elif __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#endif
#ifndef HAS_THREAD_SANITIZER
#define HAS_THREAD_SANITIZER 0
#endif
#ifndef HAS_ADDRESS_SANITIZER
#define HAS_ADDRESS_SANITIZER 0
#endif

// MARK: Situations

/// When the function under test is called: a column of the table.
typedef enum situation {
  /// Inside the destroy notifier of a subscription that `fwd_proxy_unsubscribe` has ended.
  IN_NOTIFIER_OF_UNSUBSCRIBE,
  /// Inside the destroy notifier of a subscription that its limit of deliveries has ended.
  IN_NOTIFIER_OF_LIMIT,
  /// Inside a destroy notifier that the last `fwd_proxy_release` runs.
  IN_NOTIFIER_OF_RELEASE,
  /// Inside a delivery of `fwd_forward`.
  IN_DELIVERY,
  /// Inside a delivery of `fwd_batch_forward`.
  IN_BATCH,
  /// Inside a delivery of `fwd_batch_forward`, after the program has released the proxy: the batch retains it.
  IN_BATCH_AFTER_RELEASE,
  /// Inside a delivery through a function pointer, after the program has released the proxy: the closure retains it.
  IN_CLOSURE_AFTER_RELEASE,
  /// Inside an interceptor around a delivery.
  IN_INTERCEPTOR,
  /// Inside the destroy notifier of an interception that `fwd_proxy_end_interception` has ended.
  IN_NOTIFIER_OF_INTERCEPTION,
  /// Inside the destroy notifier of an interception that the last `fwd_proxy_release` runs.
  IN_NOTIFIER_OF_INTERCEPTION_OF_RELEASE,
  /// Inside a visitor of `fwd_collect`.
  IN_COLLECTION,
  /// Inside a visitor of `fwd_proxy_visit_subscribers`, after the program has released the proxy.
  IN_VISIT_AFTER_RELEASE,
  /// Inside a visitor of `fwd_proxy_visit_methods`, after the program has released the proxy.
  IN_METHOD_VISIT_AFTER_RELEASE,
  /// Inside the proxy's `on_error`, because the delivery of the actor has failed.
  IN_ERROR_HANDLER,
  /// Inside the handler of a closure that forwards to nothing.
  IN_CLOSURE_HANDLER,
  /// Inside the function that `fwd_batch_run` calls, after the program has released the proxy.
  IN_BATCH_RUN_AFTER_RELEASE,
  /// Inside the function that `fwd_proxy_change` calls.
  IN_CHANGE,
  /// Inside the `notify` of a mailbox, which a fan-out calls.
  IN_MAIL_NOTIFIER,
  /// Inside a delivery that `fwd_mailbox_drain` makes.
  IN_MAIL_DELIVERY,
  /// Inside the destroy notifier of a subscription with a mailbox, which a drain calls.
  IN_NOTIFIER_OF_DRAIN,
  /// Inside the `destroy` of a mailbox.
  IN_NOTIFIER_OF_MAILBOX,
  /// In a thread's exit handler that runs before the library's own.
  IN_EARLY_EXIT_HANDLER,
  /// In a thread's exit handler that runs after the library's own.
  IN_LATE_EXIT_HANDLER,
  /// In a thread's exit handler after the library's own, in the last round of exit handlers.
  IN_LAST_EXIT_HANDLER,
  /// In the last round of exit handlers of a thread that has not called the library before.
  IN_LAST_EXIT_HANDLER_OF_NEW_THREAD,
  /// Inside a destroy notifier that waits until a function of a callback table returns. A subscriber that the function
  /// calls ends the table, which has the last reference to the proxy: the proxy's Swift object is gone before.
  IN_NOTIFIER_OF_RELEASE_IN_CALLBACK,
  /// The situations before this one need one thread at a time; `sequences_run` runs them.
  SEQUENTIAL_COUNT,
  /// In a child that was forked while other threads changed the proxy.
  IN_CHILD = SEQUENTIAL_COUNT,
  /// In a thread that changes the proxy until the process forks.
  BESIDE_FORK,
  /// While an allocation of the C target fails.
  WITHOUT_MEMORY,
  SITUATION_COUNT
} situation;

extern const char *const situation_names[SITUATION_COUNT];

// MARK: Scenes

typedef struct call call;
typedef struct scene scene;

/// The state of a context.
enum { CONTEXT_UNUSED, CONTEXT_SUBSCRIBED, CONTEXT_DESTROYED };

/// What a subscription of the scene gets as its context.
typedef struct context {
  scene *scene;
  bool is_actor;
  /// Whether the subscription has the mailbox of an arrangement.
  bool is_mailed;
  atomic_int state;
  fwd_subscription subscription;
} context;

enum { CONTEXT_COUNT = 64 };

/// One proxy with two subscriptions: the actor makes the call under test, the sibling is what it may act on.
struct scene {
  const call *call;
  situation when;
  const fwd_protocol *protocol;
  fwd_selector ping, add;
  fwd_proxy *proxy;
  /// 0 if there is none.
  fwd_subscription actor, sibling;
  /// Whether other threads change the proxy or have changed it: its subscribers are not only those of the scene.
  bool is_shared;
  /// For the interceptors, visitors and handlers of the call under test.
  atomic_size_t counter;
  /// The subscriptions that began, and the notifiers that ran.
  atomic_size_t subscribed, destroyed;
  int acted;
  atomic_int failures;
  /// Has the last reference to the proxy; for IN_NOTIFIER_OF_RELEASE_IN_CALLBACK.
  fwd_callback_table *table;
  /// For the arrangements of exit handlers: the round in which the handler runs.
  int round;
  context contexts[CONTEXT_COUNT];
};

/// Reports a fault of the scene.
void scene_fail(scene *self, const char *what);

/// Subscribes another context of the scene, to `ping:` alone if it has a mailbox. `options` may be NULL. A scene that is shared uses contexts again after
/// their notifiers, and subscribes nothing while all of them are in use.
fwd_status scene_subscribe(scene *self, bool is_actor, const fwd_subscribe_options *options,
                           fwd_subscription *subscription);

/// Forwards `ping:` to the scene's proxy.
fwd_status scene_forward(scene *self);

/// The number of live subscriptions in the scene's situation; of a shared scene, how many there are at least.
size_t scene_expected_count(const scene *self);

/// Whether a number of subscribers, results or calls is right: exactly, or at least if the scene is shared.
bool scene_has_count(const scene *self, size_t count, size_t expected);

/// Whether the call comes from inside the last release.
bool scene_is_closing(const scene *self);

// MARK: Rows

/// A row of the table: calls of functions of forwarding.h.
struct call {
  /// Names each public function that the row calls, as SequenceTests checks.
  const char *name;
  /// Makes the calls. Returns the first status that is not FWD_OK, and then keeps nothing.
  fwd_status (*make)(scene *self);
  /// The status inside of the last release.
  fwd_status closing;
  /// The status inside of the notifier of the actor's own subscription, if the proxy goes on.
  fwd_status ended;
  /// The status in all other situations.
  fwd_status usual;
  /// Whether the library keeps something that a success makes: an interned name, a cached signature, a
  /// function pointer that is valid for good.
  bool keeps_memory;
};

extern const call sequence_calls[];
extern const size_t sequence_call_count;

/// The status that a row has in a situation, if no allocation fails.
fwd_status sequence_expected(const call *row, situation when);

#endif
