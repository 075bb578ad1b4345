"""Which function calls are worth a run: the program's own, and the steps that Keras makes of a model."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from tfdbg_cli.capture.function.callers import called_by_user, is_users

# The functions by which Keras 3 and tf_keras run a step; all others of theirs serve their own affairs.
_STEPS = frozenset({
    "multi_step_on_iterator", "one_step_on_data", "one_step_on_data_distributed", "multi_step_on_data",
    "train_function", "test_function", "predict_function", "step_function", "run_step",
    "train_step", "test_step", "predict_step",
})  # fmt: skip
_KERAS = ("keras", "tf_keras")


def is_worthwhile(python: Any) -> bool:
    """Whether a call of a function that was made of `python` (a callable, None if not known) is to be a run.

    A function that an installed package defines counts only if the program calls it itself, or if it is a step of
    Keras: packages run small functions of their own, such as those for random seeds, that nobody wants to stop at.
    """
    return (python is not None and _is_step_or_own(python)) or called_by_user()


@cache
def _defined_by_user(code: Any) -> bool:
    return is_users(code.co_filename)


def _is_step_or_own(python: Any) -> bool:
    code = getattr(inspect.unwrap(python), "__code__", None)
    if code is None:
        return False
    package = str(getattr(python, "__module__", "")).partition(".")[0]
    return _defined_by_user(code) or (package in _KERAS and code.co_name in _STEPS)
