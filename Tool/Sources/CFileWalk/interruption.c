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
  // A shell starts background jobs with SIGINT ignored. It stays ignored.
  if (sigaction(SIGINT, NULL, &previous) == 0 && previous.sa_handler == SIG_IGN) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | (int)SA_RESETHAND;
  sigaction(SIGINT, &action, NULL);

  // A process inherits the blocked signals of the thread that started it, and
  // thread pools block signals.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
}

bool interruption_requested(void) { return requested != 0; }
