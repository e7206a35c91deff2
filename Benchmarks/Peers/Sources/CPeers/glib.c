// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// GLib's signals.

#include "CPeers.h"

#if __has_include(<glib-object.h>)

#include <glib-object.h>

struct peer_signal {
  GObject *emitter;
  guint id;
};

// MARK: Marshallers

// The same as glib-genmarshal generates for VOID:INT64,DOUBLE.
static void marshal(GClosure *closure, GValue *result, guint count, const GValue *values, gpointer hint,
                    gpointer marshal_data) {
  typedef void (*function)(gpointer first, gint64 second, gdouble third, gpointer last);
  GCClosure *c_closure = (GCClosure *)closure;
  gpointer first, last;
  (void)result, (void)count, (void)hint;
  if (G_CCLOSURE_SWAP_DATA(closure)) {
    first = closure->data;
    last = g_value_peek_pointer(values);
  } else {
    first = g_value_peek_pointer(values);
    last = closure->data;
  }
  function callback = (function)(marshal_data ? marshal_data : c_closure->callback);
  callback(first, g_value_get_int64(values + 1), g_value_get_double(values + 2), last);
}

static void va_marshal(GClosure *closure, GValue *result, gpointer instance, va_list arguments,
                       gpointer marshal_data, int count, GType *types) {
  typedef void (*function)(gpointer first, gint64 second, gdouble third, gpointer last);
  GCClosure *c_closure = (GCClosure *)closure;
  va_list own;
  (void)result, (void)count, (void)types;
  G_VA_COPY(own, arguments);
  gint64 second = va_arg(own, gint64);
  gdouble third = va_arg(own, gdouble);
  va_end(own);
  gboolean swaps = G_CCLOSURE_SWAP_DATA(closure);
  function callback = (function)(marshal_data ? marshal_data : c_closure->callback);
  callback(swaps ? closure->data : instance, second, third, swaps ? instance : closure->data);
}

// MARK: Signals

static guint signal_of(gboolean is_generated) {
  static guint generic, generated;
  guint *id = is_generated ? &generated : &generic;
  if (*id != 0) return *id;
  *id = g_signal_new(is_generated ? "bench-generated" : "bench-generic", G_TYPE_OBJECT, G_SIGNAL_RUN_LAST, 0, NULL,
                     NULL, is_generated ? marshal : NULL, G_TYPE_NONE, 2, G_TYPE_INT64, G_TYPE_DOUBLE);
  if (is_generated && *id != 0) g_signal_set_va_marshaller(*id, G_TYPE_OBJECT, va_marshal);
  return *id;
}

static peer_signal *connect_by(gboolean is_generated, const bench_slot *slots, size_t count) {
  peer_signal *signal = g_new(peer_signal, 1);
  *signal = (peer_signal){.emitter = g_object_new(G_TYPE_OBJECT, NULL), .id = signal_of(is_generated)};
  const char *name = g_signal_name(signal->id);
  for (size_t i = 0; i < count; i++) {
    // G_CONNECT_SWAPPED passes the receiver first and the emitter last, as an argument that the function does not have.
    g_signal_connect_data(signal->emitter, name, (GCallback)slots[i].function, slots[i].receiver, NULL,
                          G_CONNECT_SWAPPED);
  }
  return signal;
}

static peer_signal *connect_generic(const bench_slot *slots, size_t count) { return connect_by(FALSE, slots, count); }
static peer_signal *connect_generated(const bench_slot *slots, size_t count) { return connect_by(TRUE, slots, count); }

static void emit(peer_signal *signal, size_t iterations) {
  for (size_t i = 0; i < iterations; i++) {
    g_signal_emit(signal->emitter, signal->id, 0, bench_the_message.count, bench_the_message.scale);
  }
}

static const peer_library generic = {.connect = connect_generic, .emit = emit};
static const peer_library generated = {.connect = connect_generated, .emit = emit};

const peer_library *peer_glib_generic(void) { return &generic; }
const peer_library *peer_glib_generated(void) { return &generated; }

#else

const peer_library *peer_glib_generic(void) { return NULL; }
const peer_library *peer_glib_generated(void) { return NULL; }

#endif
