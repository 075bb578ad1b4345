"""The name scope that eager code is in, kept up to date here: asking TensorFlow takes as long as looking at an op."""

from __future__ import annotations

import itertools
from typing import Any

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.compat import eager_context, thread_data

# How often we may change TensorFlow's class. Python gives a class about a thousand version tags; after that its
# attribute lookups, of which every op makes some, are not cached any more.
_MOST_CHANGES = 100


class ScopeChanges:
    """Counts how often eager code enters or leaves a name scope, in any thread, by a property put onto TensorFlow."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._original: property | None = None  # TensorFlow's property; None while it is not replaced
        self._ours: property | None = None
        self._changed = 0
        self.latest = 0  # a new number after each change of a scope

    def heed(self) -> None:
        """Count changes from now on."""
        if self._original is not None:
            return
        self._original = original = vars(compat.SCOPED)[compat.SCOPE]

        def change(context: Any, scope: Any) -> None:
            original.fset(context, scope)
            self.latest = next(self._numbers)

        self._ours = property(original.fget, change, original.fdel, original.__doc__)
        self._set(self._ours)
        self.latest = next(self._numbers)  # the scope may have changed while nobody counted

    def let_go(self) -> None:
        """Stop counting, and put TensorFlow's own property back.

        Ours stays for good where it was replaced too often already (`_MOST_CHANGES`), and where somebody else has
        replaced ours meanwhile.
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
    """The name scope of the thread that makes this object. Only it may ask, and only while changes are counted."""

    def __init__(self) -> None:
        self._thread = thread_data(eager_context())
        self._asked = -1  # `SCOPE_CHANGES.latest` as it was when TensorFlow was asked last
        self._name = ""

    @property
    def name(self) -> str:
        """The prefix of op names in this scope, such as `dense/`; empty outside of all scopes."""
        latest = SCOPE_CHANGES.latest
        if self._asked != latest:
            self._asked = latest
            self._name = self._thread.scope_name or ""
        return self._name
