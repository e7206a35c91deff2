# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Drives libforwarding.so by ctypes, as a program in another language would."""

import ctypes
import ctypes.util
import os
import re
import subprocess
import threading
import unittest
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_float, c_int, c_int8, c_int16, c_int64,
    c_long, c_longdouble, c_size_t, c_ubyte, c_uint8, c_uint64, c_void_p, cast, sizeof,
)

import forwarding as fwd

libc = ctypes.CDLL(None)
libm = ctypes.CDLL(ctypes.util.find_library("m"))


class Point(Structure):
    _fields_ = [("x", c_double), ("y", c_double)]


class Mixed(Structure):
    _fields_ = [("x", c_double), ("n", c_int)]


class Large(Structure):
    _fields_ = [("values", c_int64 * 5)]


class LibraryFile(unittest.TestCase):
    def test_exports_only_what_the_header_declares(self):
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", fwd.PATH], check=True, capture_output=True, text=True).stdout
        names = [line.split()[-1] for line in listed.splitlines()]
        self.assertIn("fwd_call", names)
        self.assertEqual([name for name in names if not name.startswith("fwd_")], [])

    def test_needs_nothing_of_swift(self):
        listed = subprocess.run(["ldd", fwd.PATH], check=True, capture_output=True, text=True).stdout
        self.assertIn("libffi", listed)
        for name in ("swift", "dispatch", "Blocks", "Foundation", "not found"):
            self.assertNotIn(name, listed)

    def test_has_a_soname(self):
        dynamic = subprocess.run(["readelf", "-d", fwd.PATH], check=True, capture_output=True, text=True).stdout
        self.assertIn("[libforwarding.so.0.1]", dynamic)

    def test_can_be_closed_and_opened_again(self):
        script = (
            "import ctypes, _ctypes\n"
            "for _ in range(3):\n"
            f"  library = ctypes.CDLL({fwd.PATH!r})\n"
            "  library.fwd_proxy_create(None, 0, None, None, None)\n"
            "  _ctypes.dlclose(library._handle)\n")
        self.assertEqual(subprocess.run(["python3", "-c", script]).returncode, 0)


class Versions(unittest.TestCase):
    def header_number(self, name):
        with open(os.path.join(fwd.PREFIX, "include", "forwarding.h")) as header:
            return int(re.search(rf"^#define FWD_{name} (\d+)$", header.read(), re.MULTILINE).group(1))

    def test_are_those_of_the_header(self):
        numbers = [self.header_number(name) for name in ("VERSION_MAJOR", "VERSION_MINOR", "VERSION_PATCH")]
        self.assertEqual(fwd.version(), numbers[0] * 1000000 + numbers[1] * 1000 + numbers[2])
        self.assertEqual(fwd.version_string().decode(), ".".join(map(str, numbers)))

    def test_the_inline_abi_is_a_symbol(self):
        c_ubyte.in_dll(fwd.library, f"fwd_inline_abi_{self.header_number('INLINE_ABI')}")
        with self.assertRaises(ValueError):
            c_ubyte.in_dll(fwd.library, f"fwd_inline_abi_{self.header_number('INLINE_ABI') + 1}")

    def test_members_of_a_later_version_are_refused_unless_they_are_zero(self):
        class Later(Structure):
            _fields_ = [("known", fwd.ProxyOptions), ("unknown", c_int64)]

        later = Later(known=fwd.ProxyOptions(size=ctypes.sizeof(Later)))
        fwd.Proxy(adder, options=later.known)
        later.unknown = 1
        with self.assertRaises(fwd.Failure) as caught:
            fwd.Proxy(adder, options=later.known)
        self.assertEqual(caught.exception.status, fwd.WRONG_VERSION)
        with self.assertRaises(fwd.Failure) as caught:
            fwd.Proxy(adder, options=fwd.ProxyOptions(size=0))
        self.assertEqual(caught.exception.status, fwd.WRONG_SIZE)


