"""Expressions at the prompt: light ones are computed at once, all others where memory and time have a limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdbg_cli.analysis.expression.expression import Lookup, computed, parsed
from tfdbg_cli.analysis.expression.process import evaluate_apart
from tfdbg_cli.analysis.expression.weight import is_light


def evaluate_bounded(text: str, lookup: Lookup) -> Any:
    """The value of the expression `text`; `lookup` gives the array for each text between backticks.

    A value of a type that is none of Python's or NumPy's own is `Described`.

    Raises:
        TfdbgError: it cannot be parsed, uses what is not allowed, fails, or takes too much memory or time.

    """
    expression = parsed(text)
    tensors = {name: lookup(name) for name in dict.fromkeys(expression.names.values())}
    numbers = all(not isinstance(array, np.ndarray) or not array.dtype.hasobject for array in tensors.values())
    if numbers and is_light(expression.tree.body, frozenset(expression.names)):
        return computed(expression, tensors.__getitem__)
    return evaluate_apart(text, tensors)
