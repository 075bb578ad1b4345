"""The name scope that eager code is in, told without asking TensorFlow at each op, which takes as long as a look."""

from __future__ import annotations

import itertools
from typing import Any

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.compat import eager_context, thread_data

# How often the class may be changed. Python gives a class a thousand versions, and then looks its attributes up the
# long way, which every op asks for.
_MOST_CHANGES = 100


class ScopeChanges:
    """Hears of it whenever eager code enters or leaves a name scope, in whatever thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._original: property | None = None  # what was there before ours; None while nothing is heard of
        self._ours: property | None = None
        self._changed = 0
        self.latest = 0  # another number after each change

    def heed(self) -> None:
        """Hear of changes from now on."""
        if self._original is not None:
            return
        self._original = original = vars(compat.SCOPED)[compat.SCOPE]

        def change(context: Any, scope: Any) -> None:
            original.fset(context, scope)
            self.latest = next(self._numbers)

        self._ours = property(original.fget, change, original.fdel, original.__doc__)
        self._set(self._ours)
        self.latest = next(self._numbers)  # what was before was not heard of

    def let_go(self) -> None:
        """Hear of no more changes, and leave TensorFlow's class as it was.

        A program in which watches came and went very often has it changed for good, as has one that has put
        something of its own over it meanwhile.
        """
        if self._original is None or self._changed >= _MOST_CHANGES:
            return
        if vars(compat.SCOPED)[compat.SCOPE] is self._ours:
            self._set(self._original)
            self._original = self._ours = None

    def _set(self, scope: property) -> None:
        self._changed += 1
        setattr(compat.SCOPED, compat.SCOPE, scope)


SCOPE_CHANGES = ScopeChanges()


class NameScope:
    """The name scope of one thread, which alone may ask for it, while changes are heard of."""

    def __init__(self) -> None:
        self._thread = thread_data(eager_context())
        self._asked = -1  # the number of the latest change when TensorFlow was asked
        self._name = ""

    @property
    def name(self) -> str:
        """As the names of ops begin in it; empty outside of all."""
        latest = SCOPE_CHANGES.latest
        if self._asked != latest:
            self._asked = latest
            self._name = self._thread.scope_name or ""
        return self._name
