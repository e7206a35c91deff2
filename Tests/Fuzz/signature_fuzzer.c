// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Makes a method signature of any bytes. One that is made has a consistent frame, and then calls a closure of
/// itself by each means there is: every byte that carries value must arrive in both directions.

#include "abi/plan.h"
#include "call/signature.h"
#include "fuzz.h"
#include "fwd_plan.h"
#include "fwd_signature.h"

/// Calls of more bytes than this are left out: Tests/Robustness makes them, and here they would only be slow.
enum { round_trip_limit = 8192 };

// The lowering for other architectures is made but not called: libffi is known to be wrong on this one where
// sysv/lowering.c is not used.
#ifdef FWD_GENERIC_LOWERING
enum { makes_calls = false };
#else
enum { makes_calls = true };
#endif

/// Bytes in front of and behind a result that nobody may write.
enum { guard_size = 16, guard_byte = 0xc5 };

// MARK: Values

/// The bytes of a type that carry value, the rest being padding: 1 each in `mask`.
static void mark_value(const fwd_encoding *encoding, uint32_t index, unsigned char *mask) {
  const fwd_type *type = fwd_encoding_type(encoding, index);
  if (type->layout.size == 0) return;
  switch (type->kind) {
    case FWD_TYPE_STRUCT:
    case FWD_TYPE_UNION:
      for (uint32_t at = type->first_child; at != FWD_NO_TYPE;) {
        const fwd_type *field = fwd_encoding_type(encoding, at);
        mark_value(encoding, at, mask + field->layout.offset);
        at = field->next_sibling;
      }
      break;
    case FWD_TYPE_ARRAY: {
      size_t stride = fwd_encoding_type(encoding, type->first_child)->layout.size;
      mark_value(encoding, type->first_child, mask);
      // The others are marked as the first is: by copies, so that time does not multiply with depth.
      for (size_t start = stride; start < type->layout.size; start += stride) memcpy(mask + start, mask, stride);
      break;
    }
    case FWD_TYPE_COMPLEX: {
      size_t half = type->layout.size / 2;
      mark_value(encoding, type->first_child, mask);
      mark_value(encoding, type->first_child, mask + half);
      break;
    }
    case FWD_TYPE_LONG_DOUBLE:
      // x87's 10 bytes; the other 6 are padding. Where a long double is all value, the rest is not checked.
      memset(mask, 1, type->layout.size < 10 ? type->layout.size : 10);
      break;
    default:
      memset(mask, 1, type->layout.size);
  }
}

typedef struct value {
  fwd_layout layout;
  /// `layout.size` bytes each.
  unsigned char *bytes;
  unsigned char *mask;
} value;

static uint64_t random_state;

static unsigned char random_byte(void) {
  // xorshift64: the same for the same input.
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned char)(random_state >> 32);
}

static value make_value(const fwd_encoding *encoding, uint32_t index, fwd_layout layout) {
  value made = {layout, allocate(layout.size), allocate(layout.size)};
  memset(made.mask, 0, layout.size);
  mark_value(encoding, index, made.mask);
  for (size_t i = 0; i < layout.size; i++) made.bytes[i] = random_byte();
  return made;
}

static void free_value(value made) {
  free(made.bytes);
  free(made.mask);
}

static void require_arrived(const value *sent, const unsigned char *bytes) {
  for (size_t i = 0; i < sent->layout.size; i++) REQUIRE(!sent->mask[i] || sent->bytes[i] == bytes[i]);
}

// MARK: The call

typedef struct round_trip {
  size_t count;
  value arguments[FWD_ARGUMENT_LIMIT];
  value result;
  size_t calls;
} round_trip;

static void receive(void *context, void *const *arguments, void *result) {
  round_trip *trip = context;
  trip->calls++;
  for (size_t i = 0; i < trip->count; i++) {
    REQUIRE(arguments[i] && (uintptr_t)arguments[i] % trip->arguments[i].layout.alignment == 0);
    require_arrived(&trip->arguments[i], arguments[i]);
  }
  const unsigned char *bytes = result;
  REQUIRE(result && (uintptr_t)result % trip->result.layout.alignment == 0);
  for (size_t i = 0; i < trip->result.layout.size; i++) REQUIRE(bytes[i] == 0);
  memcpy(result, trip->result.bytes, trip->result.layout.size);
}

static void check_result(const round_trip *trip, const unsigned char *guarded) {
  size_t size = trip->result.layout.size;
  for (size_t i = 0; i < guard_size; i++) {
    REQUIRE(guarded[i] == guard_byte && guarded[guard_size + size + i] == guard_byte);
  }
  require_arrived(&trip->result, guarded + guard_size);
}

