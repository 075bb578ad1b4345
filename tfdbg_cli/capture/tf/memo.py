"""Keeps what tfdbg finds out about an object with that object, so that it goes with it.

Answers about a graph of TensorFlow's refer to its ops, so a table on our side would keep every graph of the program
alive.
Several threads may ask at once: each may find an answer, and all get the same one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_ATTRIBUTE = "_tfdbg_memo"
_MISSING = object()
# Held while an object gets its table of answers, and while an answer is put among several; never while one is found,
# as that may wait for other locks. Again by a signal handler.
_PUTTING = threading.RLock()


class Memo(Generic[T]):
    """One answer for each object that takes attributes, such as a tf.Graph, a session or a controller."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        """`make` finds the answer for an object."""
        self._make = make

    def of(self, owner: object) -> T:
        """The answer for `owner`, found when it is asked for first."""
        answers = _answers_of(owner)
        found: Any = answers.get(self, _MISSING)
        if found is _MISSING:
            found = answers.setdefault(self, self._make(owner))  # another thread may have been faster
        kept: T = found
        return kept

    def known(self, owner: object) -> T | None:
        """The answer for `owner` if somebody asked for it before."""
        return _answers_of(owner).get(self)


class Memos(Generic[T]):
    """Several answers for each object, told apart by a key: those found last, as many as are to be kept."""

    def __init__(self, keep: int) -> None:
        """Keep `keep` answers with each object."""
        self._keep = keep
        self._memo: Memo[dict[Hashable, T]] = Memo(lambda owner: {})

    def of(self, owner: object, key: Hashable, make: Callable[[], T]) -> T:
        """The answer for `owner` and `key`, found by `make` when it is asked for first. What raises is not kept."""
        answers = self._memo.of(owner)
        found: Any = answers.get(key, _MISSING)
        if found is _MISSING:
            made = make()
            with _PUTTING:
                found = answers.setdefault(key, made)  # another thread may have been faster
                for oldest in list(answers)[: max(0, len(answers) - self._keep)]:
                    answers.pop(oldest, None)
        kept: T = found
        return kept


def _answers_of(owner: object) -> dict[object, Any]:
    answers: dict[object, Any] | None = getattr(owner, _ATTRIBUTE, None)
    if answers is None:
        with _PUTTING:
            answers = getattr(owner, _ATTRIBUTE, None)
            if answers is None:
                answers = {}
                setattr(owner, _ATTRIBUTE, answers)
    return answers
