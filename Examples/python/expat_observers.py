#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Several observers of one XML parser of the C library expat, in Python: expat_observers.py [DIRECTORY]

Makes a document of the files of DIRECTORY, parses it with libexpat, and checks what the observers have seen with
Python's own parser. Needs libforwarding.so: see the page "For Python" of the documentation.
"""

import collections
import ctypes
import ctypes.util
import pathlib
import sys
import weakref
import xml.etree.ElementTree
from xml.sax.saxutils import escape, quoteattr

from forwarding import FunctionForm, Proxy, ProtocolTable, ResultPolicy

expat = ctypes.CDLL(ctypes.util.find_library("expat") or "libexpat.so.1")
expat.XML_ParserCreate.restype = ctypes.c_void_p
expat.XML_ErrorString.restype = ctypes.c_char_p

# The handlers of expat. It passes its context first, which takes the place of the receiver (@), and the external entity
# handler gets the parser instead.
HANDLERS = ProtocolTable("Expat", optional={
    "started:attributes:": "v@*^*",    # void (*)(void *, const char *name, const char **attributes)
    "ended:": "v@*",                   # void (*)(void *, const char *name)
    "text:length:": "v@^ci",           # void (*)(void *, const char *text, int length)
    # int (*)(XML_Parser, const char *context, const char *base, const char *system, const char *public)
    "external:base:system:public:": "i@****",
})

checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"wrong: {what}")


class Parser:
    """An expat parser whose handlers forward to a proxy."""

    def __init__(self, on_error=None):
        self.proxy = Proxy(
            HANDLERS,
            # An entity that nobody wants, or whose observer raises, is an error of the document.
            defaults={"external:base:system:public:": 0},
            failures={"external:base:system:public:": 0},
            results={"external:base:system:public:": ResultPolicy.FIRST},
            on_error=on_error)
        self.handle = ctypes.c_void_p(expat.XML_ParserCreate(None))
        # Expat calls the functions until the parser is freed.
        started, ended, text, external = self.functions = [
            self.proxy.function_pointer(method, FunctionForm.CONTEXT_FIRST)
            for method in ("started:attributes:", "ended:", "text:length:", "external:base:system:public:")]
        expat.XML_SetElementHandler(self.handle, started, ended)
        expat.XML_SetCharacterDataHandler(self.handle, text)
        expat.XML_SetExternalEntityRefHandler(self.handle, external)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        expat.XML_ParserFree(self.handle)
        for function in self.functions:
            function.close()

    def parse(self, document):
        """Returns expat's reason if the document is malformed, else None."""
        if expat.XML_Parse(self.handle, document, len(document), 1):
            return None
        return expat.XML_ErrorString(expat.XML_GetErrorCode(self.handle)).decode()


class Histogram:
    """Counts elements by name."""

    METHODS = {"started:attributes:": lambda self, name, attributes: self.add(name.decode())}

    def __init__(self):
        self.counts = collections.Counter()

    def add(self, name):
        self.counts[name] += 1


class Text:
    """Collects the text."""

    METHODS = {"text:length:": lambda self, text, length: self.parts.append(ctypes.string_at(text, length))}

    def __init__(self):
        self.parts = []


def make_document(directory):
    files = []
    for path in sorted(pathlib.Path(directory).rglob("*")):
        if path.is_file():
            text = path.read_text(errors="replace")
            # XML has no control characters.
            text = "".join(c for c in text if c >= " " or c in "\t\n")
            files.append(f"<file name={quoteattr(str(path))}><text>{escape(text)}</text></file>")
    check(files, f"{directory} has no files")
    return f"<files>{''.join(files)}</files>".encode(), len(files)


def check_document(directory):
    document, count = make_document(directory)
    with Parser() as parser:
        histogram, text, guest = Histogram(), Text(), Histogram()
        for observer in (histogram, text, guest):
            parser.proxy.subscribe(observer.METHODS, owner=observer)
        # An observer that has died is not called.
        dead = weakref.ref(guest)
        del guest, observer
        observer = None
        check(dead() is None, "the observer is alive")
        check(parser.proxy.subscriber_count == 2, "the observers")
        reason = parser.parse(document)
    check(reason is None, f"the document is refused: {reason}")
    tree = xml.etree.ElementTree.fromstring(document)
    check(histogram.counts == collections.Counter(element.tag for element in tree.iter()), "the elements")
    check(histogram.counts == {"files": 1, "file": count, "text": count}, f"{histogram.counts}")
    check(b"".join(text.parts).decode() == "".join(tree.itertext()), "the text")
    print(f"{len(document)} bytes of XML with {count} files, told to 2 observers")


def check_faults():
    for document, reason, elements in (
            (b"", "no element found", 0), (b"<a><b></a>", "mismatched tag", 2), (b"<a>&x;</a>", "undefined entity", 1),
            (b"<a>\xff</a>", "not well-formed (invalid token)", 1), (b"<a/><b/>", "junk after document element", 1)):
        with Parser() as parser:
            histogram = Histogram()
            parser.proxy.subscribe(histogram.METHODS, owner=histogram)
            given = parser.parse(document)
        check(given == reason, f"the reason to refuse {document}: {given}")
        check(sum(histogram.counts.values()) == elements, f"the elements of {document}")

    # An exception in an observer ends its call, not the parser. The other observers are called.
    errors, histogram = [], Histogram()
    with Parser(on_error=errors.append) as parser:
        parser.proxy.subscribe({"started:attributes:": lambda name, attributes: {}[name]})
        parser.proxy.subscribe(histogram.METHODS, owner=histogram)
        check(parser.parse(b"<a><b/></a>") is None, "the document is refused")
    check(histogram.counts == {"a": 1, "b": 1}, "the elements beside an exception")
    check([type(error.__cause__) for error in errors] == [KeyError, KeyError], f"the errors: {errors}")

    # A handler with a result: expat gets the result that the proxy states for failures.
    external = b"<!DOCTYPE a [<!ENTITY e SYSTEM 'e.xml'>]><a>&e;</a>"
    reason = "error in processing external entity reference"
    errors = []
    with Parser(on_error=errors.append) as parser:
        with parser.proxy.subscribe({"external:base:system:public:": lambda *names: open("/no such file")}):
            check(parser.parse(external) == reason, "an exception in the handler of entities is no error")
    check([type(error.__cause__) for error in errors] == [FileNotFoundError], f"the errors: {errors}")
    with Parser() as parser:
        names = []
        parser.proxy.subscribe({"external:base:system:public:": lambda *given: names.append(given) or 1})
        check(parser.parse(external) is None, "an entity that is handled is refused")
        check(names == [(b"e", None, b"e.xml", None)], f"the names: {names}")
    print("faults: 5 malformed documents, exceptions in observers with and without a result")


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    check_document(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    check_faults()
    print(f"{checks} checks passed")


main()
