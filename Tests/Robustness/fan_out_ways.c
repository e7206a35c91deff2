// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Compares the ways of a fan-out: `fan_out_ways [EPISODES [SEED]]`. Each episode is a random script that runs twice.
/// The first run forces libffi, so a fan-out decides after each delivery. The second run uses the loops. Both runs must
/// make the same deliveries with the same arguments, return the same statuses, and destroy subscribers at the same
/// moments.
///
/// The script draws its random numbers as it runs, also inside of deliveries. Both runs draw the same numbers until the
/// first difference, which the program prints. A seed gives the same script on every machine.

#include "check.h"
#include "events.h"
#include "fwd_fan_out.h"
#include "members/swift_closure.h"
#include "objects.h"
#include "proxies.h"
#include "random.h"
#include "ways_methods.h"

static bool one_in(size_t count) { return below(count) == 0; }

// MARK: Subscribers

typedef struct member {
  fwd_subscription identifier;
  size_t number;
} member;

enum { member_limit = 1500, object_limit = 48 };
static member members[member_limit];
static size_t member_count;
static fake_object *objects[object_limit];
static fake_object *owner;
static fwd_proxy *proxy;
static fwd_subscriber_list *list;

static void act(void);

/// Returns the number of a subscription, or `member_limit` for none.
static size_t number_of(fwd_subscription identifier) {
  for (size_t i = member_count; i > 0 && identifier; i--) {
    if (members[i - 1].identifier == identifier) return i - 1;
  }
  return member_limit;
}

static void take_delivery(size_t index, const member *receiver) {
  note(DELIVERED, index, receiver ? receiver->number : member_limit, number_of(fwd_current_subscription()));
  if (one_in(12)) fwd_mark_handled();
  act();
}

/// How a subscriber implements a method with more than a C function of its signature.
typedef enum shape { PACKED, FAILING, THUNK, WITH_RECEIVER, WITH_CONDITION, WITHOUT_RECEIVER, shape_count } shape;

typedef struct role {
  shape shape;
  size_t method;
  fwd_swift_closure closure;
} role;
static role roles[shape_count][method_count];

static fwd_status take_packed(const void *context, void *receiver, void *const *arguments, void *result,
                              fwd_error *error) {
  (void)result;
  const role *self = context;
  check_packed(&methods[self->method], receiver, arguments);
  // A thunk fails before it calls other code.
  if (self->shape == THUNK && one_in(6)) return fwd_error_set(error, FWD_DELIVERY_FAILED, 0, "the thunk fails");
  take_delivery(self->method, self->shape == WITHOUT_RECEIVER ? NULL : receiver);
  if (self->shape != FAILING || !one_in(6)) return FWD_OK;
  return fwd_error_set(error, FWD_DELIVERY_FAILED, 0, "the subscriber fails");
}

// MARK: C functions

typedef struct pair {
  int64_t a;
  double b;
} pair;
typedef struct floats {
  float a, b;
} floats;

/// Checks what a C function has got besides its own arguments.
static void check_call(size_t index, fwd_selector selector, const void *const *arguments) {
  EXPECT(selector == methods[index].selector);
  check_arguments(&methods[index], (void *const *)(uintptr_t)arguments);
}

static void take_by_thunk(const role *context, size_t index, const member *receiver) {
  EXPECT(context == &roles[THUNK][index]);
  if (!one_in(6)) {
    take_delivery(index, receiver);
    return;
  }
  fwd_error error;
  fwd_error_set(&error, FWD_DELIVERY_FAILED, 0, "the thunk fails");
  fwd_fail_delivery(&error, 0);
}

// A plain function and a thunk of each method. A thunk gets its context behind the method's integers. `integers` has the
// receiver and the selector, too, and `vectors` begins with a comma.
#define UNPACK(...) __VA_ARGS__
#define TAKE(name, index, selector, integers, vectors, ...)                           \
  static void take_##name(UNPACK integers UNPACK vectors) {                            \
    check_call(index, selector, (const void *const[]){__VA_ARGS__});                   \
    take_delivery(index, receiver);                                                    \
  }                                                                                    \
  static void thunk_##name(UNPACK integers, const role *context UNPACK vectors) {      \
    check_call(index, selector, (const void *const[]){__VA_ARGS__});                   \
    take_by_thunk(context, index, receiver);                                           \
  }
