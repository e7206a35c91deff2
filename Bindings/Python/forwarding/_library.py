# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Finds libforwarding.so and declares the functions of forwarding.h."""

import ctypes
import ctypes.util
import os
import subprocess
from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p,
)

# The version of forwarding.h whose declarations are below.
VERSION = "0.1.0"
SONAME = "libforwarding.so.0.1"


# MARK: Finding the library

def _pkg_config_directory():
    """The directory of the library, and why there is none."""
    try:
        ran = subprocess.run(
            ["pkg-config", "--variable=libdir", "forwarding"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)
    directory = os.fsdecode(ran.stdout.rstrip(b"\n"))
    if ran.returncode != 0 or not directory:
        return None, "it does not know the package"
    return directory, None


def _open(name):
    """Loads a library. `ctypes` saves `errno` after each call of its functions."""
    return ctypes.CDLL(name, use_errno=True)


def _load():
    """Loads the library. Returns it and its path."""
    named = os.environ.get("FORWARDING_LIBRARY")
    if named:
        try:
            return _open(named), named
        except OSError as error:
            raise ImportError(f"FORWARDING_LIBRARY names {named!r}, which cannot be loaded: {error}") from None
    tried = ["the environment variable FORWARDING_LIBRARY: not set"]
    directory, reason = _pkg_config_directory()
    if directory is None:
        tried.append(f"pkg-config --variable=libdir forwarding: {reason}")
    else:
        path = os.path.join(directory, SONAME)
        try:
            return _open(path), path
        except OSError as error:
            tried.append(f"pkg-config --variable=libdir forwarding: {error}")
    found = ctypes.util.find_library("forwarding")
    if found is None:
        tried.append('ctypes.util.find_library("forwarding"): found nothing')
    else:
        try:
            return _open(found), found
        except OSError as error:
            tried.append(f'ctypes.util.find_library("forwarding"): {error}')
    raise ImportError("libforwarding.so was not found. Tried:\n" + "\n".join("- " + line for line in tried))


def _check_version(library, path):
    """Refuses libraries whose functions may differ. Before 1.0 a minor version may change functions."""
    try:
        library.fwd_version.restype = c_uint32
        library.fwd_version_string.restype = c_char_p
        number, text = library.fwd_version(), library.fwd_version_string().decode()
    except AttributeError:
        raise ImportError(f"{path} is not libforwarding: it has no function fwd_version") from None
    major, minor, patch = (int(part) for part in VERSION.split("."))
    oldest = major * 1000000 + minor * 1000 + patch
    if not oldest <= number < major * 1000000 + (minor + 1) * 1000:
        raise ImportError(f"{path} has the version {text}, and this package needs {major}.{minor}.{patch} or a later "
                          f"{major}.{minor}")
    return text


_library, LIBRARY_PATH = _load()
LIBRARY_VERSION = _check_version(_library, LIBRARY_PATH)


# MARK: Structs

NO_OFFSET = c_size_t(-1).value


class Layout(Structure):
    _fields_ = [("size", c_size_t), ("alignment", c_size_t), ("offset", c_size_t)]


class Error(Structure):
    _fields_ = [("status", c_int), ("offset", c_size_t), ("message", c_char * 256)]


class Requirement(Structure):
    _fields_ = [("selector", c_char_p), ("encoding", c_char_p), ("required", c_bool)]


class MethodOptions(Structure):
    _fields_ = [
        ("selector", c_char_p), ("policy", c_int), ("default_result", c_void_p), ("default_result_size", c_size_t),
        ("failure_result", c_void_p), ("failure_result_size", c_size_t),
    ]


class ProxyOptions(Structure):
    _fields_ = [
        ("size", c_size_t), ("method_size", c_size_t), ("methods", POINTER(MethodOptions)), ("method_count", c_size_t),
        ("flags", c_uint64), ("on_error", c_void_p), ("on_error_context", c_void_p),
    ]


class HandledMethod(Structure):
    _fields_ = [("selector", c_char_p), ("encoding", c_char_p), ("handler", c_void_p)]


class PositionStruct(Structure):
    _fields_ = [("kind", c_int), ("priority", c_int32), ("index", c_size_t), ("anchor", c_uint64)]


class SubscribeOptions(Structure):
    _fields_ = [("size", c_size_t), ("position", PositionStruct), ("times", c_size_t)]


# MARK: Functions

# Receives the calls of a closure: the context, the addresses of the arguments, and room for the result.
Handler = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
ResultVisitor = CFUNCTYPE(c_bool, c_void_p, c_uint64, c_void_p)
ChangeBody = CFUNCTYPE(c_int, c_void_p)


def _declare(name, result, *arguments):
    try:
        function = getattr(_library, name)
    except AttributeError:
        raise ImportError(f"{LIBRARY_PATH}, version {LIBRARY_VERSION}, has no function {name}") from None
    function.restype = result
    function.argtypes = arguments
    return function


error_message = _declare("fwd_error_message", c_char_p)
signature_create = _declare("fwd_signature_create", c_int, c_char_p, c_size_t, POINTER(c_void_p), POINTER(Error))
signature_release = _declare("fwd_signature_release", None, c_void_p)
signature_argument_count = _declare("fwd_signature_argument_count", c_size_t, c_void_p)
signature_argument = _declare("fwd_signature_argument", c_int, c_void_p, c_size_t, POINTER(Layout))
signature_result = _declare("fwd_signature_result", c_int, c_void_p, POINTER(Layout))
signature_frame_size = _declare("fwd_signature_frame_size", c_size_t, c_void_p)
call = _declare("fwd_call", c_int, c_void_p, c_void_p, c_void_p, c_void_p)
closure_create = _declare("fwd_closure_create", c_int, c_void_p, Handler, c_void_p, POINTER(c_void_p), POINTER(Error))
closure_function = _declare("fwd_closure_function", c_void_p, c_void_p)
closure_destroy = _declare("fwd_closure_destroy", None, c_void_p)
selector_register = _declare("fwd_selector_register", c_void_p, c_char_p)
selector_name = _declare("fwd_selector_name", c_char_p, c_void_p)
protocol_register = _declare(
    "fwd_protocol_register", c_int, c_char_p, POINTER(Requirement), c_size_t, POINTER(c_void_p), POINTER(Error))
proxy_create = _declare(
    "fwd_proxy_create", c_int, POINTER(c_void_p), c_size_t, POINTER(ProxyOptions), POINTER(c_void_p), POINTER(Error))
proxy_release = _declare("fwd_proxy_release", None, c_void_p)
proxy_subscribe_handlers = _declare(
    "fwd_proxy_subscribe_handlers", c_int, c_void_p, c_void_p, POINTER(HandledMethod), c_size_t, c_void_p,
    POINTER(SubscribeOptions), POINTER(c_uint64), POINTER(Error))
proxy_unsubscribe = _declare("fwd_proxy_unsubscribe", c_int, c_void_p, c_uint64)
proxy_change = _declare("fwd_proxy_change", c_int, c_void_p, ChangeBody, c_void_p, POINTER(Error))
proxy_move = _declare("fwd_proxy_move", c_int, c_void_p, c_uint64, POINTER(PositionStruct), POINTER(Error))
proxy_block = _declare("fwd_proxy_block", c_int, c_void_p, c_uint64)
proxy_unblock = _declare("fwd_proxy_unblock", c_int, c_void_p, c_uint64)
proxy_subscriber_count = _declare("fwd_proxy_subscriber_count", c_size_t, c_void_p)
proxy_responds = _declare("fwd_proxy_responds", c_bool, c_void_p, c_void_p)
forward = _declare("fwd_forward", c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
collect = _declare("fwd_collect", c_int, c_void_p, c_void_p, c_void_p, c_size_t, ResultVisitor, c_void_p)
mark_handled = _declare("fwd_mark_handled", None)
proxy_function = _declare(
    "fwd_proxy_function", c_int, c_void_p, c_void_p, c_int, POINTER(c_void_p), POINTER(Error))
