"""Looking for objects of some classes disturbs no thread of the program."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tensorflow as tf

from tfdbg_cli.capture.functions.signature.function_variables import trainable_of
from tfdbg_cli.capture.living_objects import living_objects
from tfdbg_cli.collection import COLLECTOR

pytestmark = pytest.mark.tf


class Thing:
    """What is looked for."""


class Further(Thing):
    """Derived from it."""


class Pretender:
    """What claims to be of a class, in code of the program."""

    asked = 0

    @property
    def __class__(self) -> Any:
        Pretender.asked += 1
        return Thing


def test_objects_of_classes_and_derived_ones_are_found_and_nothing_is_asked_of_others() -> None:
    things, pretender = [Thing(), Further()], Pretender()
    assert sorted(map(id, living_objects(Thing))) == sorted(map(id, things))
    assert list(living_objects(Further)) == things[1:]
    assert type(pretender) is Pretender and Pretender.asked == 0
    assert gc.isenabled() and not COLLECTOR._off


def test_only_what_is_found_is_held_afterwards() -> None:
    thing, other = Thing(), Pretender()
    before = sys.getrefcount(other)
    found = living_objects(Thing)
    assert sys.getrefcount(other) == before and found[0] is thing


def _grown(meanwhile: Callable[[], None]) -> tuple[int, ...]:
    """A tuple that is made of a generator, in the middle of which something is done."""

    def numbers() -> Iterator[int]:
        yield 1
        meanwhile()
        yield 2

    return tuple(numbers())


def test_a_tuple_that_grows_in_another_thread_is_not_held() -> None:
    """The program got a SystemError, while a thread of tfdbg's looked for the variables of Keras."""
    keras = pytest.importorskip("keras")
    looks, go_on = threading.Event(), threading.Event()

    held = next(vars(kind)["__dict__"] for kind in keras.Variable.__mro__ if "__dict__" in vars(kind))

    class Slow(keras.Variable):  # type: ignore[name-defined,misc]
        """It is asked for what it holds while the thread is among what it found."""

        @property
        def __dict__(self) -> Any:
            if threading.current_thread() is not threading.main_thread():
                looks.set()
                go_on.wait(60)
            return held.__get__(self)

    slow = Slow([1.0])
    thread = threading.Thread(target=trainable_of, args=({"w": tf.Variable(1.0)},))

    def look() -> None:
        thread.start()
        assert looks.wait(60)

    try:
        assert _grown(look) == (1, 2)
    finally:
        go_on.set()
        thread.join()
    assert slow is not None
