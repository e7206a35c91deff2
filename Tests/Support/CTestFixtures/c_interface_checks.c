// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "c_interface_checks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Checks

static _Thread_local int failures;

static void check(bool holds, const char *condition, int line) {
  if (holds) return;
  failures++;
  fprintf(stderr, "c_interface_checks.c:%d: %s (%s)\n", line, condition, fwd_error_message());
}

#define CHECK(condition) check((condition), #condition, __LINE__)

/// Checks that a call fails with a status and sets a message.
#define FAILS(expected, call)                                                    \
  do {                                                                           \
    fwd_status given = (call);                                                   \
    if (given != (expected)) fprintf(stderr, "got %s: ", fwd_status_name(given)); \
    check(given == (expected), #call " is " #expected, __LINE__);                \
    check(fwd_error_message()[0] != 0, #call " has a message", __LINE__);        \
  } while (0)

static bool says(const fwd_error *error, fwd_status status, const char *words) {
  bool found =
      error->status == status && strstr(error->message, words) && strcmp(error->message, fwd_error_message()) == 0;
  if (!found) fprintf(stderr, "expected %s in %s: %s: ", words, fwd_status_name(error->status), error->message);
  return found;
}

// MARK: Subscribers

/// The calls of the methods below, in order, as text.
typedef struct journal {
  int count;
  char text[512];
} journal;

static void note(journal *journal, const char *name, int number) {
  journal->count++;
  size_t length = strlen(journal->text);
  snprintf(journal->text + length, sizeof journal->text - length, "%s%d ", name, number);
}

/// Whether exactly these calls have been noted since the last check. Clears the journal.
static bool noted(journal *journal, const char *text) {
  bool equal = strcmp(journal->text, text) == 0;
  if (!equal) fprintf(stderr, "noted \"%s\": ", journal->text);
  *journal = (struct journal){0};
  return equal;
}

typedef struct listener {
  const char *name;
  journal *journal;
  int32_t answer;
  /// Called in each delivery, unless it is NULL.
  void (*action)(struct listener *self);
  fwd_proxy *proxy;
  fwd_subscription subscription;
  int destroyed;
} listener;

static void listener_ping(listener *self, fwd_selector selector, int32_t number) {
  CHECK(selector == fwd_selector_register("ping:"));
  note(self->journal, self->name, number);
  if (self->action) self->action(self);
}

static int32_t listener_ask(listener *self, fwd_selector selector, int32_t number, double factor) {
  CHECK(strcmp(fwd_selector_name(selector), "ask:of:") == 0);
  note(self->journal, self->name, number);
  if (self->action) self->action(self);
  return self->answer ? self->answer : (int32_t)(number * factor);
}

static bool listener_allow(listener *self) {
  note(self->journal, self->name, 0);
  return self->answer != 0;
}

static void listener_destroy(void *context) { ((listener *)context)->destroyed++; }

/// The sizes of `fwd_proxy_options`, for designated initialisers.
#define SIZES .size = sizeof(fwd_proxy_options), .method_size = sizeof(fwd_method_options)

static const fwd_method listener_methods[] = {
    {"ping:", "v^v:i", (void (*)(void))listener_ping},
    {"ask:of:", "i^v:id", (void (*)(void))listener_ask},
    {"allow", "B^v", (void (*)(void))listener_allow},
};

static fwd_status subscribe(fwd_proxy *proxy, listener *listener) {
  listener->proxy = proxy;
  return fwd_proxy_subscribe(proxy, listener, listener_methods, 3, listener_destroy, NULL, &listener->subscription,
                             NULL);
}

/// Returns the protocol of the methods above.
static const fwd_protocol *listening(void) {
  static const fwd_requirement requirements[] = {
      {"ping:", "v@:i", true},
      {"ask:of:", "i@:id", false},
      {"allow", "B@", false},
      {"wide:", "d@:cd", false},
      {"missing", "i@:", false},
  };
  const fwd_protocol *protocol = NULL;
  CHECK(fwd_protocol_register("CChecks.Listening", requirements, 5, &protocol, NULL) == FWD_OK);
  return protocol;
}

static fwd_proxy *make_proxy(const fwd_proxy_options *options) {
  const fwd_protocol *protocol = listening();
  fwd_proxy *proxy = NULL;
  fwd_error error = {0};
  CHECK(fwd_proxy_create(&protocol, 1, options, &proxy, &error) == FWD_OK);
  return proxy;
}

// MARK: Selectors and protocols

int c_interface_check_selectors(void) {
  failures = 0;
  CHECK(fwd_selector_find("c interface checks: unseen") == NULL);
  fwd_selector selector = fwd_selector_register("c interface checks: seen");
  char copy[] = "c interface checks: seen";
  CHECK(selector != NULL);
  CHECK(fwd_selector_register(copy) == selector);
  CHECK(fwd_selector_find(copy) == selector);
  CHECK(strcmp(fwd_selector_name(selector), copy) == 0);
  CHECK(fwd_selector_register("other") != selector);
  CHECK(fwd_selector_register(NULL) == NULL);
  CHECK(fwd_selector_register("") == NULL);
  CHECK(fwd_selector_find(NULL) == NULL);
  CHECK(fwd_selector_find("") == NULL);
  CHECK(strcmp(fwd_selector_name(NULL), "") == 0);
  char *name = malloc(65537);
  memset(name, 'x', 65536);
  name[65536] = 0;
  CHECK(fwd_selector_register(name) == NULL);
  name[65535] = 0;
  CHECK(fwd_selector_register(name) != NULL);
  CHECK(fwd_selector_find(name) == fwd_selector_register(name));
  free(name);
  return failures;
}

typedef struct __attribute__((packed)) packed {
  char kind;
  int length;
} packed;

static int packed_kind, packed_length;
static fwd_proxy *packed_sender;

static void take_packed(void *self, packed value) {
  (void)self;
  packed_kind = value.kind;
  packed_length = value.length;
  packed_sender = fwd_current_proxy();
}

int c_interface_check_stated_layouts(void) {
  failures = 0;
  const fwd_stated_layout layouts[] = {{.name = "packed", .size = sizeof(packed), .alignment = _Alignof(packed)},
                                       {.name = "other", .size = 5, .alignment = 1}};
  const fwd_requirement requirements[] = {{"take:", "v@{packed=ci}", true}, {"ping", "v@", false}};
  const fwd_protocol *protocol = NULL;
  fwd_error error = {0};
  FAILS(FWD_WRONG_LAYOUT, fwd_protocol_register_stating("CChecks.Stating", requirements, 2, layouts, 2, &protocol, &error));
  CHECK(says(&error, FWD_WRONG_LAYOUT, "\"other\"") && protocol == NULL);
  FAILS(FWD_NULL_ARGUMENT, fwd_protocol_register_stating("CChecks.Stating", requirements, 2, NULL, 1, NULL, &error));
  const fwd_stated_layout nameless = {.size = 5, .alignment = 1};
  FAILS(FWD_NULL_ARGUMENT, fwd_protocol_register_stating("CChecks.Stating", requirements, 2, &nameless, 1, NULL, &error));
  CHECK(fwd_protocol_register_stating("CChecks.Stating", requirements, 2, layouts, 1, &protocol, &error) == FWD_OK);
  // Another layout is another protocol.
  FAILS(FWD_CONFLICT, fwd_protocol_register("CChecks.Stating", requirements, 2, NULL, &error));
  fwd_proxy *proxy = NULL;
  CHECK(fwd_proxy_create(&protocol, 1, NULL, &proxy, &error) == FWD_OK);
  // The function's encoding is read with the protocol's layout.
  const fwd_method method = {"take:", "v^v{packed=ci}", (void (*)(void))take_packed};
  CHECK(fwd_proxy_subscribe(proxy, NULL, &method, 1, NULL, NULL, NULL, &error) == FWD_OK);
  packed value = {7, -70000};
  CHECK(sizeof value == 5);
  CHECK(fwd_forward(proxy, fwd_selector_find("take:"), &value, sizeof value, NULL, 0) == FWD_OK);
  CHECK(packed_kind == 7 && packed_length == -70000);
  CHECK(packed_sender == proxy && fwd_current_proxy() == NULL);
  fwd_proxy_release(proxy);
  return failures;
}

int c_interface_check_protocols(void) {
  failures = 0;
  fwd_requirement requirements[] = {{"a:", "v@:i", true}, {"b", "i@", false}};
  const fwd_protocol *protocol = NULL, *untouched = (const fwd_protocol *)&protocol;
  fwd_error error = {0};
  CHECK(fwd_protocol_find("CChecks.P") == NULL);
  CHECK(fwd_protocol_register("CChecks.P", requirements, 2, &protocol, &error) == FWD_OK);
  CHECK(protocol != NULL && error.status == FWD_OK);
  CHECK(fwd_protocol_find("CChecks.P") == protocol);
  CHECK(fwd_protocol_find("CChecks.p") == NULL);
  CHECK(fwd_protocol_find(NULL) == NULL);
  CHECK(fwd_protocol_find("") == NULL);
  // The same protocol again, with other strings and in another order.
  char selector[] = "a:", encoding[] = "v24@0:8i16";
  fwd_requirement same[] = {{"b", "i@", false}, {selector, encoding, true}};
  const fwd_protocol *again = NULL;
  CHECK(fwd_protocol_register("CChecks.P", same, 2, &again, NULL) == FWD_OK);
  CHECK(again == protocol);
  CHECK(fwd_protocol_register("CChecks.P", same, 2, NULL, NULL) == FWD_OK);
  CHECK(fwd_protocol_register("CChecks.Empty", NULL, 0, NULL, NULL) == FWD_OK);
  CHECK(fwd_protocol_find("CChecks.Empty") != NULL);
  // Another protocol of the same name.
  FAILS(FWD_CONFLICT, fwd_protocol_register("CChecks.P", requirements, 1, &untouched, &error));
  CHECK(says(&error, FWD_CONFLICT, "registered already"));
  CHECK(untouched == (const fwd_protocol *)&protocol);
  requirements[1].required = true;
  FAILS(FWD_CONFLICT, fwd_protocol_register("CChecks.P", requirements, 2, NULL, NULL));
  // Faulty requirements: nothing is registered.
  struct fault {
    fwd_requirement requirement;
    fwd_status status;
    const char *words;
  } faults[] = {
      {{NULL, "v@:", false}, FWD_NULL_ARGUMENT, "requirement 1"},
      {{"m", NULL, false}, FWD_NULL_ARGUMENT, "requirement 1"},
      {{"", "v@:", false}, FWD_NULL_ARGUMENT, "name"},
      {{"m", "", false}, FWD_MALFORMED, "m"},
      {{"m", "v@:{", false}, FWD_MALFORMED, "v@:{"},
      {{"m", "v@:{S=b3}", false}, FWD_UNSUPPORTED, "b3"},
      {{"m", "v@:[99999999999999999999c]", false}, FWD_OVERFLOW, "m"},
      {{"m", "vi", false}, FWD_NO_RECEIVER, "vi"},
      {{"a:", "v@:i", false}, FWD_CONFLICT, "twice"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    fwd_requirement two[] = {{"a:", "v@:i", true}, faults[i].requirement};
    error = (fwd_error){0};
    FAILS(faults[i].status, fwd_protocol_register("CChecks.Faulty", two, 2, &untouched, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
    CHECK(fwd_protocol_find("CChecks.Faulty") == NULL);
    CHECK(untouched == (const fwd_protocol *)&protocol);
  }
  char deep[400] = "v@:";
  for (int i = 0; i < 300; i++) strcat(deep, "^");
  strcat(deep, "v");
  fwd_requirement nested = {"m", deep, false};
  FAILS(FWD_TOO_DEEP, fwd_protocol_register("CChecks.Faulty", &nested, 1, NULL, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_protocol_register(NULL, requirements, 2, NULL, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_protocol_register("", requirements, 2, NULL, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_protocol_register("CChecks.Null", NULL, 2, NULL, &error));
  CHECK(fwd_protocol_find("CChecks.Null") == NULL);
  // Names are compared by their bytes, though Unicode takes these for the same: an e with an accent, and an e and an accent.
  const fwd_requirement cafes[] = {{"caf\xC3\xA9:", "i@", false}, {"cafe\xCC\x81:", "i@", false}};
  const fwd_protocol *cafe = NULL, *other = NULL;
  CHECK(fwd_protocol_register("CChecks.Caf\xC3\xA9", cafes, 2, &cafe, NULL) == FWD_OK);
  CHECK(fwd_protocol_find("CChecks.Cafe\xCC\x81") == NULL);
  CHECK(fwd_protocol_register("CChecks.Cafe\xCC\x81", cafes, 1, &other, NULL) == FWD_OK && other != cafe);
  const int32_t seven = 7, eight = 8;
  const fwd_method_options results[] = {
      {.selector = cafes[1].selector, .default_result = &seven, .default_result_size = sizeof seven},
      {.selector = cafes[0].selector, .default_result = &eight, .default_result_size = sizeof eight}};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = results;
  options.method_count = 2;
  fwd_proxy *proxy = NULL;
  CHECK(fwd_proxy_create(&cafe, 1, &options, &proxy, NULL) == FWD_OK);
  int32_t answer = 0;
  CHECK(fwd_forward_named(proxy, cafes[1].selector, NULL, 0, &answer, sizeof answer) == FWD_OK && answer == 7);
  CHECK(fwd_forward_named(proxy, cafes[0].selector, NULL, 0, &answer, sizeof answer) == FWD_OK && answer == 8);
  // A size beyond that of any memory is enough.
  char text[4096] = "";
  CHECK(fwd_proxy_explain(proxy, fwd_selector_find(cafes[0].selector), text, SIZE_MAX) == strlen(text) && text[0]);
  fwd_proxy_release(proxy);
  return failures;
}

// MARK: Proxies

int c_interface_check_proxies(void) {
  failures = 0;
  fwd_proxy *proxy = make_proxy(NULL);
  CHECK(fwd_proxy_subscriber_count(proxy) == 0);
  fwd_selector ping = fwd_selector_register("ping:");
  CHECK(!fwd_proxy_responds(proxy, ping));
  const fwd_signature *signature = fwd_proxy_signature(proxy, fwd_selector_find("ask:of:"));
  CHECK(signature && fwd_signature_argument_count(signature) == 4);
  CHECK(signature && fwd_signature_frame_size(signature) == 16);
  CHECK(fwd_proxy_signature(proxy, fwd_selector_register("unknown")) == NULL);
  CHECK(fwd_proxy_signature(proxy, NULL) == NULL);
  CHECK(!fwd_proxy_responds(proxy, NULL));

  // The subscriptions end with the last reference to the proxy.
  journal journal = {0};
  listener a = {.name = "a", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK);
  CHECK(fwd_proxy_retain(proxy) == proxy);
  fwd_proxy_release(proxy);
  CHECK(a.destroyed == 0 && fwd_proxy_subscriber_count(proxy) == 1);
  fwd_proxy_release(proxy);
  CHECK(a.destroyed == 1);
  fwd_proxy_release(NULL);

  // Protocols that conflict or are NULL.
  fwd_error error = {0};
  fwd_proxy *untouched = (fwd_proxy *)&error, *none = untouched;
  fwd_requirement other = {"ping:", "v@:q", false};
  const fwd_protocol *protocols[2] = {listening(), NULL};
  CHECK(fwd_protocol_register("CChecks.Disagreeing", &other, 1, &protocols[1], NULL) == FWD_OK);
  FAILS(FWD_CONFLICT, fwd_proxy_create(protocols, 2, NULL, &none, &error));
  CHECK(says(&error, FWD_CONFLICT, "\"v@:q\""));
  // Counts that no program can have.
  const size_t huge = SIZE_MAX / 2 + 1;
  FAILS(FWD_OUT_OF_RANGE, fwd_proxy_create(protocols, huge, NULL, &none, &error));
  CHECK(says(&error, FWD_OUT_OF_RANGE, "the count of protocols is 9223372036854775808"));
  FAILS(FWD_OUT_OF_RANGE, fwd_protocol_register("CChecks.Huge", &other, huge, NULL, &error));
  CHECK(says(&error, FWD_OUT_OF_RANGE, "the count of requirements is 9223372036854775808"));
  // The offset in a malformed encoding.
  fwd_requirement malformed = {"ping:", "v@{P=d", false};
  FAILS(FWD_MALFORMED, fwd_protocol_register("CChecks.Malformed", &malformed, 1, &protocols[1], &error));
  CHECK(says(&error, FWD_MALFORMED, "\"ping:\"") && error.offset == 6);
  fwd_method misspelt = {"ping:", "v^v:y", (void (*)(void))listener_ping};
  CHECK(fwd_proxy_create(protocols, 1, NULL, &none, NULL) == FWD_OK);
  FAILS(FWD_MALFORMED, fwd_proxy_subscribe(none, &a, &misspelt, 1, NULL, NULL, NULL, &error));
  CHECK(error.offset == 4);
  fwd_proxy_release(none);
  none = untouched;
  protocols[1] = NULL;
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_create(protocols, 2, NULL, &none, &error));
  CHECK(says(&error, FWD_NULL_ARGUMENT, "protocol 1"));
  CHECK(error.offset == 1);
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_create(NULL, 1, NULL, &none, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_create(protocols, 1, NULL, NULL, &error));
  CHECK(none == untouched);
  CHECK(fwd_proxy_create(NULL, 0, NULL, &none, NULL) == FWD_OK);
  fwd_proxy_release(none);

  // Options that do not fit.
  int32_t number = 1;
  struct fault {
    fwd_method_options method;
    fwd_status status;
    const char *words;
  } faults[] = {
      {{NULL, FWD_RESULT_FIRST, NULL, 0}, FWD_NULL_ARGUMENT, "method 0"},
      {{"unknown", FWD_RESULT_FIRST, NULL, 0}, FWD_UNKNOWN_SELECTOR, "\"unknown\""},
      {{"ask:of:", FWD_RESULT_ANY, NULL, 0}, FWD_TYPE_MISMATCH, "'B' (Bool)"},
      {{"ask:of:", FWD_RESULT_ALL, NULL, 0}, FWD_TYPE_MISMATCH, "'B' (Bool)"},
      {{"ask:of:", FWD_RESULT_UNTIL_HANDLED, NULL, 0}, FWD_TYPE_MISMATCH, "'v' (void)"},
      {{"ping:", FWD_RESULT_UNTIL_NONZERO, NULL, 0}, FWD_TYPE_MISMATCH, "ping:"},
      {{"ask:of:", (fwd_result_policy)99, NULL, 0}, FWD_OUT_OF_RANGE, "99"},
      {{"ask:of:", FWD_RESULT_FIRST, &number, 3}, FWD_TYPE_MISMATCH, "3 bytes, expected 4"},
      {{"ask:of:", FWD_RESULT_FIRST, &number, 8}, FWD_TYPE_MISMATCH, "8 bytes, expected 4"},
      {{"ping:", FWD_RESULT_FIRST, &number, 4}, FWD_TYPE_MISMATCH, "4 bytes, expected 0"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    fwd_proxy_options options = {SIZES, .methods = &faults[i].method, .method_count = 1};
    none = untouched;
    error = (fwd_error){0};
    FAILS(faults[i].status, fwd_proxy_create(protocols, 1, &options, &none, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
    CHECK(none == untouched);
  }
  return failures;
}

// MARK: Versions and sizes

int c_interface_check_versions(void) {
  failures = 0;
  CHECK(fwd_version() == FWD_VERSION);
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", FWD_VERSION_MAJOR, FWD_VERSION_MINOR, FWD_VERSION_PATCH);
  CHECK(strcmp(fwd_version_string(), text) == 0);

  // Programs of a later version pass members behind those that the library knows.
  const fwd_protocol *protocol = listening();
  fwd_proxy *untouched = (fwd_proxy *)&protocol, *proxy = untouched;
  fwd_error error = {0};
  struct {
    fwd_proxy_options known;
    uint64_t unknown;
  } later = {.known = FWD_PROXY_OPTIONS_INIT};
  later.known.size = sizeof later;
  CHECK(fwd_proxy_create(&protocol, 1, &later.known, &proxy, &error) == FWD_OK);
  fwd_proxy_release(proxy);
  proxy = untouched;
  later.unknown = (uint64_t)1 << 40;
  FAILS(FWD_WRONG_VERSION, fwd_proxy_create(&protocol, 1, &later.known, &proxy, &error));
  CHECK(says(&error, FWD_WRONG_VERSION, "fwd_proxy_options"));
  CHECK(strstr(error.message, text) != NULL);
  CHECK(error.offset >= sizeof later.known && error.offset < sizeof later);

  // Sizes that no version has.
  const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(fwd_proxy_options) - 1, 4097, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
    options.size = sizes[i];
    error = (fwd_error){0};
    FAILS(FWD_WRONG_SIZE, fwd_proxy_create(&protocol, 1, &options, &proxy, &error));
    CHECK(says(&error, FWD_WRONG_SIZE, "sizeof(fwd_proxy_options)"));
  }
  fwd_proxy_options flagged = FWD_PROXY_OPTIONS_INIT;
  flagged.flags = (uint64_t)1 << 63;
  FAILS(FWD_WRONG_VERSION, fwd_proxy_create(&protocol, 1, &flagged, &proxy, &error));
  CHECK(says(&error, FWD_WRONG_VERSION, "flags 0x8000000000000000"));

  // Arrays are read with the element size of the program.
  struct {
    fwd_method_options known;
    size_t unknown;
  } methods[] = {{.known = {.selector = "ask:of:", .policy = FWD_RESULT_ALL_LAST}},
                 {.known = {.selector = "allow", .policy = FWD_RESULT_ANY}}};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = &methods[0].known;
  options.method_count = 2;
  options.method_size = sizeof methods[0];
  CHECK(fwd_proxy_create(&protocol, 1, &options, &proxy, &error) == FWD_OK);
  bool allowed = true;
  CHECK(fwd_forward_named(proxy, "allow", NULL, 0, &allowed, sizeof allowed) == FWD_OK && !allowed);
  fwd_proxy_release(proxy);
  proxy = untouched;
  methods[1].unknown = 1;
  FAILS(FWD_WRONG_VERSION, fwd_proxy_create(&protocol, 1, &options, &proxy, &error));
  CHECK(says(&error, FWD_WRONG_VERSION, "fwd_method_options"));
  const size_t strides[] = {0, 8, sizeof(fwd_method_options) - 8, SIZE_MAX};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    options.method_size = strides[i];
    FAILS(FWD_WRONG_SIZE, fwd_proxy_create(&protocol, 1, &options, &proxy, &error));
    CHECK(says(&error, FWD_WRONG_SIZE, "method_size"));
  }
  CHECK(proxy == untouched);

  // The same checks for the options of subscriptions.
  CHECK(fwd_proxy_create(&protocol, 1, NULL, &proxy, &error) == FWD_OK);
  journal journal = {0};
  listener a = {.name = "a", .journal = &journal};
  struct {
    fwd_subscribe_options known;
    uint32_t unknown[2];
  } subscribing = {.known = FWD_SUBSCRIBE_OPTIONS_INIT};
  subscribing.known.size = sizeof subscribing;
  CHECK(fwd_proxy_subscribe(proxy, &a, listener_methods, 3, listener_destroy, &subscribing.known, &a.subscription,
                            &error) == FWD_OK);
  CHECK(fwd_proxy_unsubscribe(proxy, a.subscription) == FWD_OK && a.destroyed == 1);
  subscribing.unknown[1] = 1;
  FAILS(FWD_WRONG_VERSION, fwd_proxy_subscribe(proxy, &a, listener_methods, 3, listener_destroy, &subscribing.known,
                                               &a.subscription, &error));
  CHECK(says(&error, FWD_WRONG_VERSION, "fwd_subscribe_options"));
  subscribing.known.size = 0;
  FAILS(FWD_WRONG_SIZE, fwd_proxy_subscribe(proxy, &a, listener_methods, 3, listener_destroy, &subscribing.known,
                                            &a.subscription, &error));
  CHECK(says(&error, FWD_WRONG_SIZE, "expected"));
  CHECK(a.destroyed == 1 && fwd_proxy_subscriber_count(proxy) == 0);
  fwd_proxy_release(proxy);
  return failures;
}

int c_interface_check_null_references(void) {
  failures = 0;
  CHECK(fwd_signature_retain(NULL) == NULL);
  fwd_signature_release(NULL);
  CHECK(fwd_proxy_retain(NULL) == NULL);
  fwd_proxy_release(NULL);
  CHECK(fwd_closure_function(NULL) == NULL);
  fwd_closure_destroy(NULL);
  fwd_batch_end(NULL);
  CHECK(fwd_proxy_subscriber_count(NULL) == 0);
  CHECK(!fwd_proxy_responds(NULL, fwd_selector_register("ping:")));
  CHECK(fwd_proxy_signature(NULL, fwd_selector_register("ping:")) == NULL);
  CHECK(fwd_signature_argument_count(NULL) == 0 && fwd_signature_frame_size(NULL) == 0);
  fwd_layout layout;
  FAILS(FWD_NULL_ARGUMENT, fwd_signature_argument(NULL, 0, &layout));
  FAILS(FWD_NULL_ARGUMENT, fwd_signature_result(NULL, &layout));
  FAILS(FWD_NULL_ARGUMENT, fwd_type_layout("i", 1, NULL, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_signature_create("v", 1, NULL, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_batch_begin(NULL, NULL, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_batch_forward(NULL, fwd_selector_register("ping:"), NULL, 0, NULL, 0));
  FAILS(FWD_NULL_ARGUMENT, fwd_batch_run(NULL, NULL, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_unsubscribe(NULL, 1));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_move(NULL, 1, &(fwd_position){.kind = FWD_POSITION_FIRST}, NULL));
  return failures;
}

// MARK: Positions

static fwd_status subscribe_at(fwd_proxy *proxy, listener *listener, fwd_position position, fwd_error *error) {
  fwd_subscribe_options options = FWD_SUBSCRIBE_OPTIONS_INIT;
  options.position = position;
  return fwd_proxy_subscribe(proxy, listener, listener_methods, 3, listener_destroy, &options, &listener->subscription,
                             error);
}

/// Whether a fan-out calls the subscribers in this order.
static bool order_is(fwd_proxy *proxy, journal *journal, const char *text) {
  int32_t number = 0;
  return fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) == FWD_OK && noted(journal, text);
}

static void move_itself(listener *self) {
  fwd_position first = {.kind = FWD_POSITION_FIRST};
  self->action = NULL;
  CHECK(fwd_proxy_move(self->proxy, self->subscription, &first, NULL) == FWD_OK);
}

int c_interface_check_positions(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  listener a = {.name = "a", .journal = &journal}, b = {.name = "b", .journal = &journal};
  listener c = {.name = "c", .journal = &journal}, d = {.name = "d", .journal = &journal};
  listener e = {.name = "e", .journal = &journal}, f = {.name = "f", .journal = &journal};
  fwd_error error = {0};
  CHECK(subscribe_at(proxy, &a, (fwd_position){0}, NULL) == FWD_OK);
  CHECK(subscribe_at(proxy, &b, (fwd_position){.kind = FWD_POSITION_FIRST}, NULL) == FWD_OK);
  CHECK(order_is(proxy, &journal, "b0 a0 "));
  CHECK(subscribe_at(proxy, &c, (fwd_position){.kind = FWD_POSITION_BEFORE, .anchor = a.subscription}, NULL) == FWD_OK);
  CHECK(subscribe_at(proxy, &d, (fwd_position){.kind = FWD_POSITION_AFTER, .anchor = a.subscription}, NULL) == FWD_OK);
  CHECK(order_is(proxy, &journal, "b0 c0 a0 d0 "));
  CHECK(subscribe_at(proxy, &e, (fwd_position){.kind = FWD_POSITION_INDEX, .index = 1}, NULL) == FWD_OK);
  CHECK(order_is(proxy, &journal, "b0 e0 c0 a0 d0 "));
  CHECK(subscribe_at(proxy, &f, (fwd_position){.kind = FWD_POSITION_PRIORITY, .priority = -1}, NULL) == FWD_OK);
  listener g = {.name = "g", .journal = &journal}, h = {.name = "h", .journal = &journal};
  CHECK(subscribe_at(proxy, &g, (fwd_position){0}, NULL) == FWD_OK);
  CHECK(subscribe_at(proxy, &h, (fwd_position){.kind = FWD_POSITION_PRIORITY, .priority = INT32_MAX}, NULL) == FWD_OK);
  CHECK(order_is(proxy, &journal, "h0 b0 e0 c0 a0 d0 g0 f0 "));

  // Moving.
  struct {
    listener *moved;
    fwd_position position;
    const char *order;
  } moves[] = {
      {&h, {.kind = FWD_POSITION_LAST}, "b0 e0 c0 a0 d0 g0 h0 f0 "},
      {&f, {.kind = FWD_POSITION_FIRST}, "f0 b0 e0 c0 a0 d0 g0 h0 "},
      {&f, {.kind = FWD_POSITION_INDEX, .index = 2}, "b0 f0 e0 c0 a0 d0 g0 h0 "},
      {&b, {.kind = FWD_POSITION_INDEX, .index = 8}, "f0 e0 c0 a0 d0 g0 h0 b0 "},
      {&e, {.kind = FWD_POSITION_AFTER, .anchor = a.subscription}, "f0 c0 a0 e0 d0 g0 h0 b0 "},
      {&h, {.kind = FWD_POSITION_BEFORE, .anchor = f.subscription}, "h0 f0 c0 a0 e0 d0 g0 b0 "},
      {&c, {.kind = FWD_POSITION_BEFORE, .anchor = c.subscription}, "h0 f0 c0 a0 e0 d0 g0 b0 "},
      {&c, {.kind = FWD_POSITION_PRIORITY, .priority = 5}, "c0 h0 f0 a0 e0 d0 g0 b0 "},
      {&b, {.kind = FWD_POSITION_PRIORITY, .priority = 4}, "c0 b0 h0 f0 a0 e0 d0 g0 "},
      {&c, {.kind = FWD_POSITION_LAST}, "b0 h0 f0 a0 e0 d0 g0 c0 "},
  };
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    CHECK(fwd_proxy_move(proxy, moves[i].moved->subscription, &moves[i].position, &error) == FWD_OK);
    CHECK(order_is(proxy, &journal, moves[i].order));
  }
  // A fan-out under way keeps its order, and calls no subscriber twice.
  g.action = move_itself;
  g.proxy = proxy;
  CHECK(order_is(proxy, &journal, "b0 h0 f0 a0 e0 d0 g0 c0 "));
  CHECK(order_is(proxy, &journal, "g0 b0 h0 f0 a0 e0 d0 c0 "));

  // Errors leave the order as it is.
  fwd_subscription ended = h.subscription;
  CHECK(fwd_proxy_unsubscribe(proxy, ended) == FWD_OK && h.destroyed == 1);
  fwd_proxy *other = make_proxy(NULL);
  listener foreign = {.name = "x", .journal = &journal};
  CHECK(subscribe(other, &foreign) == FWD_OK);
  struct {
    fwd_position position;
    fwd_status status;
    const char *words;
  } faults[] = {
      {{.kind = (fwd_position_kind)6}, FWD_OUT_OF_RANGE, "6 is no kind"},
      {{.kind = (fwd_position_kind)-1}, FWD_OUT_OF_RANGE, "is no kind"},
      {{.kind = FWD_POSITION_INDEX, .index = 8}, FWD_OUT_OF_RANGE, "position 8"},
      {{.kind = FWD_POSITION_INDEX, .index = SIZE_MAX}, FWD_OUT_OF_RANGE, "position 18446744073709551615:"},
      {{.kind = FWD_POSITION_BEFORE}, FWD_NOT_SUBSCRIBED, "anchor"},
      {{.kind = FWD_POSITION_AFTER, .anchor = ended}, FWD_NOT_SUBSCRIBED, "anchor"},
      {{.kind = FWD_POSITION_AFTER, .anchor = foreign.subscription}, FWD_NOT_SUBSCRIBED, "anchor"},
      {{.kind = FWD_POSITION_BEFORE, .anchor = UINT64_MAX}, FWD_NOT_SUBSCRIBED, "anchor"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    error = (fwd_error){0};
    FAILS(faults[i].status, subscribe_at(proxy, &h, faults[i].position, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
    error = (fwd_error){0};
    FAILS(faults[i].status, fwd_proxy_move(proxy, a.subscription, &faults[i].position, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
  }
  fwd_position first = {.kind = FWD_POSITION_FIRST};
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_move(proxy, ended, &first, &error));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_move(proxy, 0, &first, &error));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_move(proxy, foreign.subscription, &first, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_move(proxy, a.subscription, NULL, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_move(NULL, a.subscription, &first, &error));
  CHECK(h.destroyed == 1 && h.subscription == ended);
  CHECK(order_is(proxy, &journal, "g0 b0 f0 a0 e0 d0 c0 "));
  fwd_proxy_release(other);
  fwd_proxy_release(proxy);
  CHECK(a.destroyed == 1 && g.destroyed == 1);
  return failures;
}

// MARK: Changes

/// A swap of a subscription for another, inside of a change.
typedef struct swapping {
  fwd_proxy *proxy;
  fwd_subscription old;
  listener *new;
  fwd_position position;
  fwd_status status;
  /// What a fan-out inside of the change notes.
  journal *journal;
  const char *inside;
} swapping;

static fwd_status perform_swap(void *context) {
  swapping *self = context;
  CHECK(subscribe_at(self->proxy, self->new, self->position, NULL) == FWD_OK);
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->old) == FWD_OK);
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(self->proxy, self->old));
  CHECK(order_is(self->proxy, self->journal, self->inside));
  return self->status;
}

static fwd_status perform_two(void *context) {
  swapping *swaps = context;
  CHECK(fwd_proxy_change(swaps[0].proxy, perform_swap, &swaps[0], NULL) == FWD_OK);
  FAILS(FWD_NOT_ALLOWED, fwd_proxy_change(swaps[1].proxy, perform_swap, &swaps[1], NULL));
  return FWD_OK;
}

static fwd_status return_ok(void *context) {
  (void)context;
  return FWD_OK;
}

static fwd_status fail_otherwise(void *proxy) {
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(proxy, 0));
  return FWD_NOT_SUBSCRIBED;
}

static fwd_status release_inside(void *proxy) {
  fwd_proxy_release(proxy);
  return FWD_OK;
}

int c_interface_check_changes(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_error error = {0};
  listener a = {.name = "a", .journal = &journal}, b = {.name = "b", .journal = &journal};
  listener c = {.name = "c", .journal = &journal}, d = {.name = "d", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK && subscribe(proxy, &b) == FWD_OK);
  CHECK(fwd_proxy_change(proxy, return_ok, NULL, &error) == FWD_OK);
  swapping swap = {.proxy = proxy, .old = a.subscription, .new = &c, .journal = &journal, .inside = "a0 b0 "};
  CHECK(fwd_proxy_change(proxy, perform_swap, &swap, &error) == FWD_OK);
  CHECK(order_is(proxy, &journal, "b0 c0 ") && a.destroyed == 1 && c.destroyed == 0);

  // Nothing changes if the function fails.
  swapping refused = {.proxy = proxy,
                         .old = b.subscription,
                         .new = &d,
                         .status = FWD_NOT_ALLOWED,
                         .journal = &journal,
                         .inside = "b0 c0 "};
  CHECK(fwd_proxy_change(proxy, perform_swap, &refused, &error) == FWD_NOT_ALLOWED);
  CHECK(says(&error, FWD_NOT_ALLOWED, "nothing has changed"));
  CHECK(order_is(proxy, &journal, "b0 c0 ") && b.destroyed == 0 && d.destroyed == 1);
  CHECK(fwd_proxy_change(proxy, fail_otherwise, proxy, &error) == FWD_NOT_SUBSCRIBED);
  CHECK(says(&error, FWD_NOT_SUBSCRIBED, "no subscription 0"));

  // Nor if a change fails when it takes effect.
  refused.status = FWD_OK;
  refused.position = (fwd_position){.kind = FWD_POSITION_AFTER, .anchor = b.subscription};
  CHECK(fwd_proxy_change(proxy, perform_swap, &refused, &error) == FWD_OK);
  CHECK(order_is(proxy, &journal, "d0 c0 ") && b.destroyed == 1 && d.destroyed == 1);
  CHECK(subscribe(proxy, &b) == FWD_OK);
  refused.old = d.subscription;
  refused.new = &a;
  refused.inside = "d0 c0 b0 ";
  refused.position = (fwd_position){.kind = FWD_POSITION_INDEX, .index = 9};
  CHECK(fwd_proxy_change(proxy, perform_swap, &refused, &error) == FWD_OUT_OF_RANGE);
  CHECK(says(&error, FWD_OUT_OF_RANGE, "position 9"));
  CHECK(order_is(proxy, &journal, "d0 c0 b0 ") && a.destroyed == 2);

  // A change in a change: the second of these is refused, and the first takes effect.
  swapping swaps[] = {
      {.proxy = proxy, .old = d.subscription, .new = &a, .journal = &journal, .inside = "d0 c0 b0 "},
      {.proxy = proxy, .old = c.subscription, .new = &d, .status = FWD_NOT_ALLOWED, .journal = &journal,
       .inside = "d0 c0 b0 "},
  };
  CHECK(fwd_proxy_change(proxy, perform_two, swaps, &error) == FWD_OK);
  CHECK(order_is(proxy, &journal, "c0 b0 a0 ") && d.destroyed == 3 && c.destroyed == 0);
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_change(NULL, return_ok, NULL, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_change(proxy, NULL, NULL, &error));
  CHECK(fwd_proxy_change(proxy, release_inside, proxy, &error) == FWD_OK);
  CHECK(a.destroyed == 3 && b.destroyed == 2 && c.destroyed == 1);
  return failures;
}

// MARK: Subscribers

/// Blocks and unblocks `a`, which comes after `b`.
static void check_blocking(fwd_proxy *proxy, listener *a, listener *b, journal *journal) {
  fwd_selector ping = fwd_selector_register("ping:");
  int32_t number = 2;
  CHECK(fwd_proxy_block(proxy, a->subscription) == FWD_OK);
  CHECK(fwd_proxy_block(proxy, a->subscription) == FWD_OK);
  CHECK(fwd_proxy_subscriber_count(proxy) == 2);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b2 "));
  CHECK(fwd_proxy_unblock(proxy, a->subscription) == FWD_OK);
  CHECK(fwd_proxy_block(proxy, b->subscription) == FWD_OK);
  CHECK(!fwd_proxy_responds(proxy, ping));
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, ""));
  CHECK(fwd_proxy_unblock(proxy, a->subscription) == FWD_OK && fwd_proxy_responds(proxy, ping));
  CHECK(fwd_proxy_unblock(proxy, b->subscription) == FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b2 a2 "));
  FAILS(FWD_OUT_OF_RANGE, fwd_proxy_unblock(proxy, a->subscription));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_block(proxy, 0));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unblock(proxy, UINT64_MAX));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_block(NULL, a->subscription));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_unblock(NULL, a->subscription));
  // A batch that began before also skips a blocked subscription.
  fwd_batch *batch = NULL;
  CHECK(fwd_batch_begin(proxy, &batch, NULL) == FWD_OK);
  CHECK(fwd_proxy_block(proxy, b->subscription) == FWD_OK);
  CHECK(fwd_batch_forward(batch, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "a2 "));
  CHECK(fwd_proxy_unblock(proxy, b->subscription) == FWD_OK);
  CHECK(fwd_batch_forward(batch, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b2 a2 "));
  fwd_batch_end(batch);
}

/// The context of `forward_in_batch`: the proxy and its function pointer, and a batch to run inside of the first (or NULL).
typedef struct batch_run {
  fwd_proxy *proxy;
  fwd_closure *function;
  fwd_batch *inner;
} batch_run;

static void forward_in_batch(void *context) {
  const batch_run *run = context;
  int number = 2;
  CHECK(fwd_forward(run->proxy, fwd_selector_register("ping:"), &number, 4, NULL, 0) == FWD_OK);
  ((void (*)(int))fwd_closure_function(run->function))(3);
  if (!run->inner) return;
  batch_run inner = {.proxy = run->proxy, .function = run->function};
  CHECK(fwd_batch_run(run->inner, forward_in_batch, &inner) == FWD_OK);
  number = 4;
  CHECK(fwd_forward(run->proxy, fwd_selector_register("ping:"), &number, 4, NULL, 0) == FWD_OK);
}

static void *run_batch_on_thread(void *context) {
  batch_run run = *(const batch_run *)context;
  fwd_batch *batch = run.inner;
  run.inner = NULL;
  CHECK(fwd_batch_run(batch, forward_in_batch, &run) == FWD_OK);
  return NULL;
}

/// Runs a batch of `b` and `a`, and one of the same and `c`, inside of one another and on a thread that has not begun it.
static void check_batch_run(fwd_proxy *proxy, journal *journal, const listener *a) {
  listener c = {.name = "c", .journal = journal};
  fwd_batch *two = NULL, *three = NULL;
  fwd_closure *function = NULL;
  fwd_selector ping = fwd_selector_register("ping:");
  CHECK(fwd_proxy_function(proxy, ping, FWD_FUNCTION_ARGUMENTS, &function, NULL) == FWD_OK);
  CHECK(fwd_batch_begin(proxy, &two, NULL) == FWD_OK);
  CHECK(subscribe(proxy, &c) == FWD_OK);
  CHECK(fwd_batch_begin(proxy, &three, NULL) == FWD_OK);
  batch_run run = {.proxy = proxy, .function = function, .inner = three};
  CHECK(fwd_batch_run(two, forward_in_batch, &run) == FWD_OK);
  CHECK(noted(journal, "b2 a2 b3 a3 b2 a2 c2 b3 a3 c3 b4 a4 "));
  run.inner = two;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run_batch_on_thread, &run) == 0);
  pthread_join(thread, NULL);
  CHECK(noted(journal, "b2 a2 b3 a3 "));
  CHECK(fwd_proxy_block(proxy, a->subscription) == FWD_OK);
  CHECK(fwd_proxy_unsubscribe(proxy, c.subscription) == FWD_OK);
  run.inner = NULL;
  CHECK(fwd_batch_run(three, forward_in_batch, &run) == FWD_OK);
  CHECK(noted(journal, "b2 b3 "));
  CHECK(fwd_proxy_unblock(proxy, a->subscription) == FWD_OK);
  int32_t number = 5;
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b5 a5 "));
  // The batches keep what its readers use.
  CHECK(c.destroyed == 0);
  fwd_closure_destroy(function);
  fwd_batch_end(two);
  fwd_batch_end(three);
  CHECK(c.destroyed == 1);
}

/// Subscribes for a limited number of deliveries, after `b` and `a`.
static void check_times(fwd_proxy *proxy, journal *journal) {
  fwd_selector ping = fwd_selector_register("ping:");
  int32_t number = 3;
  listener t = {.name = "t", .journal = journal};
  fwd_error error = {0};
  fwd_subscribe_options options = {.size = sizeof options, .times = 2};
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_subscribe(NULL, &t, listener_methods, 3, listener_destroy, &options,
                                               &t.subscription, &error));
  CHECK(says(&error, FWD_NULL_ARGUMENT, "no proxy"));
  CHECK(t.subscription == 0 && t.destroyed == 0);
  CHECK(fwd_proxy_subscribe(proxy, &t, listener_methods, 3, listener_destroy, &options, &t.subscription, NULL) ==
        FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b3 a3 t3 ") && t.destroyed == 0);
  // Deliveries that a block prevents are not counted.
  CHECK(fwd_proxy_block(proxy, t.subscription) == FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(fwd_proxy_unblock(proxy, t.subscription) == FWD_OK);
  CHECK(noted(journal, "b3 a3 ") && fwd_proxy_subscriber_count(proxy) == 3);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b3 a3 t3 ") && t.destroyed == 1);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b3 a3 ") && fwd_proxy_subscriber_count(proxy) == 2);
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_block(proxy, t.subscription));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(proxy, t.subscription));
  // A limit that is never reached.
  options.times = SIZE_MAX;
  CHECK(fwd_proxy_subscribe(proxy, &t, listener_methods, 3, listener_destroy, &options, &t.subscription, NULL) ==
        FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(journal, "b3 a3 t3 "));
  CHECK(fwd_proxy_unsubscribe(proxy, t.subscription) == FWD_OK && t.destroyed == 2);
}

int c_interface_check_subscribers(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_selector ping = fwd_selector_register("ping:"), ask = fwd_selector_register("ask:of:");
  listener a = {.name = "a", .journal = &journal}, b = {.name = "b", .journal = &journal};
  int32_t number = 1;
  CHECK(subscribe(proxy, &a) == FWD_OK);
  CHECK(subscribe(proxy, &b) == FWD_OK);
  CHECK(a.subscription != 0 && b.subscription != 0 && a.subscription != b.subscription);
  CHECK(fwd_proxy_subscriber_count(proxy) == 2);
  // Methods that no protocol declares, and no methods, are mistakes unless a flag allows them.
  const fwd_method misspelt[] = {listener_methods[0], {"pign:", "v^v:i", (void (*)(void))listener_ping}};
  fwd_error undeclared = {0};
  FAILS(FWD_UNKNOWN_SELECTOR, fwd_proxy_subscribe(proxy, &a, misspelt, 2, NULL, NULL, NULL, &undeclared));
  CHECK(says(&undeclared, FWD_UNKNOWN_SELECTOR, "\"pign:\"; it adopts "));
  CHECK(says(&undeclared, FWD_UNKNOWN_SELECTOR, "; did you mean \"ping:\"?"));
  FAILS(FWD_MISSING_METHOD, fwd_proxy_subscribe(proxy, &a, misspelt, 0, NULL, NULL, NULL, &undeclared));
  fwd_proxy *tolerant =
      make_proxy(&(fwd_proxy_options){SIZES, .flags = FWD_PROXY_IGNORES_UNKNOWN_FUNCTIONS});
  CHECK(fwd_proxy_subscribe(tolerant, &a, misspelt, 2, NULL, NULL, NULL, NULL) == FWD_OK);
  fwd_proxy_release(tolerant);
  CHECK(fwd_proxy_responds(proxy, ping) && fwd_proxy_responds(proxy, ask));
  CHECK(!fwd_proxy_responds(proxy, fwd_selector_register("missing")));
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a1 b1 "));
  // One context may have two subscriptions, each of which ends by its identifier.
  fwd_subscription first = a.subscription;
  CHECK(subscribe(proxy, &a) == FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a1 b1 a1 "));
  CHECK(fwd_proxy_unsubscribe(proxy, first) == FWD_OK);
  CHECK(a.destroyed == 1);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "b1 a1 "));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(proxy, first));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(proxy, 0));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(proxy, UINT64_MAX));
  fwd_proxy *other = make_proxy(NULL);
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_unsubscribe(other, a.subscription));
  fwd_proxy_release(other);
  CHECK(a.destroyed == 1);

  check_blocking(proxy, &a, &b, &journal);
  check_batch_run(proxy, &journal, &a);
  check_times(proxy, &journal);

  // A failure changes nothing, and does not destroy the context.
  listener c = {.name = "c", .journal = &journal, .subscription = 77};
  void (*function)(void) = listener_methods[0].function;
  struct fault {
    fwd_method method;
    fwd_status status;
    const char *words;
  } faults[] = {
      {{NULL, "v^v:i", function}, FWD_NULL_ARGUMENT, "method 0"},
      {{"ping:", NULL, function}, FWD_NULL_ARGUMENT, "method 0"},
      {{"ping:", "v^v:i", NULL}, FWD_NULL_ARGUMENT, "method 0"},
      {{"", "v^v:i", function}, FWD_NULL_ARGUMENT, "name"},
      {{"ping:", "v^v:{", function}, FWD_MALFORMED, "v^v:{"},
      {{"ping:", "v^v:b3", function}, FWD_UNSUPPORTED, "b3"},
      {{"ping:", "v^v:q", function}, FWD_SIGNATURE_MISMATCH, "\"v@:i\""},
      {{"ping:", "v^vi", function}, FWD_SIGNATURE_MISMATCH, "\"v^vi\""},
      {{"ping:", "i^v:i", function}, FWD_SIGNATURE_MISMATCH, "\"i^v:i\""},
      {{"ping:", "v", function}, FWD_SIGNATURE_MISMATCH, "\"v\""},
      {{"ask:of:", "i^v:id", function}, FWD_MISSING_METHOD, "\"ping:\""},
      {{"foreign", "v^v:", function}, FWD_UNKNOWN_SELECTOR, "\"foreign\""},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    fwd_error error = {0};
    FAILS(faults[i].status,
          fwd_proxy_subscribe(proxy, &c, &faults[i].method, 1, listener_destroy, NULL, &c.subscription, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
  }
  fwd_method twice[] = {listener_methods[0], listener_methods[0]};
  FAILS(FWD_CONFLICT, fwd_proxy_subscribe(proxy, &c, twice, 2, listener_destroy, NULL, &c.subscription, NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_subscribe(proxy, &c, NULL, 2, listener_destroy, NULL, &c.subscription, NULL));
  FAILS(FWD_MISSING_METHOD, fwd_proxy_subscribe(proxy, &c, NULL, 0, listener_destroy, NULL, &c.subscription, NULL));
  CHECK(c.subscription == 77 && c.destroyed == 0);
  CHECK(fwd_proxy_subscriber_count(proxy) == 2);
  // Without a notifier, without an output for the subscription, and without a context.
  static struct journal plain;
  static listener unbound = {.name = "n", .journal = &plain};
  CHECK(fwd_proxy_subscribe(proxy, &unbound, listener_methods, 1, NULL, NULL, NULL, NULL) == FWD_OK);
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&plain, "n1 "));
  fwd_proxy_release(proxy);
  CHECK(a.destroyed == 2 && b.destroyed == 1);
  return failures;
}

