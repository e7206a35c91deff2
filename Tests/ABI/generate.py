#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Generates random C functions, callers of such functions, and the encodings of their signatures.

The C compiler is the oracle: it decides sizes, which bytes are padding, and how a call passes values. This script does
not know how values are passed, so it cannot repeat a mistake of the library. It computes only the positions of
bit-fields, since GNU encodings contain them. The library refuses wrong positions, and layouts.py compares them with the
compilers.
"""

import argparse
import pathlib
import random
import secrets

# The columns are the C type, the encoding, a rough size, the alignment, and the extension: -1 for a signed integer that
# is narrower than a register, 1 for an unsigned one, otherwise 0.
SCALARS = [
    ("signed char", "c", 1, 1, -1),
    ("unsigned char", "C", 1, 1, 1),
    ("short", "s", 2, 2, -1),
    ("unsigned short", "S", 2, 2, 1),
    ("int", "i", 4, 4, -1),
    ("unsigned int", "I", 4, 4, 1),
    ("int", "l", 4, 4, -1),
    ("unsigned int", "L", 4, 4, 1),
    ("long long", "q", 8, 8, 0),
    ("unsigned long long", "Q", 8, 8, 0),
    ("_Bool", "B", 1, 1, 1),
    ("float", "f", 4, 4, 0),
    ("double", "d", 8, 8, 0),
    ("void *", "^v", 8, 8, 0),
    ("char *", "*", 8, 8, 0),
    ("void *", "@", 8, 8, 0),
    ("void *", "#", 8, 8, 0),
    ("void *", ":", 8, 8, 0),
]
FLOATING = [s for s in SCALARS if s[1] in "fd"]
LONG_DOUBLE = ("long double", "D", 16, 16, 0)
INT128 = [("__int128", "t", 16, 16, 0), ("unsigned __int128", "T", 16, 16, 0)]
COMPLEX_FLOATING = [
    ("_Complex float", "jf", 8, 4, 0),
    ("_Complex double", "jd", 16, 8, 0),
    ("_Complex long double", "jD", 32, 16, 0),
]
COMPLEX_INTEGER = [
    ("_Complex signed char", "jc", 2, 1, 0),
    ("_Complex unsigned char", "jC", 2, 1, 0),
    ("_Complex short", "js", 4, 2, 0),
    ("_Complex unsigned int", "jI", 8, 4, 0),
    ("_Complex int", "ji", 8, 4, 0),
    ("_Complex long long", "jq", 16, 8, 0),
    # clang has no _Complex __int128.
]
# Types of bit-fields. Types of 128 bits are refused, since compilers differ.
BIT_FIELD_UNITS = [s for s in SCALARS if s[1] in "cCsSiIqQB"]
DEPTH = 4
SIZE_LIMIT = 512


class Type:
    """A type: its spelling in C and as an encoding. Its size is only used to choose among types."""

    def __init__(
        self, c, encoding, size, alignment, small, map_name, has_empty_array=False, complexes=None, complex_arrays=()
    ):
        self.c, self.encoding, self.size, self.alignment = c, encoding, size, alignment
        self.small, self.map_name, self.has_empty_array = small, map_name, has_empty_array
        # The offsets and sizes of the complex integers in the type, and those of them that are in the first element of
        # an array.
        if complexes is None:
            complexes = [(0, size)] if any(encoding == scalar[1] for scalar in COMPLEX_INTEGER) else []
        self.complexes, self.complex_arrays = complexes, complex_arrays
        # The width of a bit-field, and a function that declares a parameter of this type. Both are usually None.
        self.width, self.declarator = None, None

    def parameter(self, name=""):
        return self.declarator(name) if self.declarator else f"{self.c} {name}".rstrip()

    def bits(self, union, end, count):
        """The first bit of a field, and the first bit after it, if `end` is the first free bit."""
        start = 0 if union else end
        if self.width is None:
            start = -(-start // (8 * self.alignment)) * 8 * self.alignment
            return start, start + 8 * count * self.size
        if start % (8 * self.alignment) + self.width > 8 * self.size:
            start = -(-start // (8 * self.alignment)) * 8 * self.alignment
        return start, start + self.width

    def is_lost_by_gcc(self):
        """
        Whether gcc 12 loses bytes of such arguments, even between its own functions. gcc classifies an array by its
        first element. If that is or contains a complex integer that lies in two eightbytes, gcc passes only the lower
        half of the second eightbyte.
        """
        return self.size <= 16 and any(offset % 8 + size > 8 for offset, size in self.complex_arrays)

    def crashes_va_arg_of_gcc(self):
        """
        Whether `va_arg` of this type can crash in a function that gcc 12 compiled, also if gcc compiled the caller.
        An example is `union { long double d; short s[8]; }`, which is passed in two general registers. gcc copies
        them from the register save area by an instruction that needs 16-byte alignment, which the area need not have.
        """
        return self.size == 16 and self.alignment == 16 and self.encoding[0] in "{("


class Generator:
    def __init__(self, rng, plain):
        self.rng = rng
        self.plain = plain
        self.definitions = []
        self.serial = 0

    def pick(self, options):
        return self.rng.choice(options)

    # MARK: Scalars

    def scalar(self, leaves=None):
        roll = self.rng.random()
        if leaves is None and roll < 0.10:
            spec = LONG_DOUBLE
        elif leaves is None and roll < 0.20:
            spec = self.pick(COMPLEX_FLOATING)
        elif leaves is None and not self.plain and roll < 0.26:
            spec = self.pick(COMPLEX_INTEGER)
        elif leaves is None and not self.plain and roll < 0.34:
            spec = self.pick(INT128)
        elif leaves is None and roll < 0.55:
            spec = self.pick(FLOATING)
        else:
            spec = self.pick(leaves or SCALARS)
        c, encoding, size, alignment, small = spec
        if encoding == "D":
            name = "map_long_double"
        elif encoding == "jD":
            name = "map_complex_long_double"
        elif encoding == "B":
            name = "map_bool"
        else:
            name = f"map_{size}"
        return Type(c, encoding, size, alignment, small, name)

    def bit_field(self):
        c, encoding, size, alignment, _ = self.pick(BIT_FIELD_UNITS)
        field = Type(c, encoding, size, alignment, 0, "")
        largest = 1 if encoding == "B" else 8 * size
        field.width = self.pick([1, self.rng.randint(1, min(largest, 9)), self.rng.randint(1, largest)])
        return field

    def array_parameter(self):
        """A parameter that is declared and encoded as an array, and that C passes as a pointer."""
        element = self.scalar()
        dimensions = [self.rng.randint(1, 9) for _ in range(self.pick([1, 1, 1, 2]))]
        suffix = "".join(f"[{d}]" for d in dimensions)
        encoding = "".join(f"[{d}" for d in dimensions) + element.encoding + "]" * len(dimensions)
        parameter = Type("void *", encoding, 8, 8, 0, "map_8")
        parameter.declarator = lambda name: f"{element.c} {name}{suffix}"
        return parameter

    # MARK: Structs and unions

    def aggregate(self, depth, target, leaves=None):
        """A struct or union of at most `target` bytes, or a little less."""
        union = not self.plain and self.rng.random() < 0.3
        # `end` counts bits.
        fields, size, alignment, end = [], 0, 1, 0
        wanted = self.rng.randint(1, 8)
        if not self.plain and self.rng.random() < 0.03:
            wanted = 0
        for _ in range(wanted * 3):
            if len(fields) == wanted:
                break
            room = target if union else target - size
            if room <= 0:
                break
            known = len(self.definitions)
            is_bit_field = not self.plain and leaves is None and self.rng.random() < 0.15
            if is_bit_field:
                field = self.bit_field()
            elif depth < DEPTH - 1 and self.rng.random() < 0.25:
                field = self.aggregate(depth + 1, self.rng.randint(1, room), leaves)
            else:
                field = self.scalar(leaves)
            dimensions = []
            while not is_bit_field and self.rng.random() < 0.2 and len(dimensions) < 2:
                if not self.plain and self.rng.random() < 0.06:
                    dimensions.append(0)
                elif self.rng.random() < 0.7:
                    dimensions.append(self.rng.randint(1, 4))
                else:
                    dimensions.append(self.rng.randint(1, 64))
            count = 1
            for dimension in dimensions:
                count *= dimension
            field_end = field.bits(union, end, count)[1]
            if -(-field_end // 8) > target:
                del self.definitions[known:]
                continue
            fields.append((field, dimensions))
            end = field_end
            size = max(size, -(-end // 8))
            alignment = max(alignment, field.alignment)
        if not fields and wanted:
            small = [s for s in (leaves or SCALARS) if s[2] <= max(target, 1)] or [leaves[0]]
            c, encoding, size, alignment, _ = self.pick(small)
            name = "map_bool" if encoding == "B" else f"map_{size}"
            fields.append((Type(c, encoding, size, alignment, 0, name), []))
        size = -(-size // alignment) * alignment
        return self.define(union, fields, size, alignment)

    def define(self, union, fields, size, alignment):
        self.serial += 1
        tag = f"{'U' if union else 'S'}{self.serial}"
        keyword = "union" if union else "struct"
        members, marks, encodings, complexes, complex_arrays = [], [], [], [], []
        end = 0
        for i, (field, dimensions) in enumerate(fields):
            if field.width is not None:
                start, end = field.bits(union, end, 1)
                members.append(f"{field.c} f{i} : {field.width};")
                encodings.append(f"b{start}{field.encoding}{field.width}")
                value = 1 if field.encoding == "B" else -1
                mark = f"{keyword} {tag} v; memset(&v, 0, sizeof v); v.f{i} = {value}; "
                if union:
                    part = f"unsigned char part[sizeof(union {tag})] = {{0}};"
                    mark += f"{part} mark_bits(part, &v, sizeof v); overlay(m, part, {-(-field.width // 8)});"
                else:
                    mark += "mark_bits(m, &v, sizeof v);"
                marks.append(f"{{ {mark} }}")
                continue
            suffix = "".join(f"[{d}]" for d in dimensions)
            members.append(f"{field.c} f{i}{suffix};")
            encodings.append("".join(f"[{d}" for d in dimensions) + field.encoding + "]" * len(dimensions))
            count = 1
            for dimension in dimensions:
                count *= dimension
            start, end = field.bits(union, end, count)
            offset = start // 8
            for k in range(min(count, 16)):
                first = offset + k * field.size
                complexes += [(first + place, size_) for place, size_ in field.complexes]
                of_arrays = field.complexes if dimensions and k == 0 else field.complex_arrays
                complex_arrays += [(first + place, size_) for place, size_ in of_arrays]
            place = "part" if union else f"m + offsetof({keyword} {tag}, f{i})"
            mark = f"{field.map_name}({place});"
            if count != 1:
                mark = f"for (size_t i = 0; i < {count}; i++) {field.map_name}({place} + i * sizeof({field.c}));"
            if union:
                size_of = f"{count} * sizeof({field.c})"
                part = f"unsigned char part[sizeof(union {tag}) + 1] = {{0}};"
                mark = f"{{ {part} {mark} overlay(m, part, {size_of}); }}"
            marks.append(mark)
        if union:
            marks.append(f"settle(m, sizeof(union {tag}));")
        self.definitions.append(
            f"{keyword} {tag} {{ {' '.join(members)} }};\n"
            f"MAP(map_{tag}, {' '.join(marks)})\n"
        )
        name = tag if self.rng.random() < 0.5 else "?"
        opening, closing = "()" if union else "{}"
        encoding = f"{opening}{name}={''.join(encodings)}{closing}"
        empty = any(
            field.has_empty_array or 0 in dimensions or (dimensions and field.size == 0)
            for field, dimensions in fields
        )
        return Type(f"{keyword} {tag}", encoding, size, alignment, 0, f"map_{tag}", empty, complexes, complex_arrays)

    # MARK: Functions

    def value(self):
        if self.rng.random() < 0.5:
            return self.scalar()
        roll = self.rng.random()
        if roll < 0.6:
            target = self.rng.randint(1, 16)
        elif roll < 0.85:
            target = self.rng.randint(9, 64)
        else:
            target = self.rng.randint(17, SIZE_LIMIT)
        leaves = None
        if self.plain:
            leaves = FLOATING if self.rng.random() < 0.5 else [s for s in SCALARS if s[1] not in "fd"]
        known = len(self.definitions)
        while True:
            del self.definitions[known:]
            value = self.aggregate(0, target, leaves)
            # Small structs with arrays of no elements are refused, since compilers differ: see fwd_find_empty_array.
            # For some arrays whose elements have size 0, clang 21 crashes with a division by 0.
            if (not value.has_empty_array or not 0 < value.size <= 16) and not value.is_lost_by_gcc():
                return value

    def function(self, index):
        count = self.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, self.rng.randint(15, 30)])
        result = None if self.rng.random() < 0.1 else self.value()
        arguments = [self.array_parameter() if self.rng.random() < 0.05 else self.value() for _ in range(count)]
        # The number of named arguments, if the function is variadic.
        named = self.rng.randint(1, count) if count and self.rng.random() < 0.15 else None
        for i in range(named, count) if named else []:
            while arguments[i].crashes_va_arg_of_gcc():
                arguments[i] = self.value()
        # A variadic function reads a float from a double, and gcc may load a float by the x87 unit, to pass it on the stack. Both
        # make a signalling NaN quiet.
        for argument in arguments:
            if argument.encoding == "f":
                argument.map_name = "map_number"
        returned = result.c if result else "void"
        named_parameters = [a.parameter(f"a{i}") for i, a in enumerate(arguments[:named])]
        declared = ", ".join(named_parameters + ["..."] * bool(named)) or "void"
        types = ", ".join([a.parameter() for a in arguments[:named]] + ["..."] * bool(named)) or "void"
        definitions, self.definitions = "".join(self.definitions), []

        callee = []
        if named:
            callee.append(f"va_list list; va_start(list, a{named - 1});")
            for i, a in enumerate(arguments[named:], named):
                promoted = "int" if a.encoding in tuple("cCsSB") else "double" if a.encoding == "f" else a.c
                callee.append(f"{a.c} a{i} = va_arg(list, {promoted});")
            callee.append("va_end(list);")
        for i, a in enumerate(arguments, 1):
            callee.append(f"memcpy(abi_record[{i}], &a{i - 1}, sizeof a{i - 1});")
            if a.small:
                callee.append(f"abi_wide[{i}] = a{i - 1};")
        if result:
            callee.append(f"{returned} r; memcpy(&r, abi_values[0], sizeof r); return r;")

        caller = []
        for i, a in enumerate(arguments, 1):
            caller.append(f"{a.c} a{i - 1}; memcpy(&a{i - 1}, abi_values[{i}], sizeof a{i - 1});")
        call = f"(({returned} (*)({types}))function)({', '.join(f'a{i}' for i in range(count))});"
        if result:
            caller.append(f"{returned} r = {call} memcpy(abi_record[0], &r, sizeof r);")
            if result.small:
                caller.append("abi_wide[0] = r;")
        else:
            caller.append(call)

        rows = [
            f"{{sizeof({t.c}), _Alignof({t.c}), {t.map_name}, {t.small}}}" if t else "{0, 1, map_0, 0}"
            for t in [result] + arguments
        ]
        nl = "\n  "
        code = (
            f"{definitions}{returned} NAME(callee_{index})({declared}) {{{nl}{nl.join(callee)}\n}}\n"
            f"static void caller_{index}(void (*function)(void)) {{{nl}{nl.join(caller)}\n}}\n"
            f"static const abi_type types_{index}[] = {{{nl}{(',' + nl).join(rows)}\n}};\n\n"
        )
        encodings = [a.encoding for a in arguments]
        if named:
            encodings.insert(named, "...")
        encoding = (result.encoding if result else "v") + "".join(encodings)
        row = (
            f'{{"{encoding}", "{returned} callee_{index}({types})", {count}, types_{index}, '
            f"(void (*)(void))NAME(callee_{index}), caller_{index}}},"
        )
        return code, row.replace("??", "?\\?")


HEADER = """\
#include <stdarg.h>
#include <string.h>
#include "abi_case.h"
#define JOIN(prefix, name) prefix##_##name
#define EXPAND(prefix, name) JOIN(prefix, name)
#define NAME(name) EXPAND(PREFIX, name)
/* A map marks the bytes of a value that are not padding. Maps are nine tenths of the code, so only one of the two
   objects has them. */
