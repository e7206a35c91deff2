# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Errors, and what becomes of exceptions that are raised where C is the caller."""

import enum
import threading

from . import _library as c


class Status(enum.IntEnum):
    """What went wrong: the `fwd_status` of forwarding.h, which describes each."""

    MALFORMED = 1
    UNSUPPORTED = 2
    OVERFLOW = 3
    TOO_DEEP = 4
    NULL_ARGUMENT = 5
    OUT_OF_RANGE = 6
    WRONG_SIZE = 7
    TYPE_MISMATCH = 8
    NO_MEMORY = 9
    NO_EXECUTABLE_MEMORY = 10
    NO_RECEIVER = 11
    UNKNOWN_SELECTOR = 12
    NO_RESPONDER = 13
    DELIVERY_FAILED = 14
    MISSING_METHOD = 15
    SIGNATURE_MISMATCH = 16
    CONFLICT = 17
    NOT_SUBSCRIBED = 18
    DUPLICATE = 19
    CYCLE = 20
    DEAD = 21
    WRONG_LAYOUT = 22
    WRONG_VERSION = 23
    NESTED_TOO_DEEP = 24
    NOT_ALLOWED = 25


class ForwardingError(Exception):
    """A failure.

    `code` is a `Status`, or an int if the library is newer than this package. `message` says what was given and what
    was expected. `offset` is the byte offset of the fault in an encoding, or the index of an argument, or 0. `result`
    is the result of a C function that was called while a callback failed.
    """

    # Whether a closure has failed, rather than a delivery.
    is_closures = False

    def __init__(self, code, message, offset=0):
        super().__init__(message)
        try:
            code = Status(code)
        except ValueError:
            pass
        self.code = code
        self.message = message
        self.offset = offset
        self.result = None

    def __reduce__(self):
        return ForwardingError, (self.code, self.message, self.offset)


def check(status, error):
    """Raises the error that a function has filled."""
    if status != 0:
        raise ForwardingError(status, error.message.decode("utf-8", "replace"), error.offset)


def last_error(status):
    """The error of a function that fills none."""
    return ForwardingError(status, c.error_message().decode("utf-8", "replace"))


# MARK: Exceptions in callbacks

class Thread(threading.local):
    """What a thread has under way."""

    # The errors of the callbacks that the innermost call from Python to C has made on this thread; None if C is not
    # called from Python, or Python is called from C.
    failures = None

    def __init__(self):
        # The subscriptions that the innermost change of each proxy has cancelled.
        self.changes = {}


thread = Thread()
# The exception of the delivery that has just failed, by thread, until the proxy's error handler is called, which is
# next. Not in a `Thread`: on a thread of C, Python forgets those between two callbacks.
raised_on = {}


class Failures:
    """Collects the errors of callbacks while Python calls C: `with Failures() as failures:`."""

    def __enter__(self):
        self.outer = thread.failures
        thread.failures = made = []
        return made

    def __exit__(self, *ignored):
        thread.failures = self.outer


class _Raiser:
    """Raises an exception where Python passes it to `sys.unraisablehook`."""

    def __init__(self, exception):
        self.exception = exception

    def __del__(self):
        raise self.exception


def report_unraisable(exception):
    """Gives an exception that nothing can catch to `sys.unraisablehook`."""
    _Raiser(exception)


def report(error, handler):
    """Gives the error of a callback to a handler, and to the call from Python that is under way on this thread."""
    is_handled = handler is not None
    if is_handled:
        try:
            handler(error)
        except BaseException as exception:
            report_unraisable(exception)
    if thread.failures is not None:
        thread.failures.append((error, is_handled))
    elif not is_handled:
        report_unraisable(error.__cause__ or error)


def settle(failures, raised=None):
    """Ends a call from Python to C. Raises `raised`, which may be one of the errors, or an exception that interrupts
    the program. An error that is neither raised nor handled goes to `sys.unraisablehook`."""
    raised = _chosen(failures, raised)
    failures.clear()
    if raised is None:
        return
    try:
        raise raised
    finally:
        # The traceback refers to this frame.
        del raised


def _chosen(failures, raised):
    for error, _ in failures:
        if error.__cause__ is not None and not isinstance(error.__cause__, Exception):
            raised = error.__cause__
            break
    for error, is_handled in failures:
        if not is_handled and error is not raised and (raised is None or error.__cause__ is not raised):
            report_unraisable(error.__cause__ or error)
    return raised


def describe(exception):
    """An exception as one line."""
    try:
        text = str(exception)
    except Exception:
        text = ""
    name = type(exception).__name__
    return f"{name}: {text}" if text else name
