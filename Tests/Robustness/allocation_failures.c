// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Makes each allocation of the C target fail in turn, in each of its functions. The function must then return the
/// status for short memory, leave its outputs unchanged, leak nothing, and succeed when it is called again.
///
/// run.sh links this program with `--wrap` for every function that allocates, and checks that the C target calls no
/// others.

#include <stdint.h>
#include <string.h>

#include "abi/plan.h"
#include "allocations.h"
#include "call/signature.h"
#include "check.h"
#include "fwd_closure.h"
#include "fwd_draft.h"
#include "fwd_fan_out.h"
#include "fwd_signature.h"
#include "objects.h"
#include "members/subscriber_list.h"
#include "proxies.h"

// MARK: Caches of the library

/// The library caches signatures and keeps dead closures for a while. Fills these caches with known contents, so that
/// two counts of live blocks can be compared.
static void settle(void) {
  static fwd_signature *plain;
  if (!plain) NEED(fwd_signature_create("v", 1, &plain, NULL) == FWD_OK);
  for (unsigned i = 0; i < 8192; i++) {
    char text[16];
    int length = snprintf(text, sizeof text, "v%08u", i);
    fwd_signature *signature;
    NEED(fwd_signature_create(text, (size_t)length, &signature, NULL) == FWD_OK);
    fwd_signature_release(signature);
  }
  // All at once: more than the 864 compiled entries for such a signature (256 quick and 608 full ones), so that
  // enough of the closures are libffi's to fill the quarantine for libffi's closures.
  enum { closure_count = 1536 };
  static fwd_closure *closures[closure_count];
  for (size_t i = 0; i < closure_count; i++) {
    NEED(fwd_closure_create(plain, (fwd_closure_handler)(uintptr_t)abort, NULL, &closures[i], NULL) == FWD_OK);
  }
  for (size_t i = 0; i < closure_count; i++) fwd_closure_destroy(closures[i]);
}

/// Routes calls through libffi, or stops doing so. Signatures made meanwhile have a block more.
static void use_libffi(bool forced) {
  fwd_use_libffi(forced);
  settle();
}

// MARK: Attempts

/// A function under test, with its arguments and results.
typedef struct attempt {
  const char *subject;
  /// Called before each call of `run`. Allocations do not fail in it.
  void (*prepare)(struct attempt *self);
  /// Calls the function under test. Stores what the function made in `output`.
  fwd_status (*run)(struct attempt *self);
  /// Frees `output` after a success.
  void (*undo)(struct attempt *self);
  /// Called after each call of `run`.
  void (*finish)(struct attempt *self);
  /// Checks after a failure that nothing has changed.
  void (*unchanged)(struct attempt *self);
  /// The function fills no `fwd_error`; it sets no message either.
  bool has_no_error, has_no_message;
  /// The function can succeed although an allocation has failed.
  bool absorbs;
  /// A failure may leave an enlarged block, which `finish` frees.
  bool keeps_room;

  const char *text;
  size_t length;
  char buffer[512];
  fwd_signature *signature;
  fwd_proxy *proxy;
  fwd_dispatch_table *table;
  size_t count;
  /// For a list: the number of ended subscriptions, and of those whose objects have died.
  size_t ended, dead;
  /// For a new subscription.
  fwd_hold hold;
  size_t index;
  bool brings_table;
  size_t limit;
  int form;
  const void *failure_result;
  /// The owner of a function pointer; NULL if that is the proxy.
  fake_object *object;
  fwd_error error;
  void *output;
} attempt;

#define UNTOUCHED ((void *)(uintptr_t)8)
#define MADE ((void *)(uintptr_t)16)

static size_t entries, failures;
static attempt *running;
static size_t next_failure;

/// `run` calls these two before and after the function under test: only allocations between them fail.
static void begin(void) { arm(next_failure); }
static void end(void) { disarm(); }

static fwd_status try_once(attempt *self, size_t which) {
  next_failure = which;
  self->output = UNTOUCHED;
  memset(&self->error, 0x5a, sizeof self->error);
  long at_first = live;
  if (self->prepare) self->prepare(self);
  long before = live;
  injected = injected_shrink = false;
  fwd_status status = self->run(self);
  if (status != FWD_OK) {
    EXPECT(self->output == UNTOUCHED);
    if (!self->keeps_room) EXPECT(live == before);
    if (self->unchanged) self->unchanged(self);
  } else {
    EXPECT(self->output != UNTOUCHED);
    if (self->undo) self->undo(self);
  }
  if (self->finish) self->finish(self);
  if (self->keeps_room) EXPECT(live == at_first);
  return status;
}

/// Calls a function with its first allocation failing, then with its second, and so on until no allocation is left to
/// fail. Returns the number of allocations.
static size_t try_each(attempt self) {
  check_begin(self.subject);
  running = &self;
  entries++;
  for (size_t which = 0;; which++) {
    if (!EXPECT(which < 10000)) return which;
    fwd_status status = try_once(&self, which);
    if (!injected) {
      EXPECT(status == FWD_OK);
      return which;
    }
    failures++;
    // A block that could not be made smaller is still valid.
    if ((injected_shrink || self.absorbs) && status == FWD_OK) continue;
    EXPECT(status == FWD_NO_MEMORY || status == FWD_NO_EXECUTABLE_MEMORY);
    if (!self.has_no_error) {
      EXPECT(self.error.status == status);
      EXPECT(self.error.message[0] && memchr(self.error.message, 0, sizeof self.error.message));
      EXPECT(strcmp(self.error.message, fwd_error_message()) == 0);
    }
    if (!self.has_no_message) EXPECT(fwd_error_message()[0]);
    // The failure has left no state that makes a second call fail.
    EXPECT(try_once(&self, (size_t)never) == FWD_OK);
  }
}

static fwd_status status_of(const void *made) { return made ? FWD_OK : FWD_NO_MEMORY; }

/// Changes the text to one that has not been parsed before, so that it is not cached and needs the same allocations as
/// the others.
static void freshen(attempt *self) {
  static unsigned number = 10000000;
  // Adds a frame size behind the result, which is the first letter.
  int length = snprintf(self->buffer, sizeof self->buffer, "%c%08u%s", self->text[0], number++, self->text + 1);
  NEED(length > 0 && (size_t)length < sizeof self->buffer);
  self->length = (size_t)length;
}

// MARK: Types, encodings and signatures

static const char *const types[] = {
    "i",
    "^^^{S}",
    "{S=ii^{T}[3d]}",
    "@?<v@?@\"Foo\">",
    "{S=iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii}",
};
static const char *const methods[] = {
    "v",
    "v@:",
    "i@:{?=id}dq",
    "D@:{S=[100c]}{?=dd}(U=if)jfD",
    "viiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
};

static fwd_status run_layout(attempt *self) {
  fwd_layout layout = {0, 0, 0};
  begin();
  fwd_status status = fwd_type_layout(self->text, strlen(self->text), &layout, &self->error);
  end();
  if (layout.alignment) self->output = MADE;
  return status;
}

static fwd_status run_encoding(attempt *self) {
  begin();
  fwd_status status = fwd_encoding_create(self->text, strlen(self->text), FWD_FORM_METHOD,
                                          (fwd_encoding **)&self->output, &self->error);
  end();
  return status;
}
static void undo_encoding(attempt *self) { fwd_encoding_release(self->output); }

static fwd_status run_signature(attempt *self) {
  begin();
  fwd_status status =
      fwd_signature_create(self->buffer, self->length, (fwd_signature **)&self->output, &self->error);
  end();
  return status;
}
static void undo_signature(attempt *self) { fwd_signature_release(self->output); }

