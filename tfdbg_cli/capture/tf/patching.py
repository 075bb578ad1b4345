"""Replaces a method of one of TensorFlow's classes, or a function of its modules, so that it can be put back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps

from tfdbg_cli.capture.tf.types import Method


def replace_method(owner: object, name: str, wrap: Callable[[Method], Method]) -> Callable[[], None]:
    """Replace the method `name` of `owner` by what `wrap` makes of it, until what this gives is called."""
    original = vars(owner)[name]
    setattr(owner, name, wraps(original)(wrap(original)))
    return lambda: setattr(owner, name, original)


def replace_methods(*methods: tuple[object, str, Callable[[Method], Method]]) -> Callable[[], None]:
    """Replace all as `replace_method` does, until what this gives is called; none where one of them fails."""
    with ExitStack() as undo:
        for owner, name, wrap in methods:
            undo.callback(replace_method(owner, name, wrap))
        return undo.pop_all().close