static void leave(listener *self) {
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->subscription) == FWD_OK);
  // The call still uses the context, so it has not been destroyed.
  CHECK(self->destroyed == 0);
}

static listener *victim;
static void drop_victim(listener *self) {
  CHECK(fwd_proxy_unsubscribe(self->proxy, victim->subscription) == FWD_OK);
  self->action = NULL;
}

static void bring_victim(listener *self) {
  CHECK(subscribe(self->proxy, victim) == FWD_OK);
  self->action = NULL;
}

static void nest(listener *self) {
  int32_t number = 9;
  self->action = NULL;
  CHECK(fwd_forward(self->proxy, fwd_selector_register("ping:"), &number, 4, NULL, 0) == FWD_OK);
}

static fwd_proxy *reentered;
static void destroy_and_forward(void *context) {
  int32_t number = 3;
  ((listener *)context)->destroyed++;
  // The library holds no lock here, so the proxy can be used again.
  CHECK(fwd_forward(reentered, fwd_selector_register("ping:"), &number, 4, NULL, 0) == FWD_OK);
}

int c_interface_check_membership(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_selector ping = fwd_selector_register("ping:");
  listener a = {.name = "a", .journal = &journal}, b = {.name = "b", .journal = &journal};
  listener c = {.name = "c", .journal = &journal};
  int32_t number = 1;
  CHECK(subscribe(proxy, &a) == FWD_OK && subscribe(proxy, &b) == FWD_OK && subscribe(proxy, &c) == FWD_OK);
  a.action = leave;
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a1 b1 c1 "));
  CHECK(a.destroyed == 1);
  victim = &c;
  b.action = drop_victim;
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "b1 "));
  CHECK(c.destroyed == 1);
  b.action = bring_victim;
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "b1 "));
  b.action = nest;
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "b1 b9 c9 c1 "));
  reentered = proxy;
  listener d = {.name = "d", .journal = &journal};
  CHECK(fwd_proxy_subscribe(proxy, &d, listener_methods, 3, destroy_and_forward, NULL, &d.subscription, NULL) ==
        FWD_OK);
  CHECK(fwd_proxy_unsubscribe(proxy, d.subscription) == FWD_OK);
  CHECK(noted(&journal, "b3 c3 "));
  CHECK(d.destroyed == 1);
  fwd_proxy_release(proxy);
  CHECK(b.destroyed == 1 && c.destroyed == 2);
  return failures;
}

