"""Whether all NaN and infinities of a run are benign: intended, or without effect on the run's outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from tfdbg_cli.analysis.causes.intended import Intended
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.origin.carried_over import CarriedOver
from tfdbg_cli.analysis.origin.dismissed import NOTHING, Dismissed
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.origin.swallowing import swallowed, used_by
from tfdbg_cli.analysis.watch.outcome import Harm, HarmKind, outcome_of, unread
from tfdbg_cli.analysis.watch.verdicts import holding, nan_mask
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.dtypes import element_type_named, is_inexact
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.ignored import IgnoredPlace
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.model.values import LOST, Array, NoValue
from tfdbg_cli.ops.kinds import PYTHON

_UNTOUCHED = "no result, no applied gradient and no variable is touched"
_FINITE = "no result, no applied gradient and no variable is NaN or infinite by it"


@dataclass(frozen=True)
class Judgement:
    """The benign `places` of a run; or, if not all are known to be benign, the `harm`.

    `as_before` are tensors that show variables with the NaN and infinities that they held before the run. They are no
    places, which are left out of later runs: the next run may make something of them.
    """

    places: tuple[IgnoredPlace, ...] = ()
    harm: Harm | None = None
    as_before: tuple[TensorName, ...] = ()


def judged(run: Run, exclude_node_names: str = "", dismissed: Dismissed = NOTHING) -> Judgement:
    """Whether all NaN and infinities in `run` are benign, without those that are `dismissed`, and where they are.

    Reads every value. What is not known, such as a lost value, is a harm of the kind `UNKNOWN`.
    """
    search = OriginSearch(run, exclude_node_names=exclude_node_names, dismissed=dismissed)
    search.all()  # excuses what is intended
    carried = CarriedOver(run, search.lineage)
    harm = harm_in(run, search, carried)
    if harm:
        return Judgement(harm=harm)
    as_before = carried.names(search.bad_rows())
    intended = [_intended(run, item) for item in search.intended]
    places = _without([*intended, *_others(run, search)], {name.node for name in as_before})
    return Judgement(tuple(_by_line(places)), as_before=as_before)


def _without(places: Iterable[IgnoredPlace], nodes: Set[str]) -> Iterator[IgnoredPlace]:
    """`places` without `nodes`, without those that consist of nothing else, and without those that came to be there.

    Of the latter something comes, and to leave out where they begin would be to leave out what variables are given.
    """
    for place in places:
        left = tuple(node for node in place.nodes if node not in nodes)
        if left and (place.intended or left == place.nodes):
            yield replace(place, nodes=left)


def _by_line(places: Iterable[IgnoredPlace]) -> Iterator[IgnoredPlace]:
    """Merge the places that come from the same line of the program, hold the same, and are intended alike."""
    found: dict[tuple[object, ...], list[IgnoredPlace]] = {}
    for place in places:
        where = (place.file, place.line) if place.file else (place.tensor,)
        found.setdefault((*where, place.holds, place.intended), []).append(place)
    for alike in found.values():
        nodes = dict.fromkeys(node for place in alike for node in place.nodes)
        yield replace(alike[0], nodes=tuple(nodes))


def harm_in(run: Run, search: OriginSearch, carried: CarriedOver | None = None) -> Harm | None:
    """The harm that unintended NaN and infinities do to the outcome of `run`, known or not; None for none.

    `carried` knows what was there before, where the caller has asked it already.
    """
    if not len(run.tensors):
        return Harm(HarmKind.UNKNOWN, "the values of the run are missing.")
    other = () if run.exactness is None else run.exactness.differs
    astray = next((parting.name for parting in other if parting.nan_in_one), None)
    if astray is not None:
        return Harm(
            HarmKind.UNKNOWN, f"{astray} is NaN in one of the two: the program's run, or the same made again."
        )
    bad = search.bad_rows()
    if search.unread and run.call.kind is not RunKind.EAGER:  # eager values were checked when they were computed
        return Harm(HarmKind.UNKNOWN, f"the values of {count_text(len(search.unread), 'tensor')} are lost.")
    meant = search.meant_nan_rows()
    if not bad and not meant:
        return None
    comes_out, carried = outcome_of(run.graph, run.call), carried or CarriedOver(run, search.lineage)
    outcome = comes_out.names(run)
    if not bad:
        return _made_of_nan(swallowed(run, search.lineage, (), outcome, meant))
    if run.call.kind is RunKind.EAGER:
        given = unread(run)
        for row in bad:
            if run.tensors[row].name in given and not carried.names([row]):
                got = f"no op of the run reads {run.tensors[row].name}, so that the program may have got it."
                return Harm(HarmKind.UNKNOWN, got)
        outcome |= given
    elif not run.call.results_known:
        return Harm(HarmKind.UNKNOWN, "it is not known what the program got from the run.")
    unknown = next(iter(_unknown_results(run)), None)
    if unknown is not None:
        return Harm(HarmKind.UNKNOWN, f"the value of the result {unknown} is not known.")
    out = [row for row in bad if run.tensors[row].name in outcome]
    kept = frozenset(carried.names(out))
    spoiled = [name for row in out if (name := run.tensors[row].name) not in kept]
    if spoiled:
        return min((comes_out.harm(name) for name in spoiled), key=lambda harm: harm.kind)
    return _made_of_nan(swallowed(run, search.lineage, bad, outcome, meant))


def _made_of_nan(end: Node | None) -> Harm | None:
    """The harm that is done where the op `end` made a number of a NaN; None where there is none."""
    if end is None:
        return None
    if end.op_type in PYTHON:
        handed = (
            f"{end.name} hands a NaN to Python of the program, and what comes out depends on what that makes of it."
        )
        return Harm(HarmKind.UNKNOWN, handed)
    return Harm(HarmKind.RESULT, f"{end.name} makes a number out of NaN, and something that comes out depends on it.")


def _unknown_results(run: Run) -> Iterator[TensorName]:
    """The results of which it is not known whether they are finite: without a tensor, or with a lost float value."""
    for name in map(tensor_name_of, run.call.fetches):
        rows = run.tensors.named(name.node, name.slot)
        if not rows:
            yield name
        for row in rows[-1:]:
            kind = element_type_named(run.tensors[row].dtype)
            if kind is not None and kind.numpy is not None and is_inexact(kind.numpy):
                value = run.tensors.value(row)
                if isinstance(value, NoValue) and value.lack in LOST:
                    yield name


def _intended(run: Run, item: Intended) -> IgnoredPlace:
    why = f"{item.what}, gone in {item.end}" if item.end else item.what
    rows = run.tensors.named(item.name.node, item.name.slot)
    values: list[object] = [run.tensors.value(row) for row in rows]
    values += [] if rows else [fed_value(run.call.feeds, item.name)]
    return _place(run, item.name, values, why, item.nodes, intended=True)


def _others(run: Run, search: OriginSearch) -> Iterator[IgnoredPlace]:
    """A place for each bad tensor whose inputs are fine, with all tensors to which it spread."""
    first: dict[int, int] = {}  # by row, the row at which it began
    carriers: dict[int, list[int]] = {}
    for row in search.bad_rows():
        begun = next((first[given] for given in search.spoiling(row) if given in first), row)
        first[row] = begun
        carriers.setdefault(begun, []).append(row)
    merged: dict[TensorName, list[int]] = {}  # all iterations of a loop are one place
    for begun, rows in carriers.items():
        merged.setdefault(run.tensors[begun].name, []).extend(rows)
    used_nodes: Set[str] | None = None  # found for the first that asks: the graph is followed as a whole
    for name, rows in merged.items():
        nodes = tuple(dict.fromkeys(run.tensors[row].node for row in rows))
        values = [run.tensors.value(row) for row in rows if run.tensors[row].name == name]
        place = _place(run, name, values, _UNTOUCHED, nodes, intended=False)
        if not _holds_nan(values):
            used_nodes = _used_in(run) if used_nodes is None else used_nodes
            if not used_nodes.isdisjoint(nodes):
                place = replace(place, why=_FINITE, used=True)
        yield place


def is_used(run: Run, name: TensorName, value: Array) -> bool:
    """Whether what comes out of `run` depends on infinities in `value`, called `name`, though it is finite.

    Of a NaN the same would be harm (`swallowing`), so that it is not asked.
    """
    return not _holds_nan([value]) and name.node in _used_in(run)


def _used_in(run: Run) -> Set[str]:
    """The nodes of `run` on whose elements something that comes out depends."""
    outcome = outcome_of(run.graph, run.call).names(run)
    return used_by(run.graph, {*outcome, *(unread(run) if run.call.kind is RunKind.EAGER else ())})


def _holds_nan(values: Iterable[object]) -> bool:
    return any(isinstance(value, np.ndarray) and bool(nan_mask(value).any()) for value in values)


def _place(
    run: Run, name: TensorName, values: Sequence[object], why: str, nodes: Sequence[str], *, intended: bool
) -> IgnoredPlace:
    node = run.graph.find(name.node)
    frame = made_at(run.tracebacks, name.node)
    return IgnoredPlace(
        run.call.number,
        run.call.place,
        name,
        node.op_type if node is not None else "",
        holding([value for value in values if isinstance(value, np.ndarray)]),
        why,
        intended,
        tuple(nodes),
        frame.file if frame else "",
        frame.line if frame else None,
        looks_at=run.call.looks_at,
    )
