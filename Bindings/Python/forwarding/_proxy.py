# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Protocol tables, proxies, and subscribers that are Python callables."""

import ctypes
import enum
import itertools
import weakref
from ctypes import byref, c_uint64, c_void_p
from threading import get_ident

from . import _library as c
from ._calls import (
    Handle, Signature, check_callable, make_entry, read_arguments, report_entry_failure,
)
from ._errors import (
    Failures, ForwardingError, Status, check, describe, last_error, raised_on, report, settle, thread,
)
from ._values import Place, Selector, check_structs, room, text_of


def mark_handled():
    """Tells the fan-out that runs on this thread that the invocation has been handled, for methods with the policy
    `ResultPolicy.UNTIL_HANDLED`. Does nothing outside of a fan-out."""
    c.mark_handled()


class ResultPolicy(enum.IntEnum):
    """Which subscribers are called, and which result is given: the `fwd_result_policy` of forwarding.h."""

    DEFAULT = 0
    FIRST = 1
    ALL_FIRST = 2
    ALL_LAST = 3
    UNTIL_NONZERO = 4
    ANY = 5
    ALL = 6
    UNTIL_HANDLED = 7


class FunctionForm(enum.IntEnum):
    """Where a callback has its context pointer, which is ignored. `FunctionForm.context_at(index)` is another form."""

    # The callback has no context: its arguments are those after the receiver and the selector.
    ARGUMENTS = 0
    # The context comes before these arguments.
    CONTEXT_FIRST = 1
    # The context comes after them.
    CONTEXT_LAST = -1

    @staticmethod
    def context_at(index):
        """The form of a callback whose context has the index `index` among its arguments, counted from 0."""
        return _index(index, "the index of the context", 0, 254) + 1


def _index(value, what, least, greatest):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ForwardingError(Status.TYPE_MISMATCH, f"{what} is of type {type(value).__name__}, expected an int")
    if not least <= value <= greatest:
        raise ForwardingError(Status.OUT_OF_RANGE, f"{what} is {value}, expected {least} to {greatest}")
    return value


class Position:
    """A position in the order of delivery: `Position.FIRST`, `Position.LAST`, or what one of the methods makes."""

    def __init__(self, kind, priority=0, index=0, anchor=None):
        self._kind = kind
        self._priority = priority
        self._index = index
        self._anchor = anchor

    @classmethod
    def before(cls, subscription):
        """Directly before another subscription."""
        return cls(2, anchor=subscription)

    @classmethod
    def after(cls, subscription):
        """Directly after another subscription."""
        return cls(3, anchor=subscription)

    @classmethod
    def index(cls, index):
        """Before the subscriber that has the index now."""
        return cls(4, index=_index(index, "the index", 0, (1 << 63) - 1))

    @classmethod
    def priority(cls, priority):
        """Behind all subscriptions of this priority or a higher one."""
        return cls(5, priority=_index(priority, "the priority", -(1 << 31), (1 << 31) - 1))

    def _struct(self):
        anchor = 0
        if self._anchor is not None:
            if not isinstance(self._anchor, Subscription):
                raise ForwardingError(
                    Status.TYPE_MISMATCH,
                    f"the position is beside a value of type {type(self._anchor).__name__}, expected a Subscription")
            anchor = self._anchor._identifier
        return c.PositionStruct(self._kind, self._priority, self._index, anchor)


Position.LAST = Position(0)
Position.FIRST = Position(1)


def _check_position(position):
    if not isinstance(position, Position):
        raise ForwardingError(
            Status.TYPE_MISMATCH, f"the position is of type {type(position).__name__}, expected a Position")
    return position._struct()


def _items(mapping, what):
    try:
        return list(dict(mapping or {}).items())
    except (TypeError, ValueError):
        raise ForwardingError(
            Status.TYPE_MISMATCH, f"{what} is of type {type(mapping).__name__}, expected a dict") from None


# MARK: Protocol tables

class _Method:
    """One method of a protocol table."""

    def __init__(self, name, encoding, structs):
        self.selector = Selector(name)
        self.name = self.selector.name
        self.signature = Signature(encoding, structs)
        self.place = Place(f'the result of "{self.name}"')

    def argument_place(self, index):
        return Place(f'argument {index} of "{self.name}"', index)


