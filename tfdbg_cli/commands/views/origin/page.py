"""One origin told in full, as blocks: what went wrong, on which lines, where in the tensor, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.analysis.graph.making.lineage import InputSeen
from tfdbg_cli.analysis.origin.finding import Finding
from tfdbg_cli.analysis.origin.origin_found import Origin
from tfdbg_cli.commands.views.input_rows import input_rows
from tfdbg_cli.commands.views.made_at import made_at_blocks
from tfdbg_cli.commands.views.origin.around import (
    chain_block,
    guarded_blocks,
    harm_blocks,
    here_line,
    ignored_blocks,
    intended_blocks,
    intended_words,
    spoiled_blocks,
)
from tfdbg_cli.commands.views.origin.elements import element_blocks
from tfdbg_cli.commands.views.origin.head import cause_block, head_line, nan_blocks, turn_lines
from tfdbg_cli.commands.views.origin.since import Since
from tfdbg_cli.commands.views.short_names import ShortNames, around
from tfdbg_cli.document.document import Block, Text
from tfdbg_cli.document.text import EMPTY_LINE, Line, Span, Style, line
from tfdbg_cli.document.wrapping import Labelled
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.units import count_text
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import CALLS

_STAY_BAD = "What runs from here on begins with these. `undo` puts them back as they were before this run."
_NOT_HELD = "What runs from here on begins with these. `run -f FILTER --skip-update` puts variables back at a hit."
_GAP = Text((EMPTY_LINE,))


@dataclass(frozen=True)
class OriginPage:
    """What `found` says of `run`, for people.

    `since` and `grew` are what other runs tell of it, and `most` is how many elements are shown. `after` says how
    much of the run it spoiled. `live` says that the program goes on behind this stop, and `stays_bad` that it does so
    with the variables as the run left them.
    """

    run: Run
    found: Finding
    since: Since
    grew: str
    most: int
    after: Line
    live: bool
    stays_bad: bool

    def blocks(self) -> tuple[Block, ...]:
        """All of it.

        What went wrong, on which lines and in which elements fits on a small screen: what led to it stands behind.
        """
        parts = [self._cause(), *self._lines()]
        parts += [part for part in (self._elements(), self._what_led_to_it()) if part] or [[]]
        told = [block for part in parts for block in (_GAP, *part)][1:]
        return (*told, *self._aftermath(), *self._passed_over())

    @property
    def _origin(self) -> Origin:
        return self.found.origin

    @cached_property
    def _names(self) -> ShortNames:
        return around(self.run.graph, self._origin.name.node)

    @property
    def _stands_there(self) -> bool:
        """Whether the program has not come to the end of this run, but stands, or stood, amid it."""
        return bool(self.run.frames) or self.run.unfinished

    def _cause(self) -> list[Block]:
        """The tensor, why it is not finite, what helps, and since when it is so."""
        origin, since = self._origin, self.since
        blocks: list[Block] = [
            Text((head_line(self.run, origin), *turn_lines(self.run, origin))),
            cause_block(self.run, origin, since.cause or origin.cause.text),
        ]
        suggestion = since.suggestion or origin.cause.suggestion
        if suggestion and origin.intended is None:  # what works needs no advice
            blocks.append(Labelled("Try", suggestion, Style.HINT))
        if since.when:
            blocks.append(Labelled("Since", since.when))
        if self.grew:
            blocks.append(Labelled("Grew", self.grew))
        if self.found.nan is not None:
            blocks += nan_blocks(self.run, self.found.nan)
        if origin.intended is not None:
            text = f"It looks so: {intended_words(origin.intended)}. Nothing else is wrong in this run."
            blocks.append(Labelled("Intended", text, Style.GOOD))
        return blocks

    def _lines(self) -> Iterator[list[Block]]:
        """The lines of the program that matter, a part each."""
        run, origin = self.run, self._origin
        forward = f": {self._names.short(origin.forward)}, whose gradient this is" if origin.forward else ""
        if self._stands_there and origin.forward:  # the program stands where it asks for the gradient
            yield list(made_at_blocks(run, origin.made_by))
            yield list(made_at_blocks(run, origin.forward, forward, label="Forward"))
        elif origin.read_by is not None:
            label = "Made at" if updates_variable(origin.read_by.op_type) else "Read at"
            given = f": {self._names.short(origin.read_by.name)}, which is given it"
            yield list(made_at_blocks(run, origin.made_by, given, label=label))
        else:
            yield list(made_at_blocks(run, origin.forward or origin.made_by, forward))

    def _elements(self) -> list[Block]:
        """The elements that are not finite, and the rows of the batch behind them."""
        return element_blocks(self.run, self.found, self.most)

    def _what_led_to_it(self) -> list[Block]:
        """The chain of ops, and the inputs."""
        blocks: list[Block] = []
        if len(self.found.chain) > 1:
            blocks.append(chain_block(self.run, self.found.chain, self._names))
        if self._origin.inputs:
            blocks.append(input_rows(self.run, self._origin.inputs, names=self._names))
        if self.run.inside_lacks and any(_is_unseen_call(seen) for seen in self._origin.inputs):
            blocks.append(Labelled("Inside", self.run.inside_lacks, Style.HINT))
        return blocks

    def _aftermath(self) -> list[Block]:
        """What it spoiled, and what became of that."""
        run, after = self.run, self.found.after
        here = run.unfinished and _is_of_the_last_op(run, self._origin)
        blocks: list[Block] = [Text((here_line(run) if here else self.after,))]
        if not self._stands_there:
            blocks += harm_blocks(run, self.found)
        blocks += spoiled_blocks(run, after)
        if self.stays_bad and after.variables and not self.since.when:
            blocks.append(Labelled("Next", _NOT_HELD if run.replayable is None else _STAY_BAD, Style.HINT))
        return [*blocks, *guarded_blocks(run, after, self._origin.name.node, live=self.live)]

    def _passed_over(self) -> list[Block]:
        """What else is not finite and counts as fine, and what is not known."""
        passed = self.found.passed
        blocks = [*intended_blocks(self.run, passed.intended), *ignored_blocks(passed.ignored)]
        if passed.unread:
            lost = f"{count_text(passed.unread, 'tensor')} before it could not be read, so it may have begun earlier."
            blocks.append(Text((line(Span(lost, Style.WARNING)),)))
        return blocks


def _is_unseen_call(seen: InputSeen) -> bool:
    """Whether an op that calls functions gave `seen`, whose value is not there."""
    return seen.value is None and seen.node is not None and seen.node.op_type in CALLS


def _is_of_the_last_op(run: Run, origin: Origin) -> bool:
    """Whether nothing ran behind `origin`: what stands behind it are further outputs of its op."""
    if origin.index is None:
        return False
    tensor = run.tensors[origin.index]
    behind = (run.tensors[i] for i in range(origin.index + 1, len(run.tensors)))
    return all(later.name.node == tensor.name.node and later.execution == tensor.execution for later in behind)
