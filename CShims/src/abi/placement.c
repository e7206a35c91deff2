// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "abi/placement.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void fwd_placer_add_register(fwd_placer *placer, fwd_carrier carrier, fwd_part part) {
  part.carrier = (uint8_t)carrier;
  if (carrier == FWD_IN_INTEGER_REGISTER) {
    part.index = placer->next_integer++;
    placer->placement.integer_count = (uint8_t)placer->next_integer;
  } else {
    part.index = placer->next_vector++;
    placer->placement.vector_count = (uint8_t)placer->next_vector;
  }
  placer->parts[placer->placement.part_count++] = part;
}

uint32_t fwd_placer_take_stack(fwd_placer *placer, size_t size, size_t alignment) {
  uint32_t end = placer->placement.stack_size;
  uint32_t offset = alignment > 8 ? (end + 15) & ~15u : end;
  placer->placement.stack_size = offset + (((uint32_t)size + 7) & ~7u);
  return offset;
}

fwd_status fwd_placer_finish(const fwd_placer *placer, fwd_placement **placement, fwd_error *error) {
  size_t parts_size = placer->placement.part_count * sizeof placer->parts[0];
  _Static_assert(sizeof(fwd_placement) % _Alignof(fwd_part) == 0, "parts stand behind the placement");
  fwd_placement *made = malloc(sizeof *made + parts_size);
  if (!made) return fwd_fail(error, FWD_NO_MEMORY, 0, "no memory for a call interface");
  *made = placer->placement;
  made->parts = memcpy(made + 1, placer->parts, parts_size);
  *placement = made;
  return FWD_OK;
}
