"""The name scope that eager code is in, told without asking TensorFlow at each op, which takes as long as a look."""

from __future__ import annotations

import itertools
from typing import Any

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.compat import eager_context, thread_data


class ScopeChanges:
    """Hears of it whenever eager code enters or leaves a name scope, in whatever thread."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._heeds = False
        self.latest = 0  # another number after each change

    def heed(self) -> None:
        """Hear of changes from now on, for as long as the process lives.

        To change the class back and forth, as watches come and go, would cost more than to hear: Python forgets each
        time what it knows of the class, whose attributes every op asks for.
        """
        if self._heeds:
            return
        self._heeds = True
        original = vars(compat.SCOPED)[compat.SCOPE]

        def change(context: Any, scope: Any) -> None:
            original.fset(context, scope)
            self.latest = next(self._numbers)

        setattr(compat.SCOPED, compat.SCOPE, property(original.fget, change, original.fdel, original.__doc__))
        self.latest = next(self._numbers)  # what was before was not heard of


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