// MARK: Forwarding

static double add_wide(void *context, fwd_selector selector, signed char small, double large) {
  (void)context, (void)selector;
  return small + large;
}

static int reports;
static fwd_status last_report;
static void on_error(void *context, fwd_selector selector, const fwd_error *error) {
  CHECK(context == &reports);
  CHECK(selector != NULL && error->message[0]);
  reports++;
  last_report = error->status;
}

int c_interface_check_forwarding(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_selector ping = fwd_selector_register("ping:"), ask = fwd_selector_register("ask:of:");
  fwd_selector wide = fwd_selector_register("wide:"), missing = fwd_selector_register("missing");
  fwd_selector unknown = fwd_selector_register("c interface checks: unknown");
  listener a = {.name = "a", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK);
  fwd_method methods[] = {listener_methods[0], {"wide:", "d^v:cd", (void (*)(void))add_wide}};
  static listener ignored = {.name = "x"};
  static struct journal ignored_journal;
  ignored.journal = &ignored_journal;
  CHECK(fwd_proxy_subscribe(proxy, &ignored, methods, 2, NULL, NULL, NULL, NULL) == FWD_OK);

  struct {
    int32_t number;
    double factor;
  } frame = {6, 0.5};
  int32_t result = 0;
  CHECK(fwd_forward(proxy, ask, &frame, sizeof frame, &result, sizeof result) == FWD_OK && result == 3);
  CHECK(fwd_forward(proxy, ask, &frame, sizeof frame, NULL, 0) == FWD_OK);
  CHECK(fwd_forward_named(proxy, "ask:of:", &frame, sizeof frame, &result, sizeof result) == FWD_OK);
  int32_t number = 8;
  double factor = 2;
  void *arguments[] = {&number, &factor};
  CHECK(fwd_forward_arguments(proxy, ask, arguments, 2, &result, sizeof result) == FWD_OK && result == 16);
  CHECK(arguments[0] == &number && arguments[1] == &factor && number == 8 && factor == 2);
  CHECK(fwd_forward_arguments(proxy, ask, arguments, 2, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a6 a6 a6 a8 a8 "));

  // Frames, arguments and results need no alignment.
  char bytes[64] = {0};
  for (size_t shift = 0; shift < 8; shift++) {
    double sum = 0;
    struct {
      signed char small;
      double large;
    } wide_frame = {-3, 10};
    memcpy(bytes + shift, &wide_frame, sizeof wide_frame);
    CHECK(fwd_forward(proxy, wide, bytes + shift, sizeof wide_frame, bytes + 32 + shift, 8) == FWD_OK);
    memcpy(&sum, bytes + 32 + shift, 8);
    CHECK(sum == 7);
    memcpy(bytes + shift, &wide_frame.large, 8);
    void *pointers[] = {&wide_frame.small, bytes + shift};
    CHECK(fwd_forward_arguments(proxy, wide, pointers, 2, bytes + 32 + shift, 8) == FWD_OK);
    memcpy(&sum, bytes + 32 + shift, 8);
    CHECK(sum == 7);
  }

  // Bad input: nothing is called, and the result is untouched.
  fwd_proxy *nobody = NULL;
  result = 55;
  FAILS(FWD_UNKNOWN_SELECTOR, fwd_forward(proxy, unknown, &frame, sizeof frame, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward(proxy, NULL, &frame, sizeof frame, &result, 4));
  FAILS(FWD_UNKNOWN_SELECTOR, fwd_forward_named(proxy, "c interface checks: never", NULL, 0, NULL, 0));
  CHECK(strstr(fwd_error_message(), "declares \"c interface checks: never\"; it declares \"") != NULL);
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_named(proxy, NULL, NULL, 0, NULL, 0));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_named(proxy, "", NULL, 0, NULL, 0));
  FAILS(FWD_UNKNOWN_SELECTOR, fwd_forward_arguments(proxy, unknown, NULL, 0, NULL, 0));
  CHECK(fwd_selector_find("c interface checks: never") == NULL);
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, sizeof frame - 1, &result, 4));
  CHECK(strstr(fwd_error_message(), "15 bytes, expected 16"));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, sizeof frame + 1, &result, 4));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, NULL, 0, &result, 4));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, SIZE_MAX, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward(proxy, ask, NULL, sizeof frame, &result, 4));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, sizeof frame, &result, 3));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, sizeof frame, &result, 8));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ask, &frame, sizeof frame, &result, 0));
  FAILS(FWD_WRONG_SIZE, fwd_forward(proxy, ping, &number, 4, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward(proxy, ask, &frame, sizeof frame, NULL, 4));
  FAILS(FWD_OUT_OF_RANGE, fwd_forward_arguments(proxy, ask, arguments, 1, &result, 4));
  FAILS(FWD_OUT_OF_RANGE, fwd_forward_arguments(proxy, ask, arguments, 3, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_arguments(proxy, ask, NULL, 2, &result, 4));
  FAILS(FWD_WRONG_SIZE, fwd_forward_arguments(proxy, ask, arguments, 2, &result, 5));
  arguments[1] = NULL;
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_arguments(proxy, ask, arguments, 2, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward(nobody, ask, &frame, sizeof frame, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_named(nobody, "ask:of:", &frame, sizeof frame, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_forward_arguments(nobody, ask, arguments, 2, &result, 4));
  FAILS(FWD_NO_RESPONDER, fwd_forward(proxy, missing, NULL, 0, &result, 4));
  CHECK(strstr(fwd_error_message(), "\"missing\""));
  FAILS(FWD_NO_RESPONDER, fwd_forward_named(proxy, "missing", NULL, 0, &result, 4));
  FAILS(FWD_NO_RESPONDER, fwd_forward_arguments(proxy, missing, NULL, 0, &result, 4));
  CHECK(result == 55 && noted(&journal, ""));
  fwd_proxy_release(proxy);

  // Unknown selectors may be ignored.
  fwd_proxy_options options = {SIZES, .flags = FWD_PROXY_IGNORES_UNKNOWN_SELECTORS};
  proxy = make_proxy(&options);
  CHECK(fwd_forward(proxy, unknown, NULL, 0, NULL, 0) == FWD_OK);
  FAILS(FWD_NULL_ARGUMENT, fwd_forward(proxy, NULL, NULL, 0, NULL, 0));
  CHECK(fwd_forward_named(proxy, "c interface checks: never", NULL, 3, NULL, 4) == FWD_OK);
  CHECK(fwd_forward_arguments(proxy, unknown, NULL, 1, &result, 4) == FWD_OK);
  CHECK(result == 0);
  result = 55;
  CHECK(fwd_forward(proxy, unknown, NULL, 0, &result, 4) == FWD_OK && result == 0);
  CHECK(fwd_selector_find("c interface checks: never") == NULL);
  // Forwarding a void method without a responder is not an error.
  CHECK(fwd_forward(proxy, ping, &number, 4, NULL, 0) == FWD_OK);
  fwd_proxy_release(proxy);
  return failures;
}

// MARK: Policies

static void mark(listener *self) {
  (void)self;
  fwd_mark_handled();
}

int c_interface_check_policies(void) {
  failures = 0;
  fwd_mark_handled();
  struct {
    fwd_result_policy policy;
    int32_t answers[3];
    int32_t result;
    const char *noted;
  } rows[] = {
      {FWD_RESULT_DEFAULT, {4, 5, 6}, 4, "a1 "},
      {FWD_RESULT_FIRST, {4, 5, 6}, 4, "a1 "},
      {FWD_RESULT_ALL_FIRST, {4, 5, 6}, 4, "a1 b1 c1 "},
      {FWD_RESULT_ALL_LAST, {4, 5, 6}, 6, "a1 b1 c1 "},
      // An answer of 0 makes the listener return number * factor, which is 0 here.
      {FWD_RESULT_UNTIL_NONZERO, {0, 5, 6}, 5, "a1 b1 "},
      {FWD_RESULT_UNTIL_NONZERO, {0, 0, 0}, 0, "a1 b1 c1 "},
  };
  struct {
    int32_t number;
    double factor;
  } frame = {1, 0};
  fwd_selector ask = fwd_selector_register("ask:of:");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int32_t given = 9;
    fwd_method_options method = {"ask:of:", rows[i].policy, &given, sizeof given};
    fwd_proxy_options options = {SIZES, .methods = &method, .method_count = 1};
    fwd_proxy *proxy = make_proxy(&options);
    given = 0;
    int32_t result = 0;
    // The default result was copied when the proxy was created.
    CHECK(fwd_forward(proxy, ask, &frame, sizeof frame, &result, 4) == FWD_OK && result == 9);
    journal journal = {0};
    listener listeners[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    for (int j = 0; j < 3; j++) {
      listeners[j].journal = &journal;
      listeners[j].answer = rows[i].answers[j];
      CHECK(subscribe(proxy, &listeners[j]) == FWD_OK);
    }
    CHECK(fwd_forward(proxy, ask, &frame, sizeof frame, &result, 4) == FWD_OK);
    CHECK(result == rows[i].result);
    CHECK(noted(&journal, rows[i].noted));
    fwd_proxy_release(proxy);
    CHECK(listeners[0].destroyed == 1 && listeners[2].destroyed == 1);
  }
  struct {
    fwd_result_policy policy;
    int count;
    int32_t answers[3];
    bool result;
    const char *noted;
  } quantifiers[] = {
      {FWD_RESULT_ANY, 0, {0}, false, ""},
      {FWD_RESULT_ANY, 3, {0, 1, 0}, true, "a0 b0 "},
      {FWD_RESULT_ANY, 3, {0, 0, 0}, false, "a0 b0 c0 "},
      {FWD_RESULT_ALL, 0, {0}, true, ""},
      {FWD_RESULT_ALL, 3, {1, 0, 1}, false, "a0 b0 "},
      {FWD_RESULT_ALL, 3, {1, 1, 1}, true, "a0 b0 c0 "},
  };
  for (size_t i = 0; i < sizeof quantifiers / sizeof *quantifiers; i++) {
    fwd_method_options method = {"allow", quantifiers[i].policy, NULL, 0};
    fwd_proxy_options options = {SIZES, .methods = &method, .method_count = 1};
    fwd_proxy *proxy = make_proxy(&options);
    journal journal = {0};
    listener listeners[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    for (int j = 0; j < quantifiers[i].count; j++) {
      listeners[j].journal = &journal;
      listeners[j].answer = quantifiers[i].answers[j];
      CHECK(subscribe(proxy, &listeners[j]) == FWD_OK);
    }
    bool result = !quantifiers[i].result;
    CHECK(fwd_forward_named(proxy, "allow", NULL, 0, &result, sizeof result) == FWD_OK);
    CHECK(result == quantifiers[i].result);
    CHECK(noted(&journal, quantifiers[i].noted));
    fwd_proxy_release(proxy);
  }
  fwd_method_options method = {"ping:", FWD_RESULT_UNTIL_HANDLED, NULL, 0};
  fwd_proxy_options options = {SIZES, .methods = &method, .method_count = 1};
  fwd_proxy *proxy = make_proxy(&options);
  journal journal = {0};
  listener a = {.name = "a", .journal = &journal}, b = {.name = "b", .journal = &journal, .action = mark};
  listener c = {.name = "c", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK && subscribe(proxy, &b) == FWD_OK && subscribe(proxy, &c) == FWD_OK);
  int32_t number = 1;
  CHECK(fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a1 b1 "));
  b.action = NULL;
  CHECK(fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) == FWD_OK);
  CHECK(noted(&journal, "a1 b1 c1 "));
  fwd_proxy_release(proxy);
  return failures;
}

// MARK: Function pointers

static fwd_closure *running;
static void end_running(listener *self) {
  fwd_closure_destroy(running);
  CHECK(self->destroyed == 0);
}

static void ignore_error(void *context, fwd_selector selector, const fwd_error *error) {
  (void)context, (void)selector, (void)error;
}

/// Checks that a function pointer returns the failure result if the forwarding fails, so that a hook can deny.
static void check_failure_results(void) {
  int32_t denied = 7;
  fwd_method_options method = {.selector = "ask:of:", .failure_result = &denied, .failure_result_size = 2};
  fwd_proxy_options options = {SIZES, .methods = &method, .method_count = 1, .on_error = ignore_error};
  const fwd_protocol *protocol = listening();
  fwd_proxy *proxy = NULL;
  FAILS(FWD_TYPE_MISMATCH, fwd_proxy_create(&protocol, 1, &options, &proxy, NULL));
  method.failure_result_size = sizeof denied;
  method.failure_result = NULL;
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_create(&protocol, 1, &options, &proxy, NULL));
  method.failure_result = &denied;
  unsigned char two = 2;
  fwd_method_options allow = {.selector = "allow", .failure_result = &two, .failure_result_size = 1};
  options.methods = &allow;
  FAILS(FWD_TYPE_MISMATCH, fwd_proxy_create(&protocol, 1, &options, &proxy, NULL));
  options.methods = &method;
  CHECK(fwd_proxy_create(&protocol, 1, &options, &proxy, NULL) == FWD_OK);
  denied = 0;
  fwd_closure *closure = NULL;
  fwd_selector ask = fwd_selector_register("ask:of:");
  CHECK(fwd_proxy_function(proxy, ask, FWD_FUNCTION_ARGUMENTS, &closure, NULL) == FWD_OK);
  CHECK(((int32_t (*)(int32_t, double))fwd_closure_function(closure))(1, 2) == 7);
  fwd_closure_destroy(closure);
  fwd_proxy_release(proxy);
}

int c_interface_check_functions(void) {
  failures = 0;
  check_failure_results();
  journal journal = {0};
  reports = 0;
  fwd_proxy_options options = {SIZES, .on_error = on_error, .on_error_context = &reports};
  fwd_proxy *proxy = make_proxy(&options);
  fwd_selector ask = fwd_selector_register("ask:of:"), ping = fwd_selector_register("ping:");
  listener a = {.name = "a", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK);
  fwd_closure *short_form = NULL, *long_form = NULL, *missing = NULL;
  fwd_error error = {0};
  CHECK(fwd_proxy_function(proxy, ask, FWD_FUNCTION_ARGUMENTS, &short_form, &error) == FWD_OK);
  CHECK(fwd_proxy_function(proxy, ask, FWD_FUNCTION_CONTEXT_AT(1), &long_form, NULL) == FWD_OK);
  int32_t (*call_short)(int32_t, double) = (int32_t(*)(int32_t, double))fwd_closure_function(short_form);
  int32_t (*call_long)(int32_t, void *, double) = (int32_t(*)(int32_t, void *, double))fwd_closure_function(long_form);
  CHECK(call_short(6, 0.5) == 3);
  CHECK(call_long(10, NULL, 0.5) == 5);
  CHECK(call_long(-10, &journal, 0.5) == -5);
  CHECK(noted(&journal, "a6 a10 a-10 "));
  // A failure is reported, and the caller gets zeros.
  CHECK(fwd_proxy_function(proxy, fwd_selector_register("missing"), FWD_FUNCTION_ARGUMENTS, &missing, NULL) == FWD_OK);
  CHECK(((int32_t(*)(void))fwd_closure_function(missing))() == 0);
  CHECK(reports == 1 && last_report == FWD_NO_RESPONDER);
  fwd_closure_destroy(missing);
  fwd_closure_destroy(short_form);
  fwd_closure_destroy(long_form);
  // Errors.
  fwd_closure *untouched = (fwd_closure *)&error;
  FAILS(FWD_UNKNOWN_SELECTOR,
        fwd_proxy_function(proxy, fwd_selector_register("unknown"), FWD_FUNCTION_ARGUMENTS, &untouched, &error));
  CHECK(says(&error, FWD_UNKNOWN_SELECTOR, "\"unknown\""));
  FAILS(FWD_OUT_OF_RANGE, fwd_proxy_function(proxy, ask, FWD_FUNCTION_CONTEXT_AT(3), &untouched, &error));
  CHECK(says(&error, FWD_OUT_OF_RANGE, "has the index 3, expected at most 2: the callback has 2 other arguments"));
  FAILS(FWD_OUT_OF_RANGE, fwd_proxy_function(proxy, ask, -2, &untouched, &error));
  CHECK(says(&error, FWD_OUT_OF_RANGE, "has a negative index, expected 0 to 2"));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_function(proxy, NULL, FWD_FUNCTION_ARGUMENTS, &untouched, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_function(proxy, ask, FWD_FUNCTION_ARGUMENTS, NULL, &error));
  CHECK(untouched == (fwd_closure *)&error);
  // The closure keeps the proxy, even if a delivery destroys the closure and releases the proxy.
  CHECK(fwd_proxy_function(proxy, ping, FWD_FUNCTION_ARGUMENTS, &running, NULL) == FWD_OK);
  fwd_proxy_release(proxy);
  void (*call_ping)(int32_t) = (void (*)(int32_t))fwd_closure_function(running);
  call_ping(1);
  CHECK(a.destroyed == 0);
  a.action = end_running;
  call_ping(2);
  CHECK(noted(&journal, "a1 a2 "));
  CHECK(a.destroyed == 1);
  return failures;
}

// MARK: Structs of callbacks

typedef struct callbacks {
  int32_t version;
  int32_t (*ask)(int32_t, double, void *);
  int32_t (*ask_first)(void *, int32_t, double);
  void (*ping)(void *, int32_t);
  bool (*allow)(void);
  char last;
} callbacks;

static fwd_callback_table *ending;

static void end_ending(listener *self) {
  (void)self;
  fwd_callback_table_destroy(ending);
}

static void check_callback_faults(fwd_proxy *proxy) {
  static const int32_t number = 1;
  fwd_callback_table *untouched = (fwd_callback_table *)&number, *table = untouched;
  fwd_error error = {0};
  const size_t size = sizeof(callbacks), at = offsetof(callbacks, ask);
  struct fault {
    fwd_callback callback;
    fwd_status status;
    const char *words;
  } faults[] = {
      {{at, NULL, 0, NULL, 0, NULL, 0}, FWD_NULL_ARGUMENT, "the selector of callback 0"},
      {{at, "unknown:", 0, NULL, 0, NULL, 0}, FWD_UNKNOWN_SELECTOR, "\"unknown:\""},
      {{at, "ask:of:", FWD_FUNCTION_CONTEXT_AT(3), NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "index 3, expected at most 2"},
      {{at, "ask:of:", -2, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "\"ask:of:\""},
      {{at, "ask:of:", INT32_MAX, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "\"ask:of:\""},
      {{at, "ask:of:", INT32_MIN, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "\"ask:of:\""},
      {{at, "ask:of:", 0, "iid^v", 0, NULL, 0}, FWD_SIGNATURE_MISMATCH, "a function of \"iid\", but the member has \"iid^v\""},
      {{at, "ask:of:", 1, "i^vdi", 0, NULL, 0}, FWD_SIGNATURE_MISMATCH, "\"i^vid\""},
      {{at, "ask:of:", 0, "i?", 0, NULL, 0}, FWD_UNSUPPORTED, "i?"},
      {{at, "ask:of:", 0, NULL, 2, NULL, 0}, FWD_OUT_OF_RANGE, "flags 2"},
      {{at, "ask:of:", 0, NULL, 0, &number, 3}, FWD_TYPE_MISMATCH, "3 bytes, expected 4"},
      {{at, "ask:of:", 0, NULL, 0, NULL, 4}, FWD_NULL_ARGUMENT, "4 bytes at NULL"},
      {{size, "ask:of:", 0, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "but the struct has 48"},
      {{size - 4, "ask:of:", 0, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "offset 44 has 8 bytes"},
      {{SIZE_MAX, "ask:of:", 0, NULL, 0, NULL, 0}, FWD_OUT_OF_RANGE, "offset"},
      {{4, "ask:of:", 0, NULL, 0, NULL, 0}, FWD_TYPE_MISMATCH, "offset 4: expected a multiple of 8"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    FAILS(faults[i].status, fwd_callback_table_create(proxy, NULL, size, &faults[i].callback, 1, sizeof(fwd_callback),
                                                       &table, &error));
    CHECK(says(&error, faults[i].status, faults[i].words));
  }
  const fwd_callback twice[] = {{.offset = 8, .selector = "ping:"}, {.offset = 8, .selector = "ask:of:"}};
  FAILS(FWD_CONFLICT, fwd_callback_table_create(proxy, NULL, size, twice, 2, sizeof *twice, &table, &error));
  CHECK(says(&error, FWD_CONFLICT, "\"ask:of:\" at offset 8 overlaps the one for \"ping:\" at offset 8"));
  FAILS(FWD_OUT_OF_RANGE, fwd_callback_table_create(proxy, NULL, 4, twice, 1, sizeof *twice, &table, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_callback_table_create(NULL, NULL, size, twice, 1, sizeof *twice, &table, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_callback_table_create(proxy, NULL, size, NULL, 1, sizeof *twice, &table, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_callback_table_create(proxy, NULL, size, twice, 1, sizeof *twice, NULL, &error));
  const size_t strides[] = {0, 8, sizeof(fwd_callback) - 8, 4097, SIZE_MAX};
  for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
    FAILS(FWD_WRONG_SIZE, fwd_callback_table_create(proxy, NULL, size, twice, 1, strides[i], &table, &error));
    CHECK(says(&error, FWD_WRONG_SIZE, "callback_size"));
  }
  CHECK(table == untouched);
  // Programs of a later version pass members behind those that the library knows.
  struct {
    fwd_callback known;
    size_t unknown;
  } later[] = {{.known = {.offset = at, .selector = "ask:of:"}},
               {.known = {.offset = offsetof(callbacks, ping), .selector = "ping:"}}};
  later[1].unknown = 1;
  FAILS(FWD_WRONG_VERSION,
        fwd_callback_table_create(proxy, NULL, size, &later[0].known, 2, sizeof *later, &table, &error));
  CHECK(says(&error, FWD_WRONG_VERSION, "fwd_callback"));
  CHECK(table == untouched);
  later[1].unknown = 0;
  CHECK(fwd_callback_table_create(proxy, NULL, size, &later[0].known, 2, sizeof *later, &table, NULL) == FWD_OK);
  const callbacks *made = fwd_callback_table_struct(table);
  CHECK(made->ask && made->ping && !made->allow);
  fwd_callback_table_destroy(table);
  // The stride of an empty array does not matter.
  CHECK(fwd_callback_table_create(proxy, NULL, 0, NULL, 0, 0, &table, NULL) == FWD_OK);
  CHECK(fwd_callback_table_struct(table) != NULL);
  fwd_callback_table_destroy(table);
  CHECK(fwd_callback_table_struct(NULL) == NULL);
  fwd_callback_table_destroy(NULL);
}

int c_interface_check_callback_tables(void) {
  failures = 0;
  journal journal = {0};
  reports = 0;
  fwd_proxy_options options = {SIZES, .on_error = on_error, .on_error_context = &reports};
  fwd_proxy *proxy = make_proxy(&options);
  check_callback_faults(proxy);
  CHECK(reports == 0);

  int32_t denied = -3;
  const fwd_callback members[] = {
      {.offset = offsetof(callbacks, ask),
       .selector = "ask:of:",
       .form = FWD_FUNCTION_CONTEXT_LAST,
       .encoding = "iid^v",
       .failure_result = &denied,
       .failure_result_size = sizeof denied},
      {.offset = offsetof(callbacks, ask_first),
       .selector = "ask:of:",
       .form = FWD_FUNCTION_CONTEXT_FIRST,
       .flags = FWD_CALLBACK_NULL_IF_UNIMPLEMENTED},
      {.offset = offsetof(callbacks, ping), .selector = "ping:", .form = FWD_FUNCTION_CONTEXT_AT(0), .encoding = "v^vi"},
      {.offset = offsetof(callbacks, allow), .selector = "allow", .flags = FWD_CALLBACK_NULL_IF_UNIMPLEMENTED},
  };
  const callbacks preset = {.version = 7, .last = 'x'};
  fwd_callback_table *table = NULL;
  CHECK(fwd_callback_table_create(proxy, &preset, sizeof preset, members, 4, sizeof *members, &table, NULL) == FWD_OK);
  denied = 0;
  callbacks *made = fwd_callback_table_struct(table);
  CHECK(made->version == 7 && made->last == 'x');
  CHECK(made->ask && made->ping && !made->ask_first && !made->allow);
  // Nobody responds.
  CHECK(made->ask(6, 0.5, NULL) == -3);
  CHECK(reports == 1 && last_report == FWD_NO_RESPONDER);

  listener a = {.name = "a", .journal = &journal, .answer = 0};
  CHECK(subscribe(proxy, &a) == FWD_OK);
  CHECK(made->ask_first && made->allow);
  CHECK(made->ask(6, 0.5, made) == 3);
  CHECK(made->ask_first(made, 10, 0.5) == 5);
  made->ping(NULL, 4);
  CHECK(!made->allow());
  CHECK(noted(&journal, "a6 a10 a4 a0 "));
  CHECK(fwd_proxy_unsubscribe(proxy, a.subscription) == FWD_OK);
  CHECK(!made->ask_first && !made->allow && made->ask && made->ping);

  // A second table of the same proxy has functions of its own.
  fwd_callback_table *other = NULL;
  CHECK(fwd_callback_table_create(proxy, NULL, sizeof preset, members, 4, sizeof *members, &other, NULL) == FWD_OK);
  callbacks *others = fwd_callback_table_struct(other);
  CHECK(others->version == 0 && others->ask != made->ask);
  fwd_callback_table_destroy(other);
  reports = 0;
  CHECK(others->ask(1, 1, NULL) == 0);
  CHECK(reports == 1 && last_report == FWD_DEAD);

  // Ended inside a call. The table keeps the proxy until then.
  CHECK(subscribe(proxy, &a) == FWD_OK);
  int destroyed = a.destroyed;
  fwd_proxy_release(proxy);
  CHECK(a.destroyed == destroyed);
  a.action = end_ending;
  ending = table;
  made->ping(NULL, 9);
  CHECK(noted(&journal, "a9 "));
  CHECK(a.destroyed == destroyed + 1);
  CHECK(!made->ask_first && !made->allow);
  reports = 0;
  made->ping(NULL, 10);
  CHECK(made->ask(1, 1, NULL) == -3);
  CHECK(noted(&journal, ""));
  CHECK(reports == 2 && last_report == FWD_DEAD);
  return failures;
}

// MARK: Visitors

typedef struct visited {
  fwd_proxy *proxy;
  int count;
  int stop_at;
  char text[256];
  /// Called in each visit with the visited subscription, unless it is NULL.
  void (*action)(struct visited *self, fwd_subscription subscription);
  listener *other;
} visited;

static bool visit_subscriber(void *context, const fwd_subscriber_info *subscriber) {
  visited *self = context;
  CHECK(subscriber->size == sizeof *subscriber && subscriber->object == NULL);
  const listener *found = subscriber->context;
  CHECK(found->destroyed == 0 && found->subscription == subscriber->subscription);
  strcat(self->text, found->name);
  if (subscriber->is_blocked) strcat(self->text, "-");
  if (self->action) self->action(self, subscriber->subscription);
  return ++self->count != self->stop_at;
}

static bool visit_method(void *context, const fwd_method_info *method) {
  visited *self = context;
  CHECK(method->size == sizeof *method);
  CHECK(fwd_proxy_signature(self->proxy, method->selector) == method->signature);
  strcat(self->text, fwd_selector_name(method->selector));
  strcat(self->text, method->required ? "! " : " ");
  return ++self->count != self->stop_at;
}

static void end_visited(visited *self, fwd_subscription subscription) {
  CHECK(fwd_proxy_unsubscribe(self->proxy, subscription) == FWD_OK);
}

static void end_and_add(visited *self, fwd_subscription subscription) {
  (void)subscription;
  self->action = NULL;
  CHECK(fwd_proxy_unsubscribe(self->proxy, self->other->subscription) == FWD_OK);
  CHECK(subscribe(self->proxy, self->other) == FWD_OK);
  // The visitor may forward. The visited context is still valid.
  int32_t number = 5;
  CHECK(fwd_forward_named(self->proxy, "ping:", &number, 4, NULL, 0) == FWD_OK);
}

static void release_visited(visited *self, fwd_subscription subscription) {
  (void)subscription;
  fwd_proxy_release(self->proxy);
  self->action = NULL;
}

int c_interface_check_visitors(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  listener listeners[] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
  visited visited = {.proxy = proxy};
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK && visited.count == 0);
  for (int i = 0; i < 4; i++) {
    listeners[i].journal = &journal;
    CHECK(subscribe(proxy, &listeners[i]) == FWD_OK);
  }
  CHECK(fwd_proxy_block(proxy, listeners[1].subscription) == FWD_OK);
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK);
  CHECK(visited.count == 4 && strcmp(visited.text, "ab-cd") == 0);
  visited = (struct visited){.proxy = proxy, .stop_at = 2};
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK);
  CHECK(visited.count == 2 && strcmp(visited.text, "ab-") == 0);
  CHECK(fwd_proxy_unblock(proxy, listeners[1].subscription) == FWD_OK);
  // Subscriptions that end or begin during the visit are not visited.
  visited = (struct visited){.proxy = proxy, .action = end_and_add, .other = &listeners[2]};
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK);
  CHECK(strcmp(visited.text, "abd") == 0 && listeners[2].destroyed == 1);
  CHECK(noted(&journal, "a5 b5 d5 c5 "));
  listeners[2].destroyed = 0;
  // A visitor may end the visited subscription.
  visited = (struct visited){.proxy = proxy, .action = end_visited, .stop_at = 3};
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK);
  CHECK(strcmp(visited.text, "abd") == 0 && fwd_proxy_subscriber_count(proxy) == 1);
  CHECK(listeners[0].destroyed == 1 && listeners[1].destroyed == 1 && listeners[3].destroyed == 1);

  visited = (struct visited){.proxy = proxy};
  CHECK(fwd_proxy_visit_methods(proxy, visit_method, &visited) == FWD_OK);
  CHECK(strcmp(visited.text, "ping:! ask:of: allow wide: missing ") == 0);
  visited = (struct visited){.proxy = proxy, .stop_at = 1};
  CHECK(fwd_proxy_visit_methods(proxy, visit_method, &visited) == FWD_OK && visited.count == 1);

  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_visit_methods(NULL, visit_method, &visited));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_visit_methods(proxy, NULL, &visited));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_visit_subscribers(NULL, visit_subscriber, &visited));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_visit_subscribers(proxy, NULL, &visited));
  // A visitor releases the last reference to the proxy.
  visited = (struct visited){.proxy = proxy, .action = release_visited};
  CHECK(fwd_proxy_visit_subscribers(proxy, visit_subscriber, &visited) == FWD_OK);
  CHECK(strcmp(visited.text, "c") == 0 && listeners[2].destroyed == 1);
  return failures;
}

// MARK: Collecting

typedef struct collected {
  fwd_proxy *proxy;
  int count;
  int stop_at;
  int32_t sum;
  fwd_subscription authors[8];
  void (*action)(struct collected *self);
} collected;

static bool collect_number(void *context, fwd_subscription subscription, const void *result) {
  collected *self = context;
  CHECK(result != NULL && ((uintptr_t)result & 3) == 0);
  self->authors[self->count] = subscription;
  self->sum += *(const int32_t *)result;
  if (self->action) self->action(self);
  return ++self->count != self->stop_at;
}

static bool collect_nothing(void *context, fwd_subscription subscription, const void *result) {
  collected *self = context;
  CHECK(result == NULL);
  self->authors[self->count++] = subscription;
  return true;
}

static void collect_again(collected *self) {
  struct {
    int32_t number;
    double factor;
  } frame = {1, 1};
  collected inner = {0};
  self->action = NULL;
  CHECK(fwd_collect(self->proxy, fwd_selector_find("ask:of:"), &frame, sizeof frame, collect_number, &inner) == FWD_OK);
  CHECK(inner.count == 3 && inner.sum == 7);
  CHECK(fwd_proxy_unsubscribe(self->proxy, inner.authors[2]) == FWD_OK);
}

static void release_collected(collected *self) {
  self->action = NULL;
  fwd_proxy_release(self->proxy);
}

int c_interface_check_collecting(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_selector ask = fwd_selector_register("ask:of:"), ping = fwd_selector_register("ping:");
  struct {
    int32_t number;
    double factor;
  } frame = {4, 2};
  collected collected = {.proxy = proxy};
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK && collected.count == 0);
  listener listeners[] = {{.name = "a", .answer = 2}, {.name = "b", .answer = 4}, {.name = "c"}};
  for (int i = 0; i < 3; i++) {
    listeners[i].journal = &journal;
    CHECK(subscribe(proxy, &listeners[i]) == FWD_OK);
  }
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 3 && collected.sum == 2 + 4 + 8 && noted(&journal, "a4 b4 c4 "));
  for (int i = 0; i < 3; i++) CHECK(collected.authors[i] == listeners[i].subscription);
  collected = (struct collected){.proxy = proxy, .stop_at = 2};
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 2 && noted(&journal, "a4 b4 "));
  // From a frame that is not aligned, and of a void method.
  char bytes[sizeof frame + 1];
  memcpy(bytes + 1, &frame, sizeof frame);
  collected = (struct collected){.proxy = proxy};
  CHECK(fwd_collect(proxy, ask, bytes + 1, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.sum == 14 && noted(&journal, "a4 b4 c4 "));
  int32_t number = 6;
  collected = (struct collected){.proxy = proxy};
  CHECK(fwd_collect(proxy, ping, &number, 4, collect_nothing, &collected) == FWD_OK);
  CHECK(collected.count == 3 && noted(&journal, "a6 b6 c6 "));
  // On failure nothing is called.
  FAILS(FWD_WRONG_SIZE, fwd_collect(proxy, ask, &frame, 4, collect_number, &collected));
  FAILS(FWD_NULL_ARGUMENT, fwd_collect(proxy, ask, NULL, sizeof frame, collect_number, &collected));
  FAILS(FWD_NULL_ARGUMENT, fwd_collect(proxy, ask, &frame, sizeof frame, NULL, &collected));
  FAILS(FWD_NULL_ARGUMENT, fwd_collect(proxy, NULL, &frame, sizeof frame, collect_number, &collected));
  FAILS(FWD_NULL_ARGUMENT, fwd_collect(NULL, ask, &frame, sizeof frame, collect_number, &collected));
  fwd_selector unknown = fwd_selector_register("unknown");
  FAILS(FWD_UNKNOWN_SELECTOR, fwd_collect(proxy, unknown, NULL, 0, collect_number, &collected));
  CHECK(noted(&journal, ""));
  // A visitor collects again, and ends a subscription that has not been called yet.
  listeners[2].answer = 1;
  collected = (struct collected){.proxy = proxy, .action = collect_again};
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 2 && noted(&journal, "a4 a1 b1 c1 b4 ") && listeners[2].destroyed == 1);
  // A visitor releases the last reference to the proxy.
  collected = (struct collected){.proxy = proxy, .action = release_collected};
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 2 && listeners[0].destroyed == 1 && listeners[1].destroyed == 1);

  // Selectors that the proxy ignores have no results.
  fwd_proxy_options options = {SIZES, .flags = FWD_PROXY_IGNORES_UNKNOWN_SELECTORS};
  proxy = make_proxy(&options);
  collected = (struct collected){.proxy = proxy};
  CHECK(fwd_collect(proxy, unknown, NULL, 0, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 0);
  fwd_proxy_release(proxy);
  return failures;
}

