# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Signatures, calls of C functions, closures, and values of all types."""

import ctypes
import ctypes.util
import errno
import fractions
import gc
import math
import os
import platform
import unittest
import weakref
from ctypes import c_double, c_int, c_int64, c_long, c_void_p

from forwarding import Closure, ForwardingError, Selector, Signature, Status
from support import TestCase, Unraisable, libc


class Point(ctypes.Structure):
    _fields_ = [("x", c_double), ("y", c_double)]


class Large(ctypes.Structure):
    _fields_ = [("values", c_int64 * 5)]


class Small(ctypes.Structure):
    _fields_ = [("n", c_int), ("c", ctypes.c_char)]


class Either(ctypes.Union):
    _fields_ = [("n", c_int), ("d", c_double)]


def passed(encoding, value, structs=None):
    """What comes back when a value goes to C, from there to a closure in Python, and back by the same way."""
    signature = Signature(encoding + encoding, structs=structs)
    seen = []

    def identity(argument):
        seen.append(argument)
        return argument

    with Closure(signature, identity) as closure:
        result = signature.call(closure, value)
    return seen[0], result


class Signatures(TestCase):
    def test_halves_of_characters(self):
        for make in (Selector, Signature, lambda text: Signature("v*").call(libc.abs, text)):
            error = self.fails(Status.MALFORMED, "U+D800 at index 1", make, "v\ud800")
            self.assertIn("half of a character", str(error))

    def test_character_literals_in_names(self):
        for literal in ("'<'", "'>'", "'='", "'}'", "'\\''", "'\\x3c'"):
            encoding = "{C<" + literal + ">=ii}"
            self.assertEqual(len(Signature("v" + encoding + "i").arguments), 2, encoding)

    def test_tell_their_parts(self):
        signature = Signature("d24@0:8i16c20")
        self.assertEqual(signature.argument_count, 4)
        self.assertEqual((signature.hidden_count, signature.frame_size), (2, 8))
        self.assertEqual(Signature(b"vi").encoding, "vi")

    def test_all_forms_of_types_are_split(self):
        for encoding, count in (
                ("v@?", 1), ("v@?<v@?i>i", 2), ('v@"NSString"i', 2), ("v^{node=i^{node}}i", 2), ("vr^*n^i", 2),
                ('v{Pair="first"i"second"@"NSString"}d', 2), ("v^[4{P=ii}]i", 2), ("v^{vector<int, A<int>>=^i}i", 2),
                ("v^{Box<(Int) -> Int>=i}i", 2), ("v(U=id)q", 2), ("v[4i]i", 2), ("vjdi", 2), ("v^^?i", 2), ("v", 0),
                ("v16@+8:+12", 2), ("v^{E=b3b5}i", 2), ("v^{S}i", 2)):
            self.assertEqual(Signature(encoding).argument_count, count, encoding)

    def test_wrong_encodings_are_errors_with_the_place(self):
        error = self.fails(Status.MALFORMED, "offset 9", Signature, "v{Point=d")
        self.assertEqual(error.offset, 9)
        for encoding, code in (
                ("", Status.MALFORMED), ("!", Status.UNSUPPORTED), ("v\0", Status.MALFORMED),
                ("vi!!", Status.UNSUPPORTED), ("v{F=b3}", Status.UNSUPPORTED), ("é", Status.MALFORMED),
                ("v[99999999999999999999i]", Status.OVERFLOW),
                ("v" + "{a=" * 500 + "i" + "}" * 500, Status.TOO_DEEP), ("v" + "i" * 300, Status.OVERFLOW),
                ("v\udcff", Status.MALFORMED), ("i" * 2000000, Status.OVERFLOW)):
            self.fails(code, "", Signature, encoding)
        for value in (None, 3, ["v"], object()):
            self.fails(Status.TYPE_MISMATCH, "expected a str", Signature, value)

    def test_structs_have_the_size_of_the_encoding(self):
        error = self.fails(
            Status.WRONG_SIZE, "Small has 8 bytes, expected 16 for {Point=dd}", Signature, "v{Point=dd}",
            structs={"Point": Small})
        self.assertIsNone(error.result)
        self.fails(Status.TYPE_MISMATCH, "no ctypes structure", Signature, "vi", structs={"Point": int})
        self.fails(Status.TYPE_MISMATCH, "no ctypes structure", Signature, "vi", structs={"Point": c_int})
        Signature("vi", structs={"Unused": Point})