class Layouts(unittest.TestCase):
    def test_are_those_of_the_compiler(self):
        for encoding, type in (
            (b"c", c_int8), (b"s", c_int16), (b"i", c_int), (b"q", c_long), (b"Q", c_uint64), (b"f", c_float),
            (b"d", c_double), (b"D", c_longdouble), (b"B", c_bool), (b"*", c_char_p), (b"^v", c_void_p),
            (b"{Point=dd}", Point), (b"{Mixed=di}", Mixed), (b"{Large=[5q]}", Large),
        ):
            layout = fwd.layout(encoding)
            self.assertEqual((layout.size, layout.alignment), (sizeof(type), ctypes.alignment(type)), encoding)

    def test_nothing_past_the_length_is_read(self):
        layout = fwd.Layout()
        self.assertEqual(fwd.type_layout(b"i!!", 1, byref(layout), None), fwd.OK)
        self.assertEqual(layout.size, 4)

    def test_malformed_text_gets_a_caret(self):
        layout, error = fwd.Layout(size=77), fwd.Error()
        text = b"{Point=d"
        self.assertEqual(fwd.type_layout(text, len(text), byref(layout), byref(error)), fwd.MALFORMED)
        self.assertEqual((error.status, error.offset, layout.size), (fwd.MALFORMED, 8, 77))
        lines = error.text.split("\n")
        self.assertEqual(len(lines), 3)
        self.assertIn("offset 8", lines[0])
        self.assertEqual(lines[1], "{Point=d")
        self.assertEqual(lines[2], " " * 8 + "^")
        self.assertEqual(fwd.error_message().decode(), error.text)

    def test_each_class_of_fault_has_its_status(self):
        for encoding, status in (
            (b"", fwd.MALFORMED), (b"!", fwd.UNSUPPORTED), (b"{F=b3}", fwd.UNSUPPORTED),
            (b"[99999999999999999999i]", fwd.OVERFLOW), (b"{a=" * 500 + b"i" + b"}" * 500, fwd.TOO_DEEP),
        ):
            with self.assertRaises(fwd.Failure) as caught:
                fwd.layout(encoding)
            self.assertEqual(caught.exception.status, status, encoding[:20])
        self.assertEqual(fwd.status_name(fwd.MALFORMED), b"FWD_MALFORMED")
        self.assertEqual(fwd.status_name(-1), b"FWD_?")

    def test_null_is_an_error(self):
        layout = fwd.Layout()
        # No text is no encoding; no place for the result is a missing argument.
        self.assertEqual(fwd.type_layout(None, 3, byref(layout), None), fwd.MALFORMED)
        self.assertEqual(fwd.type_layout(b"i", 1, None, None), fwd.NULL_ARGUMENT)


class Signatures(unittest.TestCase):
    def test_tell_their_parts(self):
        signature = fwd.Signature(b"d@:ic{Point=dd}")
        self.assertEqual(fwd.signature_argument_count(signature.handle), 5)
        self.assertEqual(fwd.signature_frame_size(signature.handle), 24)
        layout = fwd.Layout()
        offsets = []
        for index in range(5):
            self.assertEqual(fwd.signature_argument(signature.handle, index, byref(layout)), fwd.OK)
            offsets.append(layout.offset)
        self.assertEqual(offsets, [fwd.NO_OFFSET, fwd.NO_OFFSET, 0, 4, 8])
        self.assertEqual(fwd.signature_result(signature.handle, byref(layout)), fwd.OK)
        self.assertEqual((layout.size, layout.alignment), (8, 8))
        self.assertEqual(fwd.signature_argument(signature.handle, 5, byref(layout)), fwd.OUT_OF_RANGE)

    def test_are_counted(self):
        signature = fwd.Signature(b"v@:")
        self.assertEqual(fwd.signature_retain(signature.handle), signature.handle.value)
        fwd.signature_release(signature.handle)
        fwd.signature_release(None)

    def test_refuse_what_cannot_be_called(self):
        for encoding, status in (
            (b"v@:v", fwd.UNSUPPORTED), (b"v@:b3", fwd.UNSUPPORTED), (b"[3i]@:", fwd.UNSUPPORTED),
            (b"v" + b"i" * 256, fwd.OVERFLOW), (b"v@:{", fwd.MALFORMED),
        ):
            with self.assertRaises(fwd.Failure) as caught:
                fwd.Signature(encoding)
            self.assertEqual(caught.exception.status, status, encoding[:20])