static fwd_status run_stated_layout(attempt *self) {
  static const fwd_stated_member members[] = {{0, 0}, {0, 8}};
  const fwd_stated_layout stated[] = {{"P", 5, 1, NULL, 0, 0}, {"B", 8, 4, members, 2, 0}};
  fwd_layout layout = {0, 0, 0};
  begin();
  fwd_status status =
      fwd_type_layout_stating(self->text, strlen(self->text), stated, 2, &layout, &self->error);
  end();
  if (layout.alignment) self->output = MADE;
  return status;
}

static fwd_status create_stated(attempt *self, const char *text, fwd_signature **signature) {
  static const fwd_stated_member members[] = {{0, 0}, {0, 8}};
  const fwd_stated_layout stated[] = {{"P", 5, 1, NULL, 0, 0}, {"B", 8, 4, members, 2, 0}};
  return fwd_signature_create_stating(text, strlen(text), stated, 2, signature, &self->error);
}
static fwd_status run_stated_signature(attempt *self) {
  begin();
  fwd_status status = create_stated(self, self->text, (fwd_signature **)&self->output);
  end();
  return status;
}
static void prepare_stated(attempt *self) {
  NEED(create_stated(self, self->text, &self->signature) == FWD_OK);
}

/// Makes a signature whose text without the hidden arguments is not cached either.
static void prepare_droppable(attempt *self) {
  static unsigned number;
  int length = snprintf(self->buffer, sizeof self->buffer, "i@:{N%08u=i}d", number++);
  NEED(fwd_signature_create(self->buffer, (size_t)length, &self->signature, NULL) == FWD_OK);
}
static void finish_signature(attempt *self) { fwd_signature_release(self->signature); }
static fwd_status run_drop_hidden(attempt *self) {
  begin();
  fwd_status status = fwd_signature_replace_hidden(self->signature, SIZE_MAX, (fwd_signature **)&self->output, &self->error);
  end();
  return status;
}

#if FWD_HAS_CALL_PLANS
static fwd_status run_plan(attempt *self) {
  begin();
  fwd_status status = fwd_call_plan_create(fwd_cif_placement(fwd_signature_cif(self->signature)),
                                           fwd_signature_encoding(self->signature),
                                           (fwd_call_plan **)&self->output, &self->error);
  end();
  return status;
}
static void undo_plan(attempt *self) { free(self->output); }
#endif

static void try_signatures(void) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    try_each((attempt){.subject = "fwd_type_layout", .text = types[i], .run = run_layout});
  }
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    try_each((attempt){.subject = "fwd_encoding_create", .text = methods[i], .run = run_encoding,
                       .undo = undo_encoding});
    try_each((attempt){.subject = "fwd_signature_create", .text = methods[i], .prepare = freshen,
                       .run = run_signature, .undo = undo_signature});
#if FWD_HAS_CALL_PLANS
    fwd_signature *signature;
    NEED(fwd_signature_create(methods[i], strlen(methods[i]), &signature, NULL) == FWD_OK);
    try_each((attempt){.subject = "fwd_call_plan_create", .signature = signature, .run = run_plan,
                       .undo = undo_plan});
    fwd_signature_release(signature);
#endif
  }
  try_each((attempt){.subject = "fwd_type_layout_stating", .text = "{?={P=ci}{B=b8b20}}", .run = run_stated_layout});
  const char *stated = "i@:{P=ci}d{B=b8b20}";
  EXPECT(try_each((attempt){.subject = "fwd_signature_create_stating", .text = stated, .run = run_stated_signature,
                            .undo = undo_signature}) > 0);
  EXPECT(try_each((attempt){.subject = "fwd_signature_replace_hidden, stated", .text = stated, .prepare = prepare_stated,
                            .run = run_drop_hidden, .undo = undo_signature, .finish = finish_signature}) > 0);
  try_each((attempt){.subject = "fwd_signature_replace_hidden", .prepare = prepare_droppable, .run = run_drop_hidden,
                     .undo = undo_signature, .finish = finish_signature});
}

// MARK: Closures

static int released;
static void count_release(void *context) {
  (void)context;
  released++;
}

static void add_integers(void *context, void *const *arguments, void *result) {
  (void)context;
  int left, right;
  memcpy(&left, arguments[0], sizeof left);
  memcpy(&right, arguments[1], sizeof right);
  left += right;
  memcpy(result, &left, sizeof left);
}

static void use_and_end_closure(attempt *self) {
  fwd_closure *closure = self->output;
  int (*add)(int, int) = (int (*)(int, int))fwd_closure_function(closure);
  arm((size_t)never);
  EXPECT(add(30, 12) == 42);
  EXPECT(requests == 0);
  fwd_closure_destroy(closure);
  EXPECT(requests == 0);
  disarm();
}

/// The first call of a thread through a closure allocates a block of hazard pointers, which is kept for later threads.
static void warm_up(void) {
  fwd_signature *signature;
  fwd_closure *closure;
  NEED(fwd_signature_create("iii", 3, &signature, NULL) == FWD_OK);
  NEED(fwd_closure_create(signature, add_integers, NULL, &closure, NULL) == FWD_OK);
  EXPECT(((int (*)(int, int))fwd_closure_function(closure))(30, 12) == 42);
  fwd_closure_destroy(closure);
  fwd_signature_release(signature);
}

static fwd_status run_closure(attempt *self) {
  begin();
  fwd_status status =
      fwd_closure_create(self->signature, add_integers, NULL, (fwd_closure **)&self->output, &self->error);
  end();
  return status;
}

static fwd_status run_owning_closure(attempt *self) {
  released = 0;
  begin();
  fwd_status status = fwd_closure_create_owning(self->signature, add_integers, NULL, count_release,
                                                (fwd_closure **)&self->output, &self->error);
  end();
  EXPECT(released == 0);
  return status;
}
static void undo_owning_closure(attempt *self) {
  use_and_end_closure(self);
  EXPECT(released == 1);
}

// A thread's first call through a closure allocates memory. The call must succeed without it.

static int first_sum;
static size_t first_failure;
static void *call_first(void *context) {
  int (*add)(int, int) = (int (*)(int, int))fwd_closure_function(context);
  arm(first_failure);
  first_sum = add(40, 2);
  disarm();
  return NULL;
}

static void call_first_in_thread(fwd_signature *signature) {
  check_begin("the first call of a thread");
  entries++;
  for (first_failure = 0;; first_failure++) {
    fwd_closure *closure;
    pthread_t thread;
    NEED(fwd_closure_create_owning(signature, add_integers, NULL, count_release, &closure, NULL) == FWD_OK);
    injected = false;
    released = first_sum = 0;
    NEED(pthread_create(&thread, NULL, call_first, closure) == 0);
    pthread_join(thread, NULL);
    EXPECT(first_sum == 42);
    // The call does not delay the end of the closure.
    fwd_closure_destroy(closure);
    EXPECT(released == 1);
    if (!injected) return;
    failures++;
  }
}

static void try_closures(void) {
  fwd_signature *signature;
  NEED(fwd_signature_create("iii", 3, &signature, NULL) == FWD_OK);
  call_first_in_thread(signature);
  attempt self = {.signature = signature};
  for (int by_libffi = 0; by_libffi < 2; by_libffi++) {
    fwd_use_libffi(by_libffi);
    // If there is no memory for a compiled entry's layout, the closure may be libffi's.
    self.absorbs = !by_libffi;
    self.subject = "fwd_closure_create";
    self.run = run_closure;
    self.undo = use_and_end_closure;
    EXPECT(try_each(self) > 0);
    self.subject = "fwd_closure_create_owning";
    self.run = run_owning_closure;
    self.undo = undo_owning_closure;
    EXPECT(try_each(self) > 0);
  }
  fwd_use_libffi(false);
  fwd_signature_release(signature);
}