class Calls(TestCase):
    def test_functions_of_libc(self):
        self.assertEqual(Signature("ii").call(libc.abs, -7), 7)
        self.assertEqual(Signature("Q*").call(libc.strlen, "häuser"), 7)
        self.assertEqual(Signature("Q*").call(libc.strlen, b"abc"), 3)
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        self.assertAlmostEqual(Signature("dd").call(libm.cos, math.pi), -1)
        self.assertAlmostEqual(Signature("ff").call(libm.cosf, 0), 1)
        self.assertAlmostEqual(Signature("DD").call(libm.sqrtl, 2.0), math.sqrt(2))
        self.assertEqual(Signature("**i").call(libc.strchr, b"path/name", ord("/")), b"/name")
        self.assertIsNone(Signature("**i").call(libc.strchr, b"path", ord("/")))
        number = c_int()
        Signature("v^v^vQ").call(libc.memcpy, ctypes.byref(number), bytes([1, 0, 0, 0]), 4)
        self.assertEqual(number.value, 1)

    def test_errno_is_that_of_the_function(self):
        opening = Signature("i*i...i")
        self.assertEqual(opening.call(libc.open, "/no/such/file", os.O_RDONLY, 0), -1)
        self.assertEqual(ctypes.get_errno(), errno.ENOENT)
        self.assertEqual(opening.call(libc.open, "/", os.O_WRONLY, 0), -1)
        self.assertEqual(ctypes.get_errno(), errno.EISDIR)
        # A function that succeeds leaves it.
        ctypes.set_errno(errno.EXDEV)
        self.assertEqual(Signature("ii").call(libc.abs, -5), 5)
        self.assertEqual(ctypes.get_errno(), errno.EXDEV)

    def test_variadic_functions(self):
        text = ctypes.create_string_buffer(64)
        signature = Signature("i^vQr*...ifcd*")
        self.assertEqual(signature.argument_count, 8)
        length = signature.call(libc.snprintf, text, 64, "%d %.1f %d %.2f %s", -7, 1.5, -3, 2.25, "end")
        self.assertEqual((text.value, length), (b"-7 1.5 -3 2.25 end", 18))
        self.fails(Status.UNSUPPORTED, "\"...\"", Closure, signature, lambda *arguments: 0)

    def test_the_function_may_be_an_address(self):
        address = ctypes.cast(libc.abs, c_void_p)
        self.assertEqual(Signature("ii").call(address, -1), 1)
        self.assertEqual(Signature("ii").call(address.value, -1), 1)
        with Closure("ii", lambda number: number + 1) as closure:
            self.assertEqual(Signature("ii").call(closure, 1), 2)
            self.assertEqual(Signature("ii").call(closure.address, 1), 2)

    def test_what_is_no_function_is_an_error(self):
        call = Signature("ii").call
        self.fails(Status.NULL_ARGUMENT, "NULL", call, 0, 1)
        self.fails(Status.NULL_ARGUMENT, "NULL", call, c_void_p(), 1)
        self.fails(Status.OUT_OF_RANGE, "no address", call, -1, 1)
        self.fails(Status.OUT_OF_RANGE, "no address", call, 1 << 64, 1)
        for value in (None, "abs", b"abs", 1.5, True, object(), abs, lambda number: number, c_int(3), (c_int * 2)()):
            self.fails(Status.TYPE_MISMATCH, "expected a ctypes function", call, value, 1)

    def test_a_wrong_number_of_arguments_is_an_error(self):
        for arguments in ((), (1, 2), (1,) * 300):
            error = self.fails(Status.OUT_OF_RANGE, "expected 1 for ii", Signature("ii").call, libc.abs, *arguments)
            self.assertEqual(error.offset, len(arguments))

    def test_the_error_names_the_argument(self):
        error = self.fails(
            Status.TYPE_MISMATCH, "argument 1 of viis is of type str, expected an int",
            Signature("viis").call, libc.abs, 1, "2", 3)
        self.assertEqual(error.offset, 1)


