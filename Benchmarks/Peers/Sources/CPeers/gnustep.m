// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// GNUstep's `NSProxy` and `NSInvocation`: a proxy without methods forwards each message to all targets.

#include "CPeers.h"

// Package.swift defines it if scripts/bench has found GNUstep.
#if defined(FWD_BENCH_GNUSTEP)

#import <Foundation/Foundation.h>

/// An Objective-C object that calls a slot. Objective-C's references would be zeroing only with another runtime, so the
/// targets are held strongly.
@interface PeerTarget : NSObject {
 @public
  void (*function)(void *receiver, int64_t count, double scale);
  void *receiver;
}
- (void)notifyCount:(int64_t)count scale:(double)scale;
@end

@implementation PeerTarget
- (void)notifyCount:(int64_t)count scale:(double)scale {
  function(receiver, count, scale);
}
@end

@interface PeerForwarder : NSProxy {
 @public
  PeerTarget **targets;
  size_t count;
}
@end

@implementation PeerForwarder
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector {
  return [targets[0] methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation *)invocation {
  for (size_t i = 0; i < count; i++) [invocation invokeWithTarget:targets[i]];
}
@end

struct peer_signal {
  PeerForwarder *forwarder;
};

static peer_signal *connect_slots(const bench_slot *slots, size_t count) {
  peer_signal *signal = malloc(sizeof *signal);
  PeerTarget **targets = calloc(count, sizeof *targets);
  if (!signal || !targets) return NULL;
  signal->forwarder = [PeerForwarder alloc];
  signal->forwarder->targets = targets;
  signal->forwarder->count = count;
  for (size_t i = 0; i < count; i++) {
    targets[i] = [PeerTarget new];
    targets[i]->function = (void (*)(void *, int64_t, double))slots[i].function;
    targets[i]->receiver = slots[i].receiver;
  }
  return signal;
}

static void emit(peer_signal *signal, size_t iterations) {
  for (size_t i = 0; i < iterations; i++) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    [(PeerTarget *)signal->forwarder notifyCount:bench_the_message.count scale:bench_the_message.scale];
    [pool release];
  }
}

static const peer_library library = {.connect = connect_slots, .emit = emit};

const peer_library *peer_gnustep(void) { return &library; }

#else

const peer_library *peer_gnustep(void) { return NULL; }

#endif
