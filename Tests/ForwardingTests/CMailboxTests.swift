// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Testing

/// Mailboxes in a C program: Tests/Support/CTestFixtures/mailbox_checks.c, which prints the checks that
/// fail.
@Suite(.serialized) struct CMailboxTests {
  @Test func `a loop with an eventfd delivers what three threads forward`() {
    #expect(mailbox_check_loop() == 0)
  }

  @Test func `arguments and options that are wrong are refused`() {
    #expect(mailbox_check_arguments() == 0)
  }

  @Test func `mailboxes, proxies and subscriptions end in any order`() {
    #expect(mailbox_check_lifetimes() == 0)
  }

  @Test func `drains nest, stop at limits and come from any thread`() {
    #expect(mailbox_check_draining() == 0)
  }

  @Test func `limits drop messages or make threads wait`() {
    #expect(mailbox_check_limits() == 0)
  }

  @Test func `messages carry what stays valid, and failures are reported`() {
    #expect(mailbox_check_carriage() == 0)
  }

  @Test func `a forked child has the messages too`() async {
    await #expect(processExitsWith: .success) {
      #expect(mailbox_check_fork() == 0)
    }
  }
}
