// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the columns of the table need from sequences.c.

#ifndef COLUMNS_H
#define COLUMNS_H

#include "scene.h"

/// Fills a scene of zeros and makes its proxy.
bool scene_open(scene *self, const call *row, situation when);

/// Subscribes the actor and the sibling.
void scene_join(scene *self, bool is_actor_first);

/// Makes the call under test, once in a scene: a call that forwards comes here again.
void scene_act(scene *self);

/// Prepares the exit handlers. Returns the number of failures.
int scene_prepare_threads(void);

/// Runs a row in all situations before `end`, which need one thread at a time. Returns the number of failures.
int sequences_run_row(const call *row, situation end);

#endif