#if FWD_PLACES_SYSV
static void check_move(const fwd_move *move, const round_trip *trip) {
  REQUIRE(move->argument < trip->count);
  REQUIRE(move->size > 0 && move->offset + move->size <= trip->arguments[move->argument].layout.size);
  REQUIRE(move->high == (move->size == 8 ? 4 : 0));
}
#endif

/// Checks that a plan's moves stay in the arguments and in the stack words.
static void check_plan(const fwd_signature *signature, const round_trip *trip) {
#if FWD_PLACES_SYSV
  const fwd_call_plan *plan = fwd_cif_plan(fwd_signature_cif(signature));
  if (!plan) return;
  REQUIRE(plan->checked && plan->unchecked);
  REQUIRE(plan->integer_count <= FWD_INTEGER_REGISTERS && plan->vector_count <= FWD_VECTOR_REGISTERS);
  REQUIRE(plan->stack_move_count <= trip->count && plan->result_size == trip->result.layout.size);
  // A result in memory takes the first register, which has no move.
  for (size_t i = plan->result == FWD_RESULT_MEMORY; i < plan->integer_count; i++) {
    check_move(&plan->integers[i], trip);
  }
  for (size_t i = 0; i < plan->vector_count; i++) check_move(&plan->vectors[i], trip);
  for (size_t i = 0; i < plan->stack_move_count; i++) {
    const fwd_stack_move *move = &plan->stack[i];
    REQUIRE(move->argument < trip->count && move->offset % 8 == 0);
    REQUIRE(move->size == trip->arguments[move->argument].layout.size);
    REQUIRE(move->offset + move->size <= plan->stack_size);
  }
#else
  (void)signature, (void)trip;
#endif
}

/// What the plan is said to do: moves of bytes that are there, and no more of them than there is room for.
static void check_description(const fwd_signature *signature, const round_trip *trip) {
  enum { room = 4 };
  fwd_plan_move moves[room + 1], places[FWD_PLAN_RESULT_PLACES];
  memset(moves, 0x5a, sizeof moves);
  fwd_plan_move untouched = moves[room];
  size_t count = fwd_plan_moves(signature, moves, room);
  REQUIRE(memcmp(&moves[room], &untouched, sizeof untouched) == 0);
  REQUIRE(fwd_plan_moves(signature, NULL, 0) == count && (count == 0 || fwd_plan_exists(signature)));
  fwd_plan_move *all = allocate(count * sizeof *all);
  REQUIRE(fwd_plan_moves(signature, all, count) == count);
  for (size_t i = 0; i < count; i++) {
    if (i < room) REQUIRE(all[i].argument == moves[i].argument && all[i].offset == moves[i].offset);
    REQUIRE(*fwd_plan_register_name(all[i].kind, all[i].index, false));
    if (all[i].argument == FWD_PLAN_RESULT_ADDRESS) continue;
    REQUIRE(all[i].argument < trip->count);
    REQUIRE(all[i].size > 0 && all[i].offset + all[i].size <= trip->arguments[all[i].argument].layout.size);
    if (all[i].kind == FWD_PLACE_STACK && !all[i].is_address)
      REQUIRE(all[i].index + all[i].size <= fwd_plan_stack_size(signature));
  }
  free(all);
  count = fwd_plan_result_places(signature, places);
  REQUIRE(count <= FWD_PLAN_RESULT_PLACES);
  for (size_t i = 0; i < count; i++) {
    REQUIRE(*fwd_plan_register_name(places[i].kind, places[i].index, true));
    REQUIRE(places[i].offset + places[i].size <= trip->result.layout.size);
  }
}

