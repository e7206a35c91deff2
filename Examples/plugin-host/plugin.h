// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the host and its plug-ins share.
///
/// The host filters text line by line. It has one proxy with three methods, and plug-ins subscribe to it:
///
/// - `keeps:length:` asks whether a line is kept. One "no" is enough, and all plug-ins are asked.
/// - `line:length:number:` tells of a line that is kept.
/// - `lineCount` asks how many lines a plug-in has been told of.
///
/// A plug-in is a shared object with a function `plugin_start`. It may be unloaded while threads of the host forward.

#ifndef PLUGIN_H
#define PLUGIN_H

#include <forwarding.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// bool (plugin_instance *, const char *text, size_t length)
#define PLUGIN_KEEPS "keeps:length:"
#define PLUGIN_KEEPS_TYPES "B^v^cQ"
/// void (plugin_instance *, const char *text, size_t length, size_t number)
#define PLUGIN_LINE "line:length:number:"
#define PLUGIN_LINE_TYPES "v^v^cQQ"
/// size_t (plugin_instance *)
#define PLUGIN_LINE_COUNT "lineCount"
#define PLUGIN_LINE_COUNT_TYPES "Q^v"

_Static_assert(sizeof(size_t) == 8, "Q is a size_t");

/// A loaded plug-in. It belongs to the host and is the context of all of the plug-in's functions.
typedef struct plugin_instance {
  /// The host's proxy.
  fwd_proxy *proxy;
  /// For the plug-in's own use. NULL at the beginning.
  void *state;
  /// Tells the host that a subscription or an interception has ended: the notifier for each of the plug-in's. It is
  /// the host's code, since the plug-in's may be gone when it returns.
  void (*ended)(void *instance);
  /// What the plug-in has begun. The host ends it.
  fwd_subscription subscription;
  fwd_interception interception;
} plugin_instance;

/// Begins the plug-in. Sets the members `subscription` and `interception` of the instance, or one of them.
fwd_status plugin_start(plugin_instance *instance, fwd_error *error);

/// Frees the plug-in's state. The host calls it before it unloads the plug-in, when no other of its functions runs.
/// Optional.
void plugin_stop(plugin_instance *instance);

#endif
