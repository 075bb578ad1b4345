"""Where in the data of the program a batch was: which one of the epoch, and the samples before it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Order(StrEnum):
    """What the samples of an epoch are counted by."""

    ARRAYS = "arrays"  # as they stand in the arrays that the program gave
    PIPELINE = "pipeline"  # as the pipeline gave them, which may have shuffled them
    SHUFFLED = "shuffled"  # the arrays were shuffled, so nobody can tell which sample of them it is


@dataclass(frozen=True, slots=True)
class BatchPlace:
    """The batch numbered `step` of an epoch, or of what an iterator gives; steps, epochs and samples count from 0.

    `first` is the number of its first sample, None where the batches before it may have been of another size. `epoch`
    is None where only the iterator is known. `loop` is the method of Keras that loops over the batches, and empty
    where the program does. With `handle` the name that this is kept under is that of an iterator, else of a tensor.
    """

    step: int
    order: Order = Order.PIPELINE
    first: int | None = None
    epoch: int | None = None
    loop: str = ""
    handle: bool = False