#define HIDDEN_2 member *receiver, fwd_selector selector

TAKE(none, NONE, selector, (HIDDEN_2), (), NULL)
TAKE(bare, BARE, methods[BARE].selector, (member *receiver), (), NULL)
TAKE(one, ONE, selector, (HIDDEN_2, int64_t a), (), &a)
TAKE(both, BOTH, selector, (HIDDEN_2, int64_t a, int64_t b), (, double c, double d), &a, &b, &c, &d)
TAKE(hidden, HIDDEN, methods[HIDDEN].selector, (member *receiver, int64_t a), (), &a)
TAKE(ordered, ORDERED, methods[ORDERED].selector, (member *receiver, int64_t a, int64_t b), (, double c), &a, &b, &c)
TAKE(row, ROW, methods[ROW].selector, (member *receiver, int64_t a),
     (, double b, double c, double d, double e, double f, double g, double h, double i), &a, &b, &c, &d, &e, &f, &g, &h, &i)
TAKE(reversed, REVERSED, methods[REVERSED].selector, (member *receiver, int64_t b), (, double a), &a, &b)
TAKE(surplus, SURPLUS, methods[SURPLUS].selector, (member *receiver, int64_t a, int64_t b, int64_t c),
     (, double d, double e, double f), &a, &b, &c, &d, &e, &f)
TAKE(floats, FLOATS, methods[FLOATS].selector, (member *receiver), (, floats a, floats b), &a, &b)
TAKE(halves, HALVES, methods[HALVES].selector, (member *receiver, int32_t a, int64_t b, int32_t c), (), &a, &b, &c)
TAKE(small, SMALL, selector, (HIDDEN_2, bool a, signed char b, unsigned short c), (, float d), &a, &b, &c, &d)
TAKE(wide, WIDE, selector, (HIDDEN_2, int64_t a, int64_t b, int64_t c, int64_t d),
     (, double e, double f, double g, double h, double i, double j), &a, &b, &c, &d, &e, &f, &g, &h, &i, &j)
// Its thunk is not called: a method with arguments on the stack is delivered by the packed function.
TAKE(beyond, BEYOND, selector,
     (HIDDEN_2, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g), (, double h, double i), &a, &b,
     &c, &d, &e, &f, &g, &h, &i)
TAKE(struct, STRUCT, selector, (HIDDEN_2, pair a, int64_t b), (, float c), &a, &b, &c)

#define BOTH_OF(name) {(void (*)(void))take_##name, (void (*)(void))thunk_##name}
static const struct {
  void (*plain)(void);
  void (*thunk)(void);
} functions[method_count] = {
    [NONE] = BOTH_OF(none),       [BARE] = BOTH_OF(bare),         [ONE] = BOTH_OF(one),
    [BOTH] = BOTH_OF(both),       [HIDDEN] = BOTH_OF(hidden),     [ORDERED] = BOTH_OF(ordered),
    [ROW] = BOTH_OF(row),         [REVERSED] = BOTH_OF(reversed), [SURPLUS] = BOTH_OF(surplus),
    [FLOATS] = BOTH_OF(floats),   [HALVES] = BOTH_OF(halves),     [SMALL] = BOTH_OF(small),
    [WIDE] = BOTH_OF(wide),       [BEYOND] = BOTH_OF(beyond),     [STRUCT] = BOTH_OF(struct)};

// MARK: Implementations

#if FWD_HAS_SWIFTCALL
static __attribute__((swiftcall)) void take_with_receiver(FWD_SWIFT_RESULT void *result, void *receiver,
                                                          void *const *arguments,
                                                          FWD_SWIFT_CONTEXT const void *context) {
  (void)result;
  const role *self = context;
  check_arguments(&methods[self->method], arguments);
  EXPECT(self->shape != WITH_CONDITION || *(const int64_t *)arguments[0] != 0);
  take_delivery(self->method, receiver);
}
static __attribute__((swiftcall)) void take_without_receiver(FWD_SWIFT_RESULT void *result, void *const *arguments,
                                                             FWD_SWIFT_CONTEXT const void *context) {
  (void)result;
  const role *self = context;
  check_arguments(&methods[self->method], arguments);
  take_delivery(self->method, NULL);
}
#endif

