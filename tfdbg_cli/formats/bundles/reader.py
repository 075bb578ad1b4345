"""Reading a bundle. Nothing in it is trusted: sizes and digests are checked before anything is used."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfdbg_cli.errors import WRONG_CONTENT, TfdbgError
from tfdbg_cli.formats.bundles import layout
from tfdbg_cli.formats.bundles.description import description
from tfdbg_cli.formats.bundles.environment import Environment, read_environment
from tfdbg_cli.formats.bundles.values import digest, read_value
from tfdbg_cli.formats.dumps.case_layout import CASE_DIRECTORY
from tfdbg_cli.formats.dumps.case_reader import refusal_in
from tfdbg_cli.formats.dumps.reader import read_dump
from tfdbg_cli.formats.recording.json_fields import items, shape, text, texts, whole
from tfdbg_cli.formats.recording.regular_file import read_whole
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.names import TensorName, parse_tensor_name
from tfdbg_cli.model.replay import InputRole, ReplayInput, ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.plain_text import printable

_LONGEST_GRAPH = (1 << 31) - 1  # protobuf's own limit
_MOST_INPUTS = 1_000_000
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FirstBad:
    """What went wrong first in the recorded run; `sha256` is the digest of its elements."""

    name: TensorName
    execution: int
    device: str
    op_type: str
    sha256: str


@dataclass(frozen=True)
class Bundle:
    """A bundle: `run` as it was recorded, what it takes to make it again, and where it was written.

    `first_bad` is the origin if the run was `judged` when it was written, as that of older bundles was not: there it
    is the first tensor that was not finite, intended or not.
    """

    path: Path
    run: Run
    replay_spec: ReplaySpec
    first_bad: FirstBad | None
    versions: Mapping[str, str]
    judged: bool = False
    environment: Environment = field(default_factory=dict)  # of older bundles nothing is known


def read_bundle(directory: Path) -> Bundle:
    """The bundle in `directory`. All inputs are read now, the values of the recording when somebody looks.

    Raises:
        TfdbgError: there is no bundle, or what the repetition needs is damaged.

    """
    place = directory / layout.REPETITION_DIRECTORY
    if not layout.is_bundle(directory):
        raise _no_bundle(directory)
    if place.is_symlink() or any(_links(place)):
        raise TfdbgError(f"The bundle {directory} holds links, which tfdbg never writes; it is not read.")
    fields = _fields(directory)
    if fields.get("format") != layout.FORMAT:
        raise TfdbgError(
            f"The bundle {directory} was written by another tfdbg, in a format that this one does not know.",
            hint="Install the tfdbg that wrote it, or a newer one.",
            exit_code=2,
        )
    try:
        replay_spec = _replay_spec(place, fields)
        first_bad = _first_bad(fields["first_bad"])
        versions = {name: text(version) for name, version in fields["versions"].items()}
        environment = read_environment(fields.get("environment", {}))
    except ValueError as error:
        raise _damaged(place / layout.REPETITION, str(error)) from error
    except WRONG_CONTENT as error:
        raise _damaged(place / layout.REPETITION, "Its fields are not those that tfdbg writes.") from error
    judged = fields.get("judged") is True
    return Bundle(directory, read_dump(directory), replay_spec, first_bad, versions, judged, environment)


def _no_bundle(directory: Path) -> TfdbgError:
    if not directory.exists():
        return TfdbgError(f"There is no {directory}.", hint="Check the path.")
    if not directory.is_dir():
        return TfdbgError(f"{directory} is a file; a bundle is a folder.")
    if (directory / layout.REPETITION_DIRECTORY).exists():
        return TfdbgError(
            f"The bundle {directory} lacks {layout.REPETITION}, which says how its run is made again.",
            hint="Copy the bundle again; `tfdbg open` still shows what was recorded.",
        )
    if (directory / CASE_DIRECTORY).is_dir():
        return _values_alone(directory)
    return TfdbgError(
        f"{directory} is no bundle: it holds nothing from which a run can be made again.",
        hint="`tfdbg open` shows recordings; `bundle PATH` at a stop writes a bundle.",
    )


def _values_alone(directory: Path) -> TfdbgError:
    """What to say of what was recorded of a run, saved without the means to make it again."""
    holds = f"{directory} holds what was recorded of a run, but not what it takes to make the run again."
    shows = f"`tfdbg open {shlex.quote(str(directory))}` shows it"
    why = printable(refusal_in(directory))
    if why:
        return TfdbgError(f"{holds} {why}", hint=f"{shows}.")
    both = "`bundle PATH` without --values saves both, if the run can be made again"
    return TfdbgError(holds, hint=f"{shows}; {both}.")


def _links(place: Path) -> list[str]:
    return [
        name
        for folder, folders, files in os.walk(place)
        for name in (*folders, *files)
        if os.path.islink(os.path.join(folder, name))  # noqa: PTH114, PTH118 - a folder may have a million entries
    ]


def _damaged(path: Path, why: str) -> TfdbgError:
    return TfdbgError(
        f"The bundle's file {path.name} is damaged. {why}",
        hint="Copy the bundle again; `tfdbg open` still shows what was recorded.",
    )


def _content(path: Path, most: int) -> bytes:
    try:
        return read_whole(path, most)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> TfdbgError:
    return TfdbgError(f"The bundle's file {path.name} cannot be read: {error.strerror or error}.")


def _fields(directory: Path) -> dict[str, Any]:
    path = directory / layout.REPETITION_DIRECTORY / layout.REPETITION
    try:
        fields = description(directory)
    except OSError as error:
        raise _unreadable(path, error) from error
    if fields is None:
        raise _damaged(path, "It is no JSON object.")
    return fields


def _replay_spec(place: Path, fields: dict[str, Any]) -> ReplaySpec:
    graph = _content(place / layout.GRAPH, _LONGEST_GRAPH)
    if digest(graph) != fields["graph"]["sha256"]:
        raise _damaged(place / layout.GRAPH, "Its content is not what was written.")
    if len(fields["inputs"]) > _MOST_INPUTS:
        raise ValueError("It names more inputs than any run has.")
    return ReplaySpec(
        kind=RunKind(fields["kind"]),
        graph=graph,
        entry=text(fields["entry"]),
        fetches=texts(fields["fetches"]),
        inputs=tuple(
            _input(place / layout.INPUTS / str(number), given) for number, given in enumerate(items(fields["inputs"]))
        ),
        limits=texts(fields["limits"]),
        details={name: text(told) for name, told in fields["details"].items()},
    )


def _input(path: Path, fields: dict[str, Any]) -> ReplayInput:
    name, dtype = text(fields["name"]), text(fields["dtype"])
    sizes = shape(fields["shape"])
    role, node, sha256 = InputRole(fields["role"]), text(fields["node"]), text(fields["sha256"])
    try:
        value = read_value(path, dtype, sizes, sha256)
    except ValueError as error:
        raise TfdbgError(
            f"The value of {name!r} in the bundle (inputs/{path.name}) is damaged: {error}",
            hint="Copy the bundle again; `tfdbg open` still shows what was recorded.",
        ) from error
    except OSError as error:
        raise TfdbgError(
            f"The value of {name!r} in the bundle (inputs/{path.name}) cannot be read: {error.strerror or error}."
        ) from error
    return ReplayInput(name, role, dtype, value, node)


def _first_bad(fields: Any) -> FirstBad | None:
    if fields is None:
        return None
    name = parse_tensor_name(text(fields["tensor"]))
    sha256 = text(fields["sha256"])
    if name is None or not _HASH.fullmatch(sha256):
        raise ValueError("It does not say which tensor went wrong first.")
    return FirstBad(name, whole(fields["execution"]), text(fields["device"]), text(fields["op_type"]), sha256)