#ifdef __clang__
#define SLOW __attribute__((noinline, optnone, unused))
#else
#define SLOW __attribute__((noinline, optimize("O0"), unused))
#endif
#ifdef WITH_MAPS
#define MAP(name, ...) SLOW void name(unsigned char *m) { (void)m; __VA_ARGS__ }
#else
#define MAP(name, ...) void name(unsigned char *m);
#endif
SLOW static void map_0(unsigned char *m) { (void)m; }
SLOW static void map_1(unsigned char *m) { memset(m, 1, 1); }
SLOW static void map_2(unsigned char *m) { memset(m, 1, 2); }
SLOW static void map_4(unsigned char *m) { memset(m, 1, 4); }
SLOW static void map_8(unsigned char *m) { memset(m, 1, 8); }
SLOW static void map_16(unsigned char *m) { memset(m, 1, 16); }
SLOW static void map_32(unsigned char *m) { memset(m, 1, 32); }
/* Adds the map of one member to the map of its union. 4 marks a byte that is padding in one of the members. */
SLOW static void overlay(unsigned char *m, const unsigned char *part, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (part[i] == 0) m[i] |= 4;
    if ((part[i] & 3) > (m[i] & 3)) m[i] = (m[i] & ~3) | (part[i] & 3);
    m[i] |= part[i] & abi_contested;
  }
}
/* Marks the bytes that a bit-field uses. `value` has ones in the bit-field and zeros elsewhere. */
SLOW static void mark_bits(unsigned char *m, const void *value, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (((const unsigned char *)value)[i] != 0 && m[i] == 0) m[i] = 1;
  }
}
/* Completes the map of a union. A byte that is padding in one member and not in another is contested. */
SLOW static void settle(unsigned char *m, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if ((m[i] & 4) && (m[i] & 3)) m[i] |= abi_contested;
    m[i] &= ~4;
  }
}
/* A float that is no NaN: the highest bit of the exponent is 0. */
SLOW static void map_number(unsigned char *m) {
  memset(m, 1, 3);
  m[3] = 1 | abi_limited;
}
SLOW static void map_bool(unsigned char *m) { *m = 2; }
SLOW static void map_long_double(unsigned char *m) { memset(m, 1, LONG_DOUBLE_BYTES); }
SLOW static void map_complex_long_double(unsigned char *m) {
  map_long_double(m);
  map_long_double(m + sizeof(long double));
}

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="default: a random one")
    parser.add_argument("--count", type=int, default=1000, help="how many functions")
    parser.add_argument("--chunk", type=int, default=125, help="functions in a file")
    parser.add_argument("--plain", action="store_true", help="only types that libffi has, and passes rightly")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="an existing directory")
    options = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)

    generator = Generator(random.Random(seed), options.plain)
    tables = []
    for start in range(0, options.count, options.chunk):
        number = len(tables)
        functions = [generator.function(i) for i in range(start, min(start + options.chunk, options.count))]
        text = HEADER + "".join(code for code, _ in functions)
        text += f"static const abi_case cases[] = {{\n" + "\n".join(row for _, row in functions) + "\n};\n"
        text += f"const abi_table NAME(table_{number}) = {{cases, {len(functions)}}};\n"
        (options.output / f"chunk_{number}.c").write_text(text)
        tables.append(number)
    lines = ['#include "abi_case.h"']
    for prefix in ("clang", "gcc"):
        lines += [f"extern const abi_table {prefix}_table_{n};" for n in tables]
    for prefix in ("clang", "gcc"):
        names = ", ".join(f"&{prefix}_table_{n}" for n in tables)
        lines.append(f"const abi_table *const {prefix}_tables[] = {{{names}}};")
    lines.append(f"const size_t table_count = {len(tables)};")
    (options.output / "tables.c").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