class Calls(unittest.TestCase):
    """Each test runs with the library's own plans and through libffi."""

    def both(self, encoding, function, arguments, result):
        signature = fwd.Signature(encoding)
        fresh = type(result)
        for forced in (False, True):
            fwd.use_libffi(forced)
            try:
                yield signature.call(function, arguments, fresh())
            finally:
                fwd.use_libffi(False)

    def test_pow(self):
        for result in self.both(b"ddd", libm.pow, [c_double(2), c_double(10)], c_double()):
            self.assertEqual(result.value, 1024)

    def test_strlen(self):
        for result in self.both(b"Q*", libc.strlen, [c_char_p(b"forwarding")], c_uint64()):
            self.assertEqual(result.value, 10)

    def test_a_float(self):
        for result in self.both(b"fff", libm.powf, [c_float(3), c_float(2)], c_float()):
            self.assertEqual(result.value, 9)

    def test_small_integers(self):
        for result in self.both(b"ii", libc.abs, [c_int(-7)], c_int()):
            self.assertEqual(result.value, 7)
        for result in self.both(b"ii", libc.toupper, [c_int(ord("a"))], c_int()):
            self.assertEqual(result.value, ord("A"))

    def test_long_double(self):
        for result in self.both(b"DD", libm.sqrtl, [c_longdouble(2.25)], c_longdouble()):
            self.assertEqual(result.value, 1.5)

    def test_a_struct_in_one_register(self):
        class Division(Structure):
            _fields_ = [("quotient", c_int), ("remainder", c_int)]

        for result in self.both(b"{div_t=ii}ii", libc.div, [c_int(-17), c_int(5)], Division()):
            self.assertEqual((result.quotient, result.remainder), (-3, -2))

    def test_a_struct_in_two_registers(self):
        class Division(Structure):
            _fields_ = [("quotient", c_long), ("remainder", c_long)]

        for result in self.both(b"{ldiv_t=qq}qq", libc.ldiv, [c_long(1 << 40), c_long(1000)], Division()):
            self.assertEqual((result.quotient, result.remainder), divmod(1 << 40, 1000))

    def test_a_complex_result(self):
        for result in self.both(b"jdjd", libm.conj, [Point(1, 2)], Point()):
            self.assertEqual((result.x, result.y), (1, -2))

    def test_more_arguments_than_registers(self):
        @CFUNCTYPE(c_double, *[c_int64] * 12, *[c_double] * 10)
        def weigh(*values):
            return sum(weight * value for weight, value in enumerate(values, 1))

        arguments = [c_int64(i) for i in range(12)] + [c_double(i / 4) for i in range(10)]
        expected = sum(weight * value.value for weight, value in enumerate(arguments, 1))
        for result in self.both(b"d" + b"q" * 12 + b"d" * 10, weigh, arguments, c_double()):
            self.assertEqual(result.value, expected)

    def test_the_result_has_exactly_its_bytes(self):
        room = (c_uint8 * 16)(*[0xAA] * 16)
        signature = fwd.Signature(b"ii")
        minus = c_int(-7)
        self.assertEqual(
            fwd.call(signature.handle, fwd.address(libc.abs), fwd.pointers([minus]), byref(room, 4)), fwd.OK)
        self.assertEqual(bytes(room), b"\xAA" * 4 + (7).to_bytes(4, "little") + b"\xAA" * 8)
        self.assertEqual(fwd.call(signature.handle, fwd.address(libc.abs), fwd.pointers([minus]), None), fwd.OK)

    def test_qsort_calls_a_closure(self):
        compare = fwd.Signature(b"i^v^v")

        def handler(_, arguments, result):
            left, right = (cast(arguments[i], POINTER(c_void_p))[0] for i in (0, 1))
            left, right = (cast(p, POINTER(c_int))[0] for p in (left, right))
            cast(result, POINTER(c_int))[0] = (left > right) - (left < right)

        closure = fwd.Closure(compare, handler)
        numbers = (c_int * 100)(*[(i * 37) % 101 for i in range(100)])
        comparison = c_void_p(fwd.closure_function(closure.handle))
        for forced in (False, True):
            fwd.use_libffi(forced)
            ctypes.memmove(numbers, (c_int * 100)(*[(i * 37) % 101 for i in range(100)]), sizeof(numbers))
            fwd.Signature(b"v^vQQ^?").call(
                libc.qsort,
                [c_void_p(ctypes.addressof(numbers)), c_size_t(100), c_size_t(4), comparison], None)
            fwd.use_libffi(False)
            self.assertEqual(list(numbers), sorted((i * 37) % 101 for i in range(100)))

    def test_null_is_an_error(self):
        signature = fwd.Signature(b"ii")
        result = c_int()
        strlen = fwd.address(libc.abs)
        self.assertEqual(fwd.call(None, strlen, None, byref(result)), fwd.NULL_ARGUMENT)
        self.assertEqual(fwd.call(signature.handle, None, None, byref(result)), fwd.NULL_ARGUMENT)
        self.assertEqual(fwd.call(signature.handle, strlen, None, byref(result)), fwd.NULL_ARGUMENT)
        self.assertEqual(fwd.call(signature.handle, strlen, (c_void_p * 1)(), byref(result)), fwd.NULL_ARGUMENT)
        self.assertIn(b"argument 0", fwd.error_message())


