# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Proxies, subscribers in Python, function pointers, and how long all of them live."""

import ctypes
import gc
import itertools
import threading
import time
import unittest
import weakref
from ctypes import CFUNCTYPE, c_double, c_int, c_void_p

from forwarding import (
    Closure, ForwardingError, FunctionForm, Position, ProtocolTable, Proxy, ResultPolicy, Selector, Signature, Status,
    mark_handled,
)
from forwarding import _proxy
from support import TestCase, Unraisable, libc, table


class Point(ctypes.Structure):
    _fields_ = [("x", c_double), ("y", c_double)]


class Tables(TestCase):
    def test_the_same_methods_may_be_registered_again(self):
        first = ProtocolTable("Tests.Again", required={"ask:": "i@i"})
        self.assertEqual(first._address, ProtocolTable("Tests.Again", required={"ask:": "i@i"})._address)
        self.fails(Status.CONFLICT, "Tests.Again", ProtocolTable, "Tests.Again", required={"ask:": "q@i"})

    def test_wrong_declarations_are_errors(self):
        self.fails(Status.NO_RECEIVER, "", table, ask_="ii")
        self.fails(Status.MALFORMED, "", table, ask_="i@{")
        self.fails(Status.MALFORMED, "NUL", table, ask_="i@\0")
        self.fails(Status.TYPE_MISMATCH, "expected a str", table, ask_=None)
        self.fails(Status.TYPE_MISMATCH, "expected a str", ProtocolTable, None)
        self.fails(Status.TYPE_MISMATCH, "expected a dict", ProtocolTable, "x", required=5)
        self.fails(Status.TYPE_MISMATCH, "expected a str", ProtocolTable, "x", required={5: "v@"})
        self.fails(Status.CONFLICT, "", ProtocolTable, "Tests.Twice", required={"a": "v@"}, optional={"a": "v@"})
        self.fails(Status.UNSUPPORTED, "object", table, make="@@")
        self.fails(Status.WRONG_SIZE, "Point", table, at_="v@{Point=ii}", structs={"Point": Point})