// MARK: Interception

typedef struct interceptor {
  const char *name;
  journal *journal;
  fwd_proxy *proxy;
  fwd_interception interception;
  /// Called in each invocation. Its status is returned.
  fwd_status (*action)(struct interceptor *self, fwd_invocation *invocation);
  int destroyed;
} interceptor;

static int32_t number_of(const fwd_invocation *invocation) {
  return *(const int32_t *)fwd_invocation_argument(invocation, 2);
}

static fwd_status intercept(void *context, fwd_invocation *invocation) {
  interceptor *self = context;
  CHECK(self->destroyed == 0);
  note(self->journal, self->name, number_of(invocation));
  return self->action ? self->action(self, invocation) : FWD_OK;
}

static void destroy_interceptor(void *context) { ((interceptor *)context)->destroyed++; }

static fwd_status add(interceptor *self, fwd_selector selector, fwd_interception_point point, fwd_error *error) {
  return fwd_proxy_intercept(self->proxy, selector, point, intercept, self, destroy_interceptor, &self->interception,
                             error);
}

static fwd_status only_proceed(interceptor *self, fwd_invocation *invocation) {
  (void)self;
  return fwd_invocation_proceed(invocation);
}

static fwd_status change_both(interceptor *self, fwd_invocation *invocation) {
  (void)self;
  int32_t number = number_of(invocation) + 1, result = 0;
  CHECK(fwd_invocation_result(invocation) == NULL);
  CHECK(fwd_invocation_set_argument(invocation, 2, &number, sizeof number) == FWD_OK);
  CHECK(number_of(invocation) == number);
  // An argument may be set from its own bytes.
  CHECK(fwd_invocation_set_argument(invocation, 2, fwd_invocation_argument(invocation, 2), 4) == FWD_OK);
  CHECK(fwd_invocation_proceed(invocation) == FWD_OK);
  CHECK(fwd_invocation_result(invocation) != NULL);
  memcpy(&result, fwd_invocation_result(invocation), sizeof result);
  result *= 10;
  CHECK(fwd_invocation_set_result(invocation, &result, sizeof result) == FWD_OK);
  CHECK(*(const int32_t *)fwd_invocation_result(invocation) == result);
  return FWD_OK;
}