class Closures(unittest.TestCase):
    def test_get_their_context_and_arguments(self):
        seen = []

        def handler(context, arguments, result):
            seen.append((context, cast(arguments[0], POINTER(c_int8))[0], cast(arguments[1], POINTER(c_double))[0]))
            cast(result, POINTER(c_double))[0] = 0.5

        closure = fwd.Closure(fwd.Signature(b"dcd"), handler, context=4711)
        self.assertEqual(closure.function(c_double, c_int8, c_double)(-5, 2.25), 0.5)
        self.assertEqual(seen, [(4711, -5, 2.25)])

    def test_widen_small_results(self):
        def handler(_, arguments, result):
            cast(result, POINTER(c_int8))[0] = -3

        closure = fwd.Closure(fwd.Signature(b"c"), handler)
        # As an int: what a caller reads who trusts the callee's extension.
        self.assertEqual(closure.function(c_int)(), -3)

    def test_take_and_give_structs(self):
        def swap(_, arguments, result):
            point = cast(arguments[0], POINTER(Point))[0]
            cast(result, POINTER(Point))[0] = Point(point.y, point.x)

        closure = fwd.Closure(fwd.Signature(b"{Point=dd}{Point=dd}"), swap)
        swapped = closure.function(Point, Point)(Point(1, 2))
        self.assertEqual((swapped.x, swapped.y), (2, 1))

        def mirror(_, arguments, result):
            mixed = cast(arguments[0], POINTER(Mixed))[0]
            cast(result, POINTER(Mixed))[0] = Mixed(-mixed.x, -mixed.n)

        closure = fwd.Closure(fwd.Signature(b"{Mixed=di}{Mixed=di}"), mirror)
        mixed = closure.function(Mixed, Mixed)(Mixed(1.5, 7))
        self.assertEqual((mixed.x, mixed.n), (-1.5, -7))

        def double(_, arguments, result):
            large = cast(arguments[1], POINTER(Large))[0]
            cast(result, POINTER(Large))[0] = Large((c_int64 * 5)(*[2 * value for value in large.values]))

        closure = fwd.Closure(fwd.Signature(b"{Large=[5q]}i{Large=[5q]}"), double)
        large = closure.function(Large, c_int, Large)(1, Large((c_int64 * 5)(1, 2, 3, 4, 5)))
        self.assertEqual(list(large.values), [2, 4, 6, 8, 10])

    def test_are_as_many_as_one_likes(self):
        signature = fwd.Signature(b"qq")

        def adder(number):
            def handler(_, arguments, result):
                cast(result, POINTER(c_int64))[0] = cast(arguments[0], POINTER(c_int64))[0] + number

            return fwd.Closure(signature, handler)

        closures = [adder(i) for i in range(2000)]
        functions = [closure.function(c_int64, c_int64) for closure in closures]
        self.assertEqual([function(1) for function in functions], list(range(1, 2001)))

    def test_may_be_destroyed_inside_their_own_call(self):
        def handler(_, arguments, result):
            closure.close()
            cast(result, POINTER(c_int))[0] = 9

        closure = fwd.Closure(fwd.Signature(b"i"), handler)
        self.assertEqual(closure.function(c_int)(), 9)

    def test_run_on_any_thread(self):
        lock, calls = threading.Lock(), []

        def handler(_, arguments, result):
            with lock:
                calls.append(threading.get_ident())

        closure = fwd.Closure(fwd.Signature(b"v"), handler)
        function = closure.function(None)
        threads = [threading.Thread(target=lambda: [function() for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(calls), 200)

    def test_through_libffi_do_the_same(self):
        fwd.use_libffi(True)
        try:
            closure = fwd.Closure(
                fwd.Signature(b"dd"),
                lambda _, arguments, result: ctypes.memmove(result, arguments[0], 8) and None)
        finally:
            fwd.use_libffi(False)
        self.assertEqual(closure.function(c_double, c_double)(6.5), 6.5)

    def test_null_is_an_error(self):
        error, closure = fwd.Error(), c_void_p()
        signature = fwd.Signature(b"v")
        status = fwd.closure_create(signature.handle, fwd.Handler(), None, byref(closure), byref(error))
        self.assertEqual((status, error.status, closure.value), (fwd.NULL_ARGUMENT, fwd.NULL_ARGUMENT, None))
        fwd.closure_destroy(None)


class Selectors(unittest.TestCase):
    def test_are_interned(self):
        self.assertIsNone(fwd.selector_find(b"library:never:"))
        selector = fwd.selector_register(b"library:add:")
        self.assertTrue(selector)
        self.assertEqual(fwd.selector_register(b"library:add:"), selector)
        self.assertEqual(fwd.selector_find(b"library:add:"), selector)
        self.assertNotEqual(fwd.selector_register(b"library:remove:"), selector)
        self.assertEqual(fwd.selector_name(selector), b"library:add:")
        self.assertEqual(fwd.selector_name(None), b"")
        self.assertIsNone(fwd.selector_register(b""))
        self.assertIsNone(fwd.selector_register(None))


AddFunction = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
ResetFunction = CFUNCTYPE(None, c_void_p, c_void_p, c_double)

adder = fwd.protocol(b"LibraryAdder", (b"add:", b"i@:i", True), (b"reset:", b"v@:d", False))


class Protocols(unittest.TestCase):
    def test_are_found_by_name(self):
        self.assertEqual(fwd.protocol_find(b"LibraryAdder"), adder.value)
        self.assertIsNone(fwd.protocol_find(b"LibraryNobody"))

    def test_the_same_again_is_the_first_one(self):
        again = fwd.protocol(b"LibraryAdder", (b"add:", b"i@:i", True), (b"reset:", b"v@:d", False))
        self.assertEqual(again.value, adder.value)

    def test_a_different_one_is_a_conflict(self):
        with self.assertRaises(fwd.Failure) as caught:
            fwd.protocol(b"LibraryAdder", (b"add:", b"i@:d", True))
        self.assertEqual(caught.exception.status, fwd.CONFLICT)
        self.assertIn("LibraryAdder", caught.exception.text)

    def test_a_malformed_encoding_is_refused(self):
        with self.assertRaises(fwd.Failure) as caught:
            fwd.protocol(b"LibraryMalformed", (b"add:", b"i@:{P=", True))
        self.assertEqual(caught.exception.status, fwd.MALFORMED)
        self.assertIsNone(fwd.protocol_find(b"LibraryMalformed"))


class Proxies(unittest.TestCase):
    def setUp(self):
        self.calls = []
        self.proxy = fwd.Proxy(adder)
        self.add = fwd.selector_register(b"add:")
        self.reset = fwd.selector_register(b"reset:")

    def subscribe(self, offset, context=None, destroy=None, resets=True, options=None):
        @AddFunction
        def add(context, selector, number):
            self.calls.append(("add", offset, context, fwd.selector_name(selector), number))
            return number + offset

        @ResetFunction
        def reset(context, selector, value):
            self.calls.append(("reset", offset, context, fwd.selector_name(selector), value))

        methods = {b"add:": (b"i@:i", add)}
        if resets:
            methods[b"reset:"] = (b"v@:d", reset)
        return self.proxy.subscribe(methods, context, destroy, options)

    def test_forward_to_python_functions(self):
        self.subscribe(10, context=1)
        self.subscribe(20, context=2)
        number, result = c_int(5), c_int()
        self.assertEqual(
            fwd.forward(self.proxy.handle, self.add, byref(number), 4, byref(result), 4), fwd.OK)
        # A result: of the first responder alone. No result: all, in order.
        self.assertEqual((result.value, self.calls), (15, [("add", 10, 1, b"add:", 5)]))
        self.calls.clear()
        value = c_double(2.5)
        self.assertEqual(fwd.forward(self.proxy.handle, self.reset, byref(value), 8, None, 0), fwd.OK)
        self.assertEqual(
            self.calls, [("reset", 10, 1, b"reset:", 2.5), ("reset", 20, 2, b"reset:", 2.5)])

    def test_forward_by_pointers_and_by_name(self):
        self.subscribe(1)
        number, result = c_int(41), c_int()
        self.assertEqual(
            fwd.forward_arguments(
                self.proxy.handle, self.add, fwd.pointers([number]), 1, byref(result), 4), fwd.OK)
        self.assertEqual(result.value, 42)
        number.value = 1
        self.assertEqual(
            fwd.forward_named(self.proxy.handle, b"add:", byref(number), 4, byref(result), 4), fwd.OK)
        self.assertEqual(result.value, 2)

    def test_know_their_members(self):
        self.assertEqual(fwd.proxy_subscriber_count(self.proxy.handle), 0)
        self.assertFalse(fwd.proxy_responds(self.proxy.handle, self.add))
        first = self.subscribe(1, resets=False)
        self.assertEqual(fwd.proxy_subscriber_count(self.proxy.handle), 1)
        self.assertTrue(fwd.proxy_responds(self.proxy.handle, self.add))
        self.assertFalse(fwd.proxy_responds(self.proxy.handle, self.reset))
        signature = fwd.proxy_signature(self.proxy.handle, self.add)
        self.assertEqual(fwd.signature_frame_size(signature), 4)
        self.assertEqual(fwd.proxy_unsubscribe(self.proxy.handle, first), fwd.OK)
        self.assertEqual(fwd.proxy_unsubscribe(self.proxy.handle, first), fwd.NOT_SUBSCRIBED)
        self.assertEqual(fwd.proxy_subscriber_count(self.proxy.handle), 0)

    def test_destroy_contexts_once(self):
        destroyed = []
        destroy = fwd.Destroy(destroyed.append)
        token = self.subscribe(1, context=11, destroy=destroy)
        self.subscribe(2, context=22, destroy=destroy)
        self.assertEqual(destroyed, [])
        fwd.proxy_unsubscribe(self.proxy.handle, token)
        self.assertEqual(destroyed, [11])
        self.assertEqual(fwd.proxy_retain(self.proxy.handle), self.proxy.handle.value)
        fwd.proxy_release(self.proxy.handle)
        self.assertEqual(destroyed, [11])
        handle, self.proxy.handle = self.proxy.handle, None
        fwd.proxy_release(handle)
        self.assertEqual(destroyed, [11, 22])

    def order(self):
        value = c_double(0)
        self.calls.clear()
        self.assertEqual(fwd.forward(self.proxy.handle, self.reset, byref(value), 8, None, 0), fwd.OK)
        return [call[1] for call in self.calls]

    def test_subscribers_have_positions(self):
        first = self.subscribe(1)
        self.subscribe(2, options=fwd.SubscribeOptions(position=fwd.Position(kind=fwd.POSITION_FIRST)))
        self.subscribe(
            3, options=fwd.SubscribeOptions(position=fwd.Position(kind=fwd.POSITION_BEFORE, anchor=first), times=2))
        self.assertEqual(self.order(), [2, 3, 1])
        position = fwd.Position(kind=fwd.POSITION_INDEX, index=0)
        self.assertEqual(fwd.proxy_move(self.proxy.handle, first, byref(position), None), fwd.OK)
        self.assertEqual(self.order(), [1, 2, 3])
        self.assertEqual(self.order(), [1, 2])
        position = fwd.Position(kind=fwd.POSITION_AFTER, anchor=0)
        self.assertEqual(fwd.proxy_move(self.proxy.handle, first, byref(position), None), fwd.NOT_SUBSCRIBED)

    def test_visit_their_methods_and_subscribers(self):
        tokens = [self.subscribe(number, context=number) for number in (1, 2)]
        fwd.proxy_block(self.proxy.handle, tokens[1])
        seen = []

        @fwd.SubscriberVisitor
        def see(_, info):
            seen.append((info[0].subscription, info[0].context, info[0].object, info[0].is_blocked))
            return True

        @fwd.MethodVisitor
        def see_method(_, info):
            seen.append((fwd.selector_name(info[0].selector), info[0].required))
            return len(seen) < 1

        self.assertEqual(fwd.proxy_visit_subscribers(self.proxy.handle, see, None), fwd.OK)
        self.assertEqual(seen, [(tokens[0], 1, None, False), (tokens[1], 2, None, True)])
        seen.clear()
        self.assertEqual(fwd.proxy_visit_methods(self.proxy.handle, see_method, None), fwd.OK)
        self.assertEqual(seen, [(b"add:", True)])

    def test_collect_every_result(self):
        tokens = [self.subscribe(number) for number in (1, 2, 3)]
        seen = []

        @fwd.ResultVisitor
        def see(_, subscription, result):
            seen.append((subscription, c_int.from_address(result).value))
            return len(seen) < 2

        number = c_int(10)
        self.assertEqual(fwd.collect(self.proxy.handle, self.add, byref(number), 4, see, None), fwd.OK)
        self.assertEqual(seen, [(tokens[0], 11), (tokens[1], 12)])

    def test_are_intercepted(self):
        self.subscribe(1)

        @fwd.Interceptor
        def double(context, invocation):
            number = c_int(2 * c_int.from_address(fwd.invocation_argument(invocation, 2)).value)
            fwd.invocation_set_argument(invocation, 2, byref(number), 4)
            status = fwd.invocation_proceed(invocation)
            result = c_int(-c_int.from_address(fwd.invocation_result(invocation)).value)
            fwd.invocation_set_result(invocation, byref(result), 4)
            return status

        ended, interception, number, result = [], c_uint64(), c_int(10), c_int()
        destroy = fwd.Destroy(ended.append)
        self.assertEqual(
            fwd.proxy_intercept(
                self.proxy.handle, self.add, fwd.INTERCEPT_AROUND, double, 7, cast(destroy, c_void_p),
                byref(interception), None), fwd.OK)
        for expected in -21, 11:
            self.assertEqual(
                fwd.forward(self.proxy.handle, self.add, byref(number), 4, byref(result), 4), fwd.OK)
            self.assertEqual(result.value, expected)
            fwd.proxy_end_interception(self.proxy.handle, interception)
        self.assertEqual(ended, [7])
        self.assertEqual(fwd.proxy_end_interception(self.proxy.handle, interception), fwd.NOT_SUBSCRIBED)

    def test_a_subscriber_can_leave_during_a_fan_out(self):
        @ResetFunction
        def leave(context, selector, value):
            self.calls.append("leave")
            fwd.proxy_unsubscribe(self.proxy.handle, token)
            fwd.proxy_unsubscribe(self.proxy.handle, later)

        @AddFunction
        def add(context, selector, number):
            return 0

        token = self.proxy.subscribe({b"add:": (b"i@:i", add), b"reset:": (b"v@:d", leave)})
        later = self.subscribe(1)
        value = c_double(1)
        for _ in range(2):
            fwd.forward(self.proxy.handle, self.reset, byref(value), 8, None, 0)
        self.assertEqual(self.calls, ["leave"])

    def test_are_function_pointers(self):
        self.subscribe(100)
        closure, error = c_void_p(), fwd.Error()
        self.assertEqual(
            fwd.proxy_function(self.proxy.handle, self.add, 0, byref(closure), byref(error)), fwd.OK)
        self.assertEqual(CFUNCTYPE(c_int, c_int)(fwd.closure_function(closure))(11), 111)
        fwd.closure_destroy(closure)
        self.assertEqual(
            fwd.proxy_function(self.proxy.handle, self.add, 1, byref(closure), byref(error)), fwd.OK)
        self.assertEqual(CFUNCTYPE(c_int, c_void_p, c_int)(fwd.closure_function(closure))(None, 12), 112)
        fwd.closure_destroy(closure)

    def test_report_what_a_function_pointer_could_not_do(self):
        reported = []
        default = c_int(-1)
        methods = (fwd.MethodOptions * 1)(
            fwd.MethodOptions(b"add:", fwd.RESULT_DEFAULT, ctypes.addressof(default), 4))
        handler = fwd.ErrorHandler(
            lambda context, selector, error: reported.append((context, error[0].status)))
        options = fwd.ProxyOptions(methods=methods, method_count=1, on_error=handler, on_error_context=5)
        proxy = fwd.Proxy(adder, options=options)
        closure, error = c_void_p(), fwd.Error()
        self.assertEqual(fwd.proxy_function(proxy.handle, self.add, 0, byref(closure), byref(error)), fwd.OK)
        self.assertEqual(CFUNCTYPE(c_int, c_int)(fwd.closure_function(closure))(11), -1)
        fwd.closure_destroy(closure)
        plain = fwd.Proxy(adder, options=fwd.ProxyOptions(on_error=handler, on_error_context=6))
        self.assertEqual(fwd.proxy_function(plain.handle, self.add, 0, byref(closure), byref(error)), fwd.OK)
        self.assertEqual(CFUNCTYPE(c_int, c_int)(fwd.closure_function(closure))(11), 0)
        fwd.closure_destroy(closure)
        self.assertEqual(reported, [(6, fwd.NO_RESPONDER)])

    def test_wrong_calls_are_errors(self):
        number, result = c_int(1), c_int(77)
        handle = self.proxy.handle
        unknown = fwd.selector_register(b"library:unknown")
        for expected, status in (
            (fwd.NO_RESPONDER, fwd.forward(handle, self.add, byref(number), 4, byref(result), 4)),
            (fwd.UNKNOWN_SELECTOR, fwd.forward(handle, unknown, None, 0, None, 0)),
            (fwd.WRONG_SIZE, fwd.forward(handle, self.add, byref(number), 3, byref(result), 4)),
            (fwd.WRONG_SIZE, fwd.forward(handle, self.add, byref(number), 4, byref(result), 8)),
            (fwd.UNKNOWN_SELECTOR, fwd.forward_named(handle, b"library:never:", None, 0, None, 0)),
        ):
            self.assertEqual(status, expected)
            self.assertTrue(fwd.error_message())
        self.assertEqual(result.value, 77)

    def test_refuse_subscribers_that_do_not_fit(self):
        @ResetFunction
        def reset(context, selector, value):
            pass

        with self.assertRaises(fwd.Failure) as caught:
            self.proxy.subscribe({b"reset:": (b"v@:d", reset)})
        self.assertEqual(caught.exception.status, fwd.MISSING_METHOD)
        self.assertIn("add:", caught.exception.text)
        with self.assertRaises(fwd.Failure) as caught:
            self.proxy.subscribe({b"add:": (b"i@:d", reset)})
        self.assertEqual(caught.exception.status, fwd.SIGNATURE_MISMATCH)
        self.assertEqual(fwd.proxy_subscriber_count(self.proxy.handle), 0)


if __name__ == "__main__":
    unittest.main()