static void check_calls(const fwd_signature *signature) {
  const fwd_encoding *encoding = fwd_signature_encoding(signature);
  fwd_layout layout;
  round_trip trip = {.count = fwd_signature_argument_count(signature)};
  REQUIRE(fwd_signature_result(signature, &layout) == FWD_OK);
  size_t total = layout.size;
  for (size_t i = 0; i < trip.count; i++) {
    fwd_layout argument;
    REQUIRE(fwd_signature_argument(signature, i, &argument) == FWD_OK);
    total += argument.size;
  }
  if (total > round_trip_limit) return;
  // A variadic function has no closure: it could not know which arguments its callers pass.
  if (fwd_encoding_is_variadic(encoding)) {
    fwd_closure *closure = NULL;
    fwd_error error = untouched_error();
    REQUIRE(fwd_closure_create(signature, receive, &trip, &closure, &error) == FWD_UNSUPPORTED && !closure);
    return;
  }

  random_state = fwd_signature_hash(signature) | 1;
  trip.result = make_value(encoding, fwd_signature_result_type(signature), layout);
  unsigned char *guarded = allocate(layout.size + 2 * guard_size);
  void *arguments[FWD_ARGUMENT_LIMIT + 1] = {NULL};
  for (size_t i = 0; i < trip.count; i++) {
    fwd_signature_argument(signature, i, &layout);
    trip.arguments[i] = make_value(encoding, fwd_signature_argument_type(signature, i), layout);
    // No address is needed where there are no bytes.
    arguments[i] = layout.size > 0 ? trip.arguments[i].bytes : NULL;
  }

  void *before[FWD_ARGUMENT_LIMIT + 1];
  memcpy(before, arguments, sizeof before);
  // Closures of both kinds, each called in both ways.
  for (int way = 0; way < 4; way++) {
    fwd_use_libffi(way / 2);
    fwd_closure *closure = NULL;
    fwd_error error = untouched_error();
    REQUIRE(fwd_closure_create(signature, receive, &trip, &closure, &error) == FWD_OK);
    require_untouched(&error);
    void (*function)(void) = fwd_closure_function(closure);
    fwd_use_libffi(way % 2);
    trip.calls = 0;
    memset(guarded, guard_byte, trip.result.layout.size + 2 * guard_size);
    REQUIRE(fwd_call(signature, function, arguments, guarded + guard_size) == FWD_OK);
    check_result(&trip, guarded);
    REQUIRE(fwd_call(signature, function, arguments, NULL) == FWD_OK);
    REQUIRE(trip.calls == 2);
    REQUIRE(memcmp(before, arguments, sizeof before) == 0);
    fwd_closure_destroy(closure);
  }
  fwd_use_libffi(false);
  check_plan(signature, &trip);
  check_description(signature, &trip);

  for (size_t i = 0; i < trip.count; i++) free_value(trip.arguments[i]);
  free_value(trip.result);
  free(guarded);
}

// MARK: The signature

/// The frame is a C struct of the arguments behind the hidden ones.
static void check_frame(const fwd_signature *signature) {
  size_t count = fwd_signature_argument_count(signature), hidden = fwd_signature_hidden_count(signature);
  REQUIRE(count <= FWD_ARGUMENT_LIMIT && hidden <= count && hidden <= 2);
  REQUIRE((fwd_signature_hidden_count(signature) > 0) == (hidden > 0));
  REQUIRE((fwd_signature_hidden_count(signature) > 1) == (hidden > 1));
  size_t end = 0, alignment = 1, total = 0;
  for (size_t i = 0; i < count; i++) {
    fwd_layout layout;
    REQUIRE(fwd_signature_argument(signature, i, &layout) == FWD_OK);
    REQUIRE(layout.alignment > 0 && layout.alignment <= _Alignof(max_align_t));
    total += layout.size;
    if (i < hidden) {
      REQUIRE(layout.offset == FWD_NO_OFFSET && layout.size == sizeof(void *));
      continue;
    }
    REQUIRE(layout.offset >= end && layout.offset - end < layout.alignment);
    REQUIRE(layout.offset % layout.alignment == 0);
    end = layout.offset + layout.size;
    if (layout.alignment > alignment) alignment = layout.alignment;
  }
  REQUIRE(total <= FWD_BY_VALUE_LIMIT);
  REQUIRE(fwd_signature_frame_alignment(signature) == alignment);
  size_t size = fwd_signature_frame_size(signature);
  REQUIRE(size >= end && size - end < alignment && size % alignment == 0);
}

static void check_out_of_range(const fwd_signature *signature) {
  size_t count = fwd_signature_argument_count(signature);
  const size_t indices[] = {count, count + 1, FWD_ARGUMENT_LIMIT, SIZE_MAX};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    if (indices[i] < count) continue;
    fwd_layout layout = {11, 22, 33};
    REQUIRE(fwd_signature_argument(signature, indices[i], &layout) == FWD_OUT_OF_RANGE);
    REQUIRE(layout.size == 11 && layout.alignment == 22 && layout.offset == 33);
    REQUIRE(fwd_signature_argument_type(signature, indices[i]) == FWD_NO_TYPE);
  }
}