static fwd_status check_misuse(interceptor *self, fwd_invocation *invocation) {
  int32_t number = 7;
  double factor = 1;
  fwd_selector selector = fwd_invocation_selector(invocation);
  CHECK(selector == fwd_selector_find("ask:of:"));
  CHECK(fwd_invocation_signature(invocation) == fwd_proxy_signature(self->proxy, selector));
  CHECK(*(void *const *)fwd_invocation_argument(invocation, 0) == NULL);
  CHECK(*(const fwd_selector *)fwd_invocation_argument(invocation, 1) == selector);
  CHECK(fwd_invocation_argument(invocation, 4) == NULL && strstr(fwd_error_message(), "argument 4"));
  CHECK(fwd_invocation_argument(invocation, SIZE_MAX) == NULL);
  FAILS(FWD_OUT_OF_RANGE, fwd_invocation_set_argument(invocation, 0, &invocation, sizeof invocation));
  FAILS(FWD_OUT_OF_RANGE, fwd_invocation_set_argument(invocation, 1, &selector, sizeof selector));
  FAILS(FWD_OUT_OF_RANGE, fwd_invocation_set_argument(invocation, 4, &number, sizeof number));
  FAILS(FWD_OUT_OF_RANGE, fwd_invocation_set_argument(invocation, SIZE_MAX, &number, sizeof number));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_argument(invocation, 2, &number, 3));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_argument(invocation, 2, &factor, sizeof factor));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_argument(invocation, 2, NULL, 0));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_argument(invocation, 2, &number, SIZE_MAX));
  FAILS(FWD_NULL_ARGUMENT, fwd_invocation_set_argument(invocation, 2, NULL, 4));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_result(invocation, &number, 8));
  FAILS(FWD_WRONG_SIZE, fwd_invocation_set_result(invocation, NULL, 0));
  FAILS(FWD_NULL_ARGUMENT, fwd_invocation_set_result(invocation, NULL, 4));
  CHECK(number_of(invocation) == 6 && fwd_invocation_result(invocation) == NULL);
  return fwd_invocation_proceed(invocation);
}

