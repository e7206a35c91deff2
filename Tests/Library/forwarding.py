# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""forwarding.h for ctypes. FWD_LIBRARY_PREFIX in the environment says where the library is installed."""

import ctypes
import os
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64,
    c_void_p, cast,
)

PREFIX = os.environ["FWD_LIBRARY_PREFIX"]
PATH = os.path.join(PREFIX, "lib", "libforwarding.so")

# By the full path, so that no other one is found.
library = ctypes.CDLL(PATH)

(
    OK, MALFORMED, UNSUPPORTED, OVERFLOW, TOO_DEEP, NULL_ARGUMENT, OUT_OF_RANGE, WRONG_SIZE, TYPE_MISMATCH,
    NO_MEMORY, NO_EXECUTABLE_MEMORY, NO_RECEIVER, UNKNOWN_SELECTOR, NO_RESPONDER, DELIVERY_FAILED,
    MISSING_METHOD, SIGNATURE_MISMATCH, CONFLICT, NOT_SUBSCRIBED, DUPLICATE, CYCLE, DEAD, WRONG_LAYOUT, WRONG_VERSION,
) = range(24)
NOT_ALLOWED = 25

NO_OFFSET = c_size_t(-1).value

RESULT_DEFAULT = 0

PROXY_IGNORES_UNKNOWN_SELECTORS = 1

POSITION_LAST, POSITION_FIRST, POSITION_BEFORE, POSITION_AFTER, POSITION_INDEX, POSITION_PRIORITY = range(6)


class Layout(Structure):
    _fields_ = [("size", c_size_t), ("alignment", c_size_t), ("offset", c_size_t)]


class Error(Structure):
    _fields_ = [("status", c_int), ("offset", c_size_t), ("message", c_char * 256)]

    @property
    def text(self):
        return self.message.decode()


class Requirement(Structure):
    _fields_ = [("selector", c_char_p), ("encoding", c_char_p), ("required", c_bool)]


class Method(Structure):
    _fields_ = [("selector", c_char_p), ("encoding", c_char_p), ("function", c_void_p)]


class MethodOptions(Structure):
    _fields_ = [
        ("selector", c_char_p), ("policy", c_int), ("default_result", c_void_p), ("default_result_size", c_size_t),
        ("failure_result", c_void_p), ("failure_result_size", c_size_t),
    ]


ErrorHandler = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(Error))


class ProxyOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("method_size", c_size_t), ("methods", POINTER(MethodOptions)), ("method_count", c_size_t),
        ("flags", c_uint64), ("on_error", ErrorHandler), ("on_error_context", c_void_p),
    ]

    def __init__(self, **members):
        sizes = {"size": ctypes.sizeof(ProxyOptions), "method_size": ctypes.sizeof(MethodOptions)}
        super().__init__(**{**sizes, **members})


class Position(Structure):
    _fields_ = [("kind", c_int), ("priority", c_int32), ("index", c_size_t), ("anchor", c_uint64)]


class SubscribeOptions(Structure):
    _fields_ = [("size", c_size_t), ("position", Position), ("times", c_size_t)]

    def __init__(self, **members):
        super().__init__(**{"size": ctypes.sizeof(SubscribeOptions), **members})


INTERCEPT_BEFORE, INTERCEPT_AFTER, INTERCEPT_INSTEAD, INTERCEPT_AROUND = range(4)


class MethodInfo(Structure):
    _fields_ = [("size", c_size_t), ("selector", c_void_p), ("signature", c_void_p), ("required", c_bool)]


class SubscriberInfo(Structure):
    _fields_ = [
        ("size", c_size_t), ("subscription", c_uint64), ("context", c_void_p), ("object", c_void_p),
        ("is_blocked", c_bool),
    ]


MethodVisitor = CFUNCTYPE(c_bool, c_void_p, POINTER(MethodInfo))
SubscriberVisitor = CFUNCTYPE(c_bool, c_void_p, POINTER(SubscriberInfo))
ResultVisitor = CFUNCTYPE(c_bool, c_void_p, c_uint64, c_void_p)
Interceptor = CFUNCTYPE(c_int, c_void_p, c_void_p)
Handler = CFUNCTYPE(None, c_void_p, POINTER(c_void_p), c_void_p)
Destroy = CFUNCTYPE(None, c_void_p)


