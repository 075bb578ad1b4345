"""A whole run made again with other values, updates included, on copies of its variables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from tfdbg_cli.analysis.graph.making.eager_past import with_own_arguments
from tfdbg_cli.analysis.graph.nodes.feeds import with_replaced_feeds
from tfdbg_cli.analysis.variables.read_values import is_behind_handle
from tfdbg_cli.capture.what_if.kept_draws import draws_behind
from tfdbg_cli.capture.what_if.merging import with_values
from tfdbg_cli.capture.what_if.outdated import outdated
from tfdbg_cli.capture.what_if.slices import Kept
from tfdbg_cli.capture.what_if.words import failed, kept_as_drawn, not_made_again
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.gathered import GatheredTensors, Row
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Change, Run, WhatIf
from tfdbg_cli.model.tensors import TensorStore
from tfdbg_cli.model.updates import before_update
from tfdbg_cli.model.values import Array

_WHOLE = "Nothing was written: the run was made again from the state before it, on copies of the variables."
_PART = "Only what depends on the replaced tensors was computed again, and no update: {}"


class PartWhatIf(WhatIf, Protocol):
    """The means to compute what depends on replaced tensors, and to say what of it is left as it was."""

    def kept_after(self, replaced: Iterable[TensorName]) -> Mapping[str, Kept]:
        """The nodes that depend on `replaced`, but keep what they gave, with why."""
        ...


class WholeWhatIf:
    """The means to make a whole run again with other values, from a snapshot of it (`model.runs.WhatIf`).

    Of a run without a snapshot, `part` computes what can be computed.
    """

    def __init__(self, part: PartWhatIf, held: Collection[TensorName] = ()) -> None:
        """Prepare to make a run again; `held` are tensors that `part` is given, as the run drew them from outside."""
        self._part = part
        self._held = held

    def require_replaceable(self, run: Run, name: TensorName) -> None:
        """Refuse what cannot be replaced in a part of the run either, but for a variable as it was. See WhatIf."""
        if not is_behind_handle(run, name):
            self._part.require_replaceable(run, name)
        elif run.replayable is None:
            raise not_made_again(run, name)

    def again(self, run: Run, replaced: Mapping[TensorName, Array]) -> Run:
        """`run` with the values `replaced` and all that follows from them. See WhatIf."""
        for name in replaced:
            self.require_replaceable(run, name)
        if run.replayable is None:
            return self._part.again(run, replaced)
        try:
            tensors, error = run.replayable.with_values(replaced)
        except TfdbgError as reason:
            for name in replaced:
                if is_behind_handle(run, name):
                    raise not_made_again(run, name, reason.message) from None
            made = self._part.again(run, replaced)
            said = kept_as_drawn(draws_behind(run, replaced, self._held))
            return replace(made, notes=(_PART.format(reason.message), *said, *made.notes))
        if error is not None:
            raise failed(error)
        kept = {**draws_behind(run, replaced, self._held), **self._part.kept_after(replaced)}
        drawn = {name for name, why in kept.items() if why not in {Kept.WRITES, Kept.LATE}}
        lost = outdated(run, tensors, replaced, drawn)
        given = with_values(run.tensors, {**lost, **replaced, **_shown_before(replaced)})
        rows = list(_laid_over(run.tensors, tensors, given))
        computed = sum(store is tensors for store, _ in rows)
        change = Change(run, dict(replaced), computed)
        notes = (_WHOLE, *kept_as_drawn(kept), *run.notes)
        call = with_replaced_feeds(run.call, replaced)
        graph, made_again = with_own_arguments(run.graph, replaced), GatheredTensors(rows)
        return replace(run, call=call, graph=graph, tensors=made_again, change=change, caught=False, notes=notes)


def _shown_before(replaced: Mapping[TensorName, Array]) -> Mapping[TensorName, Array]:
    """The values `replaced` by the tensors that show them, where they are those of variables."""
    return {TensorName(before_update(name.node), 0): value for name, value in replaced.items()}


def _laid_over(before: TensorStore, after: TensorStore, given: TensorStore) -> Iterator[Row]:
    """The tensors of `before`, in their order, replaced by those of `given` and `after` as far as these have them.

    An op in whose place a value was `given` may run all the same, for what waits for it: what it gave is not shown.
    A tensor that was made another number of times than before has all its executions where the first one was.
    """
    done: set[tuple[str, int]] = set()
    for row in range(len(before)):
        tensor = before[row]
        key = tensor.node, tensor.slot
        if key in done:
            continue
        old, new = before.named(*key), after.named(*key)
        if put := given.named(*key):
            done.add(key)
            yield from ((given, at) for at in put)
            continue
        if len(old) == len(new):
            yield (after, new[old.index(row)])
            continue
        done.add(key)
        yield from ((after, at) for at in new) if new else ((before, at) for at in old)
