"""Tells the eager ops of the program from those by which packages do their own housekeeping."""

from __future__ import annotations

from types import CodeType

import tensorflow as tf

from tfdbg_cli.capture.runs.eager.program.stacks import Stack, by_identity
from tfdbg_cli.capture.tf.callers import is_users
from tfdbg_cli.capture.tf.compat import PY_FUNCTION, tape_gradient
from tfdbg_cli.process.own_frames import is_own

_CALLERS: dict[int, tuple[Stack, Stack]] = {}  # what `caller_of_function` said, by the ids of stacks
_MOST_STACKS = 5_000
# Methods of Keras 3 and tf_keras that drive a model: between its steps they seed, adapt data, reset metrics.
_DRIVERS = frozenset({
    "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch",
})  # fmt: skip
# The steps of Keras count as the program's own, even where the program defines no layer.
_STEPS = frozenset({"train_step", "test_step", "predict_step"})
_TRACES: CodeType = type(tf.function(lambda: None)).get_concrete_function.__code__
_TAPE_GRADIENT: CodeType = tape_gradient.__code__
GRADIENTS = "gradient_tape/"  # the scope that graph functions give to the gradients of a tape
_KERAS = ("/keras/", "/tf_keras/")
# Names of functions in which packages make variables, layers and optimizers.
_BUILDERS = frozenset({"__init__", "build", "_build", "add_weight", "_initialize", "initialize", "_maybe_build"})


@by_identity
def is_program(code: CodeType) -> bool:
    """Whether `code` is the program's, not an installed package's."""
    return is_users(code.co_filename)


@by_identity
def _enters_function(code: CodeType) -> bool:
    """Whether `code` is ours that stands in the place of the call of a tf.function (`all_functions`)."""
    return code.co_name == "enter_function" and is_own(code.co_filename)


def caller_of_function(stack: Stack) -> Stack:
    """`stack` from the call of a tf.function on, if it leads through one; the same list each time.

    On the way from there to the graph function TensorFlow's first call makes other calls than those after it.
    """
    known = _CALLERS.get(id(stack))
    if known is None:
        if len(_CALLERS) > _MOST_STACKS:
            _CALLERS.clear()
        entered = next((at for at in range(0, len(stack), 2) if _enters_function(stack[at])), None)
        known = _CALLERS[id(stack)] = stack, stack if entered is None else stack[entered + 2 :]
    return known[1]


def at_first_call(stack: Stack) -> bool:
    """Whether an op with this stack runs only where TensorFlow traces a tf.function, as one that makes a variable."""
    if tf.config.functions_run_eagerly():
        return False
    return caller_of_function(stack) is not stack or any(code is _TRACES for code in stack[::2])


@by_identity
def _drives(code: CodeType) -> bool:
    return code.co_name in _DRIVERS and _is_of_keras(code)


@by_identity
def _steps(code: CodeType) -> bool:
    return code.co_name in _STEPS and _is_of_keras(code)


def _is_of_keras(code: CodeType) -> bool:
    return any(part in code.co_filename.replace("\\", "/") for part in _KERAS)


def program_at(stack: Stack) -> int | None:
    """The place in `stack` of the innermost call of the program; None where there is none."""
    return next((at for at in range(0, len(stack), 2) if is_program(stack[at])), None)


def counts(stack: Stack) -> bool:
    """Whether the op with this stack computes for the program or a step of Keras, and not for a driver of Keras."""
    for code in stack[::2]:
        if is_program(code) or _steps(code):
            return True
        if _drives(code):
            return False
    return False


def within_py_function(stack: Stack) -> bool:
    """Whether the op runs in Python code of the program that a graph function calls (by tf.py_function)."""
    programs = False
    for code in stack[::2]:
        if code is PY_FUNCTION:
            return programs
        programs = programs or is_program(code)
    return False


def scope_of_tape(stack: Stack) -> str:
    """`gradient_tape/`, as functions name it, for the op that a tape runs to compute a gradient; else empty."""
    return GRADIENTS if any(code is _TAPE_GRADIENT for code in stack[::2]) else ""


def scope_of_op(scope: str, stack: Stack) -> str:
    """The beginning of the name of the op with this stack, which runs in the name scope `scope`."""
    tape = scope_of_tape(stack)  # TensorFlow names it in functions only, or where the forward op is known
    return scope if scope.startswith(tape) else tape + scope


def driven(stack: Stack) -> bool:
    """Whether the op runs within a driver of Keras such as `fit`, be it in a callback of the program."""
    return any(map(_drives, stack[::2]))


def builds(stack: Stack) -> bool:
    """Whether the op serves a package to make a variable, a layer or the like."""
    for code in stack[::2]:
        if is_program(code):
            return False
        if code.co_name in _BUILDERS:
            return True
    return False
