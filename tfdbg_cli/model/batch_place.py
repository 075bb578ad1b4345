"""Where in the program's data a batch came from: its number in the epoch, and the number of its first sample."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

VALIDATION = "validation of fit"  # the `loop` of what `fit` of Keras evaluates between epochs


class Order(StrEnum):
    """What the sample numbers of an epoch index."""

    ARRAYS = "arrays"  # the arrays that the program passed in
    PIPELINE = "pipeline"  # the output of the pipeline, which may itself have shuffled
    SHUFFLED = "shuffled"  # a shuffled order: a number does not tell which sample of the arrays it is


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """The place of a batch: its number `step` in an epoch, or among those of an iterator. All numbers count from 0.

    `first` is the number of its first sample; None if earlier batches may have had another size. `epoch` is None if
    only the iterator is known. `loop` is the Keras method that loops over the batches, or VALIDATION, empty for a
    loop of the program's own. `handle` says that the key of this entry in `Call.came` names an iterator rather than a
    tensor. A call may take as many as `steps` batches from it (`steps_per_execution` of Keras), this is the first's.
    `class_weight` says that `fit` made the weights of the samples out of those of their classes. `parts` are how many
    tensors of a batch are inputs, how many targets, how many weights, in that order; empty where that is not known.
    `keys` are what each of these is called by the dict that holds it, empty for one without a name. Of a tensor both
    tell that one alone: `parts` are all 0 but for one, 1. `single` says
    that the data set makes no batches: what came is one element of it, and `step` its number. `by_python` says that
    Python gave the method of Keras its batches one by one, as a generator does: the program has no pipeline.
    """

    step: int
    order: Order = Order.PIPELINE
    first: int | None = None
    epoch: int | None = None
    loop: str = ""
    handle: bool = False
    steps: int = 1
    class_weight: bool = False
    parts: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()
    single: bool = False
    by_python: bool = False