class ProtocolTable:
    """A named set of methods.

    `required` and `optional` give the encodings by the names of the methods. `structs` gives classes of `ctypes` as for
    `Signature`. The table is registered under its name for the life of the process, and shared with C and Swift code.
    The same methods may be registered again under the same name.
    """

    def __init__(self, name, required=None, optional=None, structs=None):
        text = text_of(name, "the name of a protocol table")
        structs = check_structs(structs)
        self.name = text.decode("utf-8", "surrogateescape")
        self._methods = {}
        requirements = []
        for methods, is_required in ((_items(required, "required"), True), (_items(optional, "optional"), False)):
            for selector, encoding in methods:
                selector = text_of(selector, f"a selector of {self.name}")
                encoding = text_of(encoding, f"the encoding of {selector.decode(errors='replace')!r}")
                requirements.append((selector, encoding, is_required))
                method = _Method(selector, encoding, structs)
                types = method.signature.encoding.lstrip("rnNoORVA")
                if types.startswith("@"):
                    raise ForwardingError(
                        Status.UNSUPPORTED,
                        f'the result of "{method.name}" is an object, which Python cannot retain; use ^v')
                self._methods[method.name] = method
        array = (c.Requirement * len(requirements))(*requirements)
        made, error = c_void_p(), c.Error()
        check(c.protocol_register(text, array, len(array), byref(made), byref(error)), error)
        self._address = made.value


# MARK: Entries from C

# By the numbers that C has as contexts. Weak: what the callables refer to may be collected with the proxy, also in
# cycles.
_proxies = weakref.WeakValueDictionary()
_targets = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


class _Target:
    """What a subscription calls."""

    __slots__ = ("handlers", "owner", "proxy", "subscription", "__weakref__")

    def __init__(self, handlers, owner, proxy):
        # Functions and methods by the addresses of their selectors.
        self.handlers = handlers
        # A weak reference, or None.
        self.owner = owner
        # A weak reference.
        self.proxy = proxy
        # The number that the library has given; 0 until then.
        self.subscription = 0


def _pointer(arguments, index):
    """An argument that is a pointer, by the address of the addresses of all."""
    address = c_void_p.from_address(arguments + index * ctypes.sizeof(c_void_p)).value
    return c_void_p.from_address(address).value


def _deliver(_, arguments, result):
    """A `fwd_delivery_handler`. The result is its status, false unless it is written."""
    try:
        failure = _pointer(arguments, 4)
        outcome = _run_delivery(_pointer(arguments, 0), arguments, failure)
    except BaseException as exception:
        report_entry_failure(exception)
    else:
        ctypes.c_ubyte.from_address(result).value = outcome


def _run_delivery(number, arguments, failure):
    """Makes a delivery. Returns whether it has succeeded."""
    target = _targets.get(number)
    # What C is called by inside of the subscriber is not called by the caller of this fan-out.
    outer, thread.failures = thread.failures, None
    try:
        if target is None:
            raise ForwardingError(Status.DEAD, "the subscription has ended")
        owner = ()
        if target.owner is not None:
            object = target.owner()
            if object is None:
                # It has just died. The next subscriber may respond.
                c.Error.from_address(failure).status = Status.NO_RESPONDER
                return False
            owner = (object,)
        function, method = target.handlers[_pointer(arguments, 1)]
        signature = method.signature
        value = function(*owner, *read_arguments(signature, _pointer(arguments, 2), signature.hidden_count))
        # Written as a whole: the value is checked first.
        signature.result.write(_pointer(arguments, 3), value, method.place, None)
        return True
    except BaseException as exception:
        text = describe(exception).encode("utf-8", "replace")[:255].decode("utf-8", "ignore")
        c.Error.from_address(failure).message = text.encode()
        # Last, since describing an exception runs code of its class.
        raised_on[get_ident()] = exception
        return False
    finally:
        thread.failures = outer


def _report(_, arguments, result):
    """The error handler of a proxy. It is called on the thread of a delivery, directly after the delivery."""
    try:
        raised = raised_on.pop(get_ident(), None)
        failure = c.Error.from_address(_pointer(arguments, 2))
        error = ForwardingError(failure.status, failure.message.decode("utf-8", "replace"), failure.offset)
        error.__cause__ = raised
        proxy = _proxies.get(_pointer(arguments, 0))
        report(error, proxy._on_error if proxy is not None else None)
    except BaseException as exception:
        report_entry_failure(exception)


def _release(_, arguments, result):
    """The destroy notifier of a subscription."""
    target = _targets.get(_pointer(arguments, 0))
    proxy = target.proxy() if target is not None else None
    if proxy is not None:
        proxy._targets.pop(_pointer(arguments, 0), None)


_deliver_address = make_entry(b"B^v^v^v^v^v", _deliver)
_report_address = make_entry(b"v^v^v^v", _report)
_release_address = make_entry(b"v^v", _release)


# MARK: Proxies

