"""Going from tensor to tensor by what they hold: to the next bad one, and upstream to where it comes from."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from tfdbg_cli.analysis.graph.nodes.annotation import made_at
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.asked.result_names import split_of
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.surroundings import Neighbourhood
from tfdbg_cli.commands.previews.tensor import chosen_index
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.commands.views.links import tensor_link
from tfdbg_cli.commands.views.lists.health_columns import CountedLater
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import node_of
from tfdbg_cli.model.statistics import Summary

# Commands about one node or tensor besides `print_tensor`, each with its argument that names it.
_ABOUT_A_NODE = {"node_info": "node_name", "list_inputs": "node_name", "list_outputs": "node_name"}
_ABOUT_ONE = {**_ABOUT_A_NODE, "history": "tensor_name"}


class Walk:
    """Goes from tensor to tensor in the run looked at.

    A slow walk is an iterator of command strings: empty ones while values are being counted, then the one that shows
    the destination, or none if there is no destination.
    """

    def __init__(self, context: Context, registry: Registry) -> None:
        self._context = context
        self._registry = registry

    def index_of(self, command: str) -> int | None:
        """The index, in the run, of the tensor that `command` shows or is about; None if it is about none."""
        try:
            if (options := self._options(command, "print_tensor")) is not None:
                return chosen_index(self._context, options)
            for verb, argument in _ABOUT_ONE.items():
                if (options := self._options(command, verb)) is not None:
                    captured = self._context.run.tensors.named(
                        node_of(split_of(self._context.call, getattr(options, argument))[0])
                    )
                    return captured[0] if captured else None
        except TfdbgError:  # no such tensor, or no run
            pass
        return None

    def node_of(self, command: str) -> str | None:
        """The node that `command` shows or is about, whether it has tensors or not; None if it is about none."""
        index = self.index_of(command)
        if index is not None:
            return self._context.run.tensors[index].node
        for verb, argument in _ABOUT_A_NODE.items():
            if (options := self._options(command, verb)) is not None:
                with suppress(TfdbgError):  # no run, or no name
                    return node_of(split_of(self._context.call, getattr(options, argument))[0])
        return None

    def is_vaguer(self, chosen: str, page: str) -> bool:
        """Whether `page` shows a tensor, and `chosen` only names its node: then `page` is the more specific one."""
        shown = self._options(page, "print_tensor") is not None and self._options(chosen, "print_tensor") is None
        return shown and self.node_of(chosen) == self.node_of(page)

    def _options(self, command: str, name: str) -> argparse.Namespace | None:
        """The options of `command`, where it is the command called `name`."""
        try:
            words = parse_line(command).words
            found = self._registry.find(words[0]) if words else None
            return found.parse(words[1:]) if found is not None and found.name == name else None
        except TfdbgError:  # `ui:…`, or something that is no command
            return None

    def filled(self, action: str, node: str, index: int | None = None) -> str:
        """Fill in an action's `{node}`, its `{place}` (the line that created the node) and, with `index`, `{tensor}`.

        `{tensor}` becomes the name of the tensor at `index`.

        Raises:
            TfdbgError: the line that created the node is not known.

        """
        words = {"{node}": quoted(node)}
        if index is not None:
            words["{tensor}"] = quoted(str(self._context.run.tensors[index].name))
        if "{place}" in action:
            file, line = self.made_at(node)
            words["{place}"] = f"{quoted(file)} -b {line}"
        for name, text in words.items():
            action = action.replace(name, text)
        return action

    def made_at(self, node: str) -> tuple[str, int]:
        """The file and the line that created `node`.

        Raises:
            TfdbgError: they are not known.

        """
        frame = made_at(self._context.tracebacks, node)
        if frame is None:
            raise TfdbgError(f"No line is known that made {node}.", hint="`ls` lists the source files.")
        return frame.file, frame.line

    def place_of(self, command: str) -> tuple[str, int] | None:
        """The file and the line that a command shows; None where it shows no source."""
        options = self._options(command, "print_source")
        if options is None or not options.source_file_path or not options.line_begin:
            return None
        return options.source_file_path, options.line_begin

    def beside(self, index: int, *, ahead: bool) -> Iterator[str]:
        """The command strings that show the tensors after the one at `index` (or before it), the nearest first."""
        count = len(self._context.run.tensors)
        places = range(index + 1, count) if ahead else range(index - 1, -1, -1)
        return (tensor_link(self._context.run.tensors, at) for at in places)

    def first_bad(self, commands: Iterable[str]) -> Iterator[str]:
        """Walk to the first of `commands` that shows a tensor with NaN or infinities."""
        for command in commands:
            index = self.index_of(command)
            if index is not None:
                yield from self._counted(index)
                if _bad(self._summary(index)):
                    yield command
                    return
            yield ""

    def upstream(self, index: int) -> Iterator[str]:
        """Walk to the first input of the tensor at `index` with NaN or infinities, else to the one that is to blame.

        That is the one which the cause of an origin blames, elsewhere the largest one.
        """
        yield from ("" for _ in self._context.graph.index_in_steps())
        tensor = self._context.run.tensors[index]
        rows = Neighbourhood(self._context, tensor.node, tensor.device, index).inputs
        inputs = list(dict.fromkeys(row.index for row in rows if row.index is not None and row.index != index))
        for at in inputs:
            yield from self._counted(at)
        if inputs:
            worst = next((at for at in inputs if _bad(self._summary(at))), self._blamed(index, inputs))
            yield tensor_link(self._context.run.tensors, max(inputs, key=self._magnitude) if worst is None else worst)

    def _blamed(self, index: int, inputs: Sequence[int]) -> int | None:
        """Which of its `inputs` is to blame for the tensor at `index`, where that is an origin that was looked at."""
        origin = self._context.memory.origins.get(self._context.current)
        if not isinstance(origin, Origin) or origin.index != index or origin.cause.blames is None:
            return None
        blamed = origin.inputs[origin.cause.blames] if origin.cause.blames < len(origin.inputs) else None
        return blamed.index if blamed is not None and blamed.index in inputs else None

    def _counted(self, index: int) -> Iterator[str]:
        counted = CountedLater(self._context, (index,))
        if counted.missing(0):
            for _ in counted.count(0):
                yield ""

    def _summary(self, index: int) -> Summary | None:
        return self._context.summary(index)

    def _magnitude(self, index: int) -> float:
        summary = self._summary(index)
        if summary is None or summary.min is None or summary.max is None:
            return -1.0
        return max(abs(summary.min), abs(summary.max))


def _bad(summary: Summary | None) -> bool:
    return summary is not None and bool(summary.nonfinite)