// MARK: Selectors

static void prepare_name(attempt *self) {
  static unsigned number;
  snprintf(self->buffer, sizeof self->buffer, "selector:%u", number++);
}
static fwd_status run_selector(attempt *self) {
  begin();
  fwd_selector selector = fwd_selector_register(self->buffer);
  end();
  EXPECT(fwd_selector_find(self->buffer) == selector);
  if (selector) self->output = MADE;
  return status_of(selector);
}

static void try_selectors(void) {
  EXPECT(try_each((attempt){.subject = "fwd_selector_register", .prepare = prepare_name, .run = run_selector,
                            .has_no_error = true}) == 1);
}

// MARK: A proxy

enum { method_ping, method_large, method_extra, method_count };
typedef struct large_result {
  unsigned char bytes[100];
} large_result;

static const char *const selector_names[method_count] = {"ping", "large:and:", "extra"};
static const char *const encodings[method_count] = {"v@:", "{L=[100C]}@:{?=id}D", "v@:"};
static fwd_selector selectors[method_count];
static fwd_signature *signatures[method_count];

static size_t calls, reports, destroyed;
static fwd_status last_report;

/// Called by the first subscriber, whose receiver is 1, in `ping`.
static void (*in_ping)(void);

static void report(void *owner, fwd_selector selector, const fwd_error *error) {
  (void)owner, (void)selector;
  reports++;
  last_report = error->status;
}
static void met_the_dead(void *owner, size_t visited) { (void)owner, (void)visited; }
static void find_responders(void *owner, size_t method) { (void)owner, (void)method; }
static const fwd_proxy_operations operations = {.report = report, .met_the_dead = met_the_dead, .find_responders = find_responders};
static fake_object *proxy_owner;

static fwd_status answer_ping(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  (void)context, (void)arguments, (void)result, (void)error;
  calls++;
  if (in_ping && (uintptr_t)receiver == 1) in_ping();
  return FWD_OK;
}

static fwd_status answer_large(const void *context, void *receiver, void *const *arguments, void *result,
                               fwd_error *error) {
  (void)context, (void)receiver, (void)error;
  EXPECT((uintptr_t)arguments[2] % 8 == 0 && (uintptr_t)arguments[3] % _Alignof(long double) == 0);
  calls++;
  memset(result, 0x42, sizeof(large_result));
  return FWD_OK;
}

static void count_destroyed(void *receiver) {
  (void)receiver;
  destroyed++;
}

static fwd_dispatch_table *make_table(void) {
  fwd_dispatch_table *table = fwd_dispatch_table_create(method_count, NULL);
  NEED(table);
  fwd_dispatch_table_entry(table, method_ping)->packed = answer_ping;
  fwd_dispatch_table_entry(table, method_large)->packed = answer_large;
  return table;
}

/// Subscribes. Allocations do not fail in it.
static fwd_subscription subscribe(fwd_proxy *proxy, fwd_dispatch_table *table, fake_object *held, fwd_hold hold,
                            size_t number) {
  fwd_subscriber subscriber = {.object = held, .hold = hold, .receiver = (void *)(uintptr_t)number};
  if (hold == FWD_HOLD_NONE) subscriber.destroy = count_destroyed;
  fwd_garbage garbage = {.first = NULL};
  fwd_subscription made =
      fwd_list_insert(fwd_proxy_core_list(proxy), &subscriber, table, FWD_LIST_END, &garbage);
  NEED(made);
  fwd_garbage_collect(garbage);
  return made;
}

static fwd_proxy *make_core(void) {
  fwd_proxy_method table[method_count];
  memset(table, 0, sizeof table);
  for (size_t i = 0; i < method_count; i++) {
    table[i].selector = selectors[i];
    table[i].signature = signatures[i];
  }
  return new_proxy(table, method_count, proxy_owner, &operations);
}

/// Creates a proxy with subscribers 1 to `count`, in this order. All have the caller's table.
static fwd_proxy *make_proxy_of(fwd_dispatch_table *table, size_t count) {
  fwd_proxy *proxy = make_core();
  NEED(proxy);
  for (size_t i = 0; i < count; i++) subscribe(proxy, table, NULL, FWD_HOLD_NONE, i + 1);
  return proxy;
}

static fwd_proxy *make_proxy(size_t count) {
  fwd_dispatch_table *table = make_table();
  fwd_proxy *proxy = make_proxy_of(table, count);
  fwd_dispatch_table_release(table);
  return proxy;
}

static fwd_status ping(fwd_proxy *proxy) { return fwd_forward(proxy, selectors[method_ping], NULL, 0, NULL, 0); }

static fwd_status run_core(attempt *self) {
  begin();
  void *made = make_core();
  end();
  if (made) self->output = made;
  return status_of(made);
}
static void undo_core(attempt *self) { fwd_proxy_core_release(self->output); }

static fwd_status run_table(attempt *self) {
  begin();
  void *made = fwd_dispatch_table_create(method_count, self);
  end();
  if (made) self->output = made;
  return status_of(made);
}
static void undo_table(attempt *self) { fwd_dispatch_table_release(self->output); }

// MARK: The list, inside and outside of a fan-out

enum { place_limit = 64 };

/// The state of the list before an attempt.
static struct {
  size_t count;
  fwd_subscription identifiers[place_limit];
  bool is_live[place_limit];
  size_t live;
  bool may_respond[method_count];
  size_t indexed, members, references;
} listed;

static void remember(const attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  listed.count = fwd_list_count(list);
  NEED(listed.count < place_limit);
  listed.live = 0;
  for (size_t i = 0; i < listed.count; i++) {
    listed.identifiers[i] = fwd_record_identifier(fwd_list_record(list, i));
    listed.live += listed.is_live[i] = fwd_record_is_live(fwd_list_record(list, i));
  }
  for (size_t i = 0; i < method_count; i++) listed.may_respond[i] = fwd_list_may_respond(list, i);
  listed.indexed = list->index.count;
  listed.members = self->table->members;
  listed.references = self->table->references;
}

/// The new subscriber, if it is an object.
static fake_object *joining;
/// The dead objects of the last `dead` subscriptions.
static fake_object *dying[place_limit];

static void end_at(fwd_proxy *proxy, size_t index) {
  fwd_garbage garbage = {.first = NULL};
  fwd_subscriber_list *list = fwd_proxy_core_list(proxy);
  fwd_list_end(list, fwd_list_record(list, index), &garbage);
  fwd_garbage_collect(garbage);
}

static void prepare_list(attempt *self) {
  fwd_dispatch_table *table = make_table();
  self->proxy = make_proxy_of(table, self->count - self->dead);
  for (size_t i = 0; i < self->dead; i++) {
    dying[i] = object_create(NULL, NULL);
    subscribe(self->proxy, table, dying[i], FWD_HOLD_WEAK, 500 + i);
  }
  for (size_t i = 0; i < self->dead; i++) swift_release(dying[i]);
  for (size_t i = 0; i < self->ended; i++) end_at(self->proxy, 2 + 2 * i);
  if (self->brings_table) {
    fwd_dispatch_table_release(table);
    table = make_table();
    fwd_dispatch_table_entry(table, method_extra)->packed = answer_ping;
  }
  self->table = table;
  joining = object_create(NULL, NULL);
  destroyed = 0;
  remember(self);
}
static void finish_list(attempt *self) {
  fwd_dispatch_table_release(self->table);
  fwd_proxy_core_release(self->proxy);
  EXPECT(object_strong(joining) == 1 && object_unowned(joining) == 1);
  swift_release(joining);
}

