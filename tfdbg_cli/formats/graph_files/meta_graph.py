"""A graph of a file, its functions, and what of them is called from outside (its signatures), as runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from tfdbg_cli.formats.graph_files.function_body import UNSURE, FunctionBody, OutputSlots
from tfdbg_cli.formats.graph_files.held_graph import GraphFacts, HeldGraph
from tfdbg_cli.formats.graph_files.mended import Damages
from tfdbg_cli.formats.graph_files.misfits import tell_misfits, tell_repeated
from tfdbg_cli.formats.graph_files.object_paths import function_paths
from tfdbg_cli.formats.graph_files.source import GraphSource, MetaSource
from tfdbg_cli.formats.graph_files.trained_variables import trained_variables
from tfdbg_cli.formats.messages.attribute_text import dtype_text, shape_text
from tfdbg_cli.formats.messages.tensor_proto import shape_of
from tfdbg_cli.model.calls import CallArgument
from tfdbg_cli.model.graph import Graph, GraphKind
from tfdbg_cli.ops.kinds import VARIABLES

_MOST_SIGNATURES = 12


class SavedLibrary:
    """The functions of a graph, each parsed when somebody looks. `definitions` gives those of ops."""

    def __init__(
        self, functions: Mapping[str, Callable[[], Any]], definitions: Callable[[], Mapping[str, Any]] = dict
    ) -> None:
        self._functions = functions
        self._definitions = definitions

    def __len__(self) -> int:
        return len(self._functions)

    def graphs(self, paths: Callable[[], Mapping[str, str]] = dict) -> Iterator[HeldGraph]:
        """Each function as a graph of its own; `paths` tells what the program calls them."""
        for name in self._functions:
            yield HeldGraph(f"function {name}", partial(self._facts, name, paths))

    def _signature(self, name: str) -> Any:
        """The OpDef of a function; None where there is no such one, or it cannot be read."""
        try:
            return self._functions[name]().signature if name in self._functions else None
        except ValueError:
            return None

    def _facts(self, name: str, paths: Callable[[], Mapping[str, str]]) -> GraphFacts:
        try:
            definition = self._functions[name]()
        except ValueError as error:
            reason = f"The function {name} cannot be read: {error}"
            return GraphFacts(Graph(kind=GraphKind.PYTHON), damages=(reason,))
        outputs = OutputSlots(self._definitions(), self._signature)
        body = FunctionBody(definition, outputs)
        graph = Graph(list(body.nodes()), GraphKind.PYTHON)
        results = body.results
        notes = (UNSURE,) if outputs.guessed else ()
        damages = Damages(f"function {name}")
        tell_repeated((node.name for node in graph), damages)
        tell_misfits(graph, damages, self._functions, results)
        called = paths().get(name, "")
        return GraphFacts(graph, body.arguments, results, notes, tuple(damages.told()), called=called)


def graph_with_functions(title: str, source: GraphSource, name: str) -> list[HeldGraph]:
    """A graph in the file called `name`, then its functions."""
    library = SavedLibrary(source.functions(Damages(name)))

    def read() -> GraphFacts:
        damages = Damages(name)
        graph = source.graph(damages)
        tell_misfits(graph, damages, source.functions(damages))
        return GraphFacts(graph, notes=tuple(_functions_told(library)), damages=tuple(damages.told()))

    return [HeldGraph(title, read), *library.graphs()]


def _functions_told(library: SavedLibrary) -> list[str]:
    count = len(library)
    return [f"`runs` lists the functions of its library, {count:,}, behind it."] if count else []


class MetaGraph:
    """A MetaGraphDef in the file called `name`; `damages` tell what of it cannot be read."""

    def __init__(self, source: MetaSource, name: str, damages: Damages) -> None:
        self._source = source
        self._name = name
        self._damages = damages

    def graphs(self) -> list[HeldGraph]:
        """The graph, then each function."""
        source = self._source.graph_source(self._damages)
        library = SavedLibrary(source.functions(Damages(self._name)), lambda: self._definitions)
        title = f"graph {' '.join(self.tags)}" if self.tags else f"graph of {self._name}"
        return [
            HeldGraph(title, lambda: self._facts(source, library)),
            *library.graphs(lambda: function_paths(self._objects)),
        ]

    @property
    def tags(self) -> Sequence[str]:
        """What the graph is for: `serve`, `train`."""
        return tuple(self._info.tags)

    @property
    def notes(self) -> list[str]:
        """What is to be said of it: which TensorFlow wrote it, its signatures."""
        version = self._info.tensorflow_version
        return [*([f"Written by TensorFlow {version}."] if version else []), *self._called[2]]

    def _facts(self, source: GraphSource, library: SavedLibrary) -> GraphFacts:
        damages = Damages(self._name)
        graph = source.graph(damages)
        arguments, results, _ = self._called
        named = [*(argument.name for argument in arguments), *results]
        tell_misfits(graph, damages, source.functions(damages), named)
        notes = (*self.notes, *_functions_told(library))
        held = [name for name, op_type in graph.op_types() if op_type in VARIABLES]
        trained = trained_variables(self._source.collections(self._damages), self._objects, held)
        told = (*self._damages.told(), *damages.told())
        return GraphFacts(graph, arguments, results, notes, told, trainable=trained)

    @cached_property
    def _info(self) -> Any:
        return self._source.message("meta_info_def", "MetaInfoDef", self._damages)

    @cached_property
    def _objects(self) -> Any:
        return self._source.message("object_graph_def", "SavedObjectGraph", self._damages)

    @cached_property
    def _definitions(self) -> Mapping[str, Any]:
        return {one.name: one for one in self._info.stripped_op_list.op}

    @cached_property
    def _called(self) -> tuple[tuple[CallArgument, ...], tuple[str, ...], list[str]]:
        """What all signatures together take and give, and each in a sentence."""
        arguments: dict[str, CallArgument] = {}
        results: dict[str, None] = {}
        told = []
        for name, signature in sorted(self._source.signatures(self._damages).items()):
            if not any(info.dtype for part in (signature.inputs, signature.outputs) for info in part.values()):
                continue  # of ops, such as what initializes tables
            for info in signature.inputs.values():
                arguments[info.name] = CallArgument(info.name, dtype_text(info.dtype), _partial_shape(info))
            results.update(dict.fromkeys(info.name for info in signature.outputs.values() if info.name))
            told.append(f"Signature {name}: {_listed(signature.inputs)} → {_listed(signature.outputs)}.")
        if len(told) > _MOST_SIGNATURES:
            told[_MOST_SIGNATURES:] = [f"{len(told) - _MOST_SIGNATURES:,} more signatures."]
        return tuple(arguments.values()), tuple(results), told


def _partial_shape(info: Any) -> tuple[int | None, ...] | None:
    shape = shape_of(info.tensor_shape)
    return None if shape is None else tuple(None if size < 0 else size for size in shape)


def _listed(tensors: Mapping[str, Any]) -> str:
    return ", ".join(map(_told, sorted(tensors.items()))) or "nothing"


def _told(item: tuple[str, Any]) -> str:
    key, info = item
    where = f" = {info.name}" if info.name else ""
    return f"{key}{where} {dtype_text(info.dtype)}{shape_text(info.tensor_shape)}"