static fwd_status check_seeing(interceptor *self, fwd_invocation *invocation) {
  int32_t number = 7;
  (void)self;
  FAILS(FWD_NOT_ALLOWED, fwd_invocation_set_argument(invocation, 2, &number, sizeof number));
  FAILS(FWD_NOT_ALLOWED, fwd_invocation_set_result(invocation, &number, sizeof number));
  FAILS(FWD_NOT_ALLOWED, fwd_invocation_proceed(invocation));
  return FWD_OK;
}

static fwd_status see_result(interceptor *self, fwd_invocation *invocation) {
  const int32_t *result = (const int32_t *)fwd_invocation_result(invocation);
  note(self->journal, "=", result ? *result : -1);
  return check_seeing(self, invocation);
}

static fwd_status answer_nine(interceptor *self, fwd_invocation *invocation) {
  int32_t number = 9;
  (void)self;
  FAILS(FWD_NOT_ALLOWED, fwd_invocation_proceed(invocation));
  FAILS(FWD_NOT_ALLOWED, fwd_invocation_set_argument(invocation, 2, &number, sizeof number));
  return fwd_invocation_set_result(invocation, &number, sizeof number);
}

static fwd_status deny(interceptor *self, fwd_invocation *invocation) {
  (void)self, (void)invocation;
  return FWD_DUPLICATE;
}

