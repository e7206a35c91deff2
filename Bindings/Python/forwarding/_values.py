# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Python values in the memory of C types, by the letters of an encoding."""

import ctypes
import operator
import sys

from . import _library as c
from ._errors import ForwardingError, Status, last_error


def bytes_of(text, what):
    """The UTF-8 bytes of a str. Those that are no characters are what `os.fsdecode` has made of them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ForwardingError(
            Status.MALFORMED,
            f"{what} has U+{ord(text[error.start]):04X} at index {error.start}, which is half of a character",
        ) from None


def text_of(name, what):
    """The UTF-8 bytes of a name that is passed to C as a string."""
    if not isinstance(name, (str, bytes)):
        raise ForwardingError(Status.TYPE_MISMATCH, f"{what} is {_kind(name)}, expected a str")
    text = bytes_of(name, what) if isinstance(name, str) else name
    if b"\0" in text:
        raise ForwardingError(Status.MALFORMED, f"{what} contains a NUL", text.index(b"\0"))
    return text


def _kind(value):
    return "None" if value is None else f"of type {type(value).__name__}"


class Selector:
    """The interned name of a method. Selectors of one name are equal, and never freed."""

    __slots__ = ("address", "name")

    def __init__(self, name):
        text = text_of(name, "the name of a selector")
        self.address = c.selector_register(text)
        if not self.address:
            raise last_error(Status.NULL_ARGUMENT)
        self.name = text.decode("utf-8", "surrogateescape")

    @classmethod
    def at(cls, address):
        """The selector of an address that C has given; None for NULL."""
        if not address:
            return None
        made = cls.__new__(cls)
        made.address = address
        made.name = c.selector_name(address).decode("utf-8", "surrogateescape")
        return made

    def __eq__(self, other):
        return self.address == other.address if isinstance(other, Selector) else NotImplemented

    def __hash__(self):
        return hash(self.address)

    def __repr__(self):
        return f"Selector({self.name!r})"


# MARK: Memory

def room(size):
    """Zeroed memory, aligned for any C type. `ctypes` aligns objects of more than 16 bytes as malloc does."""
    return ctypes.create_string_buffer(max(size, 32))


def _mismatch(place, expected, value):
    return ForwardingError(Status.TYPE_MISMATCH, f"{place.name} is {_kind(value)}, expected {expected}", place.index)


def _out_of_range(place, expected, value):
    is_long = abs(value) >= 10 ** 30
    shown = repr(value) if not is_long else f"a number of {int(value).bit_length()} bits"
    return ForwardingError(Status.OUT_OF_RANGE, f"{place.name} is {shown}, expected {expected}", place.index)


class Place:
    """Where a value is needed, for errors: `argument 1 of "move:"`."""

    def __init__(self, name, index=0):
        self.name = name
        self.index = index


class Void:
    """`v`: no value. What a callback returns is dropped."""

    size = 0

    def write(self, address, value, place, kept):
        pass

    def read(self, address):
        return None


class Integer:
    """All integers, of 1 to 16 bytes."""

    def __init__(self, size, is_signed):
        self.size = size
        self.is_signed = is_signed
        bits = 8 * size
        self.least = -(1 << (bits - 1)) if is_signed else 0
        self.greatest = (1 << (bits - 1 if is_signed else bits)) - 1

    def write(self, address, value, place, kept):
        try:
            number = operator.index(value)
        except TypeError:
            raise _mismatch(place, "an int", value) from None
        if not self.least <= number <= self.greatest:
            raise _out_of_range(place, f"{self.least} to {self.greatest}", number)
        ctypes.memmove(address, number.to_bytes(self.size, sys.byteorder, signed=self.is_signed), self.size)

    def read(self, address):
        return int.from_bytes(ctypes.string_at(address, self.size), sys.byteorder, signed=self.is_signed)


class Boolean:
    """`B`. Any byte but 0 is true."""

    size = 1

    def write(self, address, value, place, kept):
        if not isinstance(value, int) or value not in (0, 1):
            raise _mismatch(place, "a bool, 0 or 1", value)
        ctypes.c_ubyte.from_address(address).value = int(value)

    def read(self, address):
        return ctypes.c_ubyte.from_address(address).value != 0


class Real:
    """`f`, `d` and `D`."""

    def __init__(self, type):
        self.type = type
        self.size = ctypes.sizeof(type)

    def write(self, address, value, place, kept):
        if isinstance(value, (str, bytes, bytearray)):
            raise _mismatch(place, "a number", value)
        try:
            number = float(value)
        except OverflowError:
            raise _out_of_range(place, "a number that a float can hold", value) from None
        except Exception:
            raise _mismatch(place, "a number", value) from None
        self.type.from_address(address).value = number

    def read(self, address):
        return self.type.from_address(address).value


class Pointer:
    """`^`, `@`, `#`, arrays, which C passes as pointers, and functions."""

    size = ctypes.sizeof(ctypes.c_void_p)
    expected = "None, an address, a ctypes pointer, array or function, or bytes"

    def write(self, address, value, place, kept):
        ctypes.c_void_p.from_address(address).value = self.address_of(value, place, kept)

    def address_of(self, value, place, kept):
        """The address that a value stands for. Appends to `kept` what must live as long as C uses it. If `kept` is
        None, C keeps the pointer, so only values with memory of the caller's are accepted."""
        if value is None:
            return None
        if isinstance(value, Selector):
            return value.address
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < 1 << (8 * self.size):
                raise _out_of_range(place, "an address", value)
            return value
        if isinstance(value, bool):
            raise _mismatch(place, self.expected, value)
        if isinstance(value, (bytes, bytearray, str)):
            if kept is None:
                raise _mismatch(place, "an address of memory that lives on, or None", value)
            if not isinstance(value, bytes):
                raise _mismatch(place, self.expected, value)
        # Objects of this package, and of others that ctypes accepts as arguments.
        parameter = getattr(value, "_as_parameter_", value)
        if isinstance(parameter, (ctypes.Structure, ctypes.Union)):
            raise _mismatch(place, self.expected + " (use ctypes.byref)", value)
        try:
            pointer = ctypes.cast(parameter, ctypes.c_void_p)
        except (ctypes.ArgumentError, TypeError, ValueError):
            raise _mismatch(place, self.expected, value) from None
        if kept is not None:
            kept.append((parameter, pointer))
        return pointer.value

    def read(self, address):
        return ctypes.c_void_p.from_address(address).value


