"""The formats of programs without their runs: a file with a graph, and a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.checkpoint_format import examined_checkpoint
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.formats.recording.saved_runs import SavedRecording, SavedRuns

if TYPE_CHECKING:
    from tfdbg_cli.model.variables import SavedVariable

_SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
_VARIABLES = Path("variables") / "variables.index"
_MOST_FACTS = 40
_ENDINGS = (".pb", ".pbtxt", ".pb.txt", ".meta", ".graphdef")


def _is_graph_file(place: NamedPath) -> bool:
    name = place.path.name.lower()
    if not place.is_file:
        return False
    if name.endswith(_ENDINGS):
        return True
    from tfdbg_cli.formats.graph_files.reader import kind_of  # what reads a format is loaded for it only

    return kind_of(place.path) is not None


def _open_file(place: NamedPath) -> RunsOnDisk:
    return _recording(place.path)


def _recording(path: Path) -> RunsOnDisk:
    from tfdbg_cli.formats.checkpoints.reader import read_checkpoint, saved_variables
    from tfdbg_cli.formats.graph_files.file_kind import FileKind
    from tfdbg_cli.formats.graph_files.held_graph import graph_run
    from tfdbg_cli.formats.graph_files.reader import held_graphs

    kind, graphs = held_graphs(path)
    variables = path.parent / _VARIABLES
    is_beside = kind is FileKind.SAVED_MODEL and variables.is_file()

    @cache
    def saved() -> Mapping[str, SavedVariable]:
        return saved_variables(variables) if is_beside else {}

    reads = [partial(graph_run, number, held, str(path), saved) for number, held in enumerate(graphs, 1)]
    notes = [f"{path.name} is {kind.value}: graphs, and nothing of what they computed."]
    if is_beside:
        reads.append(partial(read_checkpoint, len(reads) + 1, variables))
        notes.append(f"Its variables are the last of these (`runs {len(reads)}`).")
    return SavedRecording(SavedRuns(reads, lambda read: read()), notes)


def _examine_file(place: NamedPath) -> Examination:
    return _examined(place.path)


def _examined(path: Path) -> Examination:
    """All that is in the file, each graph read once."""
    from tfdbg_cli.formats.graph_files.file_kind import FileKind
    from tfdbg_cli.formats.graph_files.reader import held_graphs
    from tfdbg_cli.ops.kinds import VARIABLES

    try:
        kind, graphs = held_graphs(path)
    except TfdbgError as error:
        return Examination("a file that should hold a graph", (), ((error.message, error.hint),))
    facts: list[str] = []
    troubles: dict[str, str] = {}
    has_variables = False
    for held in graphs:
        found = held.read()
        facts.append(f"{held.title}: {len(found.graph):,} nodes.")
        facts += found.notes
        has_variables = has_variables or not VARIABLES.isdisjoint(found.graph.distinct_op_types())
        troubles.update(dict.fromkeys(found.damages, "What can be read is shown. Copy the file again."))
    if kind is FileKind.SAVED_MODEL:
        told, wrong = _examined_variables(path.parent / _VARIABLES, needed=has_variables)
        facts += told
        troubles.update(wrong)
    if len(facts) > _MOST_FACTS:
        facts[_MOST_FACTS:] = [f"{len(facts) - _MOST_FACTS:,} more."]
    return Examination(kind.value, tuple(facts), tuple(troubles.items()))


def _examined_variables(index: Path, *, needed: bool) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
    """What there is of the variables of a SavedModel, and what is wrong with them."""
    if index.is_file():
        return examined_checkpoint(1, index)
    lost = "The graphs can be opened all the same. Copy the folder `variables` again."
    return (), [(f"{_VARIABLES} is missing, and with it the values of its variables.", lost)] * needed


def _is_saved_model(place: NamedPath) -> bool:
    return any(name in _SAVED_MODEL for name in place.names)


def _saved_model(place: NamedPath) -> Path:
    return place.path / next(name for name in _SAVED_MODEL if name in place.names)


def _open_saved_model(place: NamedPath) -> RunsOnDisk:
    return _recording(_saved_model(place))


def _examine_saved_model(place: NamedPath) -> Examination:
    return _examined(_saved_model(place))


GRAPH_FILES = Format(
    "a file with a graph (GraphDef, MetaGraphDef or RunMetadata)",
    _is_graph_file,
    _open_file,
    examine=_examine_file,
    noun="graph",
)
SAVED_MODELS = Format(
    "a SavedModel (a folder with saved_model.pb)",
    _is_saved_model,
    _open_saved_model,
    examine=_examine_saved_model,
    noun="graph",
)
