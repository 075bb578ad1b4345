"""What a run is to blame for: all that is bad in it beyond what is intended or ignored."""

from __future__ import annotations

from tfdbg_cli.analysis.origin.dismissed import dismissed_in
from tfdbg_cli.analysis.origin.origin_found import OnIntended
from tfdbg_cli.analysis.origin.search import OriginSearch
from tfdbg_cli.model.runs import Run


def blamed_in(run: Run) -> tuple[int, ...]:
    """The rows of the tensors of `run` that are bad, the one first that `origin` names; empty where nothing is wrong.

    Infinities that look intended are left out, and so are the places that were ignored when the run was saved. Where
    the origin is a feed that no tensor shows, all stand in order of execution. Reads every value.
    """
    search = OriginSearch(run, benign=OnIntended.SKIP, dismissed=dismissed_in(run, run.ignored))
    origin = search.first()
    if origin is None:
        return ()
    first = search.harmful(origin)[0].index
    search.all()  # excuses what is intended behind it, too
    others = (row for row in search.bad_rows() if row != first)
    return (*others,) if first is None else (first, *others)
