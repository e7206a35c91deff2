// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "call_shapes.h"

static ffi_type *large_elements[] = {&ffi_type_sint64, &ffi_type_sint64, &ffi_type_sint64, NULL};
static ffi_type large_type = {0, 0, FFI_TYPE_STRUCT, large_elements};
static ffi_type *mixed_elements[] = {&ffi_type_double, &ffi_type_sint64, NULL};
static ffi_type mixed_type = {0, 0, FFI_TYPE_STRUCT, mixed_elements};

#define A(member) &bench_arguments.member
#define FOUR_INTEGERS(i) A(integers[i]), A(integers[i + 1]), A(integers[i + 2]), A(integers[i + 3])
#define FIVE_DOUBLES(i) A(doubles[i]), A(doubles[i + 1]), A(doubles[i + 2]), A(doubles[i + 3]), A(doubles[i + 4])
#define FOUR(type) &type, &type, &type, &type

bench_signature bench_signatures[BENCH_SHAPE_COUNT] = {
    [BENCH_NOTIFY] =
        {
            .encoding = "v^vqd",
            .numbered_encoding = "v%zu^v0q8d16",
            .frame_size = 16,
            .argument_count = 3,
            .arguments = {A(pointer), A(integers[0]), A(doubles[0])},
            .types = {&ffi_type_pointer, &ffi_type_sint64, &ffi_type_double},
            .result_type = &ffi_type_void,
        },
    [BENCH_SIX] =
        {
            .encoding = "q^vqdifq",
            .numbered_encoding = "q%zu^v0q8d16i24f28q32",
            .frame_size = 32,
            .argument_count = 6,
            .arguments = {A(pointer), A(integers[0]), A(doubles[0]), A(narrow), A(single), A(integers[1])},
            .types = {&ffi_type_pointer, &ffi_type_sint64, &ffi_type_double, &ffi_type_sint, &ffi_type_float,
                      &ffi_type_sint64},
            .result_type = &ffi_type_sint64,
            .result_size = 8,
        },
    [BENCH_TAKE_LARGE] =
        {
            .encoding = "v{large=qqq}",
            .numbered_encoding = "v%zu{large=qqq}0",
            .frame_size = 24,
            .argument_count = 1,
            .arguments = {A(large)},
            .types = {&large_type},
            .result_type = &ffi_type_void,
        },
    [BENCH_TAKE_MIXED] =
        {
            .encoding = "v{mixed=dq}",
            .numbered_encoding = "v%zu{mixed=dq}0",
            .frame_size = 16,
            .argument_count = 1,
            .arguments = {A(mixed)},
            .types = {&mixed_type},
            .result_type = &ffi_type_void,
        },
    [BENCH_GIVE_LARGE] =
        {
            .encoding = "{large=qqq}^v",
            .numbered_encoding = "{large=qqq}%zu^v0",
            .argument_count = 1,
            .arguments = {A(pointer)},
            .types = {&ffi_type_pointer},
            .result_type = &large_type,
            .result_size = 24,
        },
    [BENCH_GIVE_MIXED] =
        {
            .encoding = "{mixed=dq}^v",
            .numbered_encoding = "{mixed=dq}%zu^v0",
            .argument_count = 1,
            .arguments = {A(pointer)},
            .types = {&ffi_type_pointer},
            .result_type = &mixed_type,
            .result_size = 16,
        },
    [BENCH_MANY] =
        {
            .encoding = "vqqqqqqqqqqqqdddddddddd",
            .numbered_encoding = "v%zuq0q8q16q24q32q40q48q56q64q72q80q88d96d104d112d120d128d136d144d152d160d168",
            .frame_size = 176,
            .argument_count = 22,
            .arguments = {FOUR_INTEGERS(0), FOUR_INTEGERS(4), FOUR_INTEGERS(8), FIVE_DOUBLES(0), FIVE_DOUBLES(5)},
            .types = {FOUR(ffi_type_sint64), FOUR(ffi_type_sint64), FOUR(ffi_type_sint64), FOUR(ffi_type_double),
                      FOUR(ffi_type_double), &ffi_type_double, &ffi_type_double},
            .result_type = &ffi_type_void,
        },
};
