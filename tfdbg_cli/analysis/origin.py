"""The origin: the first tensor, in order of execution, that is not finite although all its inputs are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tfdbg_cli.analysis.annotation import made_at
from tfdbg_cli.analysis.batch import batch_rows
from tfdbg_cli.analysis.causes import Cause, explain
from tfdbg_cli.analysis.evidence import gather
from tfdbg_cli.analysis.lineage import (
    VARIABLE_OPS,
    InputSeen,
    Lineage,
    fed_value,
    feed_name,
    tensor_name_of,
    variable_of,
)
from tfdbg_cli.analysis.parts import Part, parts_of
from tfdbg_cli.analysis.sources_of_values import cause_at_source
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import LOST, Array, NoValue

MOST_ELEMENTS = 10
_AFTERMATH_BUDGET = 1 << 30  # bytes of values read to count what was spoiled; the origin itself needs fewer

BadMask: TypeAlias = Callable[[Array], Array]


def nan_mask(array: Array) -> Array:
    """True where an element is NaN; infinities pass."""
    return np.isnan(array) if is_inexact(array.dtype) else np.zeros(array.shape, np.bool_)


@dataclass(frozen=True)
class Element:
    """One offending element and, for each input, the elements that made it (None: not seen, or not known)."""

    index: tuple[int, ...]
    value: object
    parts: tuple[Part | None, ...]


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Of `total` tensors behind the origin `seen` were looked at, and `bad` of those are bad."""

    bad: int
    seen: int
    total: int


@dataclass(frozen=True)
class Origin:
    """Where a run first went wrong.

    `made_by` is the node whose creation matters: for a runtime argument the placeholder that it stands for.
    `index` is the tensor's place in the run (None: a feed that no tensor shows). `node` is None when no graph
    holds it. `bad` marks the offending elements of `value`; `elements` are the first few of them.
    """

    index: int | None
    name: TensorName
    device: str
    op_type: str
    node: Node | None
    value: Array
    bad: Array
    inputs: tuple[InputSeen, ...]
    elements: tuple[Element, ...]
    batch_rows: tuple[int, ...]
    cause: Cause
    made_by: str
    frame: Frame | None