/// Checks that a failed attempt has changed nothing, except that the list may have ended subscriptions whose objects
/// have died.
static void list_unchanged(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  EXPECT(fwd_list_count(list) == listed.count && destroyed == 0);
  for (size_t i = 0; i < listed.count; i++) {
    fwd_record *record = fwd_list_record(list, i);
    EXPECT(fwd_record_identifier(record) == listed.identifiers[i]);
    EXPECT(fwd_record_is_live(record) == listed.is_live[i]);
    if (listed.is_live[i]) EXPECT(fwd_list_find(list, listed.identifiers[i]) == record);
  }
  for (size_t i = 0; i < method_count; i++) EXPECT(fwd_list_may_respond(list, i) == listed.may_respond[i]);
  size_t noted = listed.indexed - list->index.count;
  EXPECT(noted == 0 || noted == self->dead);
  if (!self->brings_table) EXPECT(self->table->members == listed.members - noted);
  EXPECT(self->table->references == listed.references);
  EXPECT(!fwd_list_find_object(list, joining, NULL) && object_strong(joining) == 1 && object_unowned(joining) == 1);
  EXPECT(!fwd_domain_is_read(&list->domain));
  calls = 0;
  EXPECT(ping(self->proxy) == FWD_OK && calls == listed.live);
}

/// Checks the order of the live subscriptions.
static void expect_order(const attempt *self, const fwd_subscription *expected, size_t count) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  size_t seen = 0;
  for (size_t i = 0; i < fwd_list_count(list); i++) {
    fwd_record *record = fwd_list_record(list, i);
    if (!fwd_record_is_live(record)) continue;
    if (!EXPECT(seen < count && fwd_record_identifier(record) == expected[seen])) return;
    seen++;
  }
  EXPECT(seen == count);
}

static fwd_status run_insert(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  fwd_garbage garbage = {.first = NULL};
  fwd_subscriber subscriber = {
      .hold = self->hold, .receiver = (void *)(uintptr_t)1000, .limit = self->limit};
  if (self->hold == FWD_HOLD_NONE) {
    subscriber.destroy = count_destroyed;
  } else {
    subscriber.object = joining;
  }
  begin();
  fwd_subscription made = fwd_list_insert(list, &subscriber, self->table, self->index, &garbage);
  fwd_garbage_collect(garbage);
  end();
  if (!made) return FWD_NO_MEMORY;
  self->output = MADE;
  fwd_subscription expected[place_limit];
  size_t count = 0;
  for (size_t i = 0; i <= listed.count; i++) {
    if (i == listed.count ? self->index >= i : i == self->index) expected[count++] = made;
    if (i < listed.count && listed.is_live[i]) expected[count++] = listed.identifiers[i];
  }
  expect_order(self, expected, count);
  fwd_record *record = fwd_list_find(list, made);
  EXPECT(record && fwd_record_identifier(record) == made);
  if (self->hold != FWD_HOLD_NONE) EXPECT(fwd_list_find_object(list, joining, NULL) == record);
  EXPECT(fwd_list_may_respond(list, method_extra) == self->brings_table);
  EXPECT(fwd_list_may_respond(list, method_ping) && destroyed == 0);
  return FWD_OK;
}

static fwd_status run_block(attempt *self) {
  fwd_record *record = fwd_list_record(fwd_proxy_core_list(self->proxy), 0);
  begin();
  bool done = fwd_list_block(fwd_proxy_core_list(self->proxy), record);
  end();
  EXPECT(fwd_record_is_blocked(record) == done && fwd_record_is_live(record));
  if (!done) return FWD_NO_MEMORY;
  self->output = MADE;
  calls = 0;
  EXPECT(ping(self->proxy) == FWD_OK && calls == listed.live - 1);
  return FWD_OK;
}

static fwd_status run_move(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  fwd_garbage garbage = {.first = NULL};
  size_t from = listed.count - 1 - self->dead;
  const fwd_record *record = fwd_list_record(list, from);
  begin();
  bool done = fwd_list_move(list, from, 0, 7, &garbage);
  fwd_garbage_collect(garbage);
  end();
  EXPECT(fwd_segments_priority(list, record) == (done ? 7 : 0));
  if (!done) return FWD_NO_MEMORY;
  self->output = MADE;
  fwd_subscription expected[place_limit];
  size_t count = 0;
  if (listed.is_live[from]) expected[count++] = listed.identifiers[from];
  for (size_t i = 0; i < listed.count; i++) {
    if (i != from && listed.is_live[i]) expected[count++] = listed.identifiers[i];
  }
  expect_order(self, expected, count);
  EXPECT(fwd_list_count(list) == listed.count);
  return FWD_OK;
}

/// Publishes a draft, or gives it up with the subscription that was to join. Ends what `begin` began.
static void end_draft(fwd_subscriber_list *list, fwd_garbage *garbage, bool is_done, bool has_draft,
                      const fwd_prepared *prepared) {
  if (is_done) {
    fwd_draft_publish(list, garbage);
  } else {
    if (has_draft) fwd_draft_discard(list, garbage);
    if (prepared) fwd_list_abandon(list, *prepared, garbage);
  }
  fwd_garbage_collect(*garbage);
  end();
}

/// A draft in which one subscription leaves, and another joins and is moved to the front.
static fwd_status run_draft(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  fwd_garbage garbage = {.first = NULL};
  fwd_subscriber subscriber = {.object = joining, .hold = FWD_HOLD_WEAK, .receiver = (void *)(uintptr_t)1000};
  fwd_prepared prepared;
  fwd_subscription left = 0;
  begin();
  fwd_subscription made = fwd_list_prepare(list, &subscriber, self->table, &prepared, &garbage);
  bool has_draft = made && fwd_draft_begin(list), done = has_draft;
  if (done && fwd_list_count(list) > 0) {
    left = fwd_record_identifier(fwd_list_record(list, 0));
    done = fwd_draft_leave(list, fwd_list_record(list, 0));
  }
  done = done && fwd_draft_join(list, prepared, 0, FWD_LIST_END) &&
         fwd_draft_move(list, fwd_list_count(list) - 1, 0, 7);
  end_draft(list, &garbage, done, has_draft, made ? &prepared : NULL);
  if (!done) return FWD_NO_MEMORY;
  self->output = MADE;
  fwd_subscription expected[place_limit];
  size_t count = 0;
  expected[count++] = made;
  for (size_t i = 0; i < listed.count; i++) {
    if (listed.is_live[i] && listed.identifiers[i] != left) expected[count++] = listed.identifiers[i];
  }
  expect_order(self, expected, count);
  EXPECT(!left || !fwd_list_find(list, left));
  EXPECT(fwd_list_find_object(list, joining, NULL) == fwd_list_find(list, made));
  EXPECT(fwd_segments_priority(list, fwd_list_find(list, made)) == 7);
  return FWD_OK;
}