/// The arguments behind the hidden ones, as a signature of their own, are the same arguments.
static void check_dropped(const fwd_signature *signature) {
  fwd_signature *dropped = NULL;
  fwd_error error = untouched_error();
  fwd_status status = fwd_signature_replace_hidden(signature, SIZE_MAX, &dropped, &error);
  if (status != FWD_OK) {
    // The hidden arguments may have been the only ones that stood before "...".
    const fwd_encoding *encoding = fwd_signature_encoding(signature);
    REQUIRE(fwd_encoding_is_variadic(encoding));
    REQUIRE(fwd_encoding_named_count(encoding) == fwd_signature_hidden_count(signature));
    REQUIRE(status == FWD_UNSUPPORTED && error.status == status && strstr(error.message, "expected a named argument"));
    return;
  }
  require_untouched(&error);
  size_t hidden = fwd_signature_hidden_count(signature), count = fwd_signature_argument_count(dropped);
  REQUIRE(count == fwd_signature_argument_count(signature) - hidden);
  const fwd_encoding *left = fwd_signature_encoding(signature), *right = fwd_signature_encoding(dropped);
  REQUIRE(fwd_encoding_equal(left, fwd_signature_result_type(signature), right, fwd_signature_result_type(dropped)));
  for (size_t i = 0; i < count; i++) {
    fwd_layout whole, part;
    REQUIRE(fwd_signature_argument(signature, i + hidden, &whole) == FWD_OK);
    REQUIRE(fwd_signature_argument(dropped, i, &part) == FWD_OK);
    REQUIRE(whole.size == part.size && whole.alignment == part.alignment);
    REQUIRE(fwd_encoding_equal(left, fwd_signature_argument_type(signature, i + hidden), right,
                               fwd_signature_argument_type(dropped, i)));
  }
  check_frame(dropped);
  fwd_signature_release(dropped);
}

static void check_relations(fwd_signature *signature) {
  // The one before: pairs that no single input has.
  static fwd_signature *previous;
  REQUIRE(fwd_signature_equal(signature, signature) && fwd_signature_compatible(signature, signature));
  if (previous) {
    bool equal = fwd_signature_equal(signature, previous);
    bool compatible = fwd_signature_compatible(signature, previous);
    REQUIRE(equal == fwd_signature_equal(previous, signature));
    REQUIRE(compatible == fwd_signature_compatible(previous, signature));
    bool equivalent = fwd_signature_equivalent(signature, previous);
    REQUIRE(equivalent == fwd_signature_equivalent(previous, signature));
    REQUIRE(!equal || (equivalent && fwd_signature_hash(signature) == fwd_signature_hash(previous)));
    REQUIRE(!equivalent || compatible);
  }
  fwd_signature_release(previous);
  previous = fwd_signature_retain(signature);
}

/// A refusal says the same as the parser, or is about what C cannot pass.
static void check_refusal(const char *text, size_t size, fwd_status status, const fwd_error *error) {
  require_refusal(status, error, size);
  fwd_encoding *encoding = NULL;
  fwd_error parser_error = untouched_error();
  fwd_status parsed = fwd_encoding_create(text, size, FWD_FORM_METHOD, &encoding, &parser_error);
  if (parsed == FWD_OK) {
    REQUIRE(status == FWD_UNSUPPORTED || status == FWD_OVERFLOW);
  } else {
    REQUIRE(parsed == status && parser_error.offset == error->offset);
    REQUIRE(strcmp(parser_error.message, error->message) == 0);
  }
  fwd_encoding_release(encoding);
}

// MARK: Stated layouts

// For the target `stated`: the bytes behind the last line break choose what is stated about the structs and unions of
// the text in front of it.
#ifdef FWD_FUZZ_STATED

enum { statement_limit = 8, member_limit = 64 };

typedef struct statements {
  const uint8_t *choices, *end;
  size_t count;
  fwd_stated_layout layouts[statement_limit];
  fwd_stated_member members[statement_limit][member_limit];
  char names[statement_limit][40];
} statements;

static size_t choose(statements *self) { return self->choices < self->end ? *self->choices++ : 0; }