class _Verdicts:
    """Which tensors of a run are bad; each value is read at most once."""

    def __init__(self, run: Run, mask: BadMask, exclude_node_names: str) -> None:
        self._run = run
        self._mask = mask
        self._excluded = re.compile(exclude_node_names) if exclude_node_names else None
        self._known: dict[int, bool] = {}
        self.unread: set[int] = set()

    def bad(self, index: int) -> bool:
        """Whether the tensor at `index` holds an offending element and is not excluded."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._look(index)
        return known

    def _look(self, index: int) -> bool:
        tensor = self._run.tensors[index]
        if self._excluded is not None and self._excluded.search(tensor.node):
            return False
        element = element_type_named(tensor.dtype)
        if element is not None and (element.numpy is None or not is_inexact(element.numpy)):
            return False
        value = self._run.tensors.value(index)
        if isinstance(value, NoValue):
            if value.lack in LOST:
                self.unread.add(index)
            return False
        return bool(self._mask(value).any())


class OriginSearch:
    """The search through one run.

    Args:
        run: the run.
        nan_only: look for NaN and let infinities pass (masks of -inf are no mistake).
        exclude_node_names: a regular expression; tensors of nodes whose name it finds count as fine.

    """

    def __init__(self, run: Run, *, nan_only: bool = False, exclude_node_names: str = "") -> None:
        self._run = run
        self._mask: BadMask = nan_mask if nan_only else nonfinite_mask
        self._lineage = Lineage(run)
        self._verdicts = _Verdicts(run, self._mask, exclude_node_names)
        self._inputs: dict[int, list[InputSeen]] = {}

    @property
    def unread(self) -> int:
        """How many tensors that were looked at so far had a value that is lost, so that nobody knows."""
        return len(self._verdicts.unread)

    def first(self) -> Origin | None:
        """The origin; None when nothing is wrong. Stops reading at the first tensor that is bad."""
        unsure: list[int] = []
        for index in range(len(self._run.tensors)):
            if not self._verdicts.bad(index):
                continue
            if self._written_meanwhile(index):
                unsure.append(index)
                continue
            return self._at(self._traced_back(index))
        if unsure:
            return self._at(self._traced_back(unsure[0]))
        return self._in_feeds()

    def all(self) -> list[int]:
        """Every tensor that is bad although all its inputs are fine, in order of execution. Reads every value."""
        return [
            index
            for index in range(len(self._run.tensors))
            if self._verdicts.bad(index) and not any(self._bad_input(i) for i in self._inputs_of(index))
        ]

    def after(self, index: int | None, budget: int = _AFTERMATH_BUDGET) -> Aftermath:
        """How many tensors behind the one at `index` are bad too, looking at about `budget` bytes of values."""
        start = 0 if index is None else index + 1
        bad = seen = read = 0
        for i in range(start, len(self._run.tensors)):
            if read > budget:
                break
            bad += self._verdicts.bad(i)
            seen += 1
            read += self._run.tensors[i].nbytes or 0
        return Aftermath(bad, seen, len(self._run.tensors) - start)

    def _inputs_of(self, index: int) -> list[InputSeen]:
        found = self._inputs.get(index)
        if found is None:
            found = self._inputs[index] = self._lineage.inputs(index)
        return found

    def _bad_input(self, item: InputSeen) -> bool:
        if item.index is not None:
            return self._verdicts.bad(item.index)
        return item.value is not None and bool(self._mask(item.value).any())

    def _traced_back(self, index: int) -> int | InputSeen:
        """From a bad tensor back along bad inputs to one without; a feed that no tensor shows is returned itself."""
        met = {index}
        while True:
            bad = [item for item in self._inputs_of(index) if self._bad_input(item)]
            further = [item for item in bad if item.index is None or item.index not in met]
            further = [item for item in further if not self._own_target(index, item)]
            if not further:
                return index
            if further[0].index is None:
                return further[0]
            index = further[0].index
            met.add(index)

    def _written_meanwhile(self, index: int) -> bool:
        """Whether the value may be from after the run: a variable by reference, captured by an extra fetch.

        Such a fetch (known by the lack of a time) shares the variable's memory, which the run may write later.
        """
        if self._run.tensors[index].time_us is not None:
            return False
        node = self._lineage.node(index)
        name = variable_of(node, self._lineage) if node is not None and node.op_type != "ReadVariableOp" else None
        if name is None:
            return False
        variable = self._run.graph.find(name)
        if variable is None or variable.op_type == "VarHandleOp":
            return False
        return any(_writes(reader) for reader, _ in self._run.graph.consumers(name))

    def _own_target(self, index: int, item: InputSeen) -> bool:
        """Whether `item` is the variable that the op at `index` has just written, seen after the write."""
        node = self._lineage.node(index)
        return (
            node is not None
            and _writes(node)
            and item.index is not None
            and item.node is not None
            and item.node.op_type in VARIABLE_OPS
            and self._written_meanwhile(item.index)
        )

    def _in_feeds(self) -> Origin | None:
        """A feed that no captured tensor shows."""
        for text in self._run.call.feeds:
            name = tensor_name_of(text)
            value = fed_value(self._run.call.feeds, name)
            if value is not None and bool(self._mask(value).any()):
                return self._of_feed(name, value, self._run.graph.find(name.node))
        return None

    def _at(self, place: int | InputSeen) -> Origin:
        if isinstance(place, InputSeen):
            assert place.value is not None
            return self._of_feed(feed_name(place.node) or place.name, place.value, place.node)
        tensor = self._run.tensors[place]
        value = self._run.tensors.value(place)
        assert not isinstance(value, NoValue)
        node = self._lineage.node(place)
        inputs = tuple(self._inputs_of(place))
        bad = self._mask(value)
        fed = feed_name(node) if node is not None and node.op_type == "_Arg" else None
        cause = cause_at_source(node, inputs, self._lineage, self._bad_input) if node is not None else None
        if cause is None and node is not None:
            cause = explain(gather(node, value, bad, inputs))
        return Origin(
            place,
            fed or tensor.name,
            tensor.device,
            tensor.op_type or (node.op_type if node else ""),
            node,
            value,
            bad,
            inputs,
            _elements(node, value, bad, inputs),
            batch_rows(self._run, self._lineage, place, bad),
            cause or _plain_facts(tensor.op_type, value, bad, inputs, node),
            (fed or tensor.name).node,
            made_at(self._run.tracebacks, (fed or tensor.name).node),
        )

    def _of_feed(self, name: TensorName, value: Array, node: Node | None) -> Origin:
        bad = self._mask(value)
        rows = np.unique(np.argwhere(bad)[:, 0]) if value.ndim else ()
        return Origin(
            None, name, node.device if node else "", node.op_type if node else "Placeholder", node, value, bad, (),
            _elements(None, value, bad, ()), tuple(int(row) for row in rows),
            cause_of_feed(name), name.node, made_at(self._run.tracebacks, name.node),
        )  # fmt: skip


def cause_of_feed(name: TensorName) -> Cause:
    """The cause when the program itself fed something that is not finite."""
    return Cause(f"Already in the input {name}.", "Check the data before it is fed: np.isfinite(batch).all().")


def find_origin(run: Run, *, nan_only: bool = False, exclude_node_names: str = "") -> Origin | None:
    """The origin of `run`; None when every tensor and feed is finite. See OriginSearch."""
    return OriginSearch(run, nan_only=nan_only, exclude_node_names=exclude_node_names).first()


def _writes(node: Node) -> bool:
    return node.op_type.startswith(("Assign", "Apply", "SparseApply", "Scatter"))


def _elements(node: Node | None, value: Array, bad: Array, inputs: tuple[InputSeen, ...]) -> tuple[Element, ...]:
    arrays = [item.value for item in inputs]
    found = []
    for place in np.argwhere(bad)[:MOST_ELEMENTS]:
        index = tuple(int(i) for i in place)
        parts = parts_of(node, arrays, value.shape, index) if node is not None else (None,) * len(inputs)
        found.append(Element(index, value[index], parts))
    return tuple(found)


def _plain_facts(op_type: str, value: Array, bad: Array, inputs: tuple[InputSeen, ...], node: Node | None) -> Cause:
    """What can be said for sure when no rule fits."""
    nan = int(nan_mask(value).sum())
    infinite = int(bad.sum()) - int((bad & nan_mask(value)).sum())
    told = " and ".join([f"{nan} NaN"] * bool(nan) + [f"{infinite} inf"] * bool(infinite))
    fact = f"{op_type or 'This op'} gave {told} among {value.size} element{'s' * (value.size != 1)}"
    if node is None:
        return Cause(f"{fact}; no graph at hand holds it, so its inputs are not known.")
    unseen = [str(item.name) for item in inputs if item.value is None and item.tensor is None]
    if unseen:
        return Cause(f"{fact}; of its inputs {', '.join(unseen)} was not seen.")
    if not inputs:
        return Cause(f"{fact}; it has no inputs.")
    return Cause(f"{fact} out of finite inputs.")
