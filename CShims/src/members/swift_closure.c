// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "members/swift_closure.h"

FWD_KEEPS_REGISTERS bool fwd_object_inherits(const void *object, const void *class) {
  return swift_dynamicCastClass(object, class) != NULL;
}