/// A draft in which a subscription joins and leaves. It is the first subscription of some lists.
static fwd_status run_passing_draft(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  fwd_garbage garbage = {.first = NULL};
  fwd_subscriber subscriber = {.object = joining, .hold = FWD_HOLD_WEAK, .receiver = (void *)(uintptr_t)1000};
  fwd_prepared prepared;
  begin();
  fwd_subscription made = fwd_list_prepare(list, &subscriber, self->table, &prepared, &garbage);
  bool has_draft = made && fwd_draft_begin(list);
  bool done = has_draft && fwd_draft_join(list, prepared, 0, FWD_LIST_END) &&
              fwd_draft_leave(list, fwd_list_find(list, made));
  end_draft(list, &garbage, done, has_draft, made ? &prepared : NULL);
  if (!done) return FWD_NO_MEMORY;
  self->output = MADE;
  fwd_subscription expected[place_limit];
  size_t count = 0;
  for (size_t i = 0; i < listed.count; i++) {
    if (listed.is_live[i]) expected[count++] = listed.identifiers[i];
  }
  expect_order(self, expected, count);
  EXPECT(!fwd_list_find(list, made) && !fwd_list_find_object(list, joining, NULL));
  return FWD_OK;
}

static fwd_status run_prune(attempt *self) {
  fwd_subscriber_list *list = fwd_proxy_core_list(self->proxy);
  fwd_garbage garbage = {.first = NULL};
  begin();
  bool done = fwd_list_prune(list, &garbage);
  fwd_garbage_collect(garbage);
  end();
  if (!done) return FWD_NO_MEMORY;
  self->output = MADE;
  EXPECT(fwd_list_count(list) == listed.live && destroyed == 0);
  return FWD_OK;
}

/// Runs an attempt inside a fan-out, in its first subscriber. The fan-out must call the subscribers that it began with.
static fwd_status (*nested_run)(attempt *self);
static fwd_status nested_status;
static void run_nested(void) { nested_status = nested_run(running); }
static fwd_status run_in_fan_out(attempt *self) {
  in_ping = run_nested;
  calls = 0;
  EXPECT(ping(self->proxy) == FWD_OK && calls == listed.live);
  in_ping = NULL;
  return nested_status;
}

/// Tries a change outside of a fan-out and, if there are subscribers, inside of one.
static void try_change(attempt self, const char *subject, const char *nested_subject,
                       fwd_status (*run)(attempt *self)) {
  self.subject = subject;
  self.run = run;
  try_each(self);
  if (self.count == 0) return;
  self.subject = nested_subject;
  self.run = run_in_fan_out;
  nested_run = run;
  try_each(self);
}

static void try_insertions(attempt self) {
  for (self.hold = FWD_HOLD_NONE; self.hold <= FWD_HOLD_WEAK; self.hold++) {
    for (int brings = self.count == 0; brings < 2; brings++) {
      self.brings_table = brings;
      self.index = FWD_LIST_END;
      try_change(self, "fwd_list_insert, last", "fwd_list_insert, last, in a fan-out", run_insert);
      if (self.count == 0) continue;
      self.index = 0;
      try_change(self, "fwd_list_insert, first", "fwd_list_insert, first, in a fan-out", run_insert);
      self.index = self.count / 2;
      try_change(self, "fwd_list_insert, between", "fwd_list_insert, between, in a fan-out", run_insert);
    }
  }
}

static void try_lists(void) {
  // Segments of some of these sizes are full, so that the next subscriber needs a larger one.
  const size_t counts[] = {0, 1, 7, 8, 13, 40};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    attempt self = {.count = counts[i], .prepare = prepare_list, .finish = finish_list,
                    .unchanged = list_unchanged, .has_no_error = true, .has_no_message = true,
                    .keeps_room = true};
    size_t most = counts[i] < 7 ? 0 : 2;
    for (self.ended = 0; self.ended <= most; self.ended += 2) {
      for (self.dead = 0; self.dead <= most; self.dead += 2) {
        for (self.limit = 0; self.limit <= 2; self.limit += 2) try_insertions(self);
        self.limit = 0;
        self.brings_table = false;
        if (counts[i] > 0) {
          self.subject = "fwd_list_block";
          self.run = run_block;
          EXPECT(try_each(self) == 1);
        }
        for (int brings = counts[i] == 0; brings < 2; brings++) {
          self.brings_table = brings;
          try_change(self, "a draft", "a draft, in a fan-out", run_draft);
          try_change(self, "a draft, joined and left", "a draft, joined and left, in a fan-out", run_passing_draft);
        }
        self.brings_table = false;
        if (counts[i] > 1) try_change(self, "fwd_list_move", "fwd_list_move, in a fan-out", run_move);
        if (self.ended + self.dead == 0) continue;
        try_change(self, "fwd_list_prune", "fwd_list_prune, in a fan-out", run_prune);
      }
    }
  }
}

// MARK: Batches

static void prepare_batch(attempt *self) {
  prepare_list(self);
  subscribe(self->proxy, self->table, joining, FWD_HOLD_WEAK, 1000);
  listed.live++;
}
static void batch_unchanged(attempt *self) {
  // The failed batch retains no object, and does not delay the end of a subscription.
  EXPECT(object_strong(joining) == 1 && !fwd_domain_is_read(&fwd_proxy_core_list(self->proxy)->domain));
  calls = 0;
  EXPECT(ping(self->proxy) == FWD_OK && calls == listed.live);
  end_at(self->proxy, 0);
  EXPECT(destroyed == 1);
}
static fwd_status run_batch(attempt *self) {
  begin();
  fwd_status status = fwd_batch_begin(self->proxy, (fwd_batch **)&self->output, &self->error);
  end();
  return status;
}
static void undo_batch(attempt *self) {
  fwd_batch *batch = self->output;
  EXPECT(object_strong(joining) == 2 && fwd_domain_is_read(&fwd_proxy_core_list(self->proxy)->domain));
  calls = 0;
  EXPECT(fwd_batch_forward(batch, selectors[method_ping], NULL, 0, NULL, 0) == FWD_OK);
  EXPECT(calls == listed.live);
  fwd_batch_end(batch);
  batch_unchanged(self);
}

static void try_batches(void) {
  attempt self = {.prepare = prepare_batch, .run = run_batch, .undo = undo_batch,
                  .finish = finish_list, .unchanged = batch_unchanged};
  self.subject = "fwd_batch_begin";
  self.count = 40;
  EXPECT(try_each(self) == 1);
  self.dead = self.ended = 2;
  self.subject = "fwd_batch_begin, some dead";
  EXPECT(try_each(self) == 1);
}

// MARK: Ending

// Ending a subscription cannot fail: if there is no memory to compact the list, the ended subscriptions stay as
// tombstones and are not called.

typedef struct ending_case {
  const char *name;
  void (*run)(fwd_subscriber_list *list, fwd_garbage *garbage);
  /// The number of subscriptions that it ends, and how many of these have been called already if the first subscriber of
  /// a fan-out ends them.
  size_t ended, called;
} ending_case;

/// Subscribers 1 to `plain_count` are C contexts. The others are the subscriptions of one object, some weak and some
/// strong.
enum { plain_count = 20, strong_count = 3, weak_count = 20 };
enum { ending_count = plain_count + strong_count + weak_count };

static void end_one(fwd_subscriber_list *list, fwd_garbage *garbage) {
  fwd_list_end(list, fwd_list_find(list, listed.identifiers[1]), garbage);
}
/// Ends all C contexts but the first, and enough of the others that the list is compacted.
static void end_many(fwd_subscriber_list *list, fwd_garbage *garbage) {
  for (size_t i = 1; i < ending_count - 5; i++) {
    fwd_list_end(list, fwd_list_find(list, listed.identifiers[i]), garbage);
  }
}
static void end_object(fwd_subscriber_list *list, fwd_garbage *garbage) {
  EXPECT(fwd_list_end_object(list, joining, garbage) == strong_count + weak_count);
}
static void end_all(fwd_subscriber_list *list, fwd_garbage *garbage) { fwd_list_end_all(list, garbage); }

