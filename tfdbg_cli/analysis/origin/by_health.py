"""The origin in a run of which only numbers were recorded: counts of NaN and infinities, and no values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfdbg_cli.analysis.causes import suggestions
from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.result_of_run import returned_alone
from tfdbg_cli.analysis.graph.making.forward import forward_of
from tfdbg_cli.analysis.graph.making.lineage import InputSeen, Lineage
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.sources import Frame
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.tensors import TellsSummaries
from tfdbg_cli.model.units import count_text
from tfdbg_cli.ops.kinds import INPUTS, VARIABLE_READS
from tfdbg_cli.ops.undefined_outputs import is_undefined_in

_LOGARITHMS = frozenset({"Log"})
_DIVISIONS = frozenset({"RealDiv", "Div", "Mod", "FloorDiv", "FloorMod"})
_INVERSES = frozenset({"Reciprocal", "Inv", "Rsqrt"})
_ROOTS = frozenset({"Sqrt", "Rsqrt"})
_SMALL = "1e-7"  # what a float32 keeps away from 0


def tells_health_alone(run: Run) -> bool:
    """Whether NaN and infinities of the tensors of `run` were counted, or at least noticed, and no values kept."""
    store = run.tensors
    if not isinstance(store, TellsSummaries):
        return False
    told = (store.summary(index) for index in range(len(store)))
    return any(summary is not None and summary.any_nonfinite is not None for summary in told)


@dataclass(frozen=True)
class InputHealth:
    """An input of a tensor: which one, and what was recorded of it; None where nothing was."""

    seen: InputSeen
    summary: Summary | None


@dataclass(frozen=True)
class HealthOrigin:
    """The first tensor that is not finite although what was recorded of its inputs is.

    `made_by` is the node whose line of the program matters: the op of the forward pass, `forward`, where the node
    computes its gradient.
    """

    index: int
    name: TensorName
    op_type: str
    node: Node | None
    summary: Summary
    inputs: tuple[InputHealth, ...]
    cause: Cause
    made_by: str
    forward: str
    frame: Frame | None


class HealthSearch:
    """The search through one run. What was not recorded counts as fine.

    Args:
        run: the run.
        nan_only: look for NaN and let infinities pass.
        exclude_node_names: a regular expression; tensors of nodes whose name it finds count as fine.

    """

    def __init__(self, run: Run, *, nan_only: bool = False, exclude_node_names: str = "") -> None:
        self._run = run
        self._nan_only = nan_only
        self._excluded = re.compile(exclude_node_names) if exclude_node_names else None
        self._lineage = Lineage(run)
        self._known: dict[int, Summary | None] = {}

    def first(self) -> HealthOrigin | None:
        """The origin; None where nothing that was recorded is bad. Infinities of a constant are told last."""
        bad = self.bad_rows()
        if not bad:
            return None
        begun = [index for index in bad if not any(map(self._bad_input, self._lineage.places(index)))] or bad
        computed = [index for index in begun if not self._is_mask(index)]
        return self._at((computed or begun)[0])

    def all(self) -> list[int]:
        """Every tensor that is bad although its inputs are fine, in order of execution."""
        return [i for i in self.bad_rows() if not any(map(self._bad_input, self._lineage.places(i)))]

    def bad_rows(self) -> list[int]:
        """Every tensor that holds what is looked for, in order of execution."""
        return [index for index in range(len(self._run.tensors)) if self._bad(index)]

    @property
    def counted(self) -> int:
        """How many tensors were looked at so far of which it is recorded whether they are finite."""
        known = self._known.values()
        return sum(summary is not None and summary.any_nonfinite is not None for summary in known)

    def _summary(self, index: int) -> Summary | None:
        if index not in self._known:
            store = self._run.tensors
            self._known[index] = store.summary(index) if isinstance(store, TellsSummaries) else None
        return self._known[index]

    def _bad(self, index: int) -> bool:
        summary = self._summary(index)
        if summary is None or not summary.any_nonfinite:
            return False
        if self._nan_only and not summary.nan and not summary.spoiled:
            return False
        name = self._run.tensors[index].name
        excluded = self._excluded is not None and self._excluded.search(name.node)
        return not excluded and not is_undefined_in(self._run.graph, name)

    def _bad_input(self, item: InputSeen) -> bool:
        return item.index is not None and self._bad(item.index)

    def _is_mask(self, index: int) -> bool:
        """Whether it is a constant with infinities and no NaN, as a mask has them."""
        summary = self._summary(index)
        mask = summary is not None and summary.tells_nonfinite and not summary.nan
        return mask and self._run.tensors[index].op_type == "Const"

    def _at(self, index: int) -> HealthOrigin:
        tensor, node, summary = self._run.tensors[index], self._lineage.node(index), self._summary(index)
        assert summary is not None
        seen = self._lineage.places(index)
        inputs = tuple(InputHealth(item, None if item.index is None else self._summary(item.index)) for item in seen)
        op_type = tensor.op_type or (node.op_type if node else "")
        forward = "" if node is None else _name(forward_of(self._run.graph, self._lineage, node))
        made_by = forward or tensor.node
        return HealthOrigin(
            index,
            tensor.name,
            op_type,
            node,
            summary,
            inputs,
            returned_alone(self._run, tensor.name, node) or self._cause(op_type, summary, inputs, node),
            made_by,
            forward,
            made_at(self._run.tracebacks, made_by),
        )

    def _cause(self, op_type: str, summary: Summary, inputs: tuple[InputHealth, ...], node: Node | None) -> Cause:
        named = [(str(one.seen.name), one.summary) for one in inputs]
        told = _by_counts(op_type, named)
        if told is not None:
            return told
        fact = f"{op_type or 'This op'} gave {_bad_text(summary)}"
        if op_type in INPUTS:
            return Cause(f"It was bad when the call was given it. {' '.join(self._run.call.notes)}".strip())
        if op_type in VARIABLE_READS:
            return Cause(
                f"{fact}: the variable held that already, by an update of this run or of an earlier one.",
                "Look at the first of the `alerts`: it is where it began.",
            )
        if node is None:
            return Cause(f"{fact}; no graph at hand holds it, so its inputs are not known.")
        unseen = [name for name, one in named if one is None or one.any_nonfinite is None]
        if unseen:
            verb = "was" if len(unseen) == 1 else "were"
            return Cause(f"{fact}; of its inputs {', '.join(unseen[:4])} {verb} not recorded.")
        return Cause(f"{fact} out of finite inputs." if named else f"{fact}; it has no inputs.")


def _by_counts(op_type: str, inputs: list[tuple[str, Summary | None]]) -> Cause | None:
    """What counts of zeros and of negative numbers explain."""
    if not inputs:
        return None
    (first, of_first), (last, of_last) = inputs[0], inputs[-1]
    zeros = 0 if of_first is None else of_first.told("zero") or 0
    negative = 0 if of_first is None else of_first.told("neg") or 0
    divisor = 0 if of_last is None else of_last.told("zero") or 0
    small = {"a": first, "b": last, "small": _SMALL}
    if op_type in _LOGARITHMS and zeros:
        return Cause(
            f"Log of 0: {first} holds {count_text(int(zeros), 'zero')}.", suggestions.PROBABILITY.format(**small)
        )
    if op_type in _LOGARITHMS and negative:
        text = f"Log of a negative number: {first} holds {negative:,}."
        return Cause(text, suggestions.POSITIVE.format(**small))
    if op_type in _DIVISIONS and divisor:
        text = f"Division by 0: {last} holds {count_text(int(divisor), 'zero')}."
        return Cause(text, suggestions.SAFE_DIVIDE.format(**small))
    if op_type in _INVERSES and zeros:
        text = f"Division by 0: {first} holds {count_text(int(zeros), 'zero')}."
        return Cause(text, suggestions.AWAY_FROM_ZERO.format(**small))
    if op_type in _ROOTS and negative:
        return Cause(f"Root of a negative number: {first} holds {negative:,}.")
    return None


def _bad_text(summary: Summary) -> str:
    if summary.spoiled:
        return "NaN or infinity (how many was not recorded)"
    counts = ((summary.nan, "NaN"), (summary.neg_inf, "-inf"), (summary.pos_inf, "+inf"))
    told = " and ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{told} among {count_text(summary.size, 'element')}"


def _name(node: Node | None) -> str:
    return "" if node is None else node.name