static fwd_status nonsense(interceptor *self, fwd_invocation *invocation) {
  (void)self, (void)invocation;
  return (fwd_status)77;
}

static fwd_status proceed_twice(interceptor *self, fwd_invocation *invocation) {
  (void)self;
  CHECK(fwd_invocation_proceed(invocation) == FWD_OK);
  return fwd_invocation_proceed(invocation);
}

static fwd_status ask_number(fwd_proxy *proxy, int32_t number, int32_t *result) {
  struct {
    int32_t number;
    double factor;
  } frame = {number, 1};
  return fwd_forward_named(proxy, "ask:of:", &frame, sizeof frame, result, sizeof *result);
}

int c_interface_check_interception(void) {
  failures = 0;
  journal journal = {0};
  reports = 0;
  fwd_proxy_options options = {SIZES, .on_error = on_error, .on_error_context = &reports};
  fwd_proxy *proxy = make_proxy(&options);
  fwd_selector ask = fwd_selector_register("ask:of:"), ping = fwd_selector_register("ping:");
  listener a = {.name = "a", .journal = &journal};
  CHECK(subscribe(proxy, &a) == FWD_OK);
  interceptor before = {.name = "<", .journal = &journal, .proxy = proxy, .action = check_seeing};
  interceptor after = {.name = ">", .journal = &journal, .proxy = proxy, .action = see_result};
  interceptor outer = {.name = "o", .journal = &journal, .proxy = proxy, .action = check_misuse};
  interceptor inner = {.name = "i", .journal = &journal, .proxy = proxy, .action = change_both};
  interceptor instead = {.name = "!", .journal = &journal, .proxy = proxy, .action = answer_nine};
  fwd_error error = {0};
  int32_t result = 0;
  CHECK(add(&after, ask, FWD_INTERCEPT_AFTER, NULL) == FWD_OK);
  CHECK(add(&outer, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  CHECK(add(&inner, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  CHECK(add(&before, ask, FWD_INTERCEPT_BEFORE, NULL) == FWD_OK);
  CHECK(before.interception != 0 && before.interception != after.interception);
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && result == 70);
  CHECK(noted(&journal, "<6 o6 i6 a7 >6 =70 "));
  // Each result goes to the collecting visitor. The deliveries have the changed arguments.
  collected collected = {.proxy = proxy};
  struct {
    int32_t number;
    double factor;
  } frame = {6, 1};
  inner.action = only_proceed;
  after.action = NULL;
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 1 && collected.sum == 6 && collected.authors[0] == a.subscription);
  CHECK(noted(&journal, "<6 o6 i6 a6 >6 "));
  // An interceptor instead of the subscribers.
  CHECK(add(&instead, ask, FWD_INTERCEPT_INSTEAD, NULL) == FWD_OK);
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && result == 9);
  CHECK(noted(&journal, "<6 o6 i6 !6 >6 "));
  collected = (struct collected){.proxy = proxy};
  CHECK(fwd_collect(proxy, ask, &frame, sizeof frame, collect_number, &collected) == FWD_OK);
  CHECK(collected.count == 1 && collected.sum == 9 && collected.authors[0] == 0);
  CHECK(noted(&journal, "<6 o6 i6 !6 >6 "));
  interceptor second = {.name = "2", .journal = &journal, .proxy = proxy};
  FAILS(FWD_DUPLICATE, add(&second, ask, FWD_INTERCEPT_INSTEAD, &error));
  CHECK(says(&error, FWD_DUPLICATE, "ask:of:") && second.destroyed == 0 && second.interception == 0);
  instead.action = NULL;
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && result == 0);
  CHECK(noted(&journal, "<6 o6 i6 !6 >6 "));

  // Failures.
  result = 5;
  instead.action = deny;
  FAILS(FWD_DELIVERY_FAILED, ask_number(proxy, 6, &result));
  CHECK(strstr(fwd_error_message(), "FWD_DUPLICATE") && result == 5 && reports == 1);
  CHECK(noted(&journal, "<6 o6 i6 !6 "));
  CHECK(fwd_proxy_end_interception(proxy, instead.interception) == FWD_OK && instead.destroyed == 1);
  inner.action = nonsense;
  FAILS(FWD_DELIVERY_FAILED, ask_number(proxy, 6, &result));
  CHECK(strstr(fwd_error_message(), "77") && result == 5 && reports == 2);
  before.action = deny;
  inner.action = only_proceed;
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && result == 6 && reports == 3 && last_report == FWD_DELIVERY_FAILED);
  before.action = NULL;
  journal = (struct journal){0};
  // The failure of the inner delivery is passed on.
  CHECK(fwd_proxy_block(proxy, a.subscription) == FWD_OK);
  FAILS(FWD_NO_RESPONDER, ask_number(proxy, 6, &result));
  CHECK(reports == 3 && noted(&journal, "<6 o6 i6 "));
  CHECK(fwd_proxy_unblock(proxy, a.subscription) == FWD_OK);
  // An interceptor that neither proceeds nor sets a result.
  inner.action = NULL;
  FAILS(FWD_NO_RESPONDER, ask_number(proxy, 6, &result));
  inner.action = proceed_twice;
  journal = (struct journal){0};
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && result == 6);
  CHECK(noted(&journal, "<6 o6 i6 a6 a6 >6 "));

  // A void method, through a function pointer.
  interceptor pinged = {.name = "p", .journal = &journal, .proxy = proxy, .action = only_proceed};
  CHECK(add(&pinged, ping, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  fwd_closure *closure = NULL;
  CHECK(fwd_proxy_function(proxy, ping, FWD_FUNCTION_ARGUMENTS, &closure, NULL) == FWD_OK);
  ((void (*)(int32_t))fwd_closure_function(closure))(3);
  fwd_closure_destroy(closure);
  CHECK(noted(&journal, "p3 a3 "));

  // Invalid arguments.
  FAILS(FWD_UNKNOWN_SELECTOR, add(&second, fwd_selector_register("unknown"), FWD_INTERCEPT_BEFORE, &error));
  FAILS(FWD_OUT_OF_RANGE, add(&second, ask, (fwd_interception_point)5, &error));
  CHECK(says(&error, FWD_OUT_OF_RANGE, "5 is no point"));
  FAILS(FWD_NULL_ARGUMENT, add(&second, NULL, FWD_INTERCEPT_BEFORE, &error));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_intercept(NULL, ask, FWD_INTERCEPT_BEFORE, intercept, &second,
                                               destroy_interceptor, NULL, &error));
  FAILS(FWD_NULL_ARGUMENT,
        fwd_proxy_intercept(proxy, ask, FWD_INTERCEPT_BEFORE, NULL, &second, destroy_interceptor, NULL, &error));
  CHECK(says(&error, FWD_NULL_ARGUMENT, "no interceptor") && second.destroyed == 0);
  CHECK(fwd_invocation_selector(NULL) == NULL && fwd_invocation_signature(NULL) == NULL);
  CHECK(fwd_invocation_argument(NULL, 0) == NULL && fwd_invocation_result(NULL) == NULL);
  FAILS(FWD_NULL_ARGUMENT, fwd_invocation_set_argument(NULL, 0, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_invocation_set_result(NULL, &result, 4));
  FAILS(FWD_NULL_ARGUMENT, fwd_invocation_proceed(NULL));
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_end_interception(NULL, outer.interception));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(proxy, 0));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(proxy, UINT64_MAX));
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(proxy, instead.interception));
  fwd_proxy *other = make_proxy(NULL);
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(other, outer.interception));
  fwd_proxy_release(other);

  // The last release of the proxy ends the interceptions and destroys their contexts.
  fwd_proxy_release(proxy);
  CHECK(before.destroyed == 1 && after.destroyed == 1 && outer.destroyed == 1 && inner.destroyed == 1);
  CHECK(pinged.destroyed == 1 && instead.destroyed == 1 && a.destroyed == 1);
  return failures;
}

