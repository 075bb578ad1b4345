"""Going from tensor to tensor by what they hold: to the next bad one, and upstream to where it comes from."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from tfdbg_cli.analysis.graph.annotation import made_at
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.previews.surroundings import Surroundings
from tfdbg_cli.commands.previews.tensor import chosen_index
from tfdbg_cli.commands.registry import Registry
from tfdbg_cli.commands.syntax import parse_line, quoted
from tfdbg_cli.commands.views.health_columns import CountedLater
from tfdbg_cli.commands.views.tensor_choice import tensor_link
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import node_of, split_slice
from tfdbg_cli.model.statistics import Summary


class Walk:
    """Walks among the tensors of the run looked at.

    What takes its time is an iterator of command strings: empty ones while values are counted, at last the one that
    shows where the walk leads, or nothing where it leads nowhere.
    """

    def __init__(self, context: Context, registry: Registry) -> None:
        self._context = context
        self._registry = registry

    def index_of(self, command: str) -> int | None:
        """The tensor that a command shows, by its index in the run; None where it shows none."""
        try:
            if (options := self._options(command, "print_tensor")) is not None:
                return chosen_index(self._context, options)
            if (options := self._options(command, "node_info")) is not None:
                captured = self._context.run.tensors.named(node_of(split_slice(options.node_name)[0]))
                return captured[0] if captured else None
        except TfdbgError:  # no such tensor, or no run
            pass
        return None

    def _options(self, command: str, name: str) -> argparse.Namespace | None:
        """The options of `command`, where it is the command called `name`."""
        try:
            words = parse_line(command).words
            found = self._registry.find(words[0]) if words else None
            return found.parse(words[1:]) if found is not None and found.name == name else None
        except TfdbgError:  # `ui:…`, or something that is no command
            return None

    def filled(self, action: str, index: int) -> str:
        """`action` with the tensor at `index` in the place of `{tensor}`, `{node}` or `{place}`, where it was made.

        Raises:
            TfdbgError: nobody knows which line made it.

        """
        tensor = self._context.run.tensors[index]
        words = {"{tensor}": quoted(str(tensor.name)), "{node}": quoted(tensor.node)}
        if "{place}" in action:
            file, line = self.made_at(index)
            words["{place}"] = f"{quoted(file)} -b {line}"
        for name, text in words.items():
            action = action.replace(name, text)
        return action

    def made_at(self, index: int) -> tuple[str, int]:
        """The file and the line that made the tensor at `index`.

        Raises:
            TfdbgError: nobody knows them.

        """
        node = self._context.run.tensors[index].node
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
        """What shows the tensors behind the one at `index`, or before it, the nearest first."""
        count = len(self._context.run.tensors)
        places = range(index + 1, count) if ahead else range(index - 1, -1, -1)
        return (tensor_link(self._context, at) for at in places)

    def first_bad(self, commands: Iterable[str]) -> Iterator[str]:
        """The first of `commands` that shows a tensor with NaN or infinity in it."""
        for command in commands:
            index = self.index_of(command)
            if index is not None:
                yield from self._counted(index)
                if _bad(self._summary(index)):
                    yield command
                    return
            yield ""

    def upstream(self, index: int) -> Iterator[str]:
        """The first input of the tensor at `index` that holds NaN or infinity, else the largest one."""
        yield from ("" for _ in self._context.graph.index_in_steps())
        tensor = self._context.run.tensors[index]
        rows = Surroundings(self._context, tensor.node, tensor.device, index).inputs
        inputs = list(dict.fromkeys(row.index for row in rows if row.index is not None and row.index != index))
        for at in inputs:
            yield from self._counted(at)
        if inputs:
            worst = next((at for at in inputs if _bad(self._summary(at))), None)
            yield tensor_link(self._context, max(inputs, key=self._magnitude) if worst is None else worst)

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