static void make_role(shape chosen, size_t index) {
  role *made = &roles[chosen][index];
  made->shape = chosen;
  made->method = index;
#if FWD_HAS_SWIFTCALL
  bool takes_receiver = chosen != WITHOUT_RECEIVER;
  made->closure = (fwd_swift_closure){
      .function = takes_receiver ? (void (*)(void))take_with_receiver : (void (*)(void))take_without_receiver,
      .context = made,
      .takes_receiver = takes_receiver,
      .has_conditions = index == SMALL,
      .bools = index == SMALL,
  };
  if (chosen == WITH_CONDITION) {
    bool can_be_null = index == ONE || index == BOTH || index == HIDDEN;
    if (can_be_null) made->closure.has_conditions = made->closure.non_null = 1;
    if (!can_be_null) made->shape = WITH_RECEIVER;
  }
#endif
}

static fwd_implementation random_implementation(size_t index) {
  size_t chosen = below(9);
  if (chosen == 0) return (fwd_implementation){.function = functions[index].plain};
  // Some subscribers lack the method.
  if (chosen == 1) return (fwd_implementation){.function = NULL};
  role *made = &roles[chosen == 2 ? WITH_RECEIVER : chosen - 3][index];
  fwd_implementation implementation = {.packed = take_packed, .context = made};
  if (made->shape == THUNK) implementation.function = functions[index].thunk;
#if FWD_HAS_SWIFTCALL
  if (made->shape >= WITH_RECEIVER) implementation.closure = &made->closure;
#endif
  return implementation;
}

static void note_death(fake_object *self) {
  note(DIED, (size_t)(uintptr_t)self->tag, number_of(fwd_current_subscription()), 0);
}
static void note_destruction(void *receiver) { note(DESTROYED, ((member *)receiver)->number, 0, 0); }

/// Returns the record of a random subscription, or NULL if the subscription is not live. Records that are not live are
/// not used, since the list decides when it removes them, and the runs may differ in that.
static fwd_record *random_record(void) {
  if (member_count == 0) return NULL;
  fwd_record *record = fwd_list_find(list, members[below(member_count)].identifier);
  return record && fwd_record_is_live(record) ? record : NULL;
}

static size_t random_index(void) {
  fwd_record *record = random_record();
  return record ? fwd_list_index(list, record) : FWD_LIST_END;
}

static void subscribe(bool at_end) {
  if (member_count == member_limit) return;
  fwd_dispatch_table *table = fwd_dispatch_table_create(method_count, NULL);
  NEED(table);
  for (size_t i = 0; i < method_count; i++) *fwd_dispatch_table_entry(table, i) = random_implementation(i);
  member *made = &members[member_count];
  made->number = member_count;
  made->identifier = 0;
  fwd_subscriber subscriber = {.hold = FWD_HOLD_NONE, .receiver = made};
  size_t hold = below(5);
  if (hold > 1) {
    size_t chosen = below(object_limit);
    if (!objects[chosen]) objects[chosen] = object_create(note_death, (void *)(uintptr_t)chosen);
    subscriber.object = objects[chosen];
    subscriber.hold = hold == 2 ? FWD_HOLD_STRONG : FWD_HOLD_WEAK;
  } else if (hold > 0) {
    subscriber.destroy = note_destruction;
  }
  // When the list removes a subscription that has used up its limit is up to the list. Nobody can see that of these.
  bool is_seen = subscriber.hold == FWD_HOLD_STRONG || subscriber.destroy;
  if (!is_seen && one_in(5)) subscriber.limit = 1 + below(3);
  size_t index = at_end ? FWD_LIST_END : one_in(2) ? 0 : random_index();
  note(SUBSCRIBED, member_count, 0, 0);
  fwd_garbage garbage = {.first = NULL};
  made->identifier = fwd_list_insert(list, &subscriber, table, index, &garbage);
  NEED(made->identifier);
  member_count++;
  fwd_garbage_collect(garbage);
  fwd_dispatch_table_release(table);
}

