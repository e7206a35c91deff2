// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// A program with plug-ins: plugin-host PLUGIN_DIRECTORY FILE...
//
// Filters the lines of files on several threads. Each line goes to all plug-ins, through one proxy. A plug-in is
// unloaded while the threads are at work. The program checks its results against a count without plug-ins.

#include "plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// MARK: Checks

static atomic_size_t check_count;

__attribute__((format(printf, 2, 3))) static void check(bool condition, const char *what, ...) {
  atomic_fetch_add(&check_count, 1);
  if (condition) return;
  va_list arguments;
  va_start(arguments, what);
  fprintf(stderr, "wrong: ");
  vfprintf(stderr, what, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  exit(1);
}

// MARK: Plug-ins

/// A plug-in and what keeps it loaded.
typedef struct plugin {
  plugin_instance instance;
  const char *name;
  char path[4096];
  void *library;
  /// Subscriptions and interceptions whose end the library has not told yet. Protected by `plugins_lock`.
  size_t uses;
} plugin;

static pthread_mutex_t plugins_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t plugin_unused = PTHREAD_COND_INITIALIZER;

/// The notifier of each subscription and interception. Runs on the thread of the last invocation that used it.
static void ended(void *instance) {
  plugin *ending = instance;
  pthread_mutex_lock(&plugins_lock);
  ending->uses--;
  pthread_cond_signal(&plugin_unused);
  pthread_mutex_unlock(&plugins_lock);
}

/// Loads a plug-in and starts it. Returns false, with a message in `error`, if it does not start.
static bool load(plugin *loading, fwd_proxy *proxy, const char *directory, const char *name, fwd_error *error) {
  *loading = (plugin){.instance = {.proxy = proxy, .ended = ended}, .name = name};
  snprintf(loading->path, sizeof loading->path, "%s/%s.so", directory, name);
  loading->library = dlopen(loading->path, RTLD_NOW | RTLD_LOCAL);
  check(loading->library != NULL, "%s", dlerror());
  fwd_status (*start)(plugin_instance *, fwd_error *);
  // ISO C has no conversion from an object pointer to a function pointer.
  *(void **)&start = dlsym(loading->library, "plugin_start");
  check(start != NULL, "%s has no plugin_start", name);
  if (start(&loading->instance, error) != FWD_OK) {
    dlclose(loading->library);
    return false;
  }
  loading->uses = (loading->instance.subscription != 0) + (loading->instance.interception != 0);
  return true;
}

/// Ends what a plug-in has begun, waits until no thread runs its functions, and unloads it.
static void unload(plugin *leaving) {
  plugin_instance *instance = &leaving->instance;
  if (instance->subscription != 0) {
    check(fwd_proxy_unsubscribe(instance->proxy, instance->subscription) == FWD_OK, "%s: unsubscribe", leaving->name);
  }
  if (instance->interception != 0) {
    check(fwd_proxy_end_interception(instance->proxy, instance->interception) == FWD_OK, "%s: end", leaving->name);
  }
  pthread_mutex_lock(&plugins_lock);
  while (leaving->uses > 0) pthread_cond_wait(&plugin_unused, &plugins_lock);
  pthread_mutex_unlock(&plugins_lock);

  void (*stop)(plugin_instance *);
  *(void **)&stop = dlsym(leaving->library, "plugin_stop");
  if (stop) stop(instance);
  check(dlclose(leaving->library) == 0, "%s: dlclose", leaving->name);
  check(dlopen(leaving->path, RTLD_NOW | RTLD_NOLOAD) == NULL, "%s is still loaded", leaving->name);
}

// MARK: Text

/// A file's contents, or text of the program.
typedef struct document {
  char *text;
  size_t length;
} document;

static document read_document(const char *path) {
  document result = {NULL, 0};
  FILE *file = fopen(path, "rb");
  check(file != NULL, "%s cannot be opened", path);
  check(fseek(file, 0, SEEK_END) == 0, "%s: seek", path);
  result.length = (size_t)ftell(file);
  rewind(file);
  result.text = malloc(result.length + 1);
  check(result.text != NULL, "no memory");
  check(fread(result.text, 1, result.length, file) == result.length, "%s: read", path);
  fclose(file);
  return result;
}

/// Calls `body` with each line of a document, without the line feed.
static void each_line(const document *document, void (*body)(void *context, const char *text, size_t length),
                      void *context) {
  const char *text = document->text, *end = text + document->length;
  while (text < end) {
    const char *feed = memchr(text, '\n', (size_t)(end - text));
    const char *stop = feed ? feed : end;
    body(context, text, (size_t)(stop - text));
    text = stop + 1;
  }
}

// MARK: Filtering

typedef struct host {
  fwd_proxy *proxy;
  fwd_selector keeps, line, line_count;
  const document *documents;
  size_t document_count;
  /// The next document that a thread takes.
  atomic_size_t next;
  /// The first document that waits until `may_end` is true.
  size_t held;
  atomic_bool may_end;
  atomic_size_t lines, kept, votes, errors;
} host;

typedef struct votes {
  size_t count, refusals;
} votes;

/// Receives what one plug-in says.
static bool count_vote(void *context, fwd_subscription subscription, const void *result) {
  votes *counted = context;
  (void)subscription;
  counted->count++;
  if (!*(const bool *)result) counted->refusals++;
  // All plug-ins are asked.
  return true;
}

/// Asks all plug-ins whether a line is kept.
static votes ask(host *host, const char *text, size_t length) {
  struct {
    const char *text;
    size_t length;
  } question = {text, length};
  votes votes = {0, 0};
  fwd_status status = fwd_collect(host->proxy, host->keeps, &question, sizeof question, count_vote, &votes);
  check(status == FWD_OK, "%s: %s", fwd_status_name(status), fwd_error_message());
  return votes;
}

static void filter_line(void *context, const char *text, size_t length) {
  host *host = context;
  votes votes = ask(host, text, length);
  size_t number = atomic_fetch_add(&host->lines, 1);
  atomic_fetch_add(&host->votes, votes.count);
  if (votes.refusals > 0) return;
  atomic_fetch_add(&host->kept, 1);
  struct {
    const char *text;
    size_t length, number;
  } event = {text, length, number};
  fwd_status status = fwd_forward(host->proxy, host->line, &event, sizeof event, NULL, 0);
  check(status == FWD_OK, "%s: %s", fwd_status_name(status), fwd_error_message());
}

static void *filter_documents(void *context) {
  host *host = context;
  for (;;) {
    size_t index = atomic_fetch_add(&host->next, 1);
    if (index >= host->document_count) return NULL;
    while (index >= host->held && !atomic_load(&host->may_end)) ask(host, "a line", 6);
    each_line(&host->documents[index], filter_line, host);
  }
}

enum { THREAD_COUNT = 3, RELOAD_COUNT = 200 };

/// Filters all documents on several threads. If there is a plug-in to unload, it is unloaded when the threads have taken
/// a third of the documents, then loaded and unloaded again and again. The last third of the documents waits until it is
/// gone, so that there are lines before and after. Threads that wait ask about another line meanwhile.
static void filter(host *host, plugin *leaving, const char *directory, size_t expected_lines) {
  host->next = host->lines = host->kept = host->votes = 0;
  host->held = host->document_count * 2 / 3;
  host->may_end = leaving == NULL;
  pthread_t threads[THREAD_COUNT];
  for (size_t index = 0; index < THREAD_COUNT; index++) {
    check(pthread_create(&threads[index], NULL, filter_documents, host) == 0, "a thread");
  }
  if (leaving) {
    while (atomic_load(&host->next) < host->document_count / 3) sched_yield();
    unload(leaving);
    for (int round = 0; round < RELOAD_COUNT; round++) {
      fwd_error error;
      check(load(leaving, host->proxy, directory, leaving->name, &error), "%s", error.message);
      unload(leaving);
    }
    host->may_end = true;
  }
  for (size_t index = 0; index < THREAD_COUNT; index++) pthread_join(threads[index], NULL);
  check(host->lines == expected_lines, "%zu of %zu lines", host->lines, expected_lines);
}

/// Filters one line.
static void *filter_one(void *context) {
  filter_line(context, "a line", 6);
  return NULL;
}

/// Unloads a plug-in while it is called. Its code must stay until the call has returned.
static void unload_during_a_call(host *host, plugin *slow) {
  size_t kept = atomic_load(&host->kept);
  pthread_t thread;
  check(pthread_create(&thread, NULL, filter_one, host) == 0, "a thread");
  while (atomic_load(&host->kept) == kept) sched_yield();
  // Long enough for the thread to reach the plug-in, which takes 50 milliseconds.
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  unload(slow);
  pthread_join(thread, NULL);
}

// MARK: Expectations

/// What plug-ins say, counted without them.
typedef struct expectation {
  size_t lines, short_lines;
} expectation;

static void expect_line(void *context, const char *text, size_t length) {
  expectation *expected = context;
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  expected->lines++;
  if (length <= 80) expected->short_lines++;
}

/// Adds up what the plug-ins say about their lines.
static bool add_count(void *context, fwd_subscription subscription, const void *result) {
  (void)subscription;
  size_t count;
  memcpy(&count, result, sizeof count);
  *(size_t *)context += count;
  return true;
}

static size_t counted_lines(host *host) {
  size_t sum = 0;
  check(fwd_collect(host->proxy, host->line_count, NULL, 0, add_count, &sum) == FWD_OK, "%s", fwd_error_message());
  return sum;
}

static void on_error(void *context, fwd_selector selector, const fwd_error *error) {
  host *host = context;
  check(selector == host->keeps, "an error of %s: %s", fwd_selector_name(selector), error->message);
  check(error->status == FWD_DELIVERY_FAILED && strstr(error->message, "not UTF-8"), "the error is: %s", error->message);
  atomic_fetch_add(&host->errors, 1);
}

static fwd_proxy *make_proxy(host *host) {
  static const fwd_requirement requirements[] = {
      {PLUGIN_KEEPS, PLUGIN_KEEPS_TYPES, false},
      {PLUGIN_LINE, PLUGIN_LINE_TYPES, false},
      {PLUGIN_LINE_COUNT, PLUGIN_LINE_COUNT_TYPES, false},
  };
  // A plug-in that cannot judge a line has refused it.
  static const bool refused = false;
  const fwd_method_options keeps = {
      .selector = PLUGIN_KEEPS, .failure_result = &refused, .failure_result_size = sizeof refused};
  fwd_proxy_options options = FWD_PROXY_OPTIONS_INIT;
  options.methods = &keeps;
  options.method_count = 1;
  options.on_error = on_error;
  options.on_error_context = host;
  const fwd_protocol *protocol;
  fwd_proxy *proxy;
  fwd_error error;
  check(fwd_protocol_register("LineFilter", requirements, 3, &protocol, &error) == FWD_OK, "%s", error.message);
  check(fwd_proxy_create(&protocol, 1, &options, &proxy, &error) == FWD_OK, "%s", error.message);
  return proxy;
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) {
    fprintf(stderr, "usage: plugin-host PLUGIN_DIRECTORY FILE...\n");
    return 2;
  }
  const char *directory = arguments[1];
  host host = {.document_count = (size_t)argument_count - 2};
  host.proxy = make_proxy(&host);
  host.keeps = fwd_selector_register(PLUGIN_KEEPS);
  host.line = fwd_selector_register(PLUGIN_LINE);
  host.line_count = fwd_selector_register(PLUGIN_LINE_COUNT);
  document *documents = calloc(host.document_count, sizeof *documents);
  check(documents != NULL, "no memory");
  expectation expected = {0, 0};
  for (size_t index = 0; index < host.document_count; index++) {
    documents[index] = read_document(arguments[index + 2]);
    each_line(&documents[index], expect_line, &expected);
  }
  host.documents = documents;

  // A plug-in whose functions have other types than the host's methods does not start.
  plugin trim, limit, statistics, outdated;
  fwd_error error = {0};
  check(!load(&outdated, host.proxy, directory, "outdated", &error), "the outdated plug-in is loaded");
  check(error.status == FWD_SIGNATURE_MISMATCH, "the outdated plug-in is refused by: %s", error.message);
  printf("outdated is refused: %s\n", error.message);

  check(load(&trim, host.proxy, directory, "trim", &error), "%s", error.message);
  check(load(&limit, host.proxy, directory, "limit", &error), "%s", error.message);
  check(load(&statistics, host.proxy, directory, "statistics", &error), "%s", error.message);
  check(fwd_proxy_subscriber_count(host.proxy) == 2, "the subscribers");

  filter(&host, NULL, directory, expected.lines);
  check(host.kept == expected.short_lines, "%zu of %zu lines are kept", host.kept, expected.short_lines);
  check(host.votes == expected.lines, "%zu votes", host.votes);
  check(counted_lines(&host) == 2 * host.kept, "two plug-ins count %zu lines", counted_lines(&host));
  printf("%zu lines on %d threads, %zu kept by 3 plug-ins\n", host.lines, THREAD_COUNT, host.kept);

  // A line that is not UTF-8 cannot be judged. It is dropped, and the error is told. The last line is short without the
  // white space at its end.
  static char broken[] =
      "good\nbad \xff\nlong line ................................................................................\n"
      "short                                                                                             ";
  const document odd = {broken, sizeof broken - 1};
  each_line(&odd, filter_line, &host);
  check(host.errors == 1, "%zu errors", host.errors);
  check(host.kept == expected.short_lines + 2, "%zu lines are kept with the odd ones", host.kept);

  // While all threads filter, a plug-in leaves, comes back and leaves. The rest of the lines are kept, however long they are.
  filter(&host, &limit, directory, expected.lines);
  check(host.kept >= expected.short_lines && host.kept <= expected.lines, "%zu lines are kept", host.kept);
  check(host.votes < expected.lines, "%zu votes", host.votes);
  check(host.errors == 1, "%zu errors", host.errors);
  printf("limit judges %zu of %zu lines, and is unloaded %d times meanwhile; %zu kept\n", host.votes, host.lines,
         RELOAD_COUNT + 1, host.kept);

  size_t before = counted_lines(&host);
  filter(&host, NULL, directory, expected.lines);
  check(host.kept == expected.lines && host.votes == 0, "%zu lines are kept without the plug-in", host.kept);
  check(counted_lines(&host) == before + expected.lines, "the lines of the plug-in that counts");

  plugin slow;
  check(load(&slow, host.proxy, directory, "slow", &error), "%s", error.message);
  unload_during_a_call(&host, &slow);
  printf("slow is unloaded while it is called\n");

  unload(&trim);
  unload(&statistics);
  check(fwd_proxy_subscriber_count(host.proxy) == 0, "a plug-in is left");
  fwd_proxy_release(host.proxy);
  for (size_t index = 0; index < host.document_count; index++) free(documents[index].text);
  free(documents);
  printf("%zu checks passed\n", check_count);
  return 0;
}
