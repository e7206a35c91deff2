# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Joins statements and features to the tests that name them; scripts/behaviours runs this."""

import pathlib
import re
import sys

STATEMENTS = pathlib.Path("Tests/behaviours.tsv")
FEATURES = pathlib.Path("docs/features.tsv")
GUIDE = pathlib.Path("Sources/Forwarding/Documentation.docc/Migration.md")
SYSTEMS = {
    "1.1": "KSDelegateForwarding",
    "1.2": "ILABMultiDelegate",
    "1.3": "MSProxyListener",
    "1.4": "LBDelegateMatrioska",
    "1.5": "Bond ProtocolProxy",
}

# A test's name is the first argument of @Test, or that of its function between backticks.
TEST = re.compile(
    r'@Test\s*(?:\(\s*"(?P<display>(?:[^"\\]|\\.)*)"'
    r"|(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)?(?:@\w+\s+)*(?:private\s+)?func\s+`(?P<function>[^`]+)`)"
)
NUMBERS = re.compile(r"\d+\.\d+\.\d+(?:(?:, | and )\d+\.\d+\.\d+)*(?=[ :])")
NUMBER = re.compile(r"\d+\.\d+\.\d+")

problems = []


def problem(text):
    problems.append(text)


def lines(path, fields):
    """The lines of a table that are no comments, as lists of so many fields."""
    if not path.exists():
        problem(f"{path} is missing")
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != fields or not all(row):
            problem(f"{path}:{number}: {len(row)} fields, expected {fields} separated by tabs")
            continue
        yield number, row


def find_tests():
    """All tests as (name, file), in order."""
    tests = []
    for path in sorted(pathlib.Path("Tests").rglob("*.swift")) + sorted(pathlib.Path("Tool/Tests").rglob("*.swift")):
        for match in TEST.finditer(path.read_text()):
            name = match["display"]
            tests.append((re.sub(r"\\(.)", r"\1", name) if name is not None else match["function"], str(path)))
    return tests


def statements(prefix, tests, quiet):
    known = {}
    for number, (name, kind, text) in lines(STATEMENTS, 3):
        if not NUMBER.fullmatch(name) or name.rsplit(".", 1)[0] not in SYSTEMS:
            problem(f"{STATEMENTS}:{number}: {name!r} is no number of a statement")
        elif kind not in ("behaviour", "defect"):
            problem(f"{STATEMENTS}:{number}: {kind!r} is neither 'behaviour' nor 'defect'")
        elif name in known:
            problem(f"{STATEMENTS}:{number}: {name} stands there twice")
        else:
            known[name] = (kind, text, [])
    for name, path in tests:
        if numbers := NUMBERS.match(name):
            for number in NUMBER.findall(numbers[0]):
                if number in known:
                    known[number][2].append((name, path))
                else:
                    problem(f"{path}: the test {name!r} names {number}, which {STATEMENTS} does not have")
    chosen = {n: s for n, s in known.items() if n == prefix or n.startswith(prefix.rstrip(".") + ".") or not prefix}
    if prefix and not chosen:
        problem(f"no statement has a number that begins with {prefix}")
    system = None
    missing = []
    for number, (kind, text, found) in chosen.items():
        if not found:
            missing.append(number)
        if quiet:
            continue
        if (title := SYSTEMS[number.rsplit(".", 1)[0]]) != system:
            print(f"\n{title}" if system else title)
            system = title
        print(f"  {number:7}{'' if kind == 'behaviour' else 'Defect: '}{text}")
        for name, path in found:
            print(f"         -> {path}: {name}")
        if not found:
            print("         -> NO TEST")
    for number in missing:
        problem(f"{number} has no test: {known[number][1]}")
    return len(chosen) - len(missing)


def guide_features():
    """The first cells of the rows of the guide's table of features."""
    text = GUIDE.read_text()
    table = re.search(r"<!-- scripts/behaviours checks[^\n]*-->\n((?:\|[^\n]*\n)+)", text)
    if not table:
        problem(f"{GUIDE} has no table that scripts/behaviours checks")
        return []
    return [row.split("|")[1].strip() for row in table[1].splitlines()[2:]]


def features(tests, quiet):
    names = {}
    for name, path in tests:
        names.setdefault(name, path)
    rows = {}
    for number, (feature, test) in lines(FEATURES, 2):
        rows.setdefault(feature, []).append((test, number))
    for feature in (table := guide_features()):
        if feature not in rows:
            problem(f"{GUIDE}: the feature {feature!r} has no test in {FEATURES}")
    good = 0
    for feature, found in rows.items():
        if feature not in table:
            problem(f"{FEATURES}:{found[0][1]}: {feature!r} is no row of the table in {GUIDE}")
        if not quiet:
            print(feature)
        is_good = feature in table
        for test, number in found:
            if test not in names:
                problem(f"{FEATURES}:{number}: no test is named {test!r}")
                is_good = False
            if not quiet:
                print(f"  -> {names.get(test, 'NO SUCH TEST')}: {test}")
        good += is_good
    return good


def main():
    mode, prefix = sys.argv[1:]
    tests = find_tests()
    passed = 0
    if mode != "--features":
        passed += statements(prefix, tests, quiet=mode == "--check")
    if mode != "--list":
        passed += features(tests, quiet=mode == "--check")
    sys.stdout.flush()
    for text in problems:
        print(f"error: {text}", file=sys.stderr)
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


sys.exit(main())