static void end_one(void) {
  fwd_record *record = random_record();
  if (!record) return;
  note(ENDED, number_of(fwd_record_identifier(record)), 0, 0);
  fwd_garbage garbage = {.first = NULL};
  fwd_list_end(list, record, &garbage);
  fwd_garbage_collect(garbage);
}

static void block_or_unblock(void) {
  bool blocks = one_in(2);
  fwd_record *record = random_record();
  if (!record) return;
  fwd_garbage garbage = {.first = NULL};
  if (blocks) {
    NEED(fwd_list_block(list, record));
  } else {
    fwd_list_unblock(list, record, &garbage);
  }
  fwd_garbage_collect(garbage);
}

static void release_object(size_t chosen) {
  fake_object *released = objects[chosen];
  if (!released) return;
  objects[chosen] = NULL;
  note(RELEASED, chosen, 0, 0);
  swift_release(released);
}

// MARK: Interceptors

typedef struct interceptor {
  size_t number, method;
  bool is_before, has_closure;
  fwd_liveness *liveness;
  fwd_swift_closure closure;
} interceptor;

enum { interceptor_limit = 1000, placed_limit = 4 };
static interceptor interceptors[interceptor_limit];
static size_t interceptor_count;
/// Those of each method, in the order of their calls.
static interceptor *placed[method_count][placed_limit];
static size_t placed_counts[method_count];

static fwd_status intercept_packed(const void *context, void *receiver, void *const *arguments, void *result,
                                   fwd_error *error);

/// Removes the interceptors of a method that have ended, and gives the others to the list.
static void publish(size_t index) {
  interceptor **own = placed[index];
  size_t count = 0, before_count = 0;
  for (size_t i = 0; i < placed_counts[index]; i++) {
    if (!fwd_liveness_holds(own[i]->liveness)) continue;
    before_count += own[i]->is_before;
    own[count++] = own[i];
  }
  placed_counts[index] = count;
  fwd_taps *taps = NULL;
  if (count > 0) {
    fake_object *taps_owner = object_create(NULL, NULL);
    NEED(taps = fwd_taps_create(before_count, false, count - before_count, taps_owner));
    swift_release(taps_owner);
  }
  for (size_t i = 0; i < count; i++) {
    fwd_tap *tap = fwd_taps_at(taps, i);
    *tap = (fwd_tap){.implementation = {.packed = intercept_packed, .context = own[i]}, .liveness = own[i]->liveness};
    if (own[i]->has_closure) tap->implementation.closure = &own[i]->closure;
  }
  fwd_garbage garbage = {.first = NULL};
  fwd_list_intercept(list, index, taps, (fwd_interceptors){.exist = count > 0, .respond = count > 0}, &garbage);
  fwd_garbage_collect(garbage);
}

/// Passes an invocation on. One in ten calls ends its interceptor.
static void intercept(const interceptor *self) {
  note(INTERCEPTED, self->method, self->number, number_of(fwd_current_subscription()));
  if (one_in(12)) fwd_mark_handled();
  if (one_in(10)) {
    fwd_liveness_end(self->liveness);
    publish(self->method);
  }
  act();
}

static fwd_status intercept_packed(const void *context, void *receiver, void *const *arguments, void *result,
                                   fwd_error *error) {
  (void)result;
  const interceptor *self = context;
  EXPECT(!receiver);
  check_packed(&methods[self->method], NULL, arguments);
  intercept(self);
  if (self->has_closure || !one_in(8)) return FWD_OK;
  return fwd_error_set(error, FWD_DELIVERY_FAILED, 0, "the interceptor fails");
}

#if FWD_HAS_SWIFTCALL
static __attribute__((swiftcall)) void intercept_by_closure(FWD_SWIFT_RESULT void *result, void *const *arguments,
                                                            FWD_SWIFT_CONTEXT const void *context) {
  (void)result;
  const interceptor *self = context;
  check_arguments(&methods[self->method], arguments);
  intercept(self);
}
#endif

