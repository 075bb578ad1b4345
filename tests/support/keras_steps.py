"""The function that Keras runs for a step of `fit` and `evaluate`, and what the parts of a batch are called in it.

Until 3.15 the function is given an iterator, and takes the batch out of it. From 3.16 on it is given the batch.
"""

from __future__ import annotations

from functools import cache


@cache
def is_given_batches() -> bool:
    """Whether the function of a step has the batch as its argument."""
    import keras

    return tuple(map(int, keras.__version__.split(".")[:2])) >= (3, 16)


def step_name() -> str:
    """The name of the function."""
    return "one_step_on_data" if is_given_batches() else "multi_step_on_iterator"


def scope() -> str:
    """What the names of ops of the step begin with in its graph."""
    return "" if is_given_batches() else "one_step_on_data/"


def called_again(name: str) -> str:
    """What the scope of a layer or model is called in the step if it was called before, as to build it."""
    return name if is_given_batches() else f"{name}_1"


def part_name(number: int) -> str:
    """The name of the tensor with this part of the batch: inputs, targets, sample weights."""
    if is_given_batches():
        return f"data_{number}:0" if number else "data:0"
    return f"IteratorGetNext:{number}"
