"""Which function calls are worth a run: the program's own, and the steps that Keras makes of a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfdbg_cli.capture.tf.callers import called_by_user, is_users
from tfdbg_cli.capture.tf.tracebacks import calls_program
from tfdbg_cli.capture.tf.types import TfGraph

# The functions by which Keras 3 and tf_keras run a step; all others of theirs serve their own affairs.
_STEPS = frozenset({
    "multi_step_on_iterator", "one_step_on_data", "one_step_on_data_distributed", "multi_step_on_data",
    "train_function", "test_function", "predict_function", "step_function", "run_step",
    "train_step", "test_step", "predict_step",
})  # fmt: skip
_KERAS = ("keras", "tf_keras")


def is_worthwhile(python: Callable[..., Any] | None) -> bool:
    """Whether a call of a function that was made of `python` (None if not known) is to be a run.

    A function that an installed package defines counts only if the program calls it itself, or if it is a step of
    Keras: packages run small functions of their own, such as those for random seeds, that nobody wants to stop at. Of
    one whose graph is known it counts, too, that it calls the program (`calls_program_back`).
    """
    return (python is not None and is_step_or_own(python)) or called_by_user()


def calls_program_back(python: Callable[..., Any], graph: TfGraph) -> bool:
    """Whether `python`, a function of an installed package traced into `graph`, is made of code of the program's.

    So is the step by which a package minimizes a loss that the program gave it as a function.
    """
    code = getattr(inspect.unwrap(python), "__code__", None)
    return code is not None and calls_program(graph, code)


def is_step_or_own(python: Callable[..., Any]) -> bool:
    """Whether `python` is a step of Keras or is defined by the program."""
    # Asked at every call, and most functions wrap none.
    inner = inspect.unwrap(python) if hasattr(python, "__wrapped__") else python
    code = getattr(inner, "__code__", None)
    if code is None:
        return False
    if is_users(code.co_filename):
        return True
    package = str(getattr(python, "__module__", "")).partition(".")[0]
    return package in _KERAS and code.co_name in _STEPS