static fwd_status end_itself(interceptor *self, fwd_invocation *invocation) {
  CHECK(fwd_proxy_end_interception(self->proxy, self->interception) == FWD_OK);
  FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(self->proxy, self->interception));
  // The call still uses the context, so it has not been destroyed.
  CHECK(self->destroyed == 0);
  return fwd_invocation_proceed(invocation);
}

static interceptor *followed;
static fwd_status end_followed(interceptor *self, fwd_invocation *invocation) {
  self->action = only_proceed;
  CHECK(fwd_proxy_end_interception(self->proxy, followed->interception) == FWD_OK);
  return fwd_invocation_proceed(invocation);
}

static fwd_status add_followed(interceptor *self, fwd_invocation *invocation) {
  self->action = only_proceed;
  CHECK(add(followed, fwd_selector_find("ask:of:"), FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  return fwd_invocation_proceed(invocation);
}

static fwd_status nest_invocations(interceptor *self, fwd_invocation *invocation) {
  int32_t number = number_of(invocation), inner = 0;
  if (number > 0) CHECK(ask_number(self->proxy, number - 1, &inner) == FWD_OK && inner == number - 1);
  CHECK(number_of(invocation) == number);
  return fwd_invocation_proceed(invocation);
}

static fwd_status release_proxy(interceptor *self, fwd_invocation *invocation) {
  self->action = only_proceed;
  fwd_proxy_release(self->proxy);
  CHECK(self->destroyed == 0);
  return fwd_invocation_proceed(invocation);
}

/// Ends the interception of another method when its context is destroyed.
static interceptor chained;
static void destroy_and_end(void *context) {
  interceptor *self = context;
  self->destroyed++;
  CHECK(fwd_proxy_end_interception(self->proxy, chained.interception) == FWD_OK);
}

static void *end_in_thread(void *context) {
  interceptor *self = context;
  return (void *)(intptr_t)fwd_proxy_end_interception(self->proxy, self->interception);
}

static void *ask_in_thread(void *proxy) {
  intptr_t failed = 0;
  for (int i = 0; i < 500; i++) {
    int32_t result = -1;
    failed += ask_number(proxy, 3, &result) != FWD_OK || result != 3;
  }
  return (void *)failed;
}

static fwd_status proceed_quietly(void *context, fwd_invocation *invocation) {
  ++*(_Atomic int *)context;
  return fwd_invocation_proceed(invocation);
}
static _Atomic int quiet_destroyed;
static void free_quietly(void *context) {
  quiet_destroyed++;
  free(context);
}
static int32_t echo(void *context, fwd_selector selector, int32_t number, double factor) {
  (void)context, (void)selector, (void)factor;
  return number;
}
static void ignore_ping(void *context, fwd_selector selector, int32_t number) {
  (void)context, (void)selector, (void)number;
}

int c_interface_check_interception_lifetimes(void) {
  failures = 0;
  journal journal = {0};
  fwd_proxy *proxy = make_proxy(NULL);
  fwd_selector ask = fwd_selector_register("ask:of:"), ping = fwd_selector_register("ping:");
  static const fwd_method methods[] = {{"ask:of:", "i^v:id", (void (*)(void))echo},
                                       {"ping:", "v^v:i", (void (*)(void))ignore_ping}};
  CHECK(fwd_proxy_subscribe(proxy, NULL, methods, 2, NULL, NULL, NULL, NULL) == FWD_OK);
  int32_t result = 0;
  interceptor one = {.name = "1", .journal = &journal, .proxy = proxy, .action = end_itself};
  interceptor two = {.name = "2", .journal = &journal, .proxy = proxy, .action = only_proceed};
  CHECK(add(&one, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  CHECK(ask_number(proxy, 4, &result) == FWD_OK && result == 4 && one.destroyed == 1);
  CHECK(noted(&journal, "14 "));
  // An interceptor ends one that has not been called yet.
  one = (interceptor){.name = "1", .journal = &journal, .proxy = proxy, .action = end_followed};
  followed = &two;
  CHECK(add(&one, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK && add(&two, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  CHECK(ask_number(proxy, 5, &result) == FWD_OK && result == 5 && two.destroyed == 1);
  CHECK(noted(&journal, "15 "));
  // An interceptor that begins during an invocation is called from the next one on.
  two.destroyed = 0;
  one.action = add_followed;
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && noted(&journal, "16 "));
  CHECK(ask_number(proxy, 6, &result) == FWD_OK && noted(&journal, "16 26 "));
  // Invocations inside of invocations.
  one.action = nest_invocations;
  CHECK(ask_number(proxy, 2, &result) == FWD_OK && result == 2);
  CHECK(noted(&journal, "12 11 10 20 21 22 "));
  one.action = only_proceed;
  // A notifier ends another interception.
  chained = (interceptor){.name = "c", .journal = &journal, .proxy = proxy};
  interceptor ending = {.name = "e", .journal = &journal, .proxy = proxy};
  CHECK(add(&chained, ping, FWD_INTERCEPT_BEFORE, NULL) == FWD_OK);
  CHECK(fwd_proxy_intercept(proxy, ping, FWD_INTERCEPT_AFTER, intercept, &ending, destroy_and_end,
                            &ending.interception, NULL) == FWD_OK);
  CHECK(fwd_proxy_end_interception(proxy, ending.interception) == FWD_OK);
  CHECK(ending.destroyed == 1 && chained.destroyed == 1);
  // From another thread.
  pthread_t thread;
  void *status;
  pthread_create(&thread, NULL, end_in_thread, &two);
  pthread_join(thread, &status);
  CHECK(status == (void *)FWD_OK && two.destroyed == 1);
  // Two threads forward while another one begins and ends interceptions.
  CHECK(fwd_proxy_end_interception(proxy, one.interception) == FWD_OK && one.destroyed == 1);
  quiet_destroyed = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask_in_thread, proxy);
  for (int i = 0; i < 200; i++) {
    fwd_interception interception = 0;
    _Atomic int *calls = calloc(1, sizeof *calls);
    CHECK(fwd_proxy_intercept(proxy, ask, FWD_INTERCEPT_AROUND, proceed_quietly, calls, free_quietly, &interception,
                              NULL) == FWD_OK);
    CHECK(fwd_proxy_end_interception(proxy, interception) == FWD_OK);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], &status);
    CHECK(status == NULL);
  }
  CHECK(quiet_destroyed == 200);
  // An interceptor releases the last reference to the proxy.
  one = (interceptor){.name = "1", .journal = &journal, .proxy = proxy, .action = release_proxy};
  CHECK(add(&one, ask, FWD_INTERCEPT_AROUND, NULL) == FWD_OK);
  CHECK(ask_number(proxy, 8, &result) == FWD_OK && result == 8 && one.destroyed == 1);
  CHECK(noted(&journal, "18 "));
  return failures;
}

// MARK: Threads

enum { rounds = 500 };

typedef struct counter {
  _Atomic int calls;
  _Atomic int destroyed;
} counter;

static void counter_ping(counter *self, fwd_selector selector, int32_t number) {
  (void)selector, (void)number;
  self->calls++;
}
static void counter_destroy(void *context) { ((counter *)context)->destroyed++; }

static const fwd_method counter_methods[] = {{"ping:", "v^v:i", (void (*)(void))counter_ping}};

static void *forward_all(void *proxy) {
  int32_t number = 1;
  intptr_t failed = 0;
  for (int i = 0; i < rounds; i++) failed += fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) != FWD_OK;
  return (void *)failed;
}

static void *come_and_go(void *proxy) {
  intptr_t failed = 0;
  for (int i = 0; i < rounds; i++) {
    // The last user frees the context: this thread, or a fan-out.
    counter *passing = calloc(1, sizeof *passing);
    fwd_subscription subscription;
    failed += fwd_proxy_subscribe(proxy, passing, counter_methods, 1, free, NULL, &subscription, NULL) != FWD_OK;
    failed += fwd_proxy_unsubscribe(proxy, subscription) != FWD_OK;
  }
  return (void *)failed;
}

int c_interface_check_threads(void) {
  failures = 0;
  fwd_proxy *proxy = make_proxy(NULL);
  static counter steady;
  steady = (counter){0};
  CHECK(fwd_proxy_subscribe(proxy, &steady, counter_methods, 1, counter_destroy, NULL, NULL, NULL) == FWD_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i < 2 ? forward_all : come_and_go, proxy);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    CHECK(failed == NULL);
  }
  CHECK(steady.calls == 2 * rounds);
  CHECK(fwd_proxy_subscriber_count(proxy) == 1);
  fwd_proxy_release(proxy);
  CHECK(steady.destroyed == 1);
  return failures;
}

// MARK: Blocking

int c_interface_check_blocking(void) {
  failures = 0;
  fwd_proxy *proxy = make_proxy(NULL);
  static counter self;
  self = (counter){0};
  CHECK(fwd_proxy_subscribe(proxy, &self, counter_methods, 1, counter_destroy, NULL, NULL, NULL) == FWD_OK);
  int32_t number = 1;
  fwd_selector selectors[] = {fwd_selector_find("ping:"), NULL};
  for (int i = 0; i < 2; i++) {
    fwd_interception interception = 0;
    CHECK(fwd_proxy_intercept(proxy, selectors[i], FWD_INTERCEPT_BLOCK, NULL, NULL, NULL, &interception, NULL) == FWD_OK);
    CHECK(interception != 0 && !fwd_proxy_responds(proxy, selectors[0]));
    CHECK(fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) == FWD_OK && self.calls == i);
    CHECK(fwd_proxy_end_interception(proxy, interception) == FWD_OK);
    FAILS(FWD_NOT_SUBSCRIBED, fwd_proxy_end_interception(proxy, interception));
    CHECK(fwd_proxy_responds(proxy, selectors[0]));
    CHECK(fwd_forward_named(proxy, "ping:", &number, 4, NULL, 0) == FWD_OK && self.calls == i + 1);
  }
  FAILS(FWD_NULL_ARGUMENT, fwd_proxy_intercept(NULL, NULL, FWD_INTERCEPT_BLOCK, NULL, NULL, NULL, NULL, NULL));
  fwd_proxy_release(proxy);
  CHECK(self.destroyed == 1);
  return failures;
}

// MARK: Beside Swift

typedef struct noter {
  int number;
  void (*note)(void *context, int number, int32_t argument);
  void *context;
} noter;

static void noter_note(noter *self, fwd_selector selector, int32_t argument) {
  (void)selector;
  self->note(self->context, self->number, argument);
}

fwd_status c_interface_subscribe_note(fwd_proxy *proxy, int number,
                                      void (*note)(void *context, int number, int32_t argument), void *context,
                                      fwd_subscription *subscription) {
  noter *made = malloc(sizeof *made);
  *made = (noter){number, note, context};
  fwd_method method = {"note:", "v^v:i", (void (*)(void))noter_note};
  fwd_status status = fwd_proxy_subscribe(proxy, made, &method, 1, free, NULL, subscription, NULL);
  if (status != FWD_OK) free(made);
  return status;
}
