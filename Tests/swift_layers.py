# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Checks the layers of the Swift module; scripts/layers runs it.

usage: swift_layers.py

A file uses another if it names a type that the other declares and no file of its own folder does. The check knows names
and not scopes, so it leaves out a name that several folders declare.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

SOURCES = Path("Sources/Forwarding")

# From the lowest to the highest. A folder's files use files of the same folder and of those before it.
LAYERS = [
    "Internals", "Errors", "Encoding", "Signature", "Calling", "Tables", "Proxying", "Mailing", "Streams", "TypedProxies", "Slots",
    "Bridging",
]

NOT_CODE = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/')
DECLARED = re.compile(r"\b(?:struct|class|enum|protocol|typealias|actor)\s+([A-Z]\w*)")
NAMED = re.compile(r"\b[A-Z]\w*")


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    code = {path: NOT_CODE.sub(" ", path.read_text()) for path in sorted(SOURCES.rglob("*.swift"))
            if not any(part.endswith(".docc") for part in path.parts)}
    folder = {path: path.relative_to(SOURCES).parts[0] for path in code}
    faults = [f"{path}: there is no layer {folder[path]}" for path in code if folder[path] not in LAYERS]
    homes = defaultdict(set)
    for path, text in code.items():
        for name in DECLARED.findall(text):
            homes[name].add(folder[path])
    arrows = 0
    for path, text in code.items():
        for name in sorted(set(NAMED.findall(text))):
            places = homes.get(name, set())
            if len(places) != 1 or folder[path] in places:
                continue
            home = next(iter(places))
            arrows += 1
            if LAYERS.index(home) > LAYERS.index(folder[path]):
                faults.append(f"{path} uses {name} of {home}/, which is a higher layer")
    for fault in faults:
        print(fault)
    print(f"{len(code)} Swift files, {arrows} uses across folders, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