class String(Pointer):
    """`*`. Python gets a copy."""

    expected = "None, a str, bytes, an address, or a ctypes pointer or array"

    def address_of(self, value, place, kept):
        if isinstance(value, str) and kept is not None:
            value = bytes_of(value, place.name)
        if isinstance(value, bytes) and b"\0" in value:
            raise ForwardingError(Status.OUT_OF_RANGE, f"{place.name} contains a NUL", place.index)
        return super().address_of(value, place, kept)

    def read(self, address):
        return ctypes.c_char_p.from_address(address).value


class SelectorValue(Pointer):
    """`:`."""

    def address_of(self, value, place, kept):
        if isinstance(value, str):
            value = Selector(value)
        if value is not None and not isinstance(value, Selector):
            raise _mismatch(place, "a Selector or a str", value)
        return super().address_of(value, place, kept)

    def read(self, address):
        return Selector.at(super().read(address))


class Aggregate:
    """Structs and unions, and whatever else has only a size."""

    def __init__(self, size, type, name):
        self.size = size
        self.type = type
        self.name = name

    def write(self, address, value, place, kept):
        if isinstance(value, (ctypes.Structure, ctypes.Union)):
            if self.type is not None and not isinstance(value, self.type):
                raise _mismatch(place, f"a {self.type.__name__}", value)
            # References in it, such as those of c_char_p members, live as long as the value.
            if kept is not None:
                kept.append(value)
            size = ctypes.sizeof(value)
            if size == self.size:
                ctypes.memmove(address, ctypes.addressof(value), size)
        elif isinstance(value, (bytes, bytearray)):
            size = len(value)
            if size == self.size:
                ctypes.memmove(address, bytes(value), size)
        else:
            raise _mismatch(place, f"a ctypes structure, or bytes, for {self.name}", value)
        if size != self.size:
            raise ForwardingError(
                Status.WRONG_SIZE, f"{place.name} has {size} bytes, expected {self.size} for {self.name}", place.index)

    def read(self, address):
        bytes = ctypes.string_at(address, self.size)
        return bytes if self.type is None else self.type.from_buffer_copy(bytes)


# MARK: Encodings

