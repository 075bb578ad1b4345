"""Which tensors `lt` lists, and in which order: found in small steps, and kept for the next look."""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tfdbg_cli.analysis.choosing.tensor_query import SortKey, TensorQuery, admitted, ordered, ordered_in_steps
from tfdbg_cli.analysis.graph.nodes.roles import Role
from tfdbg_cli.analysis.layers.layers import layers_of
from tfdbg_cli.analysis.watch.answers import Raised, ask, ask_in_steps
from tfdbg_cli.commands.asked.patterns import pattern
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.query.unread import beginning, unread_among
from tfdbg_cli.errors import TfdbgError

_MANY = 10_000  # rows that are sorted without keeping anybody waiting
_BESIDE = ("query", "sort_by", "reverse", "tensor_filter", "stats")  # flags that do not admit tensors by themselves


@dataclass(frozen=True, slots=True)
class Listing:
    """What `lt` found: indices in the order shown, how the filter fared, and how many values it never saw.

    Of `unjudged` tensors nobody knows whether the query admits them.
    `blank` counts the rows without numbers among the first `counted` ones, where numbers are asked for.
    """

    indices: Sequence[int]
    raised: Raised = field(default_factory=Raised)
    unread: int = 0
    unjudged: int = 0
    blank: int = 0
    counted: int = 0


def find(context: Context, options: argparse.Namespace) -> Listing:
    """The tensors that the flags of `lt` admit.

    Raises:
        TfdbgError: a bad regex, shape or filter name, or flags that contradict each other.

    """
    for _ in _listed(context, options):
        pass
    indices, unjudged = _known(context, options)
    if not options.tensor_filter:
        counted = beginning(context, indices) if options.stats else ()
        return Listing(indices, unjudged=unjudged, blank=unread_among(context, counted), counted=len(counted))
    from tfdbg_cli.commands.query.kept_scans import KeptScan  # a first screen asks neither filter nor query

    tensor_filter = context.filter(options.tensor_filter)
    answers, scan = context.answers(tensor_filter), KeptScan(context.run, tensor_filter)
    scan.recall(answers)
    verdicts = ask(context.run, indices, tensor_filter, answers, context.earlier_of_same())
    scan.keep(answers)
    return Listing(verdicts.passed, verdicts.raised, verdicts.unread, unjudged)


