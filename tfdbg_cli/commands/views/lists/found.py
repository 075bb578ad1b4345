"""What was found by its name: a row for each hit, with its marked letters, its health and where it leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfdbg_cli.commands.asked.result_names import result_called
from tfdbg_cli.commands.context import Context
from tfdbg_cli.commands.finding import FoundKind, NameHit
from tfdbg_cli.commands.registry import Command, Registry
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.commands.views.links import node_link
from tfdbg_cli.commands.views.lists.health_columns import TO_COME, CountedLater
from tfdbg_cli.document.cells import clip_start
from tfdbg_cli.document.text import Line, Span, Style
from tfdbg_cli.model.names import TensorName, tensor_name_of
from tfdbg_cli.model.statistics import Summary
from tfdbg_cli.model.units import shape_text

_KIND = 9  # columns of the kind at the left
_LEAST_NAME = 16  # columns that a name keeps beside what is said of it
_BAD = ((Style.NAN, "NaN", "nan"), (Style.INF, "-inf", "neg_inf"), (Style.INF, "inf", "pos_inf"))


class FoundRows:
    """The hits of one search at the stop of `context`; `keys` tells the key of a command, where a screen has one."""

    def __init__(
        self,
        context: Context,
        registry: Registry,
        hits: Sequence[NameHit],
        keys: Callable[[str], str] = lambda command: "",
    ) -> None:
        self._context = context
        self._registry = registry
        self.hits = hits
        self._keys = keys
        self._indices = [self._index(hit) for hit in hits]
        self._counted = (
            CountedLater(context, [index or 0 for index in self._indices])
            if any(index is not None for index in self._indices)
            else None
        )

    def line(self, row: int, width: int | None = None, *, marked: bool = False) -> Line:
        """The row, in at most `width` columns: kind, name, and what there is to say of it.

        Its one link is the name, or the kind where the letters that match are `marked` in the name.
        """
        hit, command = self.hits[row], self.command(row)
        beside = self._beside(row)
        taken = sum(len(span.text) for span in beside) + 2 * bool(beside)
        room = None if width is None else max(_LEAST_NAME, width - _KIND - taken)
        kind = Span(f"{hit.kind:<{_KIND}}", Style.LABEL, command if marked else "")
        shown = hit.name if room is None else clip_start(hit.name, room)  # what tells names apart is their end
        name = _marked(hit, room) if marked else [Span(shown, Style.NAME, command)]
        return Line((kind, *name, *_apart(beside)))

    def command(self, row: int) -> str:
        """The command string that goes there."""
        hit = self.hits[row]
        match hit.kind:
            case FoundKind.COMMAND:
                return hit.first if _takes_nothing(self._registry.find(hit.first)) else f"help {hit.first}"
            case FoundKind.RUN:
                return f"runs {hit.number}"
            case FoundKind.LAYER:
                return f"lt -l {quoted(hit.name)}"
            case FoundKind.FILE:
                return f"ps {quoted(hit.name)}"
            case FoundKind.RESULT:
                return f"pt {quoted(hit.name)}"
            case FoundKind.TENSOR:
                return f"pt {quoted(str(self._tensor_name(row) or hit.name))}"
            case FoundKind.OP:
                return node_link(hit.name)

    def data(self, row: int) -> dict[str, Any]:
        """The JSON form. Reads the value of a tensor."""
        hit = self.hits[row]
        name = self._tensor_name(row) if hit.kind is FoundKind.TENSOR else None
        index = self._indices[row]
        summary = None if index is None else self._context.summary(index)
        health = None if summary is None else {"nan": summary.nan, "inf": summary.neg_inf + summary.pos_inf}
        return {
            "kind": hit.kind.value,
            "name": str(name or (hit.first if hit.kind is FoundKind.COMMAND else hit.name)),
            "command": self.command(row),
            "places": list(hit.match.places),
            "op_type": self._op_type(row) or None,
            "health": health,
        }

    def missing(self, row: int) -> bool:
        """Whether the health of the row is still to be counted."""
        return self._counted is not None and self._indices[row] is not None and self._counted.missing(row)

    def count(self, row: int) -> Iterator[None]:
        """Count it, a little at a time."""
        assert self._counted is not None
        return self._counted.count(row)

    def _index(self, hit: NameHit) -> int | None:
        tensors = self._context.run.tensors if hit.kind in {FoundKind.RESULT, FoundKind.TENSOR} else None
        if tensors is None:
            return None
        if hit.kind is FoundKind.RESULT:
            meant = tensor_name_of(result_called(self._context.call, hit.name))
            found = tensors.named(meant.node, meant.slot)
        else:
            found = tensors.named(hit.name)
        return found[-1] if found else None

    def _tensor_name(self, row: int) -> TensorName | None:
        index = self._indices[row]
        return None if index is None else self._context.run.tensors[index].name

    def _op_type(self, row: int) -> str:
        hit = self.hits[row]
        if hit.kind is FoundKind.RESULT:
            name = self._tensor_name(row)
            node = None if name is None else self._context.graph.find(name.node)
        else:
            node = self._context.graph.find(hit.name) if hit.kind in {FoundKind.OP, FoundKind.TENSOR} else None
        return "" if node is None else node.op_type

    def _beside(self, row: int) -> list[Span]:
        hit, index = self.hits[row], self._indices[row]
        if hit.kind is FoundKind.COMMAND:
            key = self._keys(hit.first)
            spans = [Span(key, Style.KEY), Span(" ")] if key else []
            return [*spans, Span(self._registry.find(hit.first).summary, Style.DIM)]
        op_type = self._op_type(row)
        spans = [Span(op_type, Style.OP)] if op_type else []
        if index is not None:
            tensor = self._context.run.tensors[index]
            shape = "" if tensor.shape is None else shape_text(tensor.shape)
            spans += [Span(f" {tensor.dtype}{shape} ", Style.NUMBER), *self._health(index)]
        return spans

    def _health(self, index: int) -> list[Span]:
        summary = self._context.memory.summaries.get((self._context.current, index), _UNCOUNTED)
        if summary is _UNCOUNTED:
            return [TO_COME]
        if not isinstance(summary, Summary) or summary.unknown:
            return []
        counts = [(style, word, getattr(summary, name)) for style, word, name in _BAD]
        bad = [Span(f"{word}×{count:,} ", style) for style, word, count in counts if count]
        return bad or [Span("finite", Style.GOOD)]


_UNCOUNTED = object()


def _takes_nothing(command: Command) -> bool:
    """Whether the command can be run as it is."""
    return not any(one.positional and not one.nargs.endswith(("?", "*")) for one in command.arguments)


def _apart(spans: Sequence[Span]) -> list[Span]:
    return [Span("  "), *spans] if spans else []


def _marked(hit: NameHit, room: int | None) -> list[Span]:
    """The name with its letters marked; where it is too long for `room` columns its beginning is left out."""
    start = 0 if room is None or len(hit.name) <= room else len(hit.name) - room + 1
    spans = [Span("…", Style.DIM)] if start else []
    marked: Mapping[int, bool] = dict.fromkeys(hit.match.places, True)
    at = start
    while at < len(hit.name):
        end = at
        while end < len(hit.name) and (end in marked) == (at in marked):
            end += 1
        style = Style.MATCH if at in marked else Style.NAME
        spans.append(Span(hit.name[at:end], style))
        at = end
    return spans