_VOID, _BOOLEAN, _POINTER, _STRING, _SELECTOR = Void(), Boolean(), Pointer(), String(), SelectorValue()
_REALS = {"f": Real(ctypes.c_float), "d": Real(ctypes.c_double), "D": Real(ctypes.c_longdouble)}
_CLOSING = {"{": "}", "(": ")"}


def _name_end(text, at, close):
    """Where the name of a struct ends. Brackets in the arguments of a template do not end it, and those in a character
    literal, such as `'<'`, do not count."""
    depth = literal = 0
    while depth or (text[at] != "=" and text[at] != close):
        if at >= literal:
            if text[at] == "<":
                depth += 1
            elif text[at] == ">" and depth and text[at - 1] != "-":
                depth -= 1
            elif text[at] == "'" and depth:
                literal = _literal_end(text, at)
        at += 1
    return at


def _literal_end(text, at):
    """The offset after a character literal of C++, or `at` if there is none. See `literal_end` in encoding_parse.c."""
    is_escaped = text[at + 1:at + 2] == "\\"
    end = text.find("'", at + (3 if is_escaped else 2), at + (13 if is_escaped else 3))
    return at if end < 0 else end + 1


def _type_end(text, at):
    """The offset after the type at an offset of an encoding that the library has accepted."""
    while text[at] in "rnNoORVA":
        at += 1
    letter = text[at]
    at += 1
    if letter == "^":
        return _type_end(text, at)
    if letter == "j":
        return at + 1
    if letter == "[":
        while text[at].isdigit():
            at += 1
        return _type_end(text, at) + 1
    if letter in _CLOSING:
        at = _name_end(text, at, _CLOSING[letter])
        if text[at] == "=":
            at += 1
            while text[at] != _CLOSING[letter]:
                at = text.index('"', at + 1) + 1 if text[at] == '"' else _type_end(text, at)
        return at + 1
    if letter == "b":
        return _offset_end(text, at)
    if letter == "@" and text[at:at + 1] == "?":
        at += 1
        if text[at:at + 1] == "<":
            at += 1
            while text[at] != ">":
                at = _type_end(text, at)
            at += 1
    elif letter == "@" and text[at:at + 1] == '"':
        at = text.index('"', at + 1) + 1
    return at


def _offset_end(text, at):
    """The offset after the digits that compilers write behind a type."""
    if text[at:at + 1] in ("+", "-"):
        at += 1
    while text[at:at + 1].isdigit():
        at += 1
    return at


def types_of(text):
    """The types of a signature, the result's first."""
    types, at = [], 0
    while at < len(text):
        # The arguments of a variadic function begin here, with the bytes of their own types.
        if text.startswith("...", at):
            at += 3
        end = _type_end(text, at)
        types.append(text[at:end].lstrip("rnNoORVA"))
        at = _offset_end(text, end)
    return types


def coder(type, size, structs):
    """What reads and writes values of a type, whose size the library has given."""
    letter = type[0]
    made = None
    if letter in "csilqt":
        made = Integer(size, True)
    elif letter in "CSILQT":
        made = Integer(size, False)
    elif letter in _CLOSING:
        name = type[1:_name_end(type, 1, _CLOSING[letter])]
        made = Aggregate(size, structs.get(name), type)
        if made.type is not None and ctypes.sizeof(made.type) != size:
            raise ForwardingError(
                Status.WRONG_SIZE,
                f"{made.type.__name__} has {ctypes.sizeof(made.type)} bytes, expected {size} for {type}")
    elif letter == "j":
        made = Aggregate(size, None, type)
    elif letter in _REALS:
        made = _REALS[letter]
    elif letter == "v":
        made = _VOID
    elif letter == "B":
        made = _BOOLEAN
    elif letter == "*":
        made = _STRING
    elif letter == ":":
        made = _SELECTOR
    elif letter in "^@#[":
        made = _POINTER
    if made is None or made.size != size:
        raise ForwardingError(Status.UNSUPPORTED, f"values of type {type}, of {size} bytes, are not for Python")
    return made


def check_structs(structs):
    """The classes of structs by name."""
    structs = dict(structs or {})
    for name, made in structs.items():
        is_class = isinstance(made, type) and issubclass(made, (ctypes.Structure, ctypes.Union))
        if not isinstance(name, str) or not is_class:
            raise ForwardingError(Status.TYPE_MISMATCH, f"structs[{name!r}] is no ctypes structure")
    return structs