static const ending_case endings[] = {
    {"fwd_list_end", end_one, 1, 0},
    {"fwd_list_end, of most", end_many, ending_count - 6, 0},
    {"fwd_list_end_object", end_object, strong_count + weak_count, 0},
    {"fwd_list_end_all", end_all, ending_count, 1},
};

static struct {
  const ending_case *ending;
  fwd_proxy *proxy;
  size_t failure;
  bool is_nested;
} trying;

static void run_ending(void) {
  in_ping = NULL;
  fwd_subscriber_list *list = fwd_proxy_core_list(trying.proxy);
  fwd_garbage garbage = {.first = NULL};
  arm(trying.failure);
  trying.ending->run(list, &garbage);
  fwd_garbage_collect(garbage);
  disarm();
  if (trying.is_nested) EXPECT(destroyed == 0);
}

static void try_ending(void) {
  attempt fixture = {.count = plain_count};
  prepare_list(&fixture);
  trying.proxy = fixture.proxy;
  for (size_t i = 0; i < strong_count + weak_count; i++) {
    subscribe(trying.proxy, fixture.table, joining, i < strong_count ? FWD_HOLD_STRONG : FWD_HOLD_WEAK, 1000 + i);
  }
  remember(&fixture);
  calls = 0;
  injected = false;
  const ending_case *ending = trying.ending;
  if (trying.is_nested) {
    in_ping = run_ending;
    EXPECT(ping(trying.proxy) == FWD_OK);
    EXPECT(calls == ending_count - ending->ended + ending->called);
  } else {
    run_ending();
  }
  fwd_subscriber_list *list = fwd_proxy_core_list(trying.proxy);
  size_t left = ending_count - ending->ended, plain = 0;
  for (size_t i = 0; i < ending_count; i++) {
    bool is_there = fwd_list_find(list, listed.identifiers[i]) != NULL;
    left -= is_there;
    if (i < plain_count) plain += !is_there;
  }
  EXPECT(left == 0 && destroyed == plain);
  left = ending_count - ending->ended;
  calls = 0;
  EXPECT(ping(trying.proxy) == FWD_OK && calls == left);
  EXPECT(fwd_proxy_subscriber_count(trying.proxy) == left && fixture.table->members == left);
  EXPECT(fwd_list_may_respond(list, method_ping) == (left > 0));
  // The list can still be changed.
  subscribe(trying.proxy, fixture.table, NULL, FWD_HOLD_NONE, 4);
  fwd_garbage garbage = {.first = NULL};
  EXPECT(fwd_list_prune(list, &garbage) && fwd_list_count(list) == left + 1);
  fwd_garbage_collect(garbage);
  calls = 0;
  EXPECT(ping(trying.proxy) == FWD_OK && calls == left + 1);
  finish_list(&fixture);
  EXPECT(destroyed == plain_count + 1);
}

static void try_endings(void) {
  for (size_t i = 0; i < 2 * sizeof endings / sizeof *endings; i++) {
    trying.ending = &endings[i / 2];
    trying.is_nested = i % 2;
    check_begin(trying.ending->name);
    entries++;
    for (trying.failure = 0;; trying.failure++) {
      long at_first = live;
      try_ending();
      EXPECT(live == at_first);
      if (!injected) break;
      failures++;
    }
  }
}

// A thread's first fan-outs allocate blocks of hazard pointers. Without memory the list counts such readers instead,
// and frees nothing until all of them have left.

static size_t deep_failure, depth;
static fwd_proxy *deep_proxy;

static void go_deeper(void) {
  if (--depth > 0) {
    EXPECT(ping(deep_proxy) == FWD_OK);
  } else {
    end_at(deep_proxy, 1);
  }
  EXPECT(destroyed == 0);
}

static void *start_deep(void *context) {
  depth = *(const size_t *)context;
  arm(deep_failure);
  EXPECT(ping(deep_proxy) == FWD_OK);
  disarm();
  return NULL;
}

static void fan_out_deep(void) {
  check_begin("the first fan-outs of a thread");
  entries++;
  size_t levels = 40;
  for (deep_failure = 0;; deep_failure++) {
    pthread_t thread;
    deep_proxy = make_proxy(2);
    injected = false;
    calls = destroyed = 0;
    in_ping = go_deeper;
    NEED(pthread_create(&thread, NULL, start_deep, &levels) == 0);
    pthread_join(thread, NULL);
    in_ping = NULL;
    EXPECT(calls == levels && destroyed == 1);
    fwd_proxy_core_release(deep_proxy);
    EXPECT(destroyed == 2);
    // Blocks are kept for later threads, so each round needs more levels to allocate, until nothing fails.
    levels += 10;
    if (!injected) break;
    failures++;
    NEED(deep_failure < 100);
  }
}

// MARK: Forwarding

/// The arguments of `large:and:` in a frame and one by one. All are at odd addresses.
typedef struct skewed_arguments {
  _Alignas(16) char frame[1 + 48];
  _Alignas(16) char first[1 + 16];
  _Alignas(16) char second[1 + 16];
} skewed_arguments;

static skewed_arguments skewed;
static large_result answer;

static void prepare_fan_out(attempt *self) {
  self->proxy = make_proxy(2);
  calls = reports = 0;
  memset(&answer, 0x11, sizeof answer);
}
static void finish_proxy(attempt *self) { fwd_proxy_core_release(self->proxy); }
static void nobody_called(attempt *self) {
  (void)self;
  large_result before;
  memset(&before, 0x11, sizeof before);
  EXPECT(calls == 0 && reports == 0);
  EXPECT(memcmp(&answer, &before, sizeof answer) == 0);
}
static fwd_status forwarded(attempt *self, fwd_status status) {
  end();
  if (status != FWD_OK) return status;
  self->output = MADE;
  EXPECT(calls == 1 && answer.bytes[0] == 0x42 && answer.bytes[99] == 0x42);
  return FWD_OK;
}
static fwd_status run_forward(attempt *self) {
  begin();
  return forwarded(self, fwd_forward(self->proxy, selectors[method_large], skewed.frame + self->count, 32, &answer,
                                     sizeof answer));
}
static fwd_status run_forward_named(attempt *self) {
  begin();
  return forwarded(self, fwd_forward_named(self->proxy, selector_names[method_large], skewed.frame + self->count, 32,
                                           &answer, sizeof answer));
}
static fwd_status run_forward_batch(attempt *self) {
  fwd_batch *batch = fwd_batch_create(self->proxy);
  NEED(batch);
  begin();
  fwd_status status = fwd_batch_forward(batch, selectors[method_large], skewed.frame + self->count, 32, &answer,
                                        sizeof answer);
  end();
  // The allocation of the members comes after those of the aligned frame and of the result.
  if (injected) EXPECT((status == FWD_OK) == (next_failure == self->count + 1));
  fwd_batch_destroy(batch);
  return forwarded(self, status);
}
static fwd_status run_forward_arguments(attempt *self) {
  void *arguments[] = {skewed.first + self->count, skewed.second + self->count};
  begin();
  return forwarded(self, fwd_forward_arguments(self->proxy, selectors[method_large], arguments, 2, &answer,
                                               sizeof answer));
}

