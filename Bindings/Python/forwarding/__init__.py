# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Calls of C functions by type encodings, C function pointers made at run time, and proxies with many observers.

The page "For Python" of the documentation (Sources/Forwarding/Documentation.docc/ForPython.md) describes the package.
"""

from ._calls import Closure, Signature
from ._errors import ForwardingError, Status
from ._library import LIBRARY_PATH, LIBRARY_VERSION, VERSION as __version__
from ._proxy import (
    FunctionForm, FunctionPointer, Position, ProtocolTable, Proxy, ResultPolicy, Subscription, mark_handled,
)
from ._values import Selector

__all__ = [
    "Closure", "ForwardingError", "FunctionForm", "FunctionPointer", "LIBRARY_PATH", "LIBRARY_VERSION", "Position",
    "ProtocolTable", "Proxy", "ResultPolicy", "Selector", "Signature", "Status", "Subscription", "mark_handled",
]