def find_in_steps(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    """Do what takes its time for `find`: ask the query, sort, put the filter to what is left.

    Raises:
        TfdbgError: as `find` does.

    """
    yield from _listed(context, options)
    if options.tensor_filter:
        from tfdbg_cli.commands.query.kept_scans import KeptScan

        tensor_filter = context.filter(options.tensor_filter)
        indices, _ = _known(context, options)
        answers, earlier = context.answers(tensor_filter), context.earlier_of_same()
        KeptScan(context.run, tensor_filter).recall(answers)
        yield from ask_in_steps(context.run, indices, tensor_filter, answers, earlier)
    elif options.stats:
        yield from context.summaries_in_steps(beginning(context, _known(context, options)[0]))


def _listed(context: Context, options: argparse.Namespace) -> Iterator[float | None]:
    """Find out what `_known` gives."""
    if options.filter_exclude_node_names and not options.tensor_filter:
        raise TfdbgError("-fenn narrows a filter, and none is given.", hint="Write: lt -f FILTER -fenn REGEX")
    if options.tensor_filter:
        context.filter(options.tensor_filter)  # a wrong name is told before anything is looked for
    if _selection(context, options) in context.memory.selected or _is_plain(options):
        return
    if not options.query:
        yield from _kept_in_order(context, options, _admitted(context, options), 0)
        return
    from tfdbg_cli.commands.query.named import asked_query
    from tfdbg_cli.commands.query.tensor_rows import TensorRows

    for answer in TensorRows(context).select(asked_query(options.query), _admitted(context, options)):
        yield None
        if answer is not None:
            yield from _kept_in_order(context, options, answer.indices, answer.unjudged)


def _is_plain(options: argparse.Namespace) -> bool:
    """Whether the list is in the order of execution, and no query narrows it: nothing is to be kept of it."""
    return not options.query and options.sort_by == SortKey.TIMESTAMP


def _known(context: Context, options: argparse.Namespace) -> tuple[Sequence[int], int]:
    """The indices without the filter, and of how many tensors nobody knows whether the query admits them."""
    if _is_plain(options):
        query = _flags(context, options)
        store = context.run.tensors
        return ordered(store, admitted(store, context.run.graph, query), query, context.summary), 0
    return context.memory.selected[_selection(context, options)]


def _kept_in_order(
    context: Context, options: argparse.Namespace, found: Sequence[int], unjudged: int
) -> Iterator[float | None]:
    """Sort `found` as the flags say, and keep it."""
    query = _flags(context, options)
    if query.sort_by is SortKey.WORST:
        from tfdbg_cli.analysis.choosing.figure_columns import (  # a first screen sorts nothing
            worst_first,
            worst_in_steps,
        )

        yield from worst_in_steps(context.run.tensors)
        told = worst_first(context.run.tensors, found, reverse=query.reverse)
        if told is not None:
            context.memory.select(_selection(context, options), told, unjudged)
            return
        yield from context.summaries_in_steps(found)
    for order in _in_order(context, found, query):
        yield None
        if order is not None:
            context.memory.select(_selection(context, options), order, unjudged)


def _in_order(context: Context, found: Sequence[int], query: TensorQuery) -> Iterator[Sequence[int] | None]:
    """`found` sorted as `query` says: None while it goes on, then the answer.

    Very many rows are picked out of the order of all, which is there already where the list was sorted before.
    """
    store = context.run.tensors
    whole = len(found) == len(store)
    if len(found) < _MANY or query.sort_by is SortKey.TIMESTAMP or (query.sort_by is SortKey.WORST and not whole):
        yield from ordered_in_steps(store, found, query, context.summary)
        return
    order: Sequence[int] = ()
    for found_order in _order(context, query):
        yield None
        order = found_order or ()
    if whole:
        yield order
        return
    wanted = bytearray(len(store))
    for start in range(0, len(found), _MANY):
        for index in found[start : start + _MANY]:
            wanted[index] = 1
        yield None
    kept = array("q")
    for start in range(0, len(order), _MANY):
        kept.extend(index for index in order[start : start + _MANY] if wanted[index])
        yield None
    yield kept


def _order(context: Context, query: TensorQuery) -> Iterator[Sequence[int] | None]:
    """All tensors of the run, sorted as `query` says: None while it goes on, then the answer."""
    key = context.current, f"{query.sort_by} {query.reverse}"
    if context.memory.order is None or context.memory.order[0] != key:
        store = context.run.tensors
        for order in ordered_in_steps(store, range(len(store)), query, context.summary):
            yield None
            if order is not None:
                context.memory.order = key, order
    yield context.memory.order[1] if context.memory.order is not None else None


def _admitted(context: Context, options: argparse.Namespace) -> Sequence[int]:
    """What the flags admit without the query: looked for once, whatever is typed behind -q."""
    key = _selection(context, options, among=())
    if key not in context.memory.selected:
        context.memory.select(key, admitted(context.run.tensors, context.run.graph, _flags(context, options)), 0)
    return context.memory.selected[key][0]


def _selection(
    context: Context, options: argparse.Namespace, *, among: Sequence[str] = ("query", "sort_by", "reverse")
) -> tuple[int, str]:
    """What the rows depend on: the run, the flags that admit tensors, and `among` those that stand beside them."""
    asked = {**vars(options), "query": _meant(options.query) if options.query else ""}
    return context.current, repr(
        [(name, asked[name]) for name in sorted(asked) if name not in _BESIDE or name in among]
    )


def _meant(query: str) -> str:
    """What a query stands for: a name in it may come to stand for another one."""
    from tfdbg_cli.commands.query.language import written
    from tfdbg_cli.commands.query.named import asked_query

    return written(asked_query(query))


def _flags(context: Context, options: argparse.Namespace) -> TensorQuery:
    """What the flags but for the query and the filter ask."""
    return TensorQuery(
        node=pattern(options.node_name_filter) if options.node_name_filter else None,
        op_type=pattern(options.op_type_filter) if options.op_type_filter else None,
        dtype=pattern(options.dtype) if options.dtype else None,
        device=pattern(options.device) if options.device else None,
        shape=options.shape,
        exclude=pattern(options.filter_exclude_node_names) if options.filter_exclude_node_names else None,
        layer=_layer_test(context, options.layer) if options.layer else None,
        role=Role(options.role) if options.role else None,
        sort_by=SortKey(options.sort_by),
        reverse=options.reverse,
    )


def _layer_test(context: Context, text: str) -> Callable[[str], bool]:
    layers = layers_of(context.run.graph)
    return layers.tester(layers.resolve(text))
