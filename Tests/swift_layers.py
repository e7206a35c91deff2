# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Checks the layers of the Swift modules, and that Forwarding has at most 300 public declarations; scripts/layers runs it.

usage: swift_layers.py

A file uses another if it names a type or a member that the other declares and no file of its own layer does. The check
knows names and not scopes, so it leaves out a name that several layers declare, be it by a local variable. Of members it
leaves out names of one word and the standard library's, and in each file those that stand before a colon, as parameters do.
So it finds most uses of a higher layer, and not all.

A layer is a folder, or a file beside the folders. A folder may extend a type of such a file and use its nested types, as
in Journal.Filter, since each folder has the parts of the type that belong to its topic.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

# From the lowest to the highest layer. The files of a layer use files of the same layer and of those before it.
MODULES = {
    "Sources/Forwarding": [
        "Internals", "Errors", "Encoding", "Signature", "Calling", "Tables", "Proxying", "Mailing", "Streams", "TypedProxies",
        "Slots", "Bridging",
    ],
    "Sources/ForwardingWire": [
        "WireError.swift", "WireLimits.swift", "RecordHeader.swift", "Schema", "Encoding", "Decoding", "Showing",
    ],
    "Sources/ForwardingJournal": ["Errors", "Storage", "Writing", "Reading", "Journal.swift"],
    "Remote/Sources/ForwardingRemote": [
        "RemoteError.swift", "RemoteOptions.swift", "Engine", "Linking", "NATS", "Publishing", "Consuming", "Requests",
        "RemoteConnection.swift",
    ],
}

# Public declarations that a module may have. Cases of enums are not counted.
PUBLIC = {"Sources/Forwarding": 300}

NOT_CODE = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/|#(?:else)?if\b[^\n]*')
OUTER = re.compile(r"\bextension\s+([A-Z]\w*)|\b([A-Z]\w*)\.(?=[A-Z])")
DECLARED = re.compile(r"\b(?:struct|class|enum|protocol|typealias|actor)\s+([A-Z]\w*)")
NAMED = re.compile(r"\b[A-Z]\w*")
MEMBER = re.compile(r"\b(?:func|var|let|case)\s+\(?([a-z]+[A-Z]\w*)")
MEMBER_NAMED = re.compile(r"\b[a-z]+[A-Z]\w*")
LABELLED = re.compile(r"\b([a-z]+[A-Z]\w*):")
STANDARD = {"isEmpty", "newValue", "lowerBound", "upperBound"}


def check(module, layers):
    """Returns the faults of a module, and prints how many files and arrows it has."""
    code = {path: NOT_CODE.sub(" ", path.read_text()) for path in sorted(Path(module).rglob("*.swift"))
            if not any(part.endswith(".docc") for part in path.parts)}
    layer = {path: path.relative_to(module).parts[0] for path in code}
    faults = [f"{path}: there is no layer {layer[path]}" for path in code if layer[path] not in layers]
    faults += [f"{module}/{name}: the layer has no files" for name in layers if name not in layer.values()]
    if faults:
        return faults
    homes = defaultdict(set)
    for path, text in code.items():
        for name in DECLARED.findall(text) + MEMBER.findall(text):
            homes[name].add(layer[path])

    def without_outer(match):
        home = homes.get(match[1] or match[2], set())
        return " " if len(home) == 1 and next(iter(home)).endswith(".swift") else match[0]

    arrows = 0
    for path, text in code.items():
        members = set(MEMBER_NAMED.findall(text)) - set(LABELLED.findall(text)) - STANDARD
        for name in sorted(members.union(NAMED.findall(OUTER.sub(without_outer, text)))):
            places = homes.get(name, set())
            if len(places) != 1 or layer[path] in places:
                continue
            home = next(iter(places))
            if home.endswith(".swift") and name in members:
                continue
            arrows += 1
            if layers.index(home) > layers.index(layer[path]):
                faults.append(f"{path} uses {name} of {home}, which is a higher layer")
    public = sum(len(re.findall(r"\bpublic\b", text)) for text in code.values())
    if public > PUBLIC.get(module, public):
        faults.append(f"{module} has {public} public declarations, at most {PUBLIC[module]}")
    print(f"{module}: {public} public declarations, {len(code)} Swift files, {arrows} uses across layers, {len(faults)} faults")
    return faults


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    faults = [fault for module, layers in MODULES.items() for fault in check(module, layers)]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