def _declare(name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


version = _declare("fwd_version", c_uint32)
version_string = _declare("fwd_version_string", c_char_p)
error_message = _declare("fwd_error_message", c_char_p)
status_name = _declare("fwd_status_name", c_char_p, c_int)
type_layout = _declare("fwd_type_layout", c_int, c_char_p, c_size_t, POINTER(Layout), POINTER(Error))
signature_create = _declare(
    "fwd_signature_create", c_int, c_char_p, c_size_t, POINTER(c_void_p), POINTER(Error))
signature_release = _declare("fwd_signature_release", None, c_void_p)
signature_retain = _declare("fwd_signature_retain", c_void_p, c_void_p)
signature_argument_count = _declare("fwd_signature_argument_count", c_size_t, c_void_p)
signature_argument = _declare("fwd_signature_argument", c_int, c_void_p, c_size_t, POINTER(Layout))
signature_result = _declare("fwd_signature_result", c_int, c_void_p, POINTER(Layout))
signature_frame_size = _declare("fwd_signature_frame_size", c_size_t, c_void_p)
call = _declare("fwd_call", c_int, c_void_p, c_void_p, POINTER(c_void_p), c_void_p)
use_libffi = _declare("fwd_use_libffi", None, c_bool)
closure_create = _declare(
    "fwd_closure_create", c_int, c_void_p, Handler, c_void_p, POINTER(c_void_p), POINTER(Error))
closure_function = _declare("fwd_closure_function", c_void_p, c_void_p)
closure_destroy = _declare("fwd_closure_destroy", None, c_void_p)
selector_register = _declare("fwd_selector_register", c_void_p, c_char_p)
selector_find = _declare("fwd_selector_find", c_void_p, c_char_p)
selector_name = _declare("fwd_selector_name", c_char_p, c_void_p)
protocol_register = _declare(
    "fwd_protocol_register", c_int, c_char_p, POINTER(Requirement), c_size_t, POINTER(c_void_p), POINTER(Error))
protocol_find = _declare("fwd_protocol_find", c_void_p, c_char_p)
proxy_create = _declare(
    "fwd_proxy_create", c_int, POINTER(c_void_p), c_size_t, POINTER(ProxyOptions), POINTER(c_void_p),
    POINTER(Error))
proxy_retain = _declare("fwd_proxy_retain", c_void_p, c_void_p)
proxy_release = _declare("fwd_proxy_release", None, c_void_p)
# A `Destroy` or None.
proxy_subscribe = _declare(
    "fwd_proxy_subscribe", c_int, c_void_p, c_void_p, POINTER(Method), c_size_t, c_void_p, POINTER(SubscribeOptions),
    POINTER(c_uint64), POINTER(Error))
proxy_move = _declare("fwd_proxy_move", c_int, c_void_p, c_uint64, POINTER(Position), POINTER(Error))
proxy_block = _declare("fwd_proxy_block", c_int, c_void_p, c_uint64)
proxy_unblock = _declare("fwd_proxy_unblock", c_int, c_void_p, c_uint64)
proxy_unsubscribe = _declare("fwd_proxy_unsubscribe", c_int, c_void_p, c_uint64)
proxy_subscriber_count = _declare("fwd_proxy_subscriber_count", c_size_t, c_void_p)
proxy_responds = _declare("fwd_proxy_responds", c_bool, c_void_p, c_void_p)
proxy_signature = _declare("fwd_proxy_signature", c_void_p, c_void_p, c_void_p)
forward = _declare("fwd_forward", c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
forward_arguments = _declare(
    "fwd_forward_arguments", c_int, c_void_p, c_void_p, POINTER(c_void_p), c_size_t, c_void_p, c_size_t)
forward_named = _declare(
    "fwd_forward_named", c_int, c_void_p, c_char_p, c_void_p, c_size_t, c_void_p, c_size_t)
collect = _declare(
    "fwd_collect", c_int, c_void_p, c_void_p, c_void_p, c_size_t, ResultVisitor, c_void_p)
proxy_visit_methods = _declare("fwd_proxy_visit_methods", c_int, c_void_p, MethodVisitor, c_void_p)
proxy_visit_subscribers = _declare("fwd_proxy_visit_subscribers", c_int, c_void_p, SubscriberVisitor, c_void_p)
proxy_intercept = _declare(
    "fwd_proxy_intercept", c_int, c_void_p, c_void_p, c_int, Interceptor, c_void_p, c_void_p, POINTER(c_uint64),
    POINTER(Error))
proxy_end_interception = _declare("fwd_proxy_end_interception", c_int, c_void_p, c_uint64)
invocation_selector = _declare("fwd_invocation_selector", c_void_p, c_void_p)
invocation_signature = _declare("fwd_invocation_signature", c_void_p, c_void_p)
invocation_argument = _declare("fwd_invocation_argument", c_void_p, c_void_p, c_size_t)
invocation_set_argument = _declare("fwd_invocation_set_argument", c_int, c_void_p, c_size_t, c_void_p, c_size_t)
invocation_proceed = _declare("fwd_invocation_proceed", c_int, c_void_p)
invocation_result = _declare("fwd_invocation_result", c_void_p, c_void_p)
invocation_set_result = _declare("fwd_invocation_set_result", c_int, c_void_p, c_void_p, c_size_t)
mark_handled = _declare("fwd_mark_handled", None)
proxy_function = _declare(
    "fwd_proxy_function", c_int, c_void_p, c_void_p, c_int, POINTER(c_void_p), POINTER(Error))


class Failure(Exception):
    """What a function of the library says about its failure."""

    def __init__(self, status, error):
        super().__init__(error.text)
        self.status, self.offset, self.text = status, error.offset, error.text


def _check(status, error):
    if status != OK:
        raise Failure(status, error)


def layout(encoding):
    """The layout of one type."""
    result, error = Layout(), Error()
    _check(type_layout(encoding, len(encoding), byref(result), byref(error)), error)
    return result


def pointers(values):
    """An array of the addresses of ctypes values, which the caller keeps alive."""
    return (c_void_p * len(values))(*[ctypes.addressof(value) for value in values])


def address(function):
    """The address of a ctypes function."""
    return cast(function, c_void_p)


class Signature:
    def __init__(self, encoding):
        self.handle = c_void_p()
        error = Error()
        _check(signature_create(encoding, len(encoding), byref(self.handle), byref(error)), error)

    def __del__(self):
        signature_release(self.handle)

    def call(self, function, arguments, result):
        """Calls with ctypes values; gives the result's value."""
        status = call(
            self.handle, address(function), pointers(arguments), byref(result) if result is not None else None)
        _check(status, Error(status, 0, error_message()))
        return result


class Closure:
    """A C function pointer that calls `handler(arguments, result)` with addresses."""

    def __init__(self, signature, handler, context=None):
        self.handle = c_void_p()
        self.handler = Handler(handler)
        error = Error()
        _check(
            closure_create(signature.handle, self.handler, context, byref(self.handle), byref(error)), error)

    def function(self, result, *arguments):
        return CFUNCTYPE(result, *arguments)(closure_function(self.handle))

    def close(self):
        closure_destroy(self.handle)
        self.handle = None

    def __del__(self):
        self.close()


def protocol(name, *requirements):
    """Registers a protocol table of (selector, encoding, required)."""
    made, error = c_void_p(), Error()
    array = (Requirement * len(requirements))(*requirements)
    _check(protocol_register(name, array, len(array), byref(made), byref(error)), error)
    return made


class Proxy:
    def __init__(self, *protocols, options=None):
        self.handle = c_void_p()
        self.kept = [options]
        error = Error()
        array = (c_void_p * len(protocols))(*[table.value for table in protocols])
        _check(
            proxy_create(array, len(array), byref(options) if options else None, byref(self.handle), byref(error)),
            error)

    def __del__(self):
        proxy_release(self.handle)

    def subscribe(self, methods, context=None, destroy=None, options=None):
        """Subscribes {selector: (encoding, ctypes function)}."""
        self.kept += [methods, destroy]
        array = (Method * len(methods))(
            *[Method(name, encoding, address(function)) for name, (encoding, function) in methods.items()])
        token, error = c_uint64(), Error()
        _check(
            proxy_subscribe(
                self.handle, context, array, len(array), cast(destroy, c_void_p) if destroy else None,
                byref(options) if options else None, byref(token), byref(error)), error)
        return token.value
