"""Runs of a session that are made many times, prepared once.

`Session.run` takes apart what it is to fetch at each call, for thousands of tensors longer than it takes to compute
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import FetchedValue, Op, RawSession, RunMetadata, RunOptions, SymbolicTensor
from tfdbg_cli.model.values import Array


class PreparedRun:
    """Runs of `session` under `options` that are given values for `feeds`, fetch `tensors` and run `targets`.

    They go the way of `Session.run`, names in the order in which that hands them to the runtime. An error of an op
    does not say which op it was.

    Raises:
        ValueError: something is not to be fed, or fetched.

    """

    def __init__(
        self,
        session: RawSession,
        feeds: Sequence[SymbolicTensor],
        tensors: Sequence[SymbolicTensor],
        targets: Sequence[Op],
        options: RunOptions = None,
    ) -> None:
        for feed in feeds:
            if not session.graph.is_feedable(feed):
                raise ValueError(f"Tensor {feed.name} may not be fed.")
        for tensor in tensors:
            if not session.graph.is_fetchable(tensor):
                raise ValueError(f"Tensor {tensor.name} may not be fetched.")
        given = [str(feed.name) for feed in feeds]
        names = [str(tensor.name) for tensor in tensors]
        fetched = sorted(set(names).difference(given))  # what is fed is handed back as it is
        self._order = sorted(range(len(given)), key=given.__getitem__)
        self._feeds = [(feed.dtype.as_numpy_dtype, feed.shape, _lengths(feed), str(feed.name)) for feed in feeds]
        places = {name: at for at, name in enumerate(fetched)} | {name: -1 - at for at, name in enumerate(given)}
        self._places = [places[name] for name in names]
        ends = sorted({str(target.name) for target in targets})
        runs = bool(fetched or ends)  # what is only fed is handed back, and nothing is run for it
        wanted = {} if options is None else {"run_options": options}
        self._run = compat.reader_of(session, fetched, feed=sorted(given), target=ends, **wanted) if runs else None

    def make(self, given: Sequence[Array], run_metadata: RunMetadata = None) -> list[FetchedValue]:
        """Make the run with the values `given`, in the order of the feeds: the values of the tensors, in theirs.

        What the options ask for is put into `run_metadata`, if given. Raises what an op raises.

        Raises:
            ValueError: a value has not the shape that the graph promises.

        """
        values = [_fed(value, *feed) for value, feed in zip(given, self._feeds, strict=True)]
        ordered = (values[at] for at in self._order)
        found = () if self._run is None else self._run(*ordered, run_metadata=run_metadata)
        return [found[place] if place >= 0 else values[-1 - place] for place in self._places]


def _lengths(feed: SymbolicTensor) -> tuple[int | None, ...] | None:
    """The lengths of all dimensions of `feed`, None for one that is not known; None where nothing is known."""
    return None if feed.shape.rank is None else tuple(feed.shape.as_list())


def _fed(value: Array, kind: Any, shape: Any, lengths: tuple[int | None, ...] | None, name: str) -> Array:
    """What the runtime is given for `value`, as `Session.run` gives it."""
    # TensorFlow's own comparison takes as long as all else that is done for a feed.
    if lengths is not None and value.shape != lengths and not shape.is_compatible_with(value.shape):
        raise ValueError(f"Cannot feed value of shape {value.shape} for Tensor {name}, which has shape {shape}")
    return np.asarray(value, kind)