/// Places an interceptor before the subscribers and all other interceptors, or after them.
static void place_interceptor(size_t index) {
  if (placed_counts[index] == placed_limit || interceptor_count == interceptor_limit) return;
  interceptor *made = &interceptors[interceptor_count];
  *made = (interceptor){.number = interceptor_count++, .method = index, .is_before = one_in(2)};
  NEED(made->liveness = fwd_liveness_create(one_in(3) ? 1 + below(3) : 0));
#if FWD_HAS_SWIFTCALL
  made->has_closure = one_in(2);
  made->closure = (fwd_swift_closure){.function = (void (*)(void))intercept_by_closure, .context = made};
#endif
  interceptor **own = placed[index];
  size_t count = placed_counts[index]++;
  if (made->is_before) {
    memmove(own + 1, own, count * sizeof *own);
    own[0] = made;
  } else {
    own[count] = made;
  }
  publish(index);
}

static void change_interceptors(size_t index) {
  if (!one_in(3)) {
    place_interceptor(index);
    return;
  }
  for (size_t i = 0; i < placed_counts[index]; i++) {
    if (one_in(2)) fwd_liveness_end(placed[index][i]->liveness);
  }
  publish(index);
}

// MARK: The proxy

static void report(void *reporter, fwd_selector selector, const fwd_error *error) {
  (void)reporter, (void)selector;
  note(REPORTED, error->status, 0, 0);
}
static void met_the_dead(void *unused, size_t visited) {
  (void)unused;
  fwd_garbage garbage = {.first = NULL};
  fwd_list_prune_visited(list, visited, &garbage);
  fwd_garbage_collect(garbage);
}
static void find_responders(void *unused, size_t index) {
  (void)unused;
  fwd_garbage garbage = {.first = NULL};
  fwd_list_find_responders(list, index, &garbage);
  fwd_garbage_collect(garbage);
}
static void interceptor_ended(void *unused, size_t index) {
  (void)unused;
  publish(index);
}
static fwd_status forward_unhandled(void *unused, fwd_selector selector, const fwd_delivery *delivery) {
  (void)unused, (void)selector;
  // What this proxy has done with its own caller's delivery is nothing to another proxy.
  EXPECT(!delivery->is_intercepted && !delivery->is_tapped && !delivery->is_unpinned && !delivery->batch);
  note(SENT_ON, 0, 0, 0);
  return one_in(2) ? FWD_OK : FWD_NO_RESPONDER;
}
static const fwd_proxy_operations operations = {
    .report = report,
    .met_the_dead = met_the_dead,
    .find_responders = find_responders,
    .interceptor_ended = interceptor_ended,
    .forward_unhandled = forward_unhandled,
};

static void make_proxy(void) {
  fwd_proxy_method made[method_count];
  memset(made, 0, sizeof made);
  for (size_t i = 0; i < method_count; i++) {
    made[i].selector = methods[i].selector;
    made[i].signature = methods[i].signature;
    const fwd_no_responder rules[] = {FWD_NO_RESPONDER_STANDARD, FWD_NO_RESPONDER_IGNORE, FWD_NO_RESPONDER_FAIL,
                                      FWD_NO_RESPONDER_REPORT};
    made[i].no_responder = rules[below(4)];
  }
  owner = object_create(NULL, NULL);
  NEED(proxy = new_proxy(made, method_count, owner, &operations));
  list = fwd_proxy_core_list(proxy);
  fwd_proxy_core_set_forwards(proxy, one_in(2));
}

// MARK: Function pointers

/// A C function pointer for each method, with the library's context pointer first, second, last or absent.
static struct {
  fwd_closure *closure;
  fwd_signature *signature;
  /// The index of the context pointer, or SIZE_MAX.
  size_t context;
} pointers[method_count];

static void release_nothing(void *unused) { (void)unused; }

static void make_pointers(void) {
  const int forms[] = {FWD_FUNCTION_ARGUMENTS, FWD_FUNCTION_CONTEXT_LAST, 1, 2};
  for (size_t i = 0; i < method_count; i++) {
    // A method without arguments has no place behind the first one.
    int form = forms[below(methods[i].argument_count > 0 ? 4 : 3)];
    const fwd_proxy_method *pointed = fwd_proxy_core_method(proxy, methods[i].selector);
    NEED(fwd_function_signature(pointed, form, &pointers[i].signature, &pointers[i].context, NULL) == FWD_OK);
    NEED(fwd_proxy_closure_create(proxy, pointed, form, NULL, release_nothing, NULL, &pointers[i].closure, NULL) == FWD_OK);
  }
}