/// Mostly what a compiler might say: gaps, alignments, bit-fields one behind the other.
static void state(statements *self, const fwd_encoding *encoding, const fwd_type *type) {
  if (type->name_length == 0 || type->name_length >= sizeof self->names[0]) return;
  char *name = self->names[self->count];
  memcpy(name, fwd_encoding_text(encoding) + type->name_offset, type->name_length);
  name[type->name_length] = 0;
  for (size_t i = 0; i < self->count; i++) {
    if (strcmp(self->layouts[i].name, name) == 0) return;
  }
  fwd_stated_member *members = self->members[self->count];
  size_t byte = 0, bit = 0, largest = 0, count = 0;
  for (uint32_t at = type->first_child; at != FWD_NO_TYPE && count < member_limit; count++) {
    const fwd_type *member = fwd_encoding_type(encoding, at);
    size_t gap = choose(self), size = member->layout.size < 4096 ? member->layout.size : 4096;
    if (type->kind == FWD_TYPE_UNION) byte = bit = 0;
    if (member->kind == FWD_TYPE_BIT_FIELD) {
      bit += gap % 16;
      members[count] = (fwd_stated_member){byte, bit};
      bit += member->count < 4096 ? (size_t)member->count : 4096;
    } else {
      byte += (bit + 7) / 8 + gap % 16;
      bit = 0;
      if (gap >= 128) byte = (byte + member->layout.alignment - 1) & ~(member->layout.alignment - 1);
      members[count] = (fwd_stated_member){byte, 0};
      byte += size;
    }
    if (byte + (bit + 7) / 8 > largest) largest = byte + (bit + 7) / 8;
    at = member->next_sibling;
  }
  size_t alignment = (size_t)1 << choose(self) % 6, odd = choose(self);
  size_t size = (largest + alignment - 1) & ~(alignment - 1);
  if (count == 0) size += alignment * choose(self);
  fwd_stated_layout *layout = &self->layouts[self->count++];
  *layout = (fwd_stated_layout){name, size, alignment, odd % 4 == 0 ? NULL : members, odd % 4 == 0 ? 0 : count, 0};
  if (odd % 8 >= 4) layout->member_alignment = (size_t)1 << choose(self) % 5;
  // And what none would.
  if (odd == 255) layout->size = (size_t)0 - choose(self);
  if (odd == 254) layout->alignment = choose(self);
  if (odd == 253) layout->alignment = (size_t)1 << choose(self) % 64, layout->size = layout->alignment;
  if (odd == 252 && count > 0) members[choose(self) % count].offset = SIZE_MAX - choose(self);
  if (odd == 251 && count > 0) members[choose(self) % count].bit_offset = SIZE_MAX - choose(self);
  if (odd == 250) layout->name = "no such name";
}

static statements stated;

static void choose_statements(const char *text, size_t *size) {
  stated.count = 0;
  size_t length = *size;
  while (length > 0 && text[length - 1] != '\n') length--;
  stated.choices = (const uint8_t *)text + length;
  stated.end = (const uint8_t *)text + *size;
  if (length == 0) return;
  *size = length - 1;
  fwd_encoding *encoding = NULL;
  if (fwd_encoding_create(text, *size, FWD_FORM_METHOD, &encoding, NULL) != FWD_OK) return;
  for (size_t i = 0; i < fwd_encoding_type_count(encoding) && stated.count < statement_limit; i++) {
    const fwd_type *type = fwd_encoding_type(encoding, i);
    if (type->kind == FWD_TYPE_STRUCT || type->kind == FWD_TYPE_UNION) state(&stated, encoding, type);
  }
  fwd_encoding_release(encoding);
}

static fwd_status create_signature(const char *text, size_t size, fwd_signature **signature, fwd_error *error) {
  return fwd_signature_create_stating(text, size, stated.layouts, stated.count, signature, error);
}

static void check_stated_refusal(fwd_status status, const fwd_error *error) {
  REQUIRE(error->status == status && strcmp(error->message, fwd_error_message()) == 0);
  REQUIRE(status == FWD_WRONG_LAYOUT || (status >= FWD_MALFORMED && status <= FWD_TOO_DEEP));
}

#else
enum { statement_limit = 0 };
static void choose_statements(const char *text, size_t *size) { (void)text, (void)size; }
static fwd_status create_signature(const char *text, size_t size, fwd_signature **signature, fwd_error *error) {
  return fwd_signature_create(text, size, signature, error);
}
static void check_stated_refusal(fwd_status status, const fwd_error *error) { (void)status, (void)error; }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data;
  choose_statements(text, &size);
  fwd_signature *signature = NULL, *again = NULL;
  fwd_error error = untouched_error();
  fwd_status status = create_signature(text, size, &signature, &error);
  REQUIRE(create_signature(text, size, &again, NULL) == status);
  if (status != FWD_OK) {
    REQUIRE(!signature && !again);
    // The second refusal left the same message.
    if (statement_limit > 0) {
      check_stated_refusal(status, &error);
    } else {
      check_refusal(text, size, status, &error);
    }
    return 0;
  }
  require_untouched(&error);
  REQUIRE(fwd_signature_equal(signature, again));
  REQUIRE(fwd_signature_hash(signature) == fwd_signature_hash(again));
  fwd_signature_release(again);
  check_frame(signature);
  check_out_of_range(signature);
  check_dropped(signature);
  check_relations(signature);
  if (makes_calls) check_calls(signature);
  fwd_signature_release(signature);
  return 0;
}
