# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Signatures, calls of C functions, and C function pointers that call Python."""

import atexit
import ctypes
import itertools
import weakref
from ctypes import byref, c_void_p

from . import _library as c
from ._errors import Failures, ForwardingError, Status, check, describe, report, settle, thread
from ._values import Place, bytes_of, check_structs, coder, room, types_of


# MARK: Handles

class Handle:
    """A reference to an object of the library. It is released with the last Python reference to the handle, so an
    object cannot be freed while a call uses its handle."""

    __slots__ = ("address", "release")
    # Whether references are released at all. At exit the process gives everything back.
    releases = True

    def __init__(self, address, release):
        self.address = address
        self.release = release

    def __del__(self):
        if Handle.releases:
            self.release(self.address)


# MARK: Entries

def _keep_for_good(object):
    """C code may call a function of ctypes after the interpreter has let go of this module."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(object))


class _Entry:
    """A C function pointer of a function of this package, which `make_entry` makes.

    C calls a closure of the library's, which calls the function of ctypes. So a Python function that cannot even begin,
    at the recursion limit or at an interruption, leaves a result of zeros, where ctypes would leave garbage. And all
    ways into Python can be cut off at exit: a closure that has been destroyed gives zeros.
    """

    def __init__(self, signature, function):
        handler = c.Handler(function)
        _keep_for_good(handler)
        self.signature = Handle(_create_signature(signature), c.signature_release)
        self.closure, error = c_void_p(), c.Error()
        check(c.closure_create(self.signature.address, handler, None, byref(self.closure), byref(error)), error)
        self.address = c.closure_function(self.closure)


_entries = []


def make_entry(signature, function):
    """The address of a C function that calls `function` with the addresses of its arguments and of its result."""
    entry = _Entry(signature, function)
    _entries.append(entry)
    return entry.address


@atexit.register
def _cut_off():
    """Lets no C code call Python any more."""
    Handle.releases = False
    while _entries:
        c.closure_destroy(_entries.pop().closure)
    for closure in list(_closures.values()):
        closure.close()


# MARK: Signatures

def _create_signature(text):
    address, error = c_void_p(), c.Error()
    check(c.signature_create(text, len(text), byref(address), byref(error)), error)
    return address.value


class Signature:
    """A result type and argument types, read from a type encoding.

    `structs` gives classes of `ctypes` by the name that structs have in the encoding. Without one, a struct is `bytes`.
    Raises `ForwardingError` if the encoding cannot be read, or a class does not have the size that it says.
    """

    def __init__(self, encoding, structs=None):
        if not isinstance(encoding, (str, bytes)):
            raise ForwardingError(
                Status.TYPE_MISMATCH, f"the encoding is of type {type(encoding).__name__}, expected a str")
        text = bytes_of(encoding, "the encoding") if isinstance(encoding, str) else encoding
        self._handle = Handle(_create_signature(text), c.signature_release)
        self.encoding = text.decode()
        self.structs = check_structs(structs)
        address = self._handle.address
        types = types_of(self.encoding)
        count = c.signature_argument_count(address)
        if len(types) != count + 1:
            raise ForwardingError(Status.UNSUPPORTED, f"the encoding {self.encoding} is not for Python")
        layout = c.Layout()
        c.signature_result(address, byref(layout))
        self.result = coder(types[0], layout.size, self.structs)
        self.arguments = []
        # Where each argument is in the memory of a call, and in the frame of a method.
        self._places, self.offsets, self._size = [], [], 0
        for index in range(count):
            c.signature_argument(address, index, byref(layout))
            self.arguments.append(coder(types[index + 1], layout.size, self.structs))
            self.offsets.append(layout.offset)
            self._size = -(-self._size // layout.alignment) * layout.alignment
            self._places.append(self._size)
            self._size += layout.size
        # The receiver and the selector, which each delivery of a method has of its own.
        self.hidden_count = self.offsets.count(c.NO_OFFSET)
        self.frame_size = c.signature_frame_size(address)

    def __repr__(self):
        return f"Signature({self.encoding!r})"

    @property
    def argument_count(self):
        """The number of arguments, the receiver and the selector included."""
        return len(self.arguments)

    @property
    def address(self):
        return self._handle.address

    def call(self, function, *arguments):
        """Calls a C function of this signature and returns its result.

        `function` is a `ctypes` function, an address, a `Closure` or a `FunctionPointer`. Raises `ForwardingError`, and
        calls nothing, for a wrong number of arguments or an argument that the encoding does not accept. If a `Closure`
        of this package raises an exception during the call, on this thread, raises a `ForwardingError` with the
        exception as its `__cause__`, after the function has returned.

        After the call, `ctypes.get_errno()` returns the function's `errno`.
        """
        if len(arguments) != len(self.arguments):
            raise ForwardingError(
                Status.OUT_OF_RANGE,
                f"got {len(arguments)} arguments, expected {len(self.arguments)} for {self.encoding}", len(arguments))
        kept = []
        target = function_address(function, kept)
        memory, result = room(self._size), room(self.result.size)
        base = ctypes.addressof(memory)
        pointers = (c_void_p * max(len(arguments), 1))()
        for index, value in enumerate(arguments):
            pointers[index] = base + self._places[index]
            self.arguments[index].write(
                base + self._places[index], value, Place(f"argument {index} of {self.encoding}", index), kept)
        with Failures() as failures:
            status = c.call(self._handle.address, target, pointers, result)
        del kept
        if status != 0:
            raise ForwardingError(status, c.error_message().decode("utf-8", "replace"))
        value = self.result.read(ctypes.addressof(result))
        if not failures:
            return value
        settle(failures, _error_of_closure(failures, value))
        return value


def _error_of_closure(failures, result):
    """The first error of a closure, if there is one."""
    for error, _ in failures:
        if error.is_closures:
            error.result = result
            return error
    return None


def function_address(function, kept):
    """The address of a C function. Appends to `kept` what must live during the call."""
    if isinstance(function, int) and not isinstance(function, bool):
        address = function
    else:
        parameter = getattr(function, "_as_parameter_", function)
        try:
            # Only functions and void pointers: the first bytes of other objects are no code.
            if not isinstance(parameter, (ctypes._CFuncPtr, c_void_p)):
                raise TypeError
            address = ctypes.cast(parameter, c_void_p).value
        except (ctypes.ArgumentError, TypeError):
            raise ForwardingError(
                Status.TYPE_MISMATCH,
                f"the function is of type {type(function).__name__}, expected a ctypes function or an address"
            ) from None
        kept.append((function, parameter))
    if not address:
        raise ForwardingError(Status.NULL_ARGUMENT, "the function is NULL")
    if not 0 < address < 1 << 64:
        raise ForwardingError(Status.OUT_OF_RANGE, "the function is no address")
    return address


# MARK: Closures

_closures = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


def _call_closure(context, arguments, result):
    try:
        _run_closure(_closures.get(context), arguments, result)
    except BaseException as exception:
        # The closure died, or memory or the stack is short.
        report_entry_failure(exception, True)


def report_entry_failure(exception, is_closures=False):
    """Reports an exception that no handler could be found for."""
    error = ForwardingError(Status.DELIVERY_FAILED, describe(exception))
    error.__cause__ = exception
    error.is_closures = is_closures
    report(error, None)


def _run_closure(closure, arguments, result):
    if closure is None:
        raise ForwardingError(Status.DEAD, "a closure has been called that is dead")
    # What C is called by inside of the callable is not called by the caller of the closure.
    outer, thread.failures = thread.failures, None
    try:
        value = closure._callable(*read_arguments(closure.signature, arguments, 0))
        closure.signature.result.write(result, value, Place("the result of a closure"), None)
        return
    except BaseException as exception:
        error = ForwardingError(Status.DELIVERY_FAILED, f"a closure has raised {describe(exception)}")
        error.__cause__ = exception
        error.is_closures = True
    finally:
        thread.failures = outer
    # All of the result: a value that is refused is not written in part.
    ctypes.memmove(result, closure._failure, closure.signature.result.size)
    report(error, closure._on_error)


def read_arguments(signature, arguments, first):
    """The values behind the addresses of arguments, from the one with the index `first`."""
    count = len(signature.arguments)
    if count == first:
        return []
    addresses = (c_void_p * count).from_address(arguments)
    return [signature.arguments[index].read(addresses[index]) for index in range(first, count)]


_closure_handler = c.Handler(_call_closure)
_keep_for_good(_closure_handler)


class Closure:
    """A C function pointer that calls a Python callable.

    The function pointer has the type of `signature`, a `Signature` or an encoding. It is valid until `close()`, the end
    of a `with` statement, or the death of this object, so store the object as long as C has the pointer. `failure` is
    the result that C gets if the callable raises an exception or returns a value that the signature does not accept;
    without it C gets zeros. `on_error` is then called with a `ForwardingError` that has the exception as its
    `__cause__`.
    """

    def __init__(self, signature, callable, failure=None, on_error=None):
        self._closure = None
        self.signature = signature if isinstance(signature, Signature) else Signature(signature)
        check_callable(callable, "a closure")
        if on_error is not None:
            check_callable(on_error, "on_error")
        self._callable = callable
        self._on_error = on_error
        self._failure = room(self.signature.result.size)
        # Keeps alive what a pointer in the result refers to.
        self._failure_value = failure
        if failure is not None:
            self.signature.result.write(
                ctypes.addressof(self._failure), failure, Place("the failure result of a closure"), None)
        number = next(_numbers)
        made, error = c_void_p(), c.Error()
        _closures[number] = self
        check(
            c.closure_create(self.signature.address, _closure_handler, number, byref(made), byref(error)), error)
        self._closure = Handle(made.value, c.closure_destroy)

    @property
    def address(self):
        """The function pointer. Raises `ForwardingError` if the closure is closed."""
        closure = self._closure
        if closure is None:
            raise ForwardingError(Status.DEAD, "the closure is closed")
        return c.closure_function(closure.address)

    @property
    def _as_parameter_(self):
        return c_void_p(self.address)

    def close(self):
        """Ends the function pointer. Calls under way are finished. Does nothing the second time."""
        closure, self._closure = self._closure, None
        if closure is not None and not Handle.releases:
            # At exit.
            c.closure_destroy(closure.address)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()


def check_callable(value, what):
    if not callable(value):
        raise ForwardingError(Status.TYPE_MISMATCH, f"the callable of {what} is of type {type(value).__name__}")
