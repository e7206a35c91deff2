#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Writes random C structs and unions with bit-fields, whose layouts two compilers know.

The file `layouts_types.h` has the types, with a function for each member that fills the member with ones: where the
ones are, the compiler has put the member. `layouts_encodings.m` lets a compiler of Objective-C spell the types.
Nothing here knows a rule of layout.
"""

import argparse
import pathlib
import random
import secrets

UNITS = [
    ("signed char", 8), ("unsigned char", 8), ("short", 16), ("unsigned short", 16), ("int", 32), ("unsigned", 32),
    ("long", 64), ("unsigned long", 64), ("long long", 64), ("unsigned long long", 64),
]
SCALARS = [
    "signed char", "unsigned char", "short", "int", "unsigned", "long", "_Bool", "float", "double", "long double",
    "void *", "__int128", "_Complex float",
]


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.text = []
        self.rows = []

    def bit_field(self, name):
        """A declaration, whether it has a name, and whether gcc can spell it."""
        if self.rng.random() < 0.06:
            return f"_Bool {name} : 1;", True, False
        if self.rng.random() < 0.08:
            return f"enum abi_number {name} : {self.rng.randint(2, 32)};", True, True
        unit, bits = self.rng.choice(UNITS)
        roll = self.rng.random()
        if roll < 0.06:
            return f"{unit} : 0;", False, True
        if roll < 0.2:
            width = bits
        elif roll < 0.6:
            width = self.rng.randint(1, min(bits, 9))
        else:
            width = self.rng.randint(1, bits)
        return f"{unit} {name} : {width};", True, True

    def record(self, depth=0):
        serial = len(self.rows)
        keyword = "union" if self.rng.random() < 0.2 else "struct"
        members, marks, by_gcc = [], [], True
        inner = []
        for i in range(self.rng.randint(1, 9)):
            name = f"f{i}"
            roll = self.rng.random()
            if roll < 0.65:
                declaration, has_name, is_spelled = self.bit_field(name)
                by_gcc &= is_spelled
                value = "1" if "_Bool" in declaration else "-1"
                marks.append(f"r->{name} = {value};" if has_name else None)
            elif roll < 0.75 and depth < 2:
                index, is_spelled = self.record(depth + 1)
                by_gcc &= is_spelled
                declaration = f"{self.rows[index][0]} {name};"
                marks.append(f"memset(&r->{name}, 0xff, sizeof r->{name});")
            else:
                suffix = f"[{self.rng.randint(1, 3)}]" if self.rng.random() < 0.2 else ""
                declaration = f"{self.rng.choice(SCALARS)} {name}{suffix};"
                marks.append(f"memset(&r->{name}, 0xff, sizeof r->{name});")
            members.append(declaration)
        serial = len(self.rows)
        type_name = f"{keyword} {keyword[0].upper()}{serial}"
        self.text.append(f"{type_name} {{ {' '.join(members)} }};")
        names = []
        for i, mark in enumerate(marks):
            if mark is None:
                names.append("NULL")
                continue
            self.text.append(f"static void fill_{serial}_{i}(void *p) {{ {type_name} *r = p; {mark} }}")
            names.append(f"fill_{serial}_{i}")
        self.text.append(f"static void (*const fills_{serial}[])(void *) = {{ {', '.join(names)} }};")
        self.rows.append((type_name, len(marks), by_gcc))
        return serial, by_gcc


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="default: a random one")
    parser.add_argument("--count", type=int, default=1000, help="how many types")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="an existing directory")
    options = parser.parse_args()
    seed = secrets.randbelow(1 << 32) if options.seed is None else options.seed
    print(f"layouts: seed {seed}", flush=True)
    writer = Writer(random.Random(seed))
    while len(writer.rows) < options.count:
        writer.record()
    rows = [
        f"{{sizeof({name}), _Alignof({name}), {count}, fills_{i}}}," for i, (name, count, _) in enumerate(writer.rows)
    ]
    text = ["#include <string.h>", "enum abi_number { abi_low = -1, abi_high = 1 };"] + writer.text
    (options.output / "layouts_types.h").write_text("\n".join(text) + "\n")
    (options.output / "layouts_types.c").write_text(
        '#include <stddef.h>\n#include "layouts_case.h"\n#include "layouts_types.h"\n'
        "static const layout_case cases[] = {\n" + "\n".join(rows) + "\n};\n"
        f"const layout_table NAME(layouts) = {{cases, {len(rows)}}};\n"
    )
    encodings = []
    for name, _, by_gcc in writer.rows:
        spelled = f"@encode({name})"
        encodings.append(f"{spelled}," if by_gcc else f"BY_CLANG({spelled}),")
    (options.output / "layouts_encodings.m").write_text(
        '#include <stddef.h>\n#include "layouts_case.h"\n#include "layouts_types.h"\n'
        "// The GNU runtime registers each file by this function, even files without classes.\n"
        "__attribute__((weak)) void __objc_exec_class(void *module) { (void)module; }\n"
        "#ifdef __clang__\n#define BY_CLANG(encoding) encoding\n#else\n#define BY_CLANG(encoding) NULL\n#endif\n"
        "const char *const NAME(encodings)[] = {\n" + "\n".join(encodings) + "\n};\n"
    )


if __name__ == "__main__":
    main()
