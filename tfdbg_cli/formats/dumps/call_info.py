"""Which call a dump came from, as far as TensorFlow's own metadata files tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tfdbg_cli.formats.dumps.core_metadata import CoreMetadata, messages_in, metadata_in
from tfdbg_cli.formats.dumps.listing import DumpListing, run_number
from tfdbg_cli.model.calls import Call, RunKind

# The names in repr() of tensors, variables, operations and plain texts.
_NAMED = re.compile(r"<tf\.(?P<kind>\w+) '(?P<name>[^']*)'|(?<![\w=])'(?P<text>[^']+)'(?!\s*:)")


def call_of(listing: DumpListing, notes: list[str]) -> Call:
    """The call that made the dump. Values of feeds are None: TensorFlow keeps their names only.

    What cannot be read is appended to `notes`.
    """
    metadata = _core_metadata(listing, notes)
    fetched = list(_names(messages_in(listing.fetches, notes)))
    fed = list(_names(messages_in(listing.feed_keys, notes)))
    fetches = [name for name, is_tensor in fetched if is_tensor]
    targets = [name for name, is_tensor in fetched if not is_tensor]
    feeds = [name for name, _ in fed]
    if metadata is not None:
        fetches = _ordered(metadata.output_names, fetches)
        targets = _ordered(metadata.target_nodes, targets)
        feeds = _ordered(metadata.input_names, feeds)
    return Call(
        number=_number(listing.root, metadata),
        kind=RunKind.SESSION,
        fetches=tuple(fetches),
        feeds=dict.fromkeys(feeds),
        targets=tuple(targets),
    )


def _number(root: Path, metadata: CoreMetadata | None) -> int:
    number = run_number(root.name)
    if number is not None:
        return number
    return max(metadata.session_run_index, 0) + 1 if metadata else 1


def _ordered(names: Sequence[str], as_written: list[str]) -> list[str]:
    """`names` (sorted by the runtime) in the order in which the program wrote them, where that is known."""
    place = {name: index for index, name in reversed(list(enumerate(as_written)))}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _core_metadata(listing: DumpListing, notes: list[str]) -> CoreMetadata | None:
    if len(listing.core_metadata) > 1:
        notes.append(f"{len(listing.core_metadata)} runs wrote into this folder; the call shown is the last one's.")
    latest = sorted(listing.core_metadata, key=lambda path: path.name, reverse=True)
    return next(metadata_in(latest, notes), None)


def _names(texts: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """The names in a repr of fetches or feeds, each with whether it is a tensor (and not an operation)."""
    for text in texts:
        for match in _NAMED.finditer(text):
            yield match["name"] or match["text"], match["kind"] != "Operation"