static void end_pointers(void) {
  for (size_t i = 0; i < method_count; i++) {
    fwd_closure_destroy(pointers[i].closure);
    fwd_signature_release(pointers[i].signature);
  }
}

// MARK: The script

// Fan-outs inside of three others may call by a filler.
enum { steps = 40, changes_per_step = 30, depth_limit = 5 };
static size_t depth, changes_left;

/// Forwards a frame as Swift does, which finds the method and keeps the proxy alive.
static void forward_frame(size_t index) {
  const method *called = &methods[index];
  size_t chosen = below(frame_count);
  note(FORWARDED, index, chosen, 2);
  depth++;
  fwd_status status = fwd_forward_method(proxy, fwd_proxy_core_method(proxy, called->selector),
                                         called->shifted[chosen] + shifts[chosen], called->frame_size, NULL, 0);
  depth--;
  note(RETURNED, index, status, 0);
}

/// Forwards in one of the other ways.
static void forward_delivery(size_t index) {
  method *called = &methods[index];
  fwd_delivery delivery = {.is_nested = one_in(2)};
  if (one_in(2)) {
    delivery.arguments = called->arguments;
  } else {
    delivery.frame = called->frame;
  }
  fwd_batch *batch = NULL;
  if (one_in(8)) NEED(batch = fwd_batch_create(proxy));
  bool enters = batch && one_in(2);
  fwd_batch_use use = {.batch = batch};
  if (enters) {
    fwd_batch_enter(&use);
  } else {
    delivery.batch = batch;
  }
  note(FORWARDED, index, delivery.arguments != NULL, batch != NULL);
  depth++;
  fwd_status status = fwd_fan_out(proxy, fwd_proxy_core_method(proxy, called->selector), &delivery);
  depth--;
  if (enters) fwd_batch_leave(&use);
  note(RETURNED, index, status, 0);
  fwd_batch_destroy(batch);
}

/// Calls the function pointer of a method, which has no status.
static void forward_call(size_t index) {
  const method *called = &methods[index];
  void *context = &depth, *arguments[argument_limit + 1];
  size_t count = 0;
  for (size_t i = 0; i <= called->argument_count; i++) {
    if (i == pointers[index].context) arguments[count++] = &context;
    if (i < called->argument_count) arguments[count++] = called->arguments[i];
  }
  note(FORWARDED, index, 0, 3);
  depth++;
  NEED(fwd_call(pointers[index].signature, fwd_closure_function(pointers[index].closure), arguments, NULL) == FWD_OK);
  depth--;
  note(RETURNED, index, 0, 0);
}

static void forward(void) {
  size_t index = below(method_count);
  if (one_in(3)) {
    forward_frame(index);
  } else if (one_in(2)) {
    forward_call(index);
  } else {
    forward_delivery(index);
  }
}

static void change(size_t choice) {
  switch (choice) {
    case 0: subscribe(true); break;
    case 1: subscribe(false); break;
    case 2: end_one(); break;
    case 3: release_object(below(object_limit)); break;
    case 4: change_interceptors(below(method_count)); break;
    case 5: block_or_unblock(); break;
    default: break;
  }
}

/// Changes something in the middle of a delivery, or forwards once more, or does nothing.
static void act(void) {
  if (changes_left == 0) return;
  changes_left--;
  size_t choice = below(18);
  if (choice < 16) {
    change(choice);
  } else if (depth < depth_limit) {
    forward();
  }
}

static void run_script(void) {
  make_proxy();
  make_pointers();
  set_first_arguments(one_in(2));
  for (size_t count = below(30); count > 0; count--) subscribe(one_in(2));
  for (size_t step = 0; step < steps; step++) {
    changes_left = 0;
    change(below(8));
    changes_left = changes_per_step;
    forward();
    EXPECT(fwd_current_subscription() == 0);
  }
}

static void end_script(void) {
  for (size_t i = 0; i < interceptor_count; i++) fwd_liveness_end(interceptors[i].liveness);
  for (size_t i = 0; i < method_count; i++) publish(i);
  end_pointers();
  fwd_proxy_core_release(proxy);
  swift_release(owner);
  for (size_t i = 0; i < object_limit; i++) release_object(i);
  for (size_t i = 0; i < interceptor_count; i++) fwd_liveness_destroy(interceptors[i].liveness);
  member_count = interceptor_count = 0;
  EXPECT(atomic_load(&objects_allocated) == 0);
}

