# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Checks and draws the layers of the C target; scripts/layers runs it.

usage: layers.py --list | --check | --draw OBJECTS

A unit is a C file together with the header of the same name. Unit A uses unit B if A includes B's header, or if A's
object refers to a symbol that B's object defines. OBJECTS is a directory with the object of each C file.
"""

import re
import subprocess
import sys
from pathlib import Path

SHIMS = Path("CShims")

# From the lowest to the highest. A folder's files use files of the same folder and of those before it.
LAYERS = ["include", "base", "reclaim", "encoding", "abi", "call", "members", "fan_out", "mailbox"]

# Lower layers that a layer must not use, as the table of CONTRIBUTING.md says.
FORBIDDEN = {"encoding": {"reclaim"}, "members": {"abi", "call"}}

# What each layer is for: the captions of the picture.
CAPTIONS = {
    "include": "the public header",
    "base": "errors, hashes, words",
    "encoding": "type encodings: parse, measure, print, compare",
    "abi": "calling conventions: placements, call plans, callers, entries; libffi",
    "reclaim": "hazard pointers: when memory can be freed",
    "call": "signatures, calls, closures",
    "members": "subscribers: references, records, the published list",
    "fan_out": "proxies: one invocation, many deliveries",
    "mailbox": "deliveries that are made later, elsewhere",
}

# Arrows that run up or close a circle, each with its reason. {(from, to): reason}
EXCEPTIONS = {}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
DECLARED = re.compile(r"\b(fwd_[a-z0-9_]+)\s*\(")


def unit_of(path):
    """The name of a file's unit: its path below src/ without a suffix, or the name of a header that is not there."""
    if path.is_relative_to(SHIMS / "src"):
        return str(path.relative_to(SHIMS / "src").with_suffix(""))
    return path.name


def symbols(object_file):
    """The symbols that an object defines, and those that it uses."""
    lines = subprocess.run(["nm", str(object_file)], capture_output=True, text=True, check=True).stdout.splitlines()
    defined, used = set(), set()
    for line in lines:
        *_, kind, name = line.split()
        if kind in "uU":
            used.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, used


def read(objects):
    """Gives {unit: layer}, {unit: {used unit: [why]}}."""
    files = sorted(path for path in SHIMS.rglob("*") if path.suffix in (".c", ".h"))
    by_include = {}
    for path in files:
        for root in (SHIMS / "include", SHIMS / "internal", SHIMS / "src"):
            if path.is_relative_to(root):
                by_include[str(path.relative_to(root))] = unit_of(path)

    defined_in, used_by = {}, {}
    for path in files:
        if path.suffix != ".c":
            continue
        unit = unit_of(path)
        defined, used_by[unit] = symbols(Path(objects) / (unit.replace("/", "_") + ".o"))
        defined_in.update(dict.fromkeys(defined, unit))

    layers, arrows = {}, {}
    for path in files:
        unit = unit_of(path)
        layers[unit] = unit.split("/")[0] if "/" in unit else layer_of_header(path, defined_in)
        uses = arrows.setdefault(unit, {})
        for name in INCLUDE.findall(path.read_text()):
            other = by_include.get(name)
            if other and other != unit:
                uses.setdefault(other, []).append(f"includes {name}")
    for unit, used in used_by.items():
        for symbol in sorted(used):
            other = defined_in.get(symbol)
            if other and other != unit:
                arrows[unit].setdefault(other, []).append(f"uses {symbol}")
    return layers, arrows


def layer_of_header(path, defined_in):
    """A header outside src/ stands in the highest layer whose functions it declares."""
    if path.parent.name == "include" or path.name == "internal.h":
        return "include"
    names = DECLARED.findall(re.sub(r"//.*", "", path.read_text()))
    found = [LAYERS.index(defined_in[name].split("/")[0]) for name in names if name in defined_in]
    return LAYERS[max(found, default=0)]