static void try_forwarding(void) {
  attempt self = {.prepare = prepare_fan_out, .finish = finish_proxy, .unchanged = nobody_called,
                  .has_no_error = true};
  EXPECT(fwd_signature_frame_size(signatures[method_large]) == 32);
  for (self.count = 0; self.count < 2; self.count++) {
    self.subject = "fwd_forward";
    self.run = run_forward;
    // One allocation for the result, and one for the frame that is not aligned.
    EXPECT(try_each(self) == 1 + self.count);
    self.subject = "fwd_forward_named";
    self.run = run_forward_named;
    EXPECT(try_each(self) == 1 + self.count);
    self.subject = "fwd_batch_forward";
    self.run = run_forward_batch;
    // One more for the members. If it fails, the batch visits all records.
    self.absorbs = true;
    EXPECT(try_each(self) == 2 + self.count);
    self.absorbs = false;
    self.subject = "fwd_forward_arguments";
    self.run = run_forward_arguments;
    EXPECT(try_each(self) == 1 + self.count);
  }
}

// MARK: Function pointers of a proxy

static fwd_proxy *droppable_proxy(fwd_signature *signature) {
  fwd_proxy_method method = {.selector = selectors[method_ping], .signature = signature};
  fwd_proxy *proxy = new_proxy(&method, 1, proxy_owner, &operations);
  NEED(proxy);
  return proxy;
}
static void prepare_function(attempt *self) {
  prepare_droppable(self);
  self->proxy = droppable_proxy(self->signature);
}
static fwd_status run_function(attempt *self) {
  released = 0;
  begin();
  fwd_status status =
      fwd_proxy_closure_create(self->proxy, fwd_proxy_core_method(self->proxy, selectors[method_ping]), self->form,
                               self->failure_result, count_release, NULL, (fwd_closure **)&self->output, &self->error);
  end();
  EXPECT(released == 0);
  return status;
}
static void undo_function(attempt *self) {
  fwd_closure_destroy(self->output);
  EXPECT(released == 1);
}
static void finish_function(attempt *self) {
  fwd_proxy_core_release(self->proxy);
  fwd_signature_release(self->signature);
}

static void try_functions(void) {
  attempt self = {.prepare = prepare_function, .run = run_function, .undo = undo_function,
                  .finish = finish_function, .absorbs = true};
  self.subject = "fwd_proxy_closure_create, arguments only";
  self.form = FWD_FUNCTION_ARGUMENTS;
  EXPECT(try_each(self) > 0);
  self.subject = "fwd_proxy_closure_create, with a context";
  self.form = FWD_FUNCTION_CONTEXT_LAST;
  EXPECT(try_each(self) > 0);
  use_libffi(true);
  self.absorbs = false;
  self.subject = "fwd_proxy_closure_create, by libffi";
  EXPECT(try_each(self) > 0);
  use_libffi(false);
}

// MARK: Owned functions

static size_t late_calls;
static void note_late_call(void *reporter, fwd_selector selector, const void *owner_type) {
  EXPECT(!reporter && selector == selectors[method_ping] && owner_type == &late_calls);
  late_calls++;
}

static fwd_status run_owned_function(attempt *self) {
  fwd_owned_function_request request = {
      .proxy = self->proxy,
      .method = fwd_proxy_core_method(self->proxy, selectors[method_ping]),
      .form = self->form,
      .failure_result = self->failure_result,
      .owner = self->object,
      .owner_type = &late_calls,
      .report = note_late_call,
  };
  begin();
  fwd_status status = fwd_owned_function_create(&request, (fwd_owned_function **)&self->output, &self->error);
  end();
  return status;
}
static size_t buried;
static void undo_owned_function(attempt *self) {
  fwd_owned_function *function = self->output;
  void (*pointer)(void) = fwd_owned_function_pointer(function);
  EXPECT(!fwd_owned_function_owner_has_died(function));
  if (self->object) swift_release(self->object);
  EXPECT(fwd_owned_function_owner_has_died(function) == (self->object != NULL));
  // Burying needs no memory, but for the layout that tombstones share, without which each keeps its own.
  size_t before = late_calls;
  arm(0);
  fwd_owned_function_bury(function);
  disarm();
  int result = ((int (*)(int))pointer)(1);
  EXPECT(late_calls == before + 1 && result == (self->failure_result ? -7 : 0));
  self->object = NULL;
  buried++;
}
static void prepare_owned_function(attempt *self) {
  prepare_function(self);
  // Has the signature cached, which a failure after that would leave behind.
  fwd_signature *callback = NULL;
  NEED(fwd_signature_replace_hidden(self->signature, SIZE_MAX, &callback, NULL) == FWD_OK);
  fwd_signature_release(callback);
  // The first function shares the proxy, which stays so if it fails later.
  NEED(fwd_proxy_core_share(self->proxy));
  if (self->hold == FWD_HOLD_WEAK) self->object = object_create(NULL, NULL);
}
static void finish_owned_function(attempt *self) {
  if (self->object) swift_release(self->object);
  self->object = NULL;
  finish_function(self);
}

static fwd_status run_share(attempt *self) {
  begin();
  bool shares = fwd_proxy_core_share(self->proxy);
  end();
  EXPECT(fwd_proxy_core_is_shared(self->proxy) == shares);
  if (shares) self->output = self->proxy;
  return shares ? FWD_OK : FWD_NO_MEMORY;
}

/// Tombstones are never freed, so this comes last.
static void try_owned_functions(void) {
  static const int failure = -7;
  attempt self = {.prepare = prepare_owned_function, .run = run_owned_function, .undo = undo_owned_function,
                  .finish = finish_owned_function, .absorbs = true, .has_no_error = false};
  try_each((attempt){.subject = "fwd_proxy_core_share", .prepare = prepare_function, .run = run_share,
                     .finish = finish_function, .has_no_error = true, .has_no_message = true});
  self.subject = "fwd_owned_function_create, of the proxy";
  EXPECT(try_each(self) > 0);
  self.subject = "fwd_owned_function_create, of another object";
  self.hold = FWD_HOLD_WEAK;
  self.failure_result = &failure;
  EXPECT(try_each(self) > 0);
  use_libffi(true);
  self.absorbs = false;
  self.subject = "fwd_owned_function_create, by libffi";
  EXPECT(try_each(self) > 0);
  use_libffi(false);
  EXPECT(buried > 6);
}

typedef struct pair {
  int first;
  double second;
} pair;

/// Checks a fan-out without memory inside a C callback: the proxy's error handler is called, and the caller gets
/// zeros.
static void call_function_without_memory(void) {
  check_begin("a call of a proxy's function pointer");
  entries++;
  fwd_proxy *proxy = make_proxy(2);
  fwd_closure *closure;
  NEED(fwd_proxy_closure_create(proxy, fwd_proxy_core_method(proxy, selectors[method_large]), FWD_FUNCTION_ARGUMENTS,
                                NULL, count_release, NULL, &closure, NULL) == FWD_OK);
  large_result (*function)(pair, long double) = (large_result(*)(pair, long double))fwd_closure_function(closure);
  large_result zeros;
  memset(&zeros, 0, sizeof zeros);
  for (size_t which = 0;; which++) {
    calls = reports = 0;
    long before = live;
    arm(which);
    large_result result = function((pair){1, 2}, 3);
    disarm();
    EXPECT(live == before);
    if (!injected) {
      EXPECT(calls == 1 && reports == 0 && result.bytes[0] == 0x42);
      break;
    }
    failures++;
    EXPECT(calls == 0 && reports == 1 && last_report == FWD_NO_MEMORY);
    EXPECT(memcmp(&result, &zeros, sizeof result) == 0);
  }
  fwd_closure_destroy(closure);
  fwd_proxy_core_release(proxy);
}

