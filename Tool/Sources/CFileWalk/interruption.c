// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#define _GNU_SOURCE

#include "interruption.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t requested;

static void note(int signal) {
  (void)signal;
  requested = 1;
}

void interruption_begin(void) {
  struct sigaction previous, action;
  // A shell's background jobs are started with SIGINT ignored, and stay so.
  if (sigaction(SIGINT, NULL, &previous) == 0 && previous.sa_handler == SIG_IGN) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);

  // Who starts a process from a thread that blocks signals, as thread pools do,
  // passes that on.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
}

bool interruption_requested(void) { return requested != 0; }