def circles(arrows):
    """The strongly connected components of more than one unit (Tarjan's algorithm)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        on_stack.add(unit)
        for other in arrows[unit]:
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in on_stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            component = []
            while not component or component[-1] != unit:
                component.append(stack.pop())
                on_stack.discard(component[-1])
            if len(component) > 1:
                found.append(sorted(component))

    for unit in arrows:
        if unit not in index:
            visit(unit)
    return found


def check(layers, arrows):
    """Gives the faults, as lines."""
    faults, excused = [], set()
    for unit in sorted(layers):
        if layers[unit] not in LAYERS:
            faults.append(f"{unit}: the folder {layers[unit]} is no layer: {', '.join(LAYERS)}")
    for unit, uses in sorted(arrows.items()):
        for other, reasons in sorted(uses.items()):
            # internal.h is the list of all internal headers, for Swift.
            is_lower = LAYERS.index(layers[other]) <= LAYERS.index(layers[unit])
            is_forbidden = layers[other] in FORBIDDEN.get(layers[unit], ())
            if unit == "internal.h" or (is_lower and not is_forbidden):
                continue
            why = "which its layer must not use" if is_forbidden else "a higher layer"
            if (unit, other) in EXCEPTIONS:
                excused.add((unit, other))
            else:
                faults.append(f"{unit} ({layers[unit]}) uses {other} ({layers[other]}), {why}: {reasons[0]}")
    rest = {
        unit: [other for other in uses if (unit, other) not in EXCEPTIONS] for unit, uses in arrows.items()
    }
    for component in circles(rest):
        faults.append("a circle: " + ", ".join(component))
        for unit in component:
            for other in component:
                for reason in arrows[unit].get(other, [])[:3]:
                    faults.append(f"    {unit} -> {other}: {reason}")
    in_circles = {unit for component in circles(arrows) for unit in component}
    for unit, other in sorted(EXCEPTIONS):
        if (unit, other) not in excused and not ({unit, other} <= in_circles):
            faults.append(f"the exception {unit} -> {other} is not needed")
    return faults


def reduced(arrows):
    """The arrows without those that follow from others, so that a picture can be read."""
    reachable = {}

    def reach(unit, seen):
        if unit in reachable:
            return reachable[unit]
        if unit in seen:
            return set()
        found = set()
        for other in arrows[unit]:
            found |= {other} | reach(other, seen | {unit})
        reachable[unit] = found
        return found

    for unit in arrows:
        reach(unit, set())
    return {
        unit: [other for other in uses
               if not any(other in reachable[third] for third in uses if third != other)]
        for unit, uses in arrows.items()
    }


def draw(layers, arrows):
    """Prints the picture in graphviz's language: a box for each layer, the highest on top."""
    shown = {unit: [other for other in uses if other in layers] for unit, uses in arrows.items() if unit != "internal.h"}
    print("digraph layers {")
    print('  graph [rankdir=TB, ranksep=0.5, nodesep=0.15, fontname="sans-serif", fontsize=13, compound=true];')
    print('  node [shape=box, style="filled,rounded", fillcolor=white, color="#868e96", fontname="sans-serif", '
          "fontsize=10, height=0.25, margin=0.06];")
    print('  edge [color="#868e96", arrowsize=0.5];')
    for number, layer in enumerate(reversed(LAYERS)):
        print(f"  subgraph cluster_{number} {{")
        print(f'    label="{layer}/: {CAPTIONS[layer]}"; labeljust=l; style="filled,rounded"; '
              'fillcolor="#f1f3f5"; color="#ced4da";')
        for unit in sorted(layers):
            if layers[unit] == layer and unit != "internal.h":
                is_header = "/" not in unit
                fill = "#fff3bf" if is_header else "white"
                print(f'    "{unit}" [label="{unit.split("/", 1)[-1]}", fillcolor="{fill}"];')
        print("  }")
    for unit, uses in sorted(reduced(shown).items()):
        for other in sorted(uses):
            style = ' [color="#e03131", penwidth=1.5]' if (unit, other) in EXCEPTIONS else ""
            print(f'  "{unit}" -> "{other}"{style};')
    print("}")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--list", "--check", "--draw"):
        sys.exit(__doc__)
    layers, arrows = read(sys.argv[2])
    if sys.argv[1] == "--draw":
        draw(layers, arrows)
        return
    if sys.argv[1] == "--list":
        for layer in LAYERS:
            print(f"{layer}/: {CAPTIONS[layer]}")
            for unit in sorted(unit for unit in layers if layers[unit] == layer):
                print(f"  {unit.split('/', 1)[-1]}: {', '.join(sorted(arrows[unit])) or 'nothing'}")
    faults = check(layers, arrows)
    for fault in faults:
        print(fault)
    for (unit, other), reason in sorted(EXCEPTIONS.items()):
        print(f"excepted: {unit} -> {other}: {reason}")
    print(f"{len(layers)} files, {sum(map(len, arrows.values()))} arrows, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
