"""Which of the loops around an op is the one whose turns are runs.

Of a loop over epochs and one over batches in it, it is the inner one if something in that tells of training, such as
a gradient that is taken. Else it is the outer one where that may run ops of its own behind the inner one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tfdbg_cli.capture.runs.eager.program.loops import loops_of, works_of
from tfdbg_cli.capture.runs.eager.program.stacks import Stack
from tfdbg_cli.capture.runs.eager.program.turn import Turn, turns_around


@dataclass(frozen=True, slots=True)
class SeenLoops:
    """What ops have shown of loops, which are named by the keys of their turns.

    Those `working` run ops outside of their inner loops, those `training` write variables.
    """

    working: set[tuple[int, int]] = field(default_factory=set)
    training: set[tuple[int, int]] = field(default_factory=set)

    def best_around(self, stack: Stack) -> Turn | None:
        """A first turn of that loop around `stack` whose turns make the best runs; None where it is in no loop.

        Among loops that train it is the innermost, so that a run is a step and not an epoch. Among others it is the
        outermost that runs ops outside of its inner loops: without such ops, one turn of the loop over the epochs
        cannot be told from the next.
        """
        best: Turn | None = None
        for turn in turns_around(stack):
            if best is None or self._is_better(turn, best, stack):
                best = turn
        return best

    def _is_better(self, inner: Turn, outer: Turn, stack: Stack) -> bool:
        """Whether turns of the loop of `inner` make better runs than those of `outer`, which is around it."""
        if inner.loop.evidence == 2 and (outer.loop.own_evidence == 3 or outer.loop.adds_up):
            return False  # a part of the step, such as a loop over the sums of gradients that sets them to zero
        if inner.loop.trains and outer.loop.own_step:
            return False  # as that of a critic, which is trained more often than the generator
        if takes_for(inner, outer):
            return inner.key in self.training
        if inner.depth == outer.depth and outer.loop.steps and inner.loop.evidence == 1:
            return False  # as that which trains the discriminator more often than the generator
        if inner.loop.trains or outer.loop.trains:
            return inner.loop.trains >= max(outer.loop.trains, 1)
        return outer.key not in self.working and (
            inner.key in self.training or not _works_behind(outer, inner, stack)
        )


def takes_for(inner: Turn, outer: Turn) -> bool:
    """Whether the loop of `inner` takes gradients, as of parts of a batch, that a turn of `outer` around it applies.

    An inner loop that assigns may sum them up in variables, if an optimizer applies them, or be what trains.
    """
    return inner.loop.takes and (outer.loop.applies or (outer.loop.writes and not inner.loop.assigns))


def _works_behind(outer: Turn, inner: Turn, stack: Stack) -> bool:
    """Whether a turn of `outer` may run ops after the loop of `inner` inside it; `stack` is within both loops."""
    at, ends = -2 * inner.depth, inner.loop.end
    while True:
        end = outer.loop.end if at == -2 * outer.depth else math.inf
        if any(ends < offset <= end for offset in works_of(stack[at])):
            return True
        if at == -2 * outer.depth:
            return False
        at += 2
        ends = stack[at + 1]


def outer_loops(turn: Turn, stack: Stack) -> Iterator[tuple[int, int]]:
    """The keys of the loops around that of `turn` that only lead to it, if it trains; `stack` is within it.

    A loop that writes variables and takes no gradients may be a part of the step.
    """
    evidence = turn.loop.evidence
    if evidence in (1, 3):
        for outer in turns_around(stack):
            if outer.key != turn.key and turn.is_inside(outer) and outer.loop.own_evidence < evidence:
                yield outer.key


def prepares_training(turn: Turn, stack: Stack, *, with_variables: bool) -> bool:
    """Whether the op with this stack is of `turn` and comes before a loop in it that trains, as its own calls do not.

    So an epoch begins with a shuffle, or a sum of losses. What computes `with_variables` may be of a step that goes
    on in the loop, as an evaluation does that updates metrics there, unless gradients are taken in it.
    """
    if turn.loop.of_calls:
        return False
    own, offset = max(turn.loop.own_evidence, 2 * with_variables), stack[-2 * turn.depth + 1]
    later = (loop for loop in loops_of(turn.code) if loop.lies_within(turn.loop) and loop.start > offset)
    return any(loop.evidence > own for loop in later)
