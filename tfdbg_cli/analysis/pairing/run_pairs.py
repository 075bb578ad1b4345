"""Which run of one recording is which of another: by number, by order, or each after its kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count

from tfdbg_cli.analysis.graph.nodes.roles import is_gradient
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.runs import Run

PlacePair = tuple[int, int]


def paired_runs(first: Sequence[Run], second: Sequence[Run], number: int | None) -> list[PlacePair]:
    """The places of runs that belong together; with `number` only of those with that number.

    They are paired by their numbers where both recordings have the same ones, else in their order; so they are where
    as many runs of each are counted otherwise, as those of a session are and those of a function. Where that puts
    runs of two kinds together, as where one program evaluates in between, the n-th of a kind is one with the n-th.

    Raises:
        TfdbgError: a recording has no run with that number, or nobody can tell which runs belong together.

    """
    if number is not None:
        return [(_numbered(first, number, "A"), _numbered(second, number, "B"))]
    if len(first) == 1 == len(second):
        return [(0, 0)]
    as_many = len(first) == len(second)
    pairs = _by_number(first, second)
    if not pairs or (as_many and len(pairs) < len(first) and _are_counted_otherwise(first, second)):
        pairs = list(zip(range(len(first)), range(len(second)), strict=False))
    if as_many and all(_title(first[one]) == _title(second[two]) for one, two in pairs):
        return pairs  # nothing hints at runs of several kinds, so no graph is read
    if not as_many:
        _require_one_kind(first, second)
    kinds = [[_kind(run) for run in runs] for runs in (first, second)]
    if all(kinds[0][one] == kinds[1][two] for one, two in pairs) or not set(kinds[0]) & set(kinds[1]):
        return pairs
    return _by_kind(_with_the_rest_alike(kinds))


def _are_counted_otherwise(first: Sequence[Run], second: Sequence[Run]) -> bool:
    """Whether a number counts other things in both: a session counts the run that initializes variables, too."""
    kinds = [{run.call.kind for run in runs} for runs in (first, second)]
    return not kinds[0] & kinds[1]


def _require_one_kind(first: Sequence[Run], second: Sequence[Run]) -> None:
    """Refuse runs of other kinds where one side has several: one turn of a loop is several calls of functions."""
    kinds = [{run.call.kind for run in runs} for runs in (first, second)]
    titles = [{_title(run) for run in runs} for runs in (first, second)]
    if kinds[0] & kinds[1] or max(map(len, titles)) == 1:
        return
    told = ", ".join(
        f"{name} has {len(runs)} ({', '.join(sorted(str(kind) for kind in of))})"
        for name, runs, of in zip("AB", (first, second), kinds, strict=True)
    )
    raise TfdbgError(
        f"Which runs belong together cannot be told: {told}.",
        hint="Name what is one run in both, `with tf_debug.run():` around a step, or compare two: --run N",
        exit_code=2,
    )


def _numbered(runs: Sequence[Run], number: int, name: str) -> int:
    places = {run.call.number: place for place, run in enumerate(runs)}
    if number not in places:
        has = ", ".join(map(str, list(places)[:8])) + (" …" if len(places) > 8 else "")
        raise TfdbgError(f"There is no run #{number} in {name}.", hint=f"It has {has or 'none'}.")
    return places[number]


def _by_number(first: Sequence[Run], second: Sequence[Run]) -> list[PlacePair]:
    """The runs whose number both recordings have; none where a number stands for several runs."""
    places = [{run.call.number: place for place, run in enumerate(runs)} for runs in (first, second)]
    if len(places[0]) < len(first) or len(places[1]) < len(second):
        return []
    return [(place, places[1][key]) for key, place in places[0].items() if key in places[1]]


def _by_kind(kinds: Sequence[Sequence[Hashable]]) -> list[PlacePair]:
    """The n-th run of each kind with the n-th, in the order of the first recording."""
    places: dict[tuple[Hashable, int], int] = {}
    counted: dict[Hashable, count[int]] = {}
    for place, kind in enumerate(kinds[1]):
        places[kind, next(counted.setdefault(kind, count()))] = place
    counted.clear()
    pairs = []
    for place, kind in enumerate(kinds[0]):
        other = places.get((kind, next(counted.setdefault(kind, count()))))
        if other is not None:
            pairs.append((place, other))
    return pairs


def _with_the_rest_alike(kinds: Sequence[Sequence[Hashable]]) -> Sequence[Sequence[Hashable]]:
    """`kinds`, where one kind that only the first has and one that only the second has, as often, count as the same.

    So does a step that Keras calls otherwise where it runs eagerly.
    """
    alone = [[kind for kind in of if kind not in set(other)] for of, other in (kinds, kinds[::-1])]
    if not alone[0] or len(set(alone[0])) > 1 or len(set(alone[1])) > 1 or len(alone[0]) != len(alone[1]):
        return kinds
    return kinds[0], [alone[0][0] if kind == alone[1][0] else kind for kind in kinds[1]]


def _title(run: Run) -> Hashable:
    """What the program called: the function, the loop, or what it fetched."""
    call = run.call
    if call.kind is RunKind.SESSION:
        return call.kind, tuple(call.fetches), tuple(call.targets)
    # A function that runs eagerly on request is the same call as in a graph.
    called = RunKind.FUNCTION if call.kind is RunKind.EAGER and not call.loop else call.kind
    return called, call.loop or call.function


def _kind(run: Run) -> Hashable:
    """The title, and whether the run trains: Keras calls its steps of training and of evaluation alike."""
    return _title(run), any(is_gradient(run.graph, node.name) for node in run.graph)
