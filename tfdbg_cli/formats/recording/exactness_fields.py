"""How exact a saved run is, as it stands in the description of the run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tfdbg_cli.formats.recording.json_fields import finite, items, text, whole
from tfdbg_cli.model.exactness import Exactness, Parting, Way


def exactness_fields(exactness: Exactness | None) -> dict[str, Any] | None:
    """All that is known of it; None where nothing is."""
    if exactness is None:
        return None
    return asdict(exactness)


def read_exactness(fields: dict[str, Any] | None) -> Exactness | None:
    """The exactness in `fields`. Raises what `WRONG_CONTENT` lists where they are others."""
    if fields is None:
        return None
    return Exactness(
        Way(fields["way"]),
        whole(fields["compared"]),
        tuple(map(_parting, items(fields["differs"]))),
        tuple(map(_parting, items(fields["strays"]))),
        text(fields["doubt"]),
        text(fields["note"]),
        text(fields["order"]),
        text(fields["race"]),
    )


def _parting(fields: dict[str, Any]) -> Parting:
    gap, ulps = fields["max_abs"], fields["max_ulp"]
    return Parting(
        text(fields["name"]),
        whole(fields["elements"]),
        None if gap is None else finite(gap),
        None if ulps is None else whole(ulps),
        text(fields["told"]),
    )
