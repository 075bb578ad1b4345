"""Iterators of tf.data that are alive: their number tells when looking for garbage is worth its time.

One that goes may wait for its thread that tunes the pipeline (`conftest.py` says why), at most for as long as it has
lived. A run keeps what its function was called with, so the iterator of a `fit` that was debugged goes when garbage
is collected: minutes later, in any test, if nobody looks before.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

_DATA = "tensorflow.python.data.ops"
_NAME = "_iterator_resource"
_alive: list[weakref.ref[Any]] = []


class _Resource:
    """The attribute of an iterator that holds it in TensorFlow. A wrapped method would be seen in stacks."""

    def __get__(self, iterator: Any, kind: type | None = None) -> Any:
        return self if iterator is None else vars(iterator)[_NAME]

    def __set__(self, iterator: Any, resource: Any) -> None:
        vars(iterator)[_NAME] = resource
        if not hasattr(resource, "graph"):  # not what stands for one while a function is traced
            _alive.append(weakref.ref(resource))


def living_iterators() -> int:
    """How many iterators are alive, of those made after this was first asked with TensorFlow loaded."""
    iterators, options = (sys.modules.get(f"{_DATA}.{name}") for name in ("iterator_ops", "options"))
    if iterators is not None and options is not None and not hasattr(iterators.OwnedIterator, _NAME):
        setattr(iterators.OwnedIterator, _NAME, _Resource())
        options.AutotuneOptions._to_proto = _untuned(options.AutotuneOptions._to_proto)
    _alive[:] = [one for one in _alive if one() is not None]
    return len(_alive)


def _untuned(plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Options without such a thread, where a program does not ask for one: those of every `fit` are made so."""

    @wraps(plain)
    def to_proto(options: Any) -> Any:
        message = plain(options)
        message.enabled = bool(options.enabled)
        return message

    return to_proto
