"""One finder over everything that has a name at a stop: commands, runs, layers, files, results, tensors, ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tfdbg_cli.analysis.choosing.fuzzy import FuzzyMatch, FuzzyPattern, Rank
from tfdbg_cli.analysis.graph.nodes.roles import GRADIENT_SCOPE
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.interpreter import moment_of
from tfdbg_cli.commands.registry import WITH_TENSORS, Registry
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.runs import Opened, RunStart
from tfdbg_cli.model.tensors import EMPTY_STORE

_MOST = 300  # hits that are kept, the best ones
_SLACK = 2_000  # further hits collected before they are sorted and all but the best are dropped
_SLOT = re.compile(r"(?<=\S):\d+(?!\S)")  # of a tensor, which is listed by its node
_STEP = 100  # names tested between two looks at the clock


class FoundKind(StrEnum):
    """What can be found, in the order in which equal hits are shown. An op with a tensor is found as that."""

    COMMAND = "command"
    RUN = "run"
    LAYER = "layer"
    FILE = "file"
    RESULT = "result"  # what the program calls a tensor that the run gave it
    TENSOR = "tensor"
    OP = "op"


@dataclass(frozen=True, slots=True)
class NameHit:
    """Something found by its `name`; `match` says where the typed letters are in it.

    Of a run, `number` is its place among the runs, from 1. The name of a command is followed by its aliases.
    """

    kind: FoundKind
    name: str
    match: FuzzyMatch
    number: int = 0

    @property
    def first(self) -> str:
        """The name of a command without its aliases."""
        return self.name.partition(",")[0]


_NODES = {FoundKind.TENSOR, FoundKind.OP}
_ORDER = {kind: place for place, kind in enumerate(FoundKind)}


class RunNames:
    """The names of one run and its stop, by kind. Scopes and files are collected in steps by `sources`, when due."""

    def __init__(self, context: Context, registry: Registry) -> None:
        moment = moment_of(context)
        here = (one for one in registry if moment in one.moments)
        self._commands = list(dict.fromkeys(", ".join((one.name, *one.aliases)) for one in here))
        self._runs = _run_names(context)
        self._graph = context.graph
        self._store = EMPTY_STORE if isinstance(context.stop, RunStart) else context.run.tensors
        self._results = () if isinstance(context.stop, RunStart) else _result_names(context.call)
        self._nodes: Sequence[str] = ()
        self._ops: Sequence[str] = ()  # those without a tensor: a name stands in the list once
        self._tracebacks = context.tracebacks
        self._layers: Sequence[str] | None = None if moment in WITH_TENSORS else ()
        self._files: Sequence[str] | None = None

    @property
    def commands(self) -> Sequence[str]:
        """The commands, each with its aliases."""
        return self._commands

    @property
    def total(self) -> int:
        """How many names there are, as far as they are gathered."""
        named = (self._commands, self._runs, self._results, self._store.nodes(), self._ops)
        return sum(map(len, (*named, self._layers or (), self._files or ())))

    def sources(self) -> Iterator[tuple[FoundKind, Sequence[str]] | None]:
        """Yield each kind with its names, and None in between while names are being collected."""
        yield FoundKind.COMMAND, self._commands
        yield FoundKind.RUN, self._runs
        yield FoundKind.RESULT, self._results
        yield FoundKind.TENSOR, self._store.nodes()
        yield None
        if not self._nodes:
            self._nodes = list(self._graph.names())
            computed = set(self._store.nodes())
            self._ops = [name for name in self._nodes if name not in computed]
        yield FoundKind.OP, self._ops
        if self._layers is None:
            yield from self._gather_layers()
        yield FoundKind.LAYER, self._layers or ()
        if self._files is None:
            yield from self._gather_files()
        yield FoundKind.FILE, self._files or ()

    def _gather_layers(self) -> Iterator[None]:
        """The scopes in the names of nodes, but for those that are ops with helpers and those of gradients alone."""
        found: dict[str, None] = {}
        for at, name in enumerate(self._nodes):
            scope = name.rpartition("/")[0]
            while scope and scope not in found:
                found[scope] = None
                scope = scope.rpartition("/")[0]
            if at % _STEP == 0:
                yield None
        scopes = []
        for at, scope in enumerate(found):
            if scope not in self._graph and not GRADIENT_SCOPE.match(scope.rpartition("/")[2]):
                scopes.append(scope)
            if at % _STEP == 0:
                yield None
        self._layers = scopes

    def _gather_files(self) -> Iterator[None]:
        """The files whose lines made nodes."""
        found: dict[str, None] = {}
        for at, name in enumerate(self._tracebacks):
            found.update(dict.fromkeys(frame.file for frame in self._tracebacks[name]))
            if at % _STEP == 0:
                yield None
        self._files = list(found)


def _run_names(context: Context) -> Sequence[str]:
    """The runs that can be looked at: kept ones by their titles, those of a recording by number, for they load."""
    stop = context.stop
    if isinstance(stop, Opened):
        return [f"run {number}" for number in range(1, len(context.runs) + 1)]
    return [run.call.title for run in context.runs]


def _result_names(call: Call) -> Sequence[str]:
    """What the program calls what the run gave it, each name that means one tensor."""
    tensors: dict[str, set[str]] = {}
    for tensor, name in zip(call.fetches, call.names_of_fetches, strict=True):
        tensors.setdefault(name, set()).add(tensor)
    return [name for name, meant in tensors.items() if name and len(meant) == 1 and name != node_of(*meant)]


class NameSearch:
    """A search by what a user types, done in slices. `hits` are the best so far, `total` counts all of them."""

    def __init__(self, context: Context, registry: Registry) -> None:
        """Get ready to find what there is at the stop of `context`.

        Raises:
            TfdbgError: the run looked at cannot be read.

        """
        self._names = RunNames(context, registry)
        self._steps: Iterator[None] | None = None
        self._found: list[tuple[Rank, int, NameHit]] = []
        self.text = ""
        self.hits: Sequence[NameHit] = ()
        self.total = 0
        self.ask("")

    @property
    def running(self) -> bool:
        """Whether names are left to look at."""
        return self._steps is not None

    @property
    def names(self) -> int:
        """How many names there are."""
        return self._names.total

    def ask(self, text: str) -> None:
        """Look for `text` from now on, whatever was looked for before. Nothing typed finds the commands."""
        self.text = text
        self.total = 0
        self._found = []
        wanted = FuzzyPattern(text)
        if wanted:
            self._steps = self._search(wanted, FuzzyPattern(_SLOT.sub("", text)))
        else:
            self._steps = None
            nothing = FuzzyMatch((0, 0, 0), ())
            self.hits = [NameHit(FoundKind.COMMAND, name, nothing) for name in self._names.commands]
            self.total = len(self.hits)

    def work(self, enough: Callable[[], bool]) -> None:
        """Go on looking until `enough`, or until every name was looked at."""
        if self._steps is None:
            return
        for _ in self._steps:
            if enough():
                self._settle()
                return
        self._steps = None
        self._settle()

    def _search(self, text: FuzzyPattern, of_nodes: FuzzyPattern) -> Iterator[None]:
        """Look through all names for `text`, through those of nodes for `of_nodes`."""
        for source in self._names.sources():
            if source is None:
                yield
                continue
            kind, names = source
            wanted = of_nodes if kind in _NODES else text
            for start in range(0, len(names), _STEP):
                for at in range(start, min(start + _STEP, len(names))):
                    name = names[at]
                    if wanted.holds(name) and (match := wanted.match(name)) is not None:
                        self.total += 1
                        self._found.append((match.rank, _ORDER[kind], NameHit(kind, name, match, at + 1)))
                if len(self._found) > _MOST + _SLACK:
                    self._best()
                yield

    def _best(self) -> None:
        self._found.sort(key=lambda one: (*one[:2], one[2].number))
        del self._found[_MOST:]

    def _settle(self) -> None:
        """Let `hits` be the best found so far."""
        self._best()
        self.hits = [hit for _, _, hit in self._found]
