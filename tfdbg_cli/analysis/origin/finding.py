"""What is found of a run that went wrong: the origin, what came of it, and what was passed over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfdbg_cli.analysis.causes.causes import Cause
from tfdbg_cli.analysis.causes.intended import Intended, told_once
from tfdbg_cli.analysis.causes.set_by_hand import BY_SET, still_held
from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.graph.ways.chain import Link, chain_to
from tfdbg_cli.analysis.origin.aftermath import Aftermath
from tfdbg_cli.analysis.origin.benign import harm_in, is_used
from tfdbg_cli.analysis.origin.growth import overflows, with_sizes
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.analysis.origin.swallowing import used_by
from tfdbg_cli.analysis.watch.verdicts import nan_mask
from tfdbg_cli.model.given_by_set import assigned_to, replaced_by
from tfdbg_cli.model.names import TensorName
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.statistics import nonfinite_mask
from tfdbg_cli.model.values import NoValue


@dataclass(frozen=True)
class Passed:
    """What a search for the origin passed over: `unread` is the number of tensors before it whose value is lost,
    `first_unread` the row of the first of all that were looked at.

    `intended` are infinities that look intended, `ignored` the nodes that are bad but ignored by the user.
    """

    unread: int
    intended: tuple[Intended, ...]
    ignored: tuple[str, ...]
    first_unread: int | None = None


@dataclass(frozen=True)
class Finding:
    """The origin in a run, with its consequences and the chain that leads to it.

    `harmless` says that nothing in the outcome of the run is bad by it; that may depend on it all the same (`used`),
    as on the infinity that tanh makes 1 of. `before` is the number of harmless origins that precede this one and were
    passed over for it; what comes out may depend on the first of them (`before_used`), and the origin itself may have
    been computed from it: `led_by` is then its name. `nan` is where NaN began, if the origin is an infinity that the
    run was given.
    """

    origin: Origin
    after: Aftermath
    chain: tuple[Link, ...]
    harmless: bool
    before: int
    passed: Passed
    used: bool = False
    nan: Origin | None = None
    before_used: bool = False
    led_by: TensorName | None = None

    @property
    def in_batch(self) -> Origin:
        """What the rows of the batch are behind: the origin, or where that has none, as a mask, where NaN began."""
        return self.nan if self.nan is not None and not self.origin.batch_rows else self.origin


def passed_by(search: OriginSearch) -> Passed:
    """What `search` has passed over so far."""
    unread = search.unread
    first = min(unread, default=None)
    return Passed(len(unread), told_once(search.intended), search.dismissals.bad_nodes, first)


def look_for(run: Run, search: OriginSearch) -> Finding | Passed:
    """The finding of `search` in `run`; if nothing is wrong, what it passed over."""
    origin = search.first()
    if origin is None:
        return passed_by(search)
    first, before = origin, 0
    if origin.intended is None:
        origin, before = search.harmful(origin)
    before_used = before > 0 and is_used(run, first.name, first.value)
    given = origin.node is not None and replaced_by(origin.node)
    assigned = assigned_to(run.graph, origin.node) if origin.node is not None else ""
    if assigned:
        origin = replace(origin, cause=Cause(f"`set` assigned this value to variable {assigned}."))
    if given:
        origin = replace(origin, cause=Cause(f"`set` gave the program this value in place of {given}."))
    if origin.name in run.replaced and (run.change is None or _made_bad(run, run.change.base, origin)):
        origin = replace(origin, cause=BY_SET)
    held = None if origin.node is None else still_held(run, origin.node, origin.bad)
    if held is not None:
        origin = replace(origin, cause=held)
    after = search.spoiled(origin)
    harmless = _is_harmless(run, search, after)
    used = harmless and is_used(run, origin.name, origin.value)
    chain = _chain(search, run, origin)
    passed = replace(passed_by(search), unread=search.unread_before(origin))
    led_by = first.name if before_used and first.name.node in used_by(run.graph, (origin.name,)) else None
    nan = search.nan_after(origin)
    return Finding(origin, after, chain, harmless, before, passed, used, nan, before_used, led_by)


def ends_finite(run: Run, search: OriginSearch, origin: Origin) -> bool:
    """Whether `run` holds infinities alone, as `origin` has them, and none in its outcome. Reads every value."""
    if not _is_harmless(run, search, search.spoiled(origin)):
        return False
    values = (run.tensors.value(row) for row in search.bad_rows())
    return not any(isinstance(value, NoValue) or bool(nan_mask(value).any()) for value in (origin.value, *values))


def _is_harmless(run: Run, search: OriginSearch, after: Aftermath) -> bool:
    return after.complete and not after.results and not after.variables and not harm_in(run, search)


def _made_bad(run: Run, base: Run, origin: Origin) -> bool:
    """Whether the value that was set holds anything bad that the program's own, in the run `base`, did not."""
    own = base.tensors.named(origin.name.node, origin.name.slot)
    if origin.index is None or not own:
        return True
    value, before = run.tensors.value(origin.index), base.tensors.value(own[0])
    if isinstance(value, NoValue) or isinstance(before, NoValue) or value.shape != before.shape:
        return True
    return bool((nonfinite_mask(value) & ~nonfinite_mask(before)).any())


def _chain(search: OriginSearch, run: Run, origin: Origin) -> tuple[Link, ...]:
    if origin.node is None or origin.index is None:
        return ()
    chain = chain_to(
        run, search.lineage, origin.node, origin.name.slot, origin.way, origin.batch.source, origin.index
    )
    if not chain:
        return ()
    last = made_at(run.tracebacks, origin.made_by) if origin.forward else origin.frame
    chain = (*chain[:-1], replace(chain[-1], frame=last))
    return with_sizes(run, chain) if overflows(origin) else chain