// MARK: Functions that do not allocate

static int add(int left, int right) { return left + right; }

typedef struct block {
  unsigned char bytes[FWD_BY_VALUE_LIMIT];
} block;
static block pass(block value) { return value; }

static void call_without_allocating(void) {
  static block large;
  static const char large_text[] = "{B=[65536C]}{B=[65536C]}";
  fwd_signature *small_signature, *large_signature, *again;
  NEED(fwd_signature_create("iii", 3, &small_signature, NULL) == FWD_OK);
  NEED(fwd_signature_create(large_text, sizeof large_text - 1, &large_signature, NULL) == FWD_OK);
  fwd_proxy *proxy = make_proxy(3);
  int left = 2, right = 3, sum = 0;
  void *arguments[] = {&left, &right}, *large_arguments[] = {&large};
  fwd_layout layout;

  fwd_use_libffi(true);
  arm(0);
  check_begin("the first fwd_call by libffi, without memory: its plan makes the call");
  EXPECT(fwd_call(small_signature, (void (*)(void))add, arguments, &sum) == FWD_OK && sum == 5);
  EXPECT(injected && requests == 1);
  arm(2);
  check_begin("the first fwd_call by libffi");
  EXPECT(fwd_call(small_signature, (void (*)(void))add, arguments, &sum) == FWD_OK && sum == 5);
  EXPECT(fwd_call(large_signature, (void (*)(void))pass, large_arguments, &large) == FWD_OK);
  EXPECT(requests == 2);
  arm(0);
  check_begin("fwd_call by libffi, which does not allocate after that");
  EXPECT(fwd_call(small_signature, (void (*)(void))add, arguments, &sum) == FWD_OK && sum == 5);
  EXPECT(fwd_call(large_signature, (void (*)(void))pass, large_arguments, &large) == FWD_OK);
  EXPECT(requests == 0);
  fwd_use_libffi(false);
  check_begin("fwd_call, which does not allocate");
  EXPECT(fwd_call(small_signature, (void (*)(void))add, arguments, &sum) == FWD_OK && sum == 5);
  EXPECT(requests == 0);
  check_begin("fwd_call of 64 KB, which does not allocate");
  EXPECT(fwd_call(large_signature, (void (*)(void))pass, large_arguments, &large) == FWD_OK);
  EXPECT(fwd_call(large_signature, (void (*)(void))pass, large_arguments, NULL) == FWD_OK);
  EXPECT(requests == 0);
  check_begin("a signature already seen, which does not allocate");
  EXPECT(fwd_signature_create("iii", 3, &again, NULL) == FWD_OK);
  fwd_signature_release(fwd_signature_retain(again));
  fwd_signature_release(again);
  EXPECT(fwd_signature_argument(small_signature, 0, &layout) == FWD_OK);
  EXPECT(fwd_signature_argument(small_signature, 9, &layout) == FWD_OUT_OF_RANGE);
  EXPECT(fwd_signature_result(small_signature, &layout) == FWD_OK);
  EXPECT(requests == 0);
  check_begin("a selector already seen, which does not allocate");
  EXPECT(fwd_selector_register("ping") == selectors[method_ping]);
  EXPECT(!fwd_selector_find("never registered") && fwd_selector_name(selectors[method_ping]));
  EXPECT(requests == 0);
  check_begin("a fan-out, which does not allocate");
  calls = 0;
  EXPECT(ping(proxy) == FWD_OK && calls == 3);
  EXPECT(fwd_proxy_responds(proxy, selectors[method_ping]) && fwd_proxy_subscriber_count(proxy) == 3);
  fwd_subscriber_list *list = fwd_proxy_core_list(proxy);
  fwd_record *second = fwd_list_record(list, 1);
  EXPECT(fwd_list_find(list, fwd_record_identifier(second)) == second);
  fwd_garbage garbage = {.first = NULL};
  fwd_list_end(list, second, &garbage);
  fwd_garbage_collect(garbage);
  EXPECT(!fwd_list_find(list, fwd_record_identifier(second)) && fwd_list_may_respond(list, method_ping));
  EXPECT(ping(proxy) == FWD_OK && calls == 5);
  EXPECT(requests == 0);
  disarm();

  fwd_proxy_core_release(proxy);
  fwd_signature_release(small_signature);
  fwd_signature_release(large_signature);
}

#include "mail_attempts.h"

// MARK: All

static void set_up(void) {
  proxy_owner = object_create(NULL, NULL);
  // Selectors live as long as the process.
  NEED((mail_selector = fwd_selector_register("mailed:text:object:")));
  for (size_t i = 0; i < method_count; i++) {
    selectors[i] = fwd_selector_register(selector_names[i]);
    NEED(selectors[i]);
    NEED(fwd_signature_create(encodings[i], strlen(encodings[i]), &signatures[i], NULL) == FWD_OK);
  }
}

/// A move that lowers the priority breaks a long segment up before memory is short. Subscriptions in between must find
/// their place afterwards all the same.
static void lower_priority_without_memory(void) {
  check_begin("a move that fails does not hide a priority");
  bool is_over = false;
  for (size_t failure = 0; !is_over; failure++) {
    fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
    fwd_subscriber_list *list = calloc(1, fwd_list_size(1));
    NEED(table && list);
    fwd_list_init(list, 1, list);
    fwd_garbage garbage = {.first = NULL};
    fwd_subscriber high = {.hold = FWD_HOLD_NONE, .priority = 10}, low = {.hold = FWD_HOLD_NONE};
    NEED(fwd_list_insert(list, &high, table, FWD_LIST_END, &garbage));
    for (size_t i = 1; i < 300; i++) NEED(fwd_list_insert(list, &low, table, FWD_LIST_END, &garbage));
    arm(failure);
    bool done = fwd_list_move(list, 0, 299, 0, &garbage);
    disarm();
    is_over = !injected;
    EXPECT(done || injected);
    EXPECT(fwd_list_priority_index(list, 5, NULL) == (done ? 0 : 1));
    fwd_list_close(list, &garbage);
    fwd_garbage_free(garbage);
    fwd_list_destroy(list);
    fwd_dispatch_table_release(table);
  }
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  set_up();
  // First, since selectors live as long as the process and must not be counted as leaks.
  try_selectors();
  // The blocks of a thread's first call are kept for later threads, so they must not be counted either.
  warm_up();
  try_closures();
  fan_out_deep();
  settle();
  // libffi's closures are reused and never freed. After this no more are allocated.
  use_libffi(true);
  use_libffi(false);
  long before = live;

  try_closures();
  try_signatures();
  try_each((attempt){.subject = "fwd_proxy_core_create", .run = run_core, .undo = undo_core, .has_no_error = true,
                     .has_no_message = true});
  try_each((attempt){.subject = "fwd_dispatch_table_create", .run = run_table, .undo = undo_table,
                     .has_no_error = true, .has_no_message = true});
  try_lists();
  try_batches();
  try_endings();
  try_forwarding();
  try_functions();
  try_mailboxes();
  call_function_without_memory();
  call_without_allocating();
  lower_priority_without_memory();

  check_begin("what is left");
  settle();
  if (!EXPECT(live == before)) printf("  %ld more than before\n", live - before);
  EXPECT(objects_allocated == 1 && object_strong(proxy_owner) == 1);
  try_owned_functions();
  EXPECT(objects_alive == 1 && object_strong(proxy_owner) == 1);
  printf("%zu failures injected into %zu entries\n", failures, entries);
  return check_finish();
}