class Values(TestCase):
    def test_integers_of_all_sizes(self):
        for letter, bits, is_signed in (
                ("c", 8, True), ("C", 8, False), ("s", 16, True), ("S", 16, False), ("i", 32, True), ("I", 32, False),
                ("q", 64, True), ("Q", 64, False), ("t", 128, True), ("T", 128, False)):
            least = -(1 << (bits - 1)) if is_signed else 0
            greatest = (1 << (bits - is_signed)) - 1
            for value in (0, 1, least, greatest, greatest // 3):
                self.assertEqual(passed(letter, value), (value, value), letter)
            for value in (least - 1, greatest + 1, 10 ** 5000, -10 ** 5000):
                self.fails(Status.OUT_OF_RANGE, "expected", Signature("v" + letter).call, libc.abs, value)
            for value in (None, "1", b"1", 1.0, [1], 1j, c_int(1)):
                self.fails(Status.TYPE_MISMATCH, "expected an int", Signature("v" + letter).call, libc.abs, value)
        self.assertEqual(passed("i", True), (1, 1))

    def test_bools(self):
        self.assertEqual(passed("B", True), (True, True))
        self.assertIs(passed("B", 0)[1], False)
        for value in (2, -1, None, "yes", 1.0, 10 ** 400):
            self.fails(Status.TYPE_MISMATCH, "expected a bool", Signature("vB").call, libc.abs, value)
        # Any byte but 0 is true.
        self.assertIs(Signature("BC").call(libc.abs, 6), True)

    def test_floating_point_numbers(self):
        for letter in "fdD":
            self.assertEqual(passed(letter, 2.5), (2.5, 2.5), letter)
            self.assertEqual(passed(letter, 3), (3.0, 3.0))
            self.assertEqual(passed(letter, math.inf), (math.inf, math.inf))
            self.assertTrue(math.isnan(passed(letter, math.nan)[1]))
            for value in (None, "1", b"1", 1j, [1], object()):
                self.fails(Status.TYPE_MISMATCH, "expected a number", Signature("v" + letter).call, libc.abs, value)
            self.fails(Status.OUT_OF_RANGE, "bits", Signature("v" + letter).call, libc.abs, 10 ** 5000)
            self.fails(
                Status.OUT_OF_RANGE, "bits", Signature("v" + letter).call, libc.abs, fractions.Fraction(10 ** 400))

    def test_pointers(self):
        number = c_int(5)
        address = ctypes.addressof(number)
        array = (c_int * 3)(1, 2, 3)
        for value, expected in (
                (None, None), (0, None), (address, address), (ctypes.byref(number), address),
                (ctypes.pointer(number), address), (c_void_p(address), address), (c_void_p(), None),
                (array, ctypes.addressof(array)), (libc.abs, ctypes.cast(libc.abs, c_void_p).value),
                ((1 << 64) - 1, (1 << 64) - 1), (Selector("x"), Selector("x").address)):
            self.assertEqual(Signature("^v^v").call(Closure("^v^v", lambda pointer: pointer), value), expected)
        for value in ("text", 1.5, True, [1], object(), number, Point(1, 2), {}, bytearray(b"x"), memoryview(b"x")):
            error = self.fails(
                Status.TYPE_MISMATCH, "expected None, an address", Signature("v^v").call, libc.abs, value)
            self.assertEqual(error.offset, 0)
        self.fails(Status.TYPE_MISMATCH, "ctypes.byref", Signature("v^v").call, libc.abs, Point(1, 2))
        for value in (-1, 1 << 64, -10 ** 400):
            self.fails(Status.OUT_OF_RANGE, "expected an address", Signature("v^v").call, libc.abs, value)

    def test_an_address_of_another_type_is_refused(self):
        class Odd:
            @property
            def _as_parameter_(self):
                raise RuntimeError("no parameter")

        with self.assertRaisesRegex(RuntimeError, "no parameter"):
            Signature("v^v").call(libc.abs, Odd())
        Odd._as_parameter_ = 1.5
        self.fails(Status.TYPE_MISMATCH, "type Odd", Signature("v^v").call, libc.abs, Odd())

    def test_strings(self):
        with Closure("i*", lambda text: -1 if text is None else len(text)) as length:
            for value, expected in (
                    ("", 0), ("ä", 2), (b"abc", 3), (None, -1), (ctypes.c_char_p(b"xy"), 2),
                    (ctypes.create_string_buffer(b"xyz"), 3)):
                self.assertEqual(Signature("i*").call(length, value), expected)
            self.fails(Status.OUT_OF_RANGE, "NUL", Signature("i*").call, length, "a\0b")
            self.fails(Status.OUT_OF_RANGE, "NUL", Signature("i*").call, length, b"a\0b")
            self.fails(Status.TYPE_MISMATCH, "expected None, a str", Signature("i*").call, length, 1.5)

    def test_strings_that_c_would_keep_are_refused(self):
        for value in ("text", b"text"):
            with Closure("*", lambda: value) as closure:
                error = self.fails(Status.DELIVERY_FAILED, "memory that lives on", Signature("*").call, closure)
                self.assertEqual(error.__cause__.code, Status.TYPE_MISMATCH)
                self.assertIsNone(error.result)
        buffer = ctypes.create_string_buffer(b"mine")
        with Closure("*", lambda: buffer) as closure:
            self.assertEqual(Signature("*").call(closure), b"mine")
        self.fails(Status.TYPE_MISMATCH, "lives on", Closure, "*", lambda: None, failure=b"x")

    def test_selectors(self):
        self.assertEqual(passed(":", Selector("ask:")), (Selector("ask:"), Selector("ask:")))
        self.assertEqual(passed(":", "ask:")[0].name, "ask:")
        self.assertEqual(passed(":", None), (None, None))
        self.fails(Status.TYPE_MISMATCH, "expected a Selector", Signature("v:").call, libc.abs, 5)
        self.assertEqual(len({Selector("a"), Selector("a"), Selector("b")}), 2)
        self.assertNotEqual(Selector("a"), "a")
        self.fails(Status.NULL_ARGUMENT, "", Selector, "")
        self.fails(Status.MALFORMED, "NUL", Selector, "a\0b")
        self.fails(Status.TYPE_MISMATCH, "expected a str", Selector, None)
        self.assertEqual(Selector("\udcff").name, "\udcff")
        for name in ("x" * 65536, "x" * 200000):
            with self.assertRaises(ForwardingError):
                Selector(name)

    def test_structs(self):
        structs = {"Point": Point, "Large": Large, "Small": Small}
        seen, result = passed("{Point=dd}", Point(1, 2), structs)
        self.assertIsInstance(seen, Point)
        self.assertEqual((seen.x, seen.y, result.x, result.y), (1, 2, 1, 2))
        _, large = passed("{Large=[5q]}", Large((c_int64 * 5)(1, 2, 3, 4, 5)), structs)
        self.assertEqual(list(large.values), [1, 2, 3, 4, 5])
        _, small = passed("{Small=ic}", Small(7, b"x"), structs)
        self.assertEqual((small.n, small.c), (7, b"x"))
        divided = Signature("{ldiv_t=qq}qq").call(libc.ldiv, 23, 7)
        self.assertEqual(divided, bytes((c_long * 2)(3, 2)))
        # Without a class: bytes, or any structure of the size.
        for value in (Point(1, 2), bytes(Point(1, 2)), bytearray(bytes(Point(1, 2)))):
            self.assertEqual(passed("{Point=dd}", value), (bytes(Point(1, 2)),) * 2)

    def test_unions_of_the_same_size(self):
        try:
            signature = Signature("(Either=id)(Either=id)", structs={"Either": Either})
        except ForwardingError as error:
            self.assertEqual(error.code, Status.UNSUPPORTED)
            return
        with Closure(signature, lambda value: value) as closure:
            self.assertEqual(signature.call(closure, Either(d=2.5)).d, 2.5)

    def test_structs_of_another_size_or_class_are_errors(self):
        call = Signature("v{Point=dd}", structs={"Point": Point}).call
        plain = Signature("v{Point=dd}").call
        self.fails(Status.TYPE_MISMATCH, "expected a Point", call, libc.abs, Small())
        for value in (Small(), Large(), b"", b"x" * 15, b"x" * 17, bytearray(17)):
            self.fails(Status.WRONG_SIZE, "expected 16 for {Point=dd}", plain, libc.abs, value)
        for value in (None, 1, 1.5, "x" * 16, (1, 2), Point):
            self.fails(Status.TYPE_MISMATCH, "{Point=dd}", plain, libc.abs, value)

    def test_complex_numbers_are_bytes(self):
        value = bytes((c_double * 2)(1, 2))
        self.assertEqual(passed("jd", value), (value, value))


class Closures(TestCase):
    def test_qsort_with_a_comparator(self):
        numbers = (c_int * 1000)(*[(n * 7919) % 1009 for n in range(1000)])
        expected = sorted(numbers)

        def compare(left, right):
            a, b = c_int.from_address(left).value, c_int.from_address(right).value
            return (a > b) - (a < b)

        with Closure("i^v^v", compare) as comparator:
            Signature("v^vQQ^?").call(libc.qsort, numbers, 1000, 4, comparator)
            self.assertEqual(list(numbers), expected)
            numbers[0], numbers[999] = numbers[999], numbers[0]
            libc.qsort(numbers, ctypes.c_size_t(1000), ctypes.c_size_t(4), comparator)
        self.assertEqual(list(numbers), expected)

    def test_an_exception_reaches_the_caller_in_python(self):
        numbers = (c_int * 5)(5, 4, 3, 2, 1)
        count = 0

        def compare(left, right):
            nonlocal count
            count += 1
            raise LookupError("no order")

        signature = Signature("v^vQQ^?")
        with Unraisable() as seen, Closure("i^v^v", compare) as comparator:
            error = self.fails(
                Status.DELIVERY_FAILED, "LookupError: no order", signature.call, libc.qsort, numbers, 5, 4, comparator)
        self.assertIsInstance(error.__cause__, LookupError)
        # The function has run to its end. The first exception is raised, and the others are not lost.
        self.assertGreater(count, 1)
        self.assertEqual(len(seen), count - 1)

    def test_the_error_has_the_result_of_the_function(self):
        def raises(number):
            raise ValueError("no")

        with Closure("ii", raises, failure=-9) as inner:
            with Unraisable() as seen:
                error = self.fails(Status.DELIVERY_FAILED, "ValueError", Signature("ii").call, inner, 1)
            self.assertEqual((error.result, seen), (-9, []))

    def test_an_exception_with_a_caller_in_c_goes_to_the_handler(self):
        errors = []
        with Closure("ii", lambda number: 1 // number, failure=-9, on_error=errors.append) as closure:
            function = ctypes.CFUNCTYPE(c_int, c_int)(closure.address)
            with Unraisable() as seen:
                self.assertEqual((function(1), function(0)), (1, -9))
            self.assertEqual(seen, [])
        self.assertEqual([error.code for error in errors], [Status.DELIVERY_FAILED])
        self.assertIsInstance(errors[0].__cause__, ZeroDivisionError)

    def test_an_exception_in_a_nested_call_is_not_the_caller_s(self):
        with Closure("i", lambda: 1 // 0) as inner:
            with Closure("i", lambda: ctypes.CFUNCTYPE(c_int)(inner.address)() + 5) as outer, Unraisable() as seen:
                self.assertEqual(Signature("i").call(outer), 5)
        self.assertEqual([type(exception) for exception in seen], [ZeroDivisionError])

    def test_an_exception_without_a_handler_is_unraisable(self):
        with Closure("ii", lambda number: 1 // number) as closure:
            with Unraisable() as seen:
                self.assertEqual(ctypes.CFUNCTYPE(c_int, c_int)(closure.address)(0), 0)
        self.assertEqual([type(exception) for exception in seen], [ZeroDivisionError])

    def test_an_exception_in_the_handler_is_unraisable(self):
        def handler(error):
            raise KeyError("handler")

        with Closure("i", lambda: None, on_error=handler) as closure, Unraisable() as seen:
            ctypes.CFUNCTYPE(c_int)(closure.address)()
        self.assertEqual([type(exception) for exception in seen], [KeyError])

    def test_a_result_that_does_not_fit_is_a_failure(self):
        for value in (None, "x", 1 << 31, 1.5, object()):
            with Closure("i", lambda: value, failure=-1) as closure:
                error = self.fails(Status.DELIVERY_FAILED, "the result of a closure", Signature("i").call, closure)
                self.assertEqual(error.result, -1)
        with Closure("v", lambda: object()) as closure:
            self.assertIsNone(Signature("v").call(closure))

    def test_an_interruption_leaves_the_call_as_it_is(self):
        for kind in (KeyboardInterrupt, SystemExit):
            def raises():
                raise kind("stop")

            with Closure("v", raises) as closure, Unraisable() as seen:
                with self.assertRaises(kind):
                    Signature("v").call(closure)
            self.assertEqual(seen, [])

    def test_an_exception_that_cannot_be_described(self):
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def raises():
            raise Odd

        with Closure("v", raises) as closure:
            error = self.fails(Status.DELIVERY_FAILED, "Odd", Signature("v").call, closure)
        self.assertIsInstance(error.__cause__, Odd)

    def test_wrong_arguments_of_the_constructor(self):
        self.fails(Status.TYPE_MISMATCH, "callable", Closure, "v", None)
        self.fails(Status.TYPE_MISMATCH, "callable", Closure, "v", lambda: None, on_error=5)
        self.fails(Status.MALFORMED, "", Closure, "{", lambda: None)
        self.fails(Status.OUT_OF_RANGE, "failure result", Closure, "c", lambda: 0, failure=500)

    def test_closed_ones_are_errors(self):
        closure = Closure("i", lambda: 1)
        closure.close()
        closure.close()
        self.fails(Status.DEAD, "closed", lambda: closure.address)
        self.fails(Status.DEAD, "closed", Signature("i").call, closure)
        self.fails(Status.DEAD, "closed", Signature("v^?").call, libc.abs, closure)

    def test_one_may_be_closed_in_its_own_call(self):
        made = []

        def once(number):
            made.pop().close()
            gc.collect()
            return number + 1

        for _ in range(10):
            made.append(Closure("ii", once))
            self.assertEqual(Signature("ii").call(made[0].address, 4), 5)

    @unittest.skipUnless(platform.machine() == "x86_64", "only x86-64 bounds such a mistake")
    def test_a_call_after_the_end_gives_zeros(self):
        closure = Closure("i", lambda: 7)
        address, dead = closure.address, weakref.ref(closure)
        del closure
        gc.collect()
        self.assertIsNone(dead())
        self.assertEqual(Signature("i").call(address), 0)

    def test_recursion_between_python_and_c(self):
        def count(number):
            return 0 if number == 0 else 1 + signature.call(closure, number - 1)

        signature = Signature("ii")
        with Closure(signature, count) as closure:
            self.assertEqual(signature.call(closure, 20), 20)

    def test_recursion_without_an_end_is_an_error(self):
        depth = 0

        def forever(number):
            nonlocal depth
            depth += 1
            return signature.call(closure, number)

        signature, raised = Signature("ii"), []
        with Unraisable() as seen, Closure(signature, forever) as closure:
            try:
                signature.call(closure, 1)
            except ForwardingError as error:
                raised.append(error.__cause__)
        self.assertGreater(depth, 10)
        # At the limit Python cannot always run the code that finds the caller.
        self.assertTrue(raised or seen)

    def test_nothing_leaks(self):
        class Callable:
            def __call__(self):
                return 1

        callables = weakref.WeakSet()
        for _ in range(2000):
            callable = Callable()
            callables.add(callable)
            with Closure("i", callable) as closure:
                Signature("i").call(closure)
        del callable, closure
        gc.collect()
        self.assertEqual(len(callables), 0)

    def test_more_closures_than_there_are_compiled_entries(self):
        closures = [Closure("ii", lambda number, own=own: number + own) for own in range(2000)]
        self.assertEqual([Signature("ii").call(each, 1) for each in closures], list(range(1, 2001)))