class Sending(TestCase):
    def test_values_of_many_types_arrive(self):
        proxy = Proxy(table(all="d@:cBifd*^v:{Point=dd}q", structs={"Point": Point}))
        seen = []
        proxy.subscribe({"all": lambda *arguments: seen.append(arguments) or 1.5})
        self.assertEqual(proxy.send("all", -1, True, 1 << 20, 0.5, 2.5, "text", None, "sel", Point(3, 4), -5), 1.5)
        self.assertEqual(seen[0][:8], (-1, True, 1 << 20, 0.5, 2.5, b"text", None, Selector("sel")))
        self.assertEqual((seen[0][8].x, seen[0][8].y, seen[0][9]), (3, 4, -5))

    def test_struct_results(self):
        proxy = Proxy(table(at_="{Point=dd}@d", structs={"Point": Point}))
        proxy.subscribe({"at:": lambda x: Point(x, 2 * x)})
        self.assertEqual(proxy.send("at:", 2).y, 4)

    def test_subscribers_are_called_in_order(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        for name in "abc":
            proxy.subscribe({"note:": lambda number, name=name: seen.append(name)})
        proxy.send("note:", 1)
        self.assertEqual(seen, ["a", "b", "c"])

    def test_positions(self):
        proxy, seen = Proxy(table(note="v@")), []

        def add(name, position=Position.LAST):
            return proxy.subscribe({"note": lambda: seen.append(name)}, position=position)

        b = add("b")
        add("a", Position.FIRST)
        add("d", Position.after(b))
        c = add("c", Position.before(add("e")))
        add("f", Position.index(5))
        add("z", Position.priority(-1))
        add("0", Position.priority(1))
        proxy.send("note")
        self.assertEqual("".join(seen), "0abdcefz")
        c.move(Position.FIRST)
        seen.clear()
        proxy.send("note")
        self.assertEqual(seen[0], "c")
        self.fails(Status.OUT_OF_RANGE, "", add, "x", Position.index(99))
        self.fails(Status.TYPE_MISMATCH, "expected a Position", add, "x", 5)
        self.fails(Status.TYPE_MISMATCH, "expected a Subscription", add, "x", Position.before(5))
        self.fails(Status.OUT_OF_RANGE, "the index is -1", Position.index, -1)
        self.fails(Status.OUT_OF_RANGE, "the priority", Position.priority, 1 << 40)
        other = Proxy(table(note="v@")).subscribe({"note": print})
        self.fails(Status.NOT_SUBSCRIBED, "", add, "x", Position.before(other))

    def test_wrong_calls_are_errors(self):
        proxy = Proxy(table(note_="v@i", ask="i@"))
        self.fails(Status.UNKNOWN_SELECTOR, '"missing"', proxy.send, "missing")
        self.fails(Status.TYPE_MISMATCH, "expected a str", proxy.send, None)
        for arguments in ((), (1, 2)):
            self.fails(Status.OUT_OF_RANGE, "expected 1 for v@i", proxy.send, "note:", *arguments)
        error = self.fails(
            Status.TYPE_MISMATCH, 'argument 1 of "note:" is None, expected an int', proxy.send, "note:", None)
        self.assertEqual(error.offset, 1)
        self.fails(Status.OUT_OF_RANGE, "expected", proxy.send, "note:", 1 << 31)
        self.fails(Status.NO_RESPONDER, '"ask"', proxy.send, "ask")
        self.assertIsNone(proxy.send("note:", 1))
        self.fails(Status.TYPE_MISMATCH, "expected a ProtocolTable", Proxy, "x")
        self.fails(Status.CONFLICT, "", Proxy, table(note_="v@i"), table(note_="v@q"))

    def test_selectors_and_questions(self):
        proxy = Proxy(table(ask="i@"))
        self.assertFalse(proxy.responds("ask"))
        with proxy.subscribe({"ask": lambda: 3}):
            self.assertTrue(proxy.responds(Selector("ask")))
            self.assertEqual((proxy.send(Selector("ask")), proxy.subscriber_count), (3, 1))
        self.assertEqual(proxy.subscriber_count, 0)
        self.assertEqual(proxy.signature("ask").encoding, "i@")

    def test_wrong_subscribers_are_errors_and_leave_nothing(self):
        proxy = Proxy(ProtocolTable("Tests.Required", required={"must": "v@"}, optional={"may": "v@"}))
        self.fails(Status.MISSING_METHOD, "must", proxy.subscribe, {"may": print})
        self.fails(Status.MISSING_METHOD, "", proxy.subscribe, {})
        self.fails(Status.UNKNOWN_SELECTOR, "other", proxy.subscribe, {"must": print, "other": print})
        self.fails(Status.TYPE_MISMATCH, "callable", proxy.subscribe, {"must": None})
        self.fails(Status.TYPE_MISMATCH, "expected a dict", proxy.subscribe, 5)
        self.fails(Status.TYPE_MISMATCH, "held weakly", proxy.subscribe, {"must": print}, owner=5)
        self.fails(Status.OUT_OF_RANGE, "deliveries", proxy.subscribe, {"must": print}, times=-1)
        self.fails(Status.TYPE_MISMATCH, "expected an int", proxy.subscribe, {"must": print}, times="2")
        self.assertEqual((proxy.subscriber_count, proxy._targets), (0, {}))


class Results(TestCase):
    def proxy(self, encoding, policy, *results, **options):
        proxy = Proxy(table(ask=encoding), results={"ask": policy}, **options)
        self.calls = []
        for result in results:
            proxy.subscribe({"ask": lambda result=result: self.calls.append(result) or result})
        return proxy

    def test_policies(self):
        for policy, results, expected, calls in (
                (ResultPolicy.DEFAULT, (1, 2), 1, 1), (ResultPolicy.FIRST, (1, 2), 1, 1),
                (ResultPolicy.ALL_FIRST, (1, 2), 1, 2), (ResultPolicy.ALL_LAST, (1, 2), 2, 2),
                (ResultPolicy.UNTIL_NONZERO, (0, 5, 6), 5, 2), (ResultPolicy.UNTIL_NONZERO, (0, 0), 0, 2)):
            self.assertEqual(self.proxy("i@", policy, *results).send("ask"), expected, policy)
            self.assertEqual(len(self.calls), calls, policy)
        self.assertIs(self.proxy("B@", ResultPolicy.ANY, False, True, False).send("ask"), True)
        self.assertEqual(len(self.calls), 2)
        self.assertIs(self.proxy("B@", ResultPolicy.ALL, True, True).send("ask"), True)
        self.assertIs(self.proxy("B@", ResultPolicy.ALL, True, False, True).send("ask"), False)

    def test_until_handled(self):
        proxy, seen = Proxy(table(note="v@"), results={"note": ResultPolicy.UNTIL_HANDLED}), []
        proxy.subscribe({"note": lambda: seen.append("a")})
        proxy.subscribe({"note": lambda: seen.append("b") or mark_handled()})
        proxy.subscribe({"note": lambda: seen.append("c")})
        proxy.send("note")
        mark_handled()
        self.assertEqual(seen, ["a", "b"])

    def test_defaults_and_collecting(self):
        proxy = self.proxy("i@", ResultPolicy.DEFAULT, defaults={"ask": 7})
        self.assertEqual((proxy.send("ask"), proxy.collect("ask")), (7, []))
        self.assertEqual(self.proxy("i@", ResultPolicy.FIRST, 1, 2, 3).collect("ask"), [1, 2, 3])
        self.assertEqual(self.proxy("v@", ResultPolicy.DEFAULT, None, None).collect("ask"), [None, None])

    def test_collecting_reports_failures(self):
        errors = []
        proxy = self.proxy("i@", ResultPolicy.DEFAULT, 1, "no number", 3, on_error=errors.append)
        self.assertEqual(proxy.collect("ask"), [1, 3])
        self.assertEqual([error.code for error in errors], [Status.DELIVERY_FAILED])
        proxy = self.proxy("i@", ResultPolicy.DEFAULT, 1, "no number", 3, failures={"ask": -1}, on_error=errors.append)
        self.assertEqual(proxy.collect("ask"), [1, -1, 3])

    def test_wrong_options_are_errors(self):
        methods = table(ask="i@", note="v@")
        for options, code in (
                ({"results": {"other": 1}}, Status.UNKNOWN_SELECTOR), ({"results": {"ask": 99}}, Status.OUT_OF_RANGE),
                ({"results": {"ask": "first"}}, Status.TYPE_MISMATCH), ({"results": {"ask": -1}}, Status.OUT_OF_RANGE),
                ({"results": {"ask": ResultPolicy.ANY}}, Status.TYPE_MISMATCH),
                ({"defaults": {"ask": "1"}}, Status.TYPE_MISMATCH),
                ({"defaults": {"ask": 1 << 40}}, Status.OUT_OF_RANGE),
                ({"failures": {"note": 1}}, Status.TYPE_MISMATCH),
                ({"defaults": 5}, Status.TYPE_MISMATCH), ({"on_error": 5}, Status.TYPE_MISMATCH)):
            self.fails(code, "", Proxy, methods, **options)


class Failures(TestCase):
    def test_an_exception_reaches_the_caller(self):
        proxy = Proxy(table(ask="i@", note="v@"))

        def fails():
            raise LookupError("nothing here")

        proxy.subscribe({"ask": fails, "note": fails})
        for selector in ("ask", "note"):
            error = self.fails(Status.DELIVERY_FAILED, "LookupError: nothing here", proxy.send, selector)
            self.assertIsInstance(error.__cause__, LookupError)

    def test_an_exception_is_not_lost_where_another_subscriber_responds(self):
        errors = []
        for handler in (errors.append, None):
            proxy = Proxy(table(ask="i@"), on_error=handler)
            proxy.subscribe({"ask": lambda: 1 // 0})
            proxy.subscribe({"ask": lambda: 5})
            with Unraisable() as seen:
                self.assertEqual(proxy.send("ask"), 5)
            self.assertEqual([type(exception) for exception in seen], [] if handler else [ZeroDivisionError])
        self.assertEqual([type(error.__cause__) for error in errors], [ZeroDivisionError])

    def test_the_first_of_several_failures_is_raised_and_the_others_are_not_lost(self):
        proxy = Proxy(table(ask="i@"))
        for name in "abc":
            proxy.subscribe({"ask": lambda name=name: {}[name]})
        with Unraisable() as seen:
            error = self.fails(Status.DELIVERY_FAILED, "KeyError: 'a'", proxy.send, "ask")
        self.assertEqual((error.__cause__.args, [each.args for each in seen]), (("a",), [("b",), ("c",)]))

    def test_each_failure_has_its_own_cause_on_each_level(self):
        errors = []
        outer, inner = Proxy(table(ask="i@"), on_error=errors.append), Proxy(table(ask="i@"))

        def asks():
            try:
                inner.send("ask")
            except ForwardingError as error:
                self.assertIsInstance(error.__cause__, KeyError)
            raise LookupError("outer")

        inner.subscribe({"ask": lambda: {}["inner"]})
        outer.subscribe({"ask": asks})
        error = self.fails(Status.DELIVERY_FAILED, "outer", outer.send, "ask")
        self.assertIsInstance(error.__cause__, LookupError)
        self.assertEqual(errors, [error])

    def test_a_failure_with_the_same_message_in_a_nested_call_is_not_the_cause(self):
        inner, outer, mine = Proxy(table(ask="i@")), Proxy(table(ask="i@")), KeyError("x")
        inner.subscribe({"ask": lambda: {}["x"]})
        pointer = inner.function_pointer("ask")

        def fails():
            CFUNCTYPE(c_int)(pointer.address)()
            raise mine

        outer.subscribe({"ask": fails})
        with Unraisable() as seen:
            error = self.fails(Status.DELIVERY_FAILED, "KeyError: 'x'", outer.send, "ask")
        self.assertIs(error.__cause__, mine)
        self.assertEqual([type(exception) for exception in seen], [KeyError])

    def test_a_failure_behind_a_function_pointer_is_not_the_caller_s(self):
        errors = []
        inner = Proxy(table(ask="i@"), on_error=errors.append, failures={"ask": -1})
        inner.subscribe({"ask": lambda: 1 // 0})
        pointer = inner.function_pointer("ask")
        outer = Proxy(table(ask="i@"))
        outer.subscribe({"ask": lambda: CFUNCTYPE(c_int)(pointer.address)()})
        self.assertEqual(outer.send("ask"), -1)
        self.assertEqual(Signature("i").call(pointer), -1)
        self.assertEqual([type(error.__cause__) for error in errors], [ZeroDivisionError] * 2)

    def test_without_a_handler_a_failure_behind_a_function_pointer_is_unraisable(self):
        proxy = Proxy(table(ask="i@"))
        pointer = proxy.function_pointer("ask")
        function = CFUNCTYPE(c_int)(pointer.address)
        with Unraisable() as seen:
            self.assertEqual(function(), 0)
            proxy.subscribe({"ask": lambda: 1 // 0})
            self.assertEqual(function(), 0)
            self.assertEqual(Signature("i").call(pointer), 0)
        self.assertEqual([type(each) for each in seen], [ForwardingError, ZeroDivisionError, ZeroDivisionError])
        self.assertEqual(seen[0].code, Status.NO_RESPONDER)

    def test_an_exception_in_the_handler_is_unraisable(self):
        def handler(error):
            raise KeyError("handler")

        proxy = Proxy(table(ask="i@"), on_error=handler)
        proxy.subscribe({"ask": lambda: 1 // 0})
        with Unraisable() as seen:
            self.fails(Status.DELIVERY_FAILED, "ZeroDivisionError", proxy.send, "ask")
        self.assertEqual([type(exception) for exception in seen], [KeyError])

    def test_an_interruption_leaves_send_as_it_is(self):
        proxy, calls = Proxy(table(note="v@")), []

        def stop():
            raise KeyboardInterrupt

        proxy.subscribe({"note": stop})
        proxy.subscribe({"note": lambda: calls.append(1)})
        with Unraisable() as seen, self.assertRaises(KeyboardInterrupt):
            proxy.send("note")
        self.assertEqual((calls, seen), ([1], []))

    def test_the_cause_is_found_whatever_the_message_is(self):
        for text in ("", "two\nlines", "\x07bell", "a\0b", "\udcff", "%s %n", "x" * 5000, "é" * 127 + "e\u0301"):
            proxy = Proxy(table(ask="i@"), on_error=lambda error: None)

            def fails():
                raise ValueError(text)

            proxy.subscribe({"ask": fails})
            error = self.fails(Status.DELIVERY_FAILED, "ValueError", proxy.send, "ask")
            self.assertIsInstance(error.__cause__, ValueError, repr(text))

    def test_a_long_message_is_cut_between_characters(self):
        proxy = Proxy(table(ask="i@"))

        def fails():
            raise ValueError("€" * 1000 + "\udcff")

        proxy.subscribe({"ask": fails})
        error = self.fails(Status.DELIVERY_FAILED, "ValueError: €€", proxy.send, "ask")
        self.assertNotIn("\ufffd", error.message)
        self.assertIsInstance(error.__cause__, ValueError)

    def test_wrong_results_are_failures(self):
        for encoding, value in (
                ("i@", None), ("i@", "1"), ("i@", 1 << 31), ("B@", 2), ("d@", "1"), ("*@", "text"), ("^v@", b"x"),
                ("{Point=dd}@", b"x"), (":@", 5)):
            proxy = Proxy(table(ask=encoding))
            proxy.subscribe({"ask": lambda: value})
            error = self.fails(Status.DELIVERY_FAILED, 'the result of "ask"', proxy.send, "ask")
            self.assertIsInstance(error.__cause__, ForwardingError)

    def test_wrong_numbers_of_parameters_are_failures(self):
        proxy = Proxy(table(note_="v@i"))
        proxy.subscribe({"note:": lambda: None})
        error = self.fails(Status.DELIVERY_FAILED, "TypeError", proxy.send, "note:", 1)
        self.assertIsInstance(error.__cause__, TypeError)

    def test_a_veto_fails_closed_where_python_cannot_even_run_it(self):
        proxy = Proxy(
            table(veto_="i@i"), results={"veto:": ResultPolicy.UNTIL_NONZERO}, failures={"veto:": 1},
            on_error=lambda error: None)
        pointer = proxy.function_pointer("veto:")
        function = CFUNCTYPE(c_int, c_int)(pointer.address)
        proxy.subscribe({"veto:": lambda number: 0})
        results = []

        def descend():
            # At each depth, down to the one at which not even this call is possible.
            try:
                results.append(function(1))
                descend()
            except (RecursionError, ctypes.ArgumentError):
                pass

        with Unraisable():
            descend()
        # Allowed while there is room, then denied, and never allowed again at a greater depth.
        self.assertEqual(results, sorted(results))
        self.assertEqual((results[0], results[-1]), (0, 1))

    def test_recursion_without_an_end_is_an_error(self):
        proxy, depth = Proxy(table(note="v@")), itertools.count()
        proxy.subscribe({"note": lambda: next(depth) < 100000 and proxy.send("note")})
        with Unraisable():
            with self.assertRaises((ForwardingError, RecursionError)):
                proxy.send("note")
        self.assertGreater(next(depth), 10)


class Lifetimes(TestCase):
    class Owner:
        def __init__(self):
            self.seen = []

        def note(self, number):
            self.seen.append(number)

    def test_an_owner_is_held_weakly(self):
        proxy, owner = Proxy(table(note_="v@i")), self.Owner()
        for function in (self.Owner.note, owner.note):
            subscription = proxy.subscribe({"note:": function}, owner=owner)
        proxy.send("note:", 1)
        self.assertEqual((owner.seen, proxy.subscriber_count, subscription.is_active), ([1, 1], 2, True))
        del owner, function
        self.assertEqual((proxy.subscriber_count, proxy._targets, subscription.is_active), (0, {}, False))
        proxy.send("note:", 2)

    def test_an_owner_that_dies_at_once(self):
        proxy = Proxy(table(note_="v@i"))
        proxy.subscribe({"note:": self.Owner.note}, owner=self.Owner())
        self.assertEqual(proxy.subscriber_count, 0)

    def test_an_owner_may_die_in_a_delivery(self):
        proxy, owners = Proxy(table(note_="v@i")), [self.Owner()]
        proxy.subscribe({"note:": lambda number: owners.clear()})
        proxy.subscribe({"note:": self.Owner.note}, owner=owners[0])
        proxy.send("note:", 1)
        self.assertEqual(proxy.subscriber_count, 1)

    def test_an_owner_in_a_cycle_is_collected(self):
        proxy, owner = Proxy(table(note_="v@i")), self.Owner()
        owner.itself = owner
        proxy.subscribe({"note:": self.Owner.note}, owner=owner)
        del owner
        gc.collect()
        self.assertEqual(proxy.subscriber_count, 0)

    def test_a_subscription_is_only_a_handle(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        proxy.subscribe({"note:": seen.append})
        gc.collect()
        proxy.send("note:", 3)
        self.assertEqual(seen, [3])

    def test_cancelled_ones_may_be_used_again(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        subscription = proxy.subscribe({"note:": seen.append})
        self.assertTrue(subscription.is_active)
        subscription.cancel()
        subscription.cancel()
        proxy.send("note:", 1)
        self.assertEqual((seen, subscription.is_active, proxy._targets), ([], False, {}))
        for function in (subscription.block, subscription.unblock):
            self.fails(Status.NOT_SUBSCRIBED, "subscription", function)
        self.fails(Status.NOT_SUBSCRIBED, "", subscription.move, Position.FIRST)

    def test_a_change_takes_effect_at_once(self):
        proxy, seen = Proxy(table(note="v@")), []
        old = proxy.subscribe({"note": lambda: seen.append("old")})

        def swap():
            made = proxy.subscribe({"note": lambda: seen.append("new")}, position=Position.before(old))
            proxy.subscribe({"note": lambda: seen.append("first")}).move(Position.before(made))
            old.cancel()
            proxy.send("note")
            return made

        made = proxy.change(swap)
        self.assertEqual(seen, ["old"])
        self.assertTrue(made.is_active and not old.is_active)
        proxy.send("note")
        self.assertEqual(seen, ["old", "first", "new"])

    def test_a_change_that_raises_has_no_effect(self):
        class Owner:
            pass

        proxy, seen, made = Proxy(table(note="v@")), [], []
        old = proxy.subscribe({"note": lambda: seen.append("old")})
        owner = Owner()
        owned = proxy.subscribe({"note": lambda owner: seen.append("owned")}, owner=owner)

        def fail():
            nonlocal owner
            made.append(proxy.subscribe({"note": lambda: seen.append("new")}))
            old.cancel()
            owner = None
            raise ValueError("no")

        with self.assertRaises(ValueError):
            proxy.change(fail)
        proxy.send("note")
        self.assertEqual(seen, ["old"])
        self.assertTrue(old.is_active)
        self.assertFalse(made[0].is_active or owned.is_active)
        self.assertEqual(proxy.subscriber_count, 1)
        old.cancel()
        self.assertEqual(proxy.subscriber_count, 0)

    def test_changes_may_be_nested(self):
        proxy = Proxy(table(note="v@"))
        one, other = (proxy.subscribe({"note": lambda: None}) for _ in range(2))

        def inner():
            other.cancel()
            raise KeyError("inner")

        def outer():
            proxy.change(one.cancel)
            with self.assertRaises(KeyError):
                proxy.change(inner)
            self.assertTrue(other.is_active)

        proxy.change(outer)
        self.assertTrue(other.is_active and not one.is_active)

        def undone():
            proxy.change(other.cancel)
            raise KeyError("outer")

        with self.assertRaises(KeyError):
            proxy.change(undone)
        self.assertTrue(other.is_active)
        self.assertEqual(proxy.subscriber_count, 1)

    def test_wrong_changes_are_errors(self):
        proxy = Proxy(table(note="v@"))
        self.fails(Status.TYPE_MISMATCH, "body", proxy.change, 5)
        gone = proxy.subscribe({"note": lambda: None})
        gone.cancel()
        self.fails(Status.NOT_SUBSCRIBED, "", proxy.change,
                   lambda: proxy.subscribe({"note": lambda: None}, position=Position.after(gone)))
        self.assertEqual(proxy.subscriber_count, 0)
        with self.assertRaises(KeyboardInterrupt):
            proxy.change(lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
        proxy.close()
        self.fails(Status.DEAD, "closed", proxy.change, lambda: None)

    def test_blocking(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        subscription = proxy.subscribe({"note:": seen.append})
        subscription.block()
        proxy.send("note:", 1)
        subscription.unblock()
        proxy.send("note:", 2)
        self.assertEqual(seen, [2])
        self.fails(Status.OUT_OF_RANGE, "not blocked", subscription.unblock)

    def test_a_limit_ends_the_subscription(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        subscription = proxy.subscribe({"note:": seen.append}, times=2)
        for number in range(4):
            proxy.send("note:", number)
        self.assertEqual((seen, subscription.is_active, proxy._targets), ([0, 1], False, {}))
        subscription.cancel()

    def test_closed_proxies_are_errors(self):
        proxy = Proxy(table(note_="v@i"))
        subscription = proxy.subscribe({"note:": print})
        proxy.close()
        proxy.close()
        for function, arguments in (
                (proxy.send, ("note:", 1)), (proxy.collect, ("note:", 1)), (proxy.responds, ("note:",)),
                (proxy.subscribe, ({"note:": print},)), (proxy.function_pointer, ("note:",)), (subscription.block, ()),
                (subscription.move, (Position.FIRST,)), (lambda: proxy.subscriber_count, ())):
            self.fails(Status.DEAD, "", function, *arguments)
        subscription.cancel()
        self.assertEqual((subscription.is_active, proxy._targets), (False, {}))

    def test_a_proxy_may_die_before_its_subscriptions_and_owners(self):
        owner, proxy = self.Owner(), Proxy(table(note_="v@i"))
        subscriptions = [proxy.subscribe({"note:": print}), proxy.subscribe({"note:": self.Owner.note}, owner=owner)]
        del proxy
        gc.collect()
        self.assertEqual([each.is_active for each in subscriptions], [False, False])
        self.fails(Status.DEAD, "dead", subscriptions[0].block)
        del owner
        for each in subscriptions:
            each.cancel()

    def test_a_proxy_may_be_closed_in_a_delivery(self):
        for end in ("close", "drop", "cancel"):
            proxies, seen = [Proxy(table(note_="v@i"))], []

            def act(number):
                if end == "close":
                    proxies[0].close()
                elif end == "drop":
                    proxies.clear()
                    gc.collect()
                else:
                    subscription.cancel()
                    later.cancel()
                seen.append(number)

            subscription = proxies[0].subscribe({"note:": act})
            later = proxies[0].subscribe({"note:": lambda number: seen.append("later")})
            proxies[0].send("note:", 1)
            self.assertEqual(seen[0], 1)
            if end != "drop":
                self.assertEqual(seen, [1])

    def test_a_proxy_in_a_cycle_with_its_subscribers_and_handler_is_collected(self):
        proxy = Proxy(table(note_="v@i"), on_error=lambda error: proxy.close())
        proxy.subscribe({"note:": lambda number: proxy.send("note:", number)})
        pointer = proxy.function_pointer("note:")
        proxy.pointer = pointer
        dead = weakref.ref(proxy)
        del proxy, pointer
        gc.collect()
        self.assertIsNone(dead())

    def test_errors_leave_no_cycles(self):
        proxy = Proxy(table(ask="i@"), on_error=lambda error: None)

        class Failing(Exception):
            pass

        def fails():
            raise Failing

        proxy.subscribe({"ask": fails})
        gc.collect()
        gc.disable()
        try:
            try:
                proxy.send("ask")
            except ForwardingError as error:
                dead = weakref.ref(error.__cause__)
            self.assertIsNone(dead())
        finally:
            gc.enable()

    def test_a_function_pointer_keeps_the_proxy_and_its_subscribers(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        proxy.subscribe({"note:": seen.append})
        pointer, dead = proxy.function_pointer("note:"), weakref.ref(proxy)
        del proxy
        gc.collect()
        CFUNCTYPE(None, c_int)(pointer.address)(4)
        self.assertEqual(seen, [4])
        pointer.close()
        pointer.close()
        gc.collect()
        self.assertIsNone(dead())
        self.fails(Status.DEAD, "closed", lambda: pointer.address)

    def test_a_function_pointer_of_a_closed_proxy_finds_no_subscriber(self):
        errors = []
        proxy = Proxy(table(ask="i@"), failures={"ask": 9}, on_error=errors.append)
        proxy.subscribe({"ask": lambda: 5})
        pointer = proxy.function_pointer("ask")
        function = CFUNCTYPE(c_int)(pointer.address)
        self.assertEqual(function(), 5)
        proxy.close()
        self.assertEqual(function(), 9)
        self.assertEqual([error.code for error in errors], [Status.NO_RESPONDER])

    def test_a_function_pointer_may_be_closed_in_its_own_call(self):
        proxy, made = Proxy(table(ask_="i@i")), []
        proxy.subscribe({"ask:": lambda number: made.pop().close() or number + 1})
        for _ in range(5):
            made.append(proxy.function_pointer("ask:"))
            self.assertEqual(CFUNCTYPE(c_int, c_int)(made[0].address)(1), 2)

    def test_forms(self):
        proxy, seen = Proxy(table(note_="v@i")), []
        proxy.subscribe({"note:": seen.append})
        with proxy.function_pointer("note:") as plain:
            CFUNCTYPE(None, c_int)(plain.address)(1)
        for form in (FunctionForm.CONTEXT_FIRST, FunctionForm.context_at(0)):
            with proxy.function_pointer("note:", form) as first:
                CFUNCTYPE(None, c_void_p, c_int)(first.address)(None, 2)
        for form in (FunctionForm.CONTEXT_LAST, FunctionForm.context_at(1)):
            with proxy.function_pointer("note:", form) as last:
                CFUNCTYPE(None, c_int, c_void_p)(last.address)(3, None)
        self.assertEqual(seen, [1, 2, 2, 3, 3])
        self.fails(Status.OUT_OF_RANGE, "", proxy.function_pointer, "note:", FunctionForm.context_at(2))
        self.fails(Status.OUT_OF_RANGE, "", proxy.function_pointer, "note:", -2)
        self.fails(Status.TYPE_MISMATCH, "", proxy.function_pointer, "note:", "method")
        self.fails(Status.UNKNOWN_SELECTOR, "", proxy.function_pointer, "other")

    def test_nothing_leaks(self):
        methods, owners = table(ask_="i@i"), weakref.WeakSet()

        class Owner:
            def ask(self, number):
                return number

        def use():
            for _ in range(500):
                proxy, owner = Proxy(methods, failures={"ask:": 1}, on_error=lambda error: None), Owner()
                owners.add(owner)
                proxy.subscribe({"ask:": Owner.ask}, owner=owner)
                proxy.subscribe({"ask:": lambda number: 1 // number})
                with proxy.function_pointer("ask:") as pointer:
                    CFUNCTYPE(c_int, c_int)(pointer.address)(1)
                proxy.send("ask:", 1)
                proxy.collect("ask:", 0)

        def memory():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        use()
        gc.collect()
        counts, before = (len(_proxy._proxies), len(_proxy._targets)), memory()
        for _ in range(4):
            use()
        gc.collect()
        self.assertEqual((len(_proxy._proxies), len(_proxy._targets)), counts)
        self.assertEqual(len(owners), 0)
        # 2,000 proxies, 500 bytes each at most. The address sanitizer keeps what is freed.
        if not hasattr(libc, "__asan_init"):
            self.assertLess(memory() - before, 1 << 20)


class ReEntrance(TestCase):
    def test_subscribers_may_send_subscribe_and_cancel(self):
        proxy, seen = Proxy(table(note_="v@i")), []

        def act(number):
            seen.append(number)
            if number > 0:
                proxy.send("note:", number - 1)
            else:
                proxy.subscribe({"note:": lambda number: seen.append("new")}, times=1)
                subscription.cancel()

        subscription = proxy.subscribe({"note:": act})
        proxy.send("note:", 3)
        self.assertEqual(seen, [3, 2, 1, 0])
        proxy.send("note:", 9)
        self.assertEqual(seen[4:], ["new"])

    def test_an_owner_s_death_may_send(self):
        proxy, seen = Proxy(table(note_="v@i")), []

        class Owner:
            def __del__(self):
                proxy.send("note:", 7)

        proxy.subscribe({"note:": seen.append})
        owner = Owner()
        proxy.subscribe({"note:": lambda owner, number: None}, owner=owner)
        del owner
        self.assertEqual((seen, proxy.subscriber_count), ([7], 1))


class Threads(TestCase):
    def test_a_thread_of_c_calls_python(self):
        proxy, seen = Proxy(table(run_="^v@^v")), []
        proxy.subscribe({"run:": lambda argument: seen.append((argument, threading.get_ident())) or 5})
        closure = Closure("^v^v", lambda argument: seen.append(argument))
        with proxy.function_pointer("run:") as pointer, closure:
            for function in (pointer, closure):
                thread, result = c_void_p(), c_void_p()
                self.assertEqual(libc.pthread_create(ctypes.byref(thread), None, function, c_void_p(77)), 0)
                self.assertEqual(libc.pthread_join(thread, ctypes.byref(result)), 0)
        self.assertEqual((seen[0][0], seen[1]), (77, 77))
        self.assertNotEqual(seen[0][1], threading.get_ident())

    def test_an_exception_on_a_thread_of_c_is_reported_there(self):
        errors = []
        proxy = Proxy(table(run_="^v@^v"), on_error=lambda error: errors.append((error, threading.get_ident())))
        proxy.subscribe({"run:": lambda argument: {}[argument]})
        thread = c_void_p()
        with proxy.function_pointer("run:") as pointer:
            libc.pthread_create(ctypes.byref(thread), None, pointer, None)
            libc.pthread_join(thread, None)
        self.assertIsInstance(errors[0][0].__cause__, KeyError)
        self.assertNotEqual(errors[0][1], threading.get_ident())

    def test_threads_send_while_others_join_leave_and_die(self):
        class Owner:
            def ask(self, number):
                return number

        proxy = Proxy(table(ask_="i@i"), defaults={"ask:": -1}, on_error=lambda error: errors.append(error))
        errors, wrong, ends = [], [], time.monotonic() + 1.5

        def send():
            while time.monotonic() < ends:
                if proxy.send("ask:", 5) not in (5, 6, -1):
                    wrong.append("send")
                if not set(proxy.collect("ask:", 5)) <= {5, 6}:
                    wrong.append("collect")

        def change():
            while time.monotonic() < ends:
                owner = Owner()
                proxy.subscribe({"ask:": Owner.ask}, owner=owner)
                subscription = proxy.subscribe({"ask:": lambda number: number + 1}, position=Position.FIRST)
                with proxy.function_pointer("ask:") as pointer:
                    if Signature("ii").call(pointer, 5) not in (5, 6):
                        wrong.append("pointer")
                del owner
                subscription.cancel()

        threads = [threading.Thread(target=each) for each in (send, send, change, change)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # A subscriber that another thread ends in the middle of a delivery is passed over, which is no failure.
        self.assertEqual((wrong, errors), ([], []))
        self.assertEqual(proxy.subscriber_count, 0)

    def test_a_proxy_is_closed_while_others_subscribe(self):
        methods = table(ask="i@")
        for _ in range(50):
            proxy, subscribed = Proxy(methods, defaults={"ask": -1}), []
            pointer = proxy.function_pointer("ask")

            def use():
                try:
                    while True:
                        subscribed.append(proxy.subscribe({"ask": lambda: 1}))
                except ForwardingError as error:
                    self.assertEqual(error.code, Status.DEAD)

            threads = [threading.Thread(target=use) for _ in range(3)]
            for thread in threads:
                thread.start()
            proxy.close()
            for thread in threads:
                thread.join()
            # Nobody is left behind the function pointer.
            self.assertEqual(Signature("i").call(pointer), -1)

    def test_a_proxy_is_closed_while_others_use_it(self):
        methods = table(ask_="i@i")
        for _ in range(50):
            proxy, codes = Proxy(methods), set()
            proxy.subscribe({"ask:": lambda number: number})

            def use():
                try:
                    while True:
                        proxy.send("ask:", 1)
                except ForwardingError as error:
                    codes.add(error.code)

            threads = [threading.Thread(target=use) for _ in range(3)]
            for thread in threads:
                thread.start()
            proxy.close()
            for thread in threads:
                thread.join()
            self.assertLessEqual(codes, {Status.DEAD, Status.NO_RESPONDER, Status.DELIVERY_FAILED})


class Exit(TestCase):
    def clean(self, program, output=""):
        program = "import ctypes, forwarding\nfrom forwarding import *\n" + program.replace("            |", "")
        self.assertEqual(self.in_new_process(program), (0, output, ""))

    def test_with_everything_alive(self):
        self.clean("""
            |table = ProtocolTable("T", required={"ask:": "i@i"})
            |class Owner:
            |    def ask(self, number): return number
            |owner, proxy = Owner(), Proxy(table)
            |kept = [proxy.subscribe({"ask:": Owner.ask}, owner=owner),
            |        proxy.subscribe({"ask:": lambda number: proxy.send("ask:", 1)})]
            |pointer, closure = proxy.function_pointer("ask:"), Closure("ii", lambda number: number)
            |owner.proxy, proxy.owner = proxy, owner
            |print(proxy.send("ask:", 3))
            """, "3\n")

    def test_c_calls_after_python_has_ended(self):
        # exit(3) calls these functions after the interpreter. They must not enter Python.
        self.clean("""
            |libc = ctypes.CDLL(None)
            |closure = Closure("vi^v", lambda status, context: print("closure"))
            |table = ProtocolTable("T", required={"end:with:": "v@i^v", "deny:with:": "i@i^v"})
            |proxy = Proxy(table, failures={"deny:with:": 1}, on_error=print)
            |proxy.subscribe({"end:with:": lambda *_: print("proxy"), "deny:with:": lambda *_: 0})
            |end, deny = proxy.function_pointer("end:with:"), proxy.function_pointer("deny:with:")
            |for pointer in closure, end, deny:
            |    assert libc.on_exit(pointer, None) == 0
            |# Objects that the interpreter cannot collect at its end.
            |for each in closure, proxy, end, deny:
            |    ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
            """)

    def test_a_veto_fails_closed_after_python_has_ended(self):
        self.clean("""
            |proxy = Proxy(ProtocolTable("T", required={"deny": "i@"}), failures={"deny": 7})
            |proxy.subscribe({"deny": lambda: 0})
            |pointer = proxy.function_pointer("deny")
            |assert Signature("i").call(pointer) == 0
            |# What the package does at exit.
            |forwarding._calls._cut_off()
            |print(Signature("i").call(pointer))
            """, "7\n")

    def test_while_a_thread_of_c_calls(self):
        self.clean("""
            |import time
            |libc = ctypes.CDLL(None)
            |proxy = Proxy(ProtocolTable("T", required={"tick:": "v@^v"}), on_error=lambda error: None)
            |count = 0
            |def tick(value):
            |    global count
            |    count += 1
            |proxy.subscribe({"tick:": tick})
            |pointer = proxy.function_pointer("tick:")
            |# A timer that calls the function on threads of its own, each millisecond.
            |class Event(ctypes.Structure):
            |    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int),
            |                ("function", ctypes.c_void_p), ("attributes", ctypes.c_void_p),
            |                ("pad", ctypes.c_char * 64)]
            |event, timer = Event(notify=2, function=pointer.address), ctypes.c_void_p()
            |assert libc.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) == 0
            |times = (ctypes.c_long * 4)(0, 1000000, 0, 1000000)
            |assert libc.timer_settime(timer, 0, times, None) == 0
            |while count < 20: time.sleep(0.001)
            """)


class SQLite(TestCase):
    def setUp(self):
        try:
            self.sqlite = ctypes.CDLL("libsqlite3.so.0")
        except OSError as error:
            self.skipTest(f"no SQLite: {error}")
        self.database = c_void_p()
        self.assertEqual(self.sqlite.sqlite3_open(b":memory:", ctypes.byref(self.database)), 0)
        self.addCleanup(self.sqlite.sqlite3_close, self.database)
        self.assertEqual(self.execute("create table t (x)"), 0)

    def execute(self, text):
        return self.sqlite.sqlite3_exec(self.database, text.encode(), None, None, None)

    def count(self):
        rows = []
        with Closure("i^vi^*^*", lambda context, columns, texts, names: rows.append(
                ctypes.c_char_p.from_address(texts).value) or 0) as closure:
            self.assertEqual(self.sqlite.sqlite3_exec(self.database, b"select count(*) from t", closure, None, None), 0)
        return int(rows[0])

    def test_two_observers_of_the_update_hook(self):
        proxy, first, second = Proxy(table(changed_="v@i**q")), [], []
        proxy.subscribe({"changed:": lambda kind, database, table, row: first.append((kind, database, table, row))})
        subscription = proxy.subscribe({"changed:": lambda kind, database, table, row: second.append(row)})
        with proxy.function_pointer("changed:", FunctionForm.CONTEXT_FIRST) as hook:
            self.sqlite.sqlite3_update_hook.restype = c_void_p
            self.sqlite.sqlite3_update_hook(self.database, hook, None)
            self.assertEqual(self.execute("insert into t values (1), (2)"), 0)
            subscription.cancel()
            self.assertEqual(self.execute("delete from t where x = 1"), 0)
            self.sqlite.sqlite3_update_hook(self.database, None, None)
        self.assertEqual(first, [(18, b"main", b"t", 1), (18, b"main", b"t", 2), (9, b"main", b"t", 1)])
        self.assertEqual(second, [1, 2])

    def test_a_veto_of_the_commit_hook_that_fails_rolls_back(self):
        errors = []
        proxy = Proxy(
            table(commit="i@"), results={"commit": ResultPolicy.UNTIL_NONZERO}, defaults={"commit": 0},
            failures={"commit": 1}, on_error=errors.append)
        with proxy.function_pointer("commit", FunctionForm.CONTEXT_FIRST) as hook:
            self.sqlite.sqlite3_commit_hook.restype = c_void_p
            self.sqlite.sqlite3_commit_hook(self.database, hook, None)
            self.assertEqual(self.execute("insert into t values (1)"), 0)
            with proxy.subscribe({"commit": lambda: 0}):
                self.assertEqual(self.execute("insert into t values (2)"), 0)
                with proxy.subscribe({"commit": lambda: 1 // 0}):
                    # SQLITE_CONSTRAINT
                    self.assertEqual(self.execute("insert into t values (3)"), 19)
            self.assertEqual(self.execute("insert into t values (4)"), 0)
            self.sqlite.sqlite3_commit_hook(self.database, None, None)
        self.assertEqual(self.count(), 3)
        self.assertEqual([type(error.__cause__) for error in errors], [ZeroDivisionError])


if __name__ == "__main__":
    unittest.main()
