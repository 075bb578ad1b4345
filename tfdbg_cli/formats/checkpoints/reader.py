"""A checkpoint as a run whose tensors are the variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoints.checkpoint_index import OBJECT_GRAPH, CheckpointIndex, read_index
from tfdbg_cli.formats.checkpoints.checkpoint_store import CHECKED, CheckpointStore
from tfdbg_cli.formats.checkpoints.incomplete import COPY_AGAIN
from tfdbg_cli.formats.checkpoints.sorted_table import DamagedTableError
from tfdbg_cli.formats.checkpoints.variable_names import VariableFacts, facts_of, objects_of, shown_names
from tfdbg_cli.formats.recording.unreadable import cannot_read
from tfdbg_cli.model.calls import Call, RunKind
from tfdbg_cli.model.graph import Graph, GraphKind, Node
from tfdbg_cli.model.restoring import SavedObject
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.values import NoValue
from tfdbg_cli.model.variables import SAVED_VARIABLE, SavedVariable, ToldVariables

_LARGE = f"The checksums of variables of more than {CHECKED >> 20} MB are compared by `tfdbg doctor` alone."


def read_checkpoint(number: int, path: Path) -> Run:
    """The checkpoint whose index lies at `path`. Elements are read when somebody looks.

    Raises:
        TfdbgError: the index cannot be used.

    """
    try:
        index = read_index(path)
    except DamagedTableError as error:
        message = f"{path.name} cannot be read at byte {error.offset:,}: {error}."
        raise TfdbgError(message, hint="Copy it again from where it was written.") from None
    except OSError as error:
        raise cannot_read(path, error) from None
    names = shown_names(key for key in index.entries if key != OBJECT_GRAPH)
    notes = list(index.notes)
    facts = _facts(index, notes)
    store = CheckpointStore(index, names)
    if any((store[at].nbytes or 0) > CHECKED for at in range(len(store))):
        notes.append(_LARGE)
    return Run(
        Call(number, RunKind.CHECKPOINT, (), function=f"checkpoint {index.prefix.name}"),
        store,
        Graph([_node(key, name, facts, names) for key, name in names.items()], GraphKind.PYTHON),
        notes=tuple(notes),
        origin_path=str(path),
        variables=ToldVariables(_trained(facts, names)),
    )


def saved_variables(path: Path) -> Mapping[str, SavedVariable]:
    """The variables of the checkpoint whose index lies at `path`, by what the program calls them.

    There are none where the index cannot be used, which its own run tells.
    """
    try:
        run = read_checkpoint(1, path)
    except TfdbgError:
        return {}
    rows: dict[str, list[int]] = {}
    for node in run.graph:
        rows.setdefault(node.attributes.get("full_name") or node.name, []).extend(run.tensors.named(node.name, 0))
    return {name: SavedVariable(run.tensors, at[0], tuple(at[1:])) for name, at in rows.items() if at}


def saved_objects(path: Path) -> Sequence[SavedObject]:
    """The objects that the checkpoint with the index `path` was written from; none where it was written by names.

    Raises:
        TfdbgError: they cannot be read.

    """
    troubles: list[str] = []
    try:
        content = _objects(read_index(path), troubles)
        found = () if content is None else objects_of(content)
    except (ValueError, OSError) as error:
        troubles.append(str(error))
    if troubles:
        message = f"The objects that {path.name} was written from cannot be read: {troubles[0]}"
        raise TfdbgError(message, hint=COPY_AGAIN)
    return found


def _trained(facts: Mapping[str, VariableFacts], names: Mapping[str, str]) -> Mapping[str, bool]:
    """Which variables an optimizer keeps something of, and so trains; what it keeps is not trained."""
    slots = {key: one.slot_of for key, one in facts.items() if one.slot_of}
    found = {names[key]: True for key in slots.values() if key in names}
    return found | {names[key]: False for key in slots if key in names}


def _facts(index: CheckpointIndex, notes: list[str]) -> Mapping[str, VariableFacts]:
    content = _objects(index, notes)
    if content is None:
        return {}
    try:
        return facts_of(content)
    except ValueError as error:
        notes.append(f"What the program's objects call the variables cannot be read. {error}")
        return {}


def _objects(index: CheckpointIndex, notes: list[str]) -> bytes | None:
    """The serialized graph of the program's objects; None where there is none, or it cannot be read."""
    if OBJECT_GRAPH not in index.entries:
        return None
    value = CheckpointStore(index, {OBJECT_GRAPH: OBJECT_GRAPH}).value(0)
    if isinstance(value, NoValue) or value.shape != () or not isinstance(value.item(), bytes):
        text = value.text if isinstance(value, NoValue) else "It is no string."
        notes.append(f"What the program's objects call the variables cannot be read. {text}")
        return None
    content: bytes = value.item()
    return content


def _node(key: str, name: str, facts: Mapping[str, VariableFacts], names: Mapping[str, str]) -> Node:
    """A variable as a node, with what is known of it as attributes."""
    known = facts.get(key)
    attributes = {} if key == name else {"checkpoint_key": key}
    if known is not None and known.full_name:
        attributes["full_name"] = known.full_name
    if known is not None and known.slot_of:
        attributes["slot_of"] = names.get(known.slot_of, known.slot_of)
    return Node(name, SAVED_VARIABLE, "", attributes=attributes)