static void run(uint64_t seed, bool is_first) {
  state = seed * 0x9E3779B97F4A7C15u | 1;
  for (int i = 0; i < 8; i++) next_random();
  begin_run(is_first);
  fwd_use_libffi(is_first);
  run_script();
  end_script();
}

// MARK: Responders

static size_t searches;
static void search(void *searched, size_t index) {
  searches++;
  fwd_garbage garbage = {.first = NULL};
  fwd_list_find_responders(*(fwd_subscriber_list **)searched, index, &garbage);
  fwd_garbage_collect(garbage);
}

static size_t pings;
static void count_ping(void *receiver, fwd_selector selector, int64_t number) {
  (void)receiver, (void)selector, (void)number;
  pings++;
}

/// Fans out often to some records, of which the first one responds. The list must not be searched for responders again and again.
static void expect_one_search(size_t count, bool has_pointers) {
  fwd_proxy_method ping = {.selector = fwd_selector_register("ping:")};
  NEED(fwd_signature_create("v@:q", 4, &ping.signature, NULL) == FWD_OK);
  static const fwd_proxy_operations quiet = {.report = report_nothing, .met_the_dead = note_nothing, .find_responders = search};
  fwd_subscriber_list *searched = NULL;
  fwd_proxy *pinged = new_proxy(&ping, 1, &searched, &quiet);
  NEED(pinged);
  searched = fwd_proxy_core_list(pinged);
  for (size_t i = 0; i < count; i++) {
    fwd_dispatch_table *table = fwd_dispatch_table_create(1, NULL);
    NEED(table);
    if (i == 0) fwd_dispatch_table_entry(table, 0)->function = (void (*)(void))count_ping;
    fwd_subscriber subscriber = {.receiver = &searches};
    fwd_garbage garbage = {.first = NULL};
    NEED(fwd_list_insert(searched, &subscriber, table, FWD_LIST_END, &garbage));
    fwd_dispatch_table_release(table);
    fwd_garbage_collect(garbage);
  }
  const fwd_proxy_method *found = fwd_proxy_core_method(pinged, ping.selector);
  enum { rounds = 1000 };
  searches = pings = 0;
  int64_t number = 1;
  void *arguments[] = {&number};
  for (size_t i = 0; i < rounds; i++) {
    fwd_delivery delivery = {.frame = &number};
    if (has_pointers) delivery = (fwd_delivery){.arguments = arguments};
    EXPECT(fwd_fan_out(pinged, found, &delivery) == FWD_OK);
  }
  EXPECT(pings == rounds && searches == (count > 3 ? 1 : 0));
  fwd_proxy_core_release(pinged);
  fwd_signature_release(ping.signature);
}

static void check_searches(void) {
  check_begin("responders are searched once");
  for (size_t count = 1; count <= 6; count++) {
    expect_one_search(count, false);
    expect_one_search(count, true);
  }
}

int main(int argument_count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  unsigned long episodes = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 400;
  uint64_t seed = argument_count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  printf("%lu episodes, seed %llu\n", episodes, (unsigned long long)seed);
  objects_check_counting();
  for (size_t i = 0; i < method_count; i++) {
    make_method(i);
    for (shape j = 0; j < shape_count; j++) make_role(j, i);
  }
  check_begin("all ways of a fan-out do the same");
  for (unsigned long episode = 0; episode < episodes; episode++) {
    // Each episode has its own seed, so that a failure can be repeated without the episodes before it.
    run(seed + episode, true);
    run(seed + episode, false);
    end_comparison();
    if (atomic_load(&check_sequential.failures) == 0) continue;
    printf("in the episode of seed %llu\n", (unsigned long long)(seed + episode));
    break;
  }
  printf("%zu events\n", all_events);
  check_searches();
  EXPECT(episodes == 0 || all_events > 0);
  fwd_use_libffi(false);
  for (size_t i = 0; i < method_count; i++) fwd_signature_release(methods[i].signature);
  return check_finish();
}