class Proxy:
    """Forwards invocations to its subscribers.

    The proxy adopts protocol tables. By the names of methods, `results` has result policies, `defaults` has the results
    if no subscriber responds, and `failures` has the results of deliveries that fail. `on_error` is called with a
    `ForwardingError` for each delivery that fails, and for each failed call of a function pointer.
    """

    def __init__(self, *tables, results=None, defaults=None, failures=None, on_error=None):
        self._handle = None
        if on_error is not None:
            check_callable(on_error, "on_error")
        self._on_error = on_error
        self._methods = {}
        for table in tables:
            if not isinstance(table, ProtocolTable):
                raise ForwardingError(
                    Status.TYPE_MISMATCH, f"a table is of type {type(table).__name__}, expected a ProtocolTable")
            self._methods.update(table._methods)
        # Keeps alive what pointers in these results refer to.
        self._values = (defaults, failures)
        # What the subscriptions call, by their numbers.
        self._targets = {}
        number = next(_numbers)
        _proxies[number] = self
        methods, kept = self._options(results, defaults, failures)
        options = c.ProxyOptions(
            size=ctypes.sizeof(c.ProxyOptions), method_size=ctypes.sizeof(c.MethodOptions), methods=methods,
            method_count=len(methods), on_error=_report_address, on_error_context=number)
        array = (c_void_p * len(tables))(*[table._address for table in tables])
        made, error = c_void_p(), c.Error()
        check(c.proxy_create(array, len(array), byref(options), byref(made), byref(error)), error)
        del kept
        self._handle = Handle(made.value, c.proxy_release)

    def _options(self, results, defaults, failures):
        """The options of single methods, and what keeps them alive."""
        by_name, kept = {}, []
        for values, what in ((results, "results"), (defaults, "defaults"), (failures, "failures")):
            for name, value in _items(values, what):
                method = self._method(name)
                by_name.setdefault(method.name, {})[what] = value
        array = (c.MethodOptions * len(by_name))()
        for options, (name, values) in zip(array, by_name.items()):
            method = self._methods[name]
            options.selector = text_of(name, "a selector")
            policy = values.get("results", ResultPolicy.DEFAULT)
            options.policy = _index(policy, f'the result policy of "{name}"', 0, (1 << 31) - 1)
            for what, member in (("defaults", "default_result"), ("failures", "failure_result")):
                if what not in values:
                    continue
                result = method.signature.result
                if result.size == 0:
                    raise ForwardingError(Status.TYPE_MISMATCH, f'{what} has a result of "{name}", which gives none')
                memory = room(result.size)
                result.write(ctypes.addressof(memory), values[what], Place(f'the result of "{name}" in {what}'), None)
                kept.append(memory)
                setattr(options, member, ctypes.addressof(memory))
                setattr(options, member + "_size", result.size)
        return array, kept

    def _open(self):
        """The handle, which the caller keeps while it uses the address."""
        handle = self._handle
        if handle is None:
            raise ForwardingError(Status.DEAD, "the proxy is closed")
        return handle

    def _method(self, selector):
        name = selector.name if isinstance(selector, Selector) else selector
        if isinstance(name, bytes):
            name = name.decode("utf-8", "surrogateescape")
        if not isinstance(name, str):
            raise ForwardingError(
                Status.TYPE_MISMATCH, f"the selector is of type {type(name).__name__}, expected a str or a Selector")
        method = self._methods.get(name)
        if method is None:
            raise ForwardingError(Status.UNKNOWN_SELECTOR, f'no protocol of the proxy declares "{name}"')
        return method

    # MARK: Forwarding

    def _frame(self, method, arguments):
        """The argument frame of an invocation, and what must live during the call."""
        signature = method.signature
        first = signature.hidden_count
        expected = len(signature.arguments) - first
        if len(arguments) != expected:
            raise ForwardingError(
                Status.OUT_OF_RANGE, f'"{method.name}" got {len(arguments)} arguments, expected {expected} for '
                f"{signature.encoding}", len(arguments))
        kept, memory = [], room(signature.frame_size)
        base = ctypes.addressof(memory)
        for index, value in enumerate(arguments, first):
            signature.arguments[index].write(
                base + signature.offsets[index], value, method.argument_place(index), kept)
        return memory, kept

    def send(self, selector, *arguments):
        """Forwards an invocation and returns its result.

        Raises `ForwardingError` if the method is unknown, an argument does not fit, nobody responds and the method has
        a result without a default, or if all deliveries have failed and the method has no result for that.
        """
        handle, method = self._open(), self._method(selector)
        memory, kept = self._frame(method, arguments)
        size = method.signature.result.size
        result = room(size)
        with Failures() as failures:
            status = c.forward(
                handle.address, method.selector.address, memory, method.signature.frame_size,
                result if size else None, size)
            error = None if status == 0 else last_error(status)
        del kept
        if failures or error is not None:
            settle(failures, error and _first_failure(failures, error))
        return method.signature.result.read(ctypes.addressof(result))

    def collect(self, selector, *arguments):
        """Forwards an invocation to all responders, whatever the policy of the method. Returns the list of their
        results, of which deliveries that have failed have none. Their errors go to `on_error`."""
        handle, method = self._open(), self._method(selector)
        memory, kept = self._frame(method, arguments)
        reader, results, raised = method.signature.result, [], []

        def visit(_, subscription, address):
            # Such as KeyboardInterrupt, which ctypes would drop.
            try:
                results.append(reader.read(address))
                return True
            except BaseException as exception:
                raised.append(exception)
                return False

        visitor = c.ResultVisitor(visit)
        with Failures() as failures:
            status = c.collect(
                handle.address, method.selector.address, memory, method.signature.frame_size, visitor, None)
            error = None if status == 0 else last_error(status)
        del kept
        if raised:
            raise raised[0]
        if failures or error is not None:
            settle(failures, error)
        return results

    def responds(self, selector):
        """Whether an invocation of the method would get a response now."""
        handle = self._open()
        return bool(c.proxy_responds(handle.address, self._method(selector).selector.address))

    def signature(self, selector):
        """The `Signature` of a method."""
        return self._method(selector).signature

    @property
    def subscriber_count(self):
        """The number of subscribers."""
        handle = self._open()
        return c.proxy_subscriber_count(handle.address)

    def function_pointer(self, selector, form=FunctionForm.ARGUMENTS):
        """Makes a C function pointer that forwards a method to this proxy."""
        return FunctionPointer(self, self._method(selector), form)

    # MARK: Subscribing

    def subscribe(self, methods, *, owner=None, position=Position.LAST, times=0):
        """Subscribes callables by the names of methods, and returns the `Subscription`.

        With `owner`, an object, each callable gets the owner as its first argument. The owner is held weakly, and the
        subscription ends with it. Without one, the callables are held until the subscription is cancelled or the proxy
        dies. `times` limits the number of deliveries; 0 is no limit.
        """
        handle = self._open()
        options = c.SubscribeOptions(
            ctypes.sizeof(c.SubscribeOptions), _check_position(position),
            _index(times, "the number of deliveries", 0, (1 << 63) - 1))
        items, handlers = _items(methods, "the methods"), {}
        array = (c.HandledMethod * len(items))()
        names = []
        for entry, (name, function) in zip(array, items):
            method = self._method(name)
            check_callable(function, f'"{method.name}"')
            # A bound method would keep its owner alive.
            if owner is not None and getattr(function, "__self__", None) is owner:
                function = getattr(function, "__func__", function)
            handlers[method.selector.address] = (function, method)
            names.append(text_of(method.name, "a selector"))
            entry.selector = names[-1]
            entry.handler = _deliver_address
        number = next(_numbers)
        subscription = Subscription(self)
        reference = None
        if owner is not None:
            def end(_, subscription=subscription):
                subscription.cancel()
            try:
                reference = weakref.ref(owner, end)
            except TypeError:
                raise ForwardingError(
                    Status.TYPE_MISMATCH,
                    f"the owner is of type {type(owner).__name__}, which cannot be held weakly") from None
        target = _Target(handlers, reference, subscription._proxy)
        self._targets[number] = _targets[number] = target
        made, error = c_uint64(), c.Error()
        status = c.proxy_subscribe_handlers(
            handle.address, number, array, len(array), _release_address, byref(options), byref(made), byref(error))
        if status != 0:
            self._targets.pop(number, None)
            check(status, error)
        subscription._target = weakref.ref(target)
        subscription._identifier = target.subscription = made.value
        if self._handle is not handle:
            # Closed meanwhile by another thread, which has not seen this subscription.
            c.proxy_unsubscribe(handle.address, made.value)
            raise ForwardingError(Status.DEAD, "the proxy is closed")
        return subscription

    def change(self, body):
        """Makes several changes of the subscriptions take effect at once, and returns what `body()` returns.

        What `body` does on this thread to the subscriptions of this proxy, by `subscribe`, `cancel` and `move`, takes
        effect in one step when it returns. Each invocation reaches the subscribers from before, or those from after.
        If `body` raises, or a change fails, nothing takes effect: the new subscriptions have ended, and those that were
        cancelled go on. A change inside of another one of the same proxy becomes part of it.
        """
        handle = self._open()
        check_callable(body, "the body")
        values, raised = [], []

        def run(_):
            try:
                values.append(body())
                return 0
            except BaseException as exception:
                raised.append(exception)
                return Status.DELIVERY_FAILED

        outer, cancelled = thread.changes.get(self), []
        thread.changes[self] = cancelled
        error = c.Error()
        try:
            status = c.proxy_change(handle.address, c.ChangeBody(run), None, byref(error))
        finally:
            if outer is None:
                del thread.changes[self]
            else:
                thread.changes[self] = outer
        if status == 0 and values:
            if outer is not None:
                outer.extend(cancelled)
            return values[0]
        for subscription in cancelled:
            subscription._go_on()
        try:
            if raised:
                raise raised[0]
            check(status, error)
            raise ForwardingError(Status.DELIVERY_FAILED, "Python could not call the body of the change")
        finally:
            # The traceback refers to this frame.
            raised.clear()

    def close(self):
        """Ends all subscriptions and releases the proxy. Its function pointers stay valid, and find no subscriber. Does
        nothing the second time."""
        handle, self._handle = self._handle, None
        if handle is not None:
            for target in list(self._targets.values()):
                c.proxy_unsubscribe(handle.address, target.subscription)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()


