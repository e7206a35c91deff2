// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "raw_nats.h"

#include <nats/nats.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// A context is never destroyed: version 3.4.1 uses it after that, while messages arrive.
static natsStatus open_context(const char *url, natsConnection **connection, jsCtx **context) {
  natsStatus status = natsConnection_ConnectTo(connection, url);
  if (status == NATS_OK) status = natsConnection_JetStream(context, *connection, NULL);
  return status;
}

bool raw_nats_make_stream(const char *url, const char *name) {
  natsConnection *connection = NULL;
  jsCtx *context = NULL;
  natsStatus status = open_context(url, &connection, &context);
  jsStreamConfig configuration;
  if (status == NATS_OK) status = jsStreamConfig_Init(&configuration);
  if (status == NATS_OK) {
    configuration.Name = name;
    configuration.Subjects = &name;
    configuration.SubjectsLen = 1;
    status = js_AddStream(NULL, context, &configuration, NULL, NULL);
  }
  natsConnection_Close(connection);
  return status == NATS_OK;
}

double raw_nats_publish(const char *url, const char *name, size_t size, int count) {
  natsConnection *connection = NULL;
  jsCtx *context = NULL;
  char *payload = malloc(size);
  if (!payload) return -1;
  memset(payload, 'x', size);
  natsStatus status = open_context(url, &connection, &context);
  double start = now();
  for (int i = 0; status == NATS_OK && i < count; i++) {
    char identifier[24];
    jsPubOptions options;
    status = jsPubOptions_Init(&options);
    if (status != NATS_OK) break;
    snprintf(identifier, sizeof identifier, "%d", i);
    options.MsgId = identifier;
    status = js_PublishAsync(context, name, payload, (int)size, &options);
  }
  if (status == NATS_OK) {
    jsPubOptions options;
    status = jsPubOptions_Init(&options);
    options.MaxWait = 60000;
    if (status == NATS_OK) status = js_PublishAsyncComplete(context, &options);
  }
  double end = now();
  natsConnection_Close(connection);
  free(payload);
  return status == NATS_OK ? end - start : -1;
}

static void count_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                          void *context) {
  (void)connection, (void)subscription;
  atomic_fetch_add_explicit((atomic_int *)context, 1, memory_order_relaxed);
  natsMsg_Destroy(message);
}

double raw_nats_consume(const char *url, const char *subject, int count) {
  natsConnection *connection = NULL;
  jsCtx *context = NULL;
  natsSubscription *subscription = NULL;
  // Static, since the client may still call back after the end.
  static atomic_int received;
  atomic_store(&received, 0);
  natsStatus status = open_context(url, &connection, &context);
  jsSubOptions options;
  if (status == NATS_OK) status = jsSubOptions_Init(&options);
  double start = now();
  if (status == NATS_OK) {
    options.Config.AckPolicy = js_AckNone;
    options.Config.DeliverPolicy = js_DeliverAll;
    options.Config.FlowControl = true;
    options.Config.Heartbeat = (int64_t)1000 * 1000 * 1000;
    status = js_Subscribe(&subscription, context, subject, count_message, &received, NULL, &options, NULL);
  }
  if (status == NATS_OK) status = natsSubscription_SetPendingLimits(subscription, -1, -1);
  while (status == NATS_OK && atomic_load(&received) < count && now() - start < 60e9) {
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  }
  double end = now();
  if (subscription) natsSubscription_Unsubscribe(subscription);
  natsConnection_Close(connection);
  return status == NATS_OK && atomic_load(&received) >= count ? end - start : -1;
}