def _first_failure(failures, error):
    """The first failure of a delivery, if that is why an invocation has failed."""
    return next((each for each, _ in failures if each.message == error.message), error)


class Subscription:
    """A subscription of a proxy. It may be dropped: the subscription goes on. In a `with` statement it ends."""

    def __init__(self, proxy):
        self._proxy = weakref.ref(proxy)
        self._target = None
        self._identifier = 0
        self._is_cancelled = False

    def _open(self):
        """The handle of the proxy."""
        proxy = self._proxy()
        handle = proxy._handle if proxy is not None else None
        if handle is None:
            raise ForwardingError(Status.DEAD, "the proxy of the subscription is dead")
        return handle

    @property
    def is_active(self):
        """Whether the subscription has not ended."""
        proxy = self._proxy()
        return (not self._is_cancelled and proxy is not None and proxy._handle is not None
                and self._target is not None and self._target() is not None)

    def cancel(self):
        """Ends the subscription. Does nothing if it has ended."""
        if self._is_cancelled:
            return
        self._is_cancelled = True
        try:
            handle = self._open()
        except ForwardingError:
            return
        c.proxy_unsubscribe(handle.address, self._identifier)
        cancelled = thread.changes.get(self._proxy())
        if cancelled is not None:
            cancelled.append(self)

    def _go_on(self):
        """Undoes `cancel` in a change that has failed."""
        self._is_cancelled = False
        target = self._target and self._target()
        # It has been cancelled because its owner has died.
        if target is not None and target.owner is not None and target.owner() is None:
            self.cancel()

    def block(self):
        """Skips the subscription in deliveries, until it has been unblocked as often as it has been blocked."""
        handle = self._open()
        self._check(c.proxy_block(handle.address, self._identifier))

    def unblock(self):
        """Undoes `block` once. Raises `ForwardingError` if the subscription is not blocked."""
        handle = self._open()
        self._check(c.proxy_unblock(handle.address, self._identifier))

    def move(self, position):
        """Moves the subscription to another position."""
        handle, error = self._open(), c.Error()
        check(c.proxy_move(handle.address, self._identifier, byref(_check_position(position)), byref(error)), error)

    @staticmethod
    def _check(status):
        if status != 0:
            raise last_error(status)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.cancel()


class FunctionPointer:
    """A C function pointer that forwards a method to a proxy, which it keeps alive.

    It is valid until `close()`, the end of a `with` statement, or the death of this object, so store the object as long
    as C has the pointer. A call returns the result of the forwarding. If the forwarding fails, it returns what
    `failures` of the proxy has for the method, or zeros, and the error goes to `on_error`.
    """

    def __init__(self, proxy, method, form):
        self._closure = None
        self._proxy = proxy
        handle = proxy._open()
        made, error = c_void_p(), c.Error()
        form = _index(form, "the form", -1, (1 << 31) - 1)
        check(
            c.proxy_function(handle.address, method.selector.address, form, byref(made), byref(error)), error)
        self._closure = Handle(made.value, c.closure_destroy)

    @property
    def address(self):
        """The function pointer. Raises `ForwardingError` if it has been closed."""
        closure = self._closure
        if closure is None:
            raise ForwardingError(Status.DEAD, "the function pointer is closed")
        return c.closure_function(closure.address)

    @property
    def _as_parameter_(self):
        return c_void_p(self.address)

    def close(self):
        """Ends the function pointer. Calls under way are finished. Does nothing the second time."""
        self._closure = self._proxy = None

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()
