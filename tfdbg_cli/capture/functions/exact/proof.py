"""Proves of a rewritten function that the program's own ops are as they were, by what the runtime makes of it.

A check is one more reader of a value, and what TensorFlow's graph optimizer does depends on who reads what. If
possible our ops are added to what the optimizer made of the plain function (`grafted`). Otherwise the rewritten
function is optimized as any other and compared with the plain one. Checks that cause a difference read a twin of
their value instead, and if that causes one, too, a twin that begins further back, until nothing differs. Where that
takes many rounds, products that the optimizer fused are computed once more, so that our ops can be added after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfdbg_cli.capture.functions.calling.instrumented import Instrumented
from tfdbg_cli.capture.functions.definition.body import Body, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.edit import READS, source_told
from tfdbg_cli.capture.functions.exact.comparison import FunctionComparison, compared, compared_by_name
from tfdbg_cli.capture.functions.optimized.compiled import Compiled
from tfdbg_cli.capture.functions.optimized.twins import has_twin
from tfdbg_cli.capture.tf.types import EagerTensor, NodeDef
from tfdbg_cli.model.walks import reached

Apart: TypeAlias = frozenset[tuple[str, ReferenceTarget]]  # values, with the function that they are in
Onto: TypeAlias = Sequence[NodeDef] | None
Make: TypeAlias = Callable[[Apart, Onto], Instrumented]

_ROUNDS = 8
_USUAL = 3  # rounds, in which the checks of a network settle; each of a large one takes seconds


@dataclass(frozen=True)
class Proof:
    """A rewritten function and how it compares with the plain one; None where TensorFlow does not tell."""

    instrumented: Instrumented
    comparison: FunctionComparison | None

    @property
    def holds(self) -> bool:
        """Whether the program's own ops are those of the plain function, and are given the same memory."""
        found = self.comparison
        return found is not None and found.same and not (found.unseen or found.suspects or found.given)


def proven(
    root: Scope,
    plain: Compiled | None,
    inputs: Sequence[EagerTensor],
    make: Make,
    *,
    with_nan: bool = False,
    leaving_out: Make | None = None,
    at_any_cost: Make | None = None,
) -> Proof:
    """A rewritten function whose own ops differ from those of `plain` as little as can be had, and the comparison.

    Tried are, one after the other, until one gives a proof (else the best of the rounds counts):

    1. to add our ops to what the optimizer made of `plain`;
    2. a few rounds (`_USUAL`), each of which has the rewritten function optimized as a whole, and after which checks
       that caused a difference read something else;
    3. as 1, at any cost;
    4. the rounds that are left of all (`_ROUNDS`).

    Args:
        root: the scope of the function.
        plain: what the runtime makes of the plain function for `inputs`; None where it does not tell.
        inputs: the flat tensors of a call.
        make: makes the rewritten function from two arguments: the values that checks must not read, and the optimized
            nodes of `plain` to add our ops to, if that can be done, or None.
        with_nan: whether it must hold for runs with NaN, too, since those cannot be made plainly as well.
        leaving_out: makes it without what would have to be read of the values it is given, if that may be left out.
        at_any_cost: makes it onto the optimized nodes though products are computed twice, if that is better than
            no proof.

    """
    onto = None if plain is None else plain.optimized
    first, left_out = _made_first(make, leaving_out, onto)
    found = _added_to(plain, first, inputs, with_nan=with_nan)
    if found is not None:
        return found
    rounds = _Rounds(root, plain, inputs, with_nan=with_nan)
    begins_with_first = not (first.grafted or left_out)
    for number in range(_ROUNDS):
        if number == _USUAL and at_any_cost is not None:
            found = _added_to(plain, at_any_cost(frozenset(), onto), inputs, with_nan=with_nan)
            if found is not None:
                return found
        made = first if number == 0 and begins_with_first else make(rounds.apart, None)
        if not rounds.asks_for_another(made):
            break
    assert rounds.best is not None
    return rounds.best


def _made_first(make: Make, leaving_out: Make | None, onto: Onto) -> tuple[Instrumented, Apart]:
    """The rewritten function with our ops added to the nodes `onto`, if that can be done, and what it leaves out."""
    made, left_out = make(frozenset(), onto), frozenset[tuple[str, ReferenceTarget]]()
    while leaving_out is not None and not made.lacking <= left_out:  # without one value another may be wanted
        left_out |= made.lacking
        made = leaving_out(left_out, onto)
    return made, left_out


class _Rounds:
    """Rewritten functions compared with the plain one, each made by what the comparison before it told.

    `apart` are the values that checks must not read in the next one, and `best` is the one that differs least.
    """

    def __init__(self, root: Scope, plain: Compiled | None, inputs: Sequence[EagerTensor], *, with_nan: bool) -> None:
        self.apart: Apart = frozenset()
        self.best: Proof | None = None
        self._plain = plain
        self._inputs = inputs
        self._with_nan = with_nan
        self._own = len(root.body.returns)
        self._bodies = {scope.body.name: scope.body for scope in root.all()}
        self._differing = 0  # in the last round

    def asks_for_another(self, made: Instrumented) -> bool:
        """Compare `made`, of which no check reads what is `apart`; where another round may do better, that grows."""
        rewritten = None if self._plain is None else made.compiled(self._inputs)
        if self._plain is None or rewritten is None:
            self.best = self.best or Proof(made, None)
            return False
        everywhere = bool(self.apart)  # block by block a deep network would take as many rounds as it has blocks
        found = compared(self._plain, rewritten, self._own, with_nan=self._with_nan, everywhere=everywhere)
        if self.best is None or _differing(found) <= _differing(self.best.comparison):
            self.best = Proof(made, found)
        if found.opened:
            return False
        more = self._more_apart(found, made.places_given(found.given))
        if more == self.apart:
            return False
        self.apart = more
        return True

    def _more_apart(self, found: FunctionComparison, given: Iterable[tuple[str, ReferenceTarget]]) -> Apart:
        """`apart`, and what the suspects that were `found` read, or return as `given`.

        Where the last round has changed nothing, everything near them is suspected.
        """
        more = self.apart.union(
            _further(found.suspects, self._bodies, self.apart), _instead(given, self._bodies, self.apart)
        )
        differing = _differing(found)
        stays = more == self.apart or differing == self._differing
        self._differing = differing
        return more.union(_further(found.near, self._bodies, self.apart)) if stays and differing else more


def _added_to(
    plain: Compiled | None, made: Instrumented, inputs: Sequence[EagerTensor], *, with_nan: bool
) -> Proof | None:
    """The proof of `made` if its ops could be added to those of `plain`, and these stayed as they were."""
    whole = made.compiled(inputs) if plain is not None and made.grafted else None
    if plain is None or whole is None:
        return None
    own = len(made.root.body.returns)
    found = compared_by_name(plain, whole) or compared(plain, whole, own, with_nan=with_nan)
    return Proof(made, found) if found.same else None


def _differing(comparison: FunctionComparison | None) -> int:
    """How many outputs and effects of the program differ."""
    return 0 if comparison is None else len(comparison.outputs) + len(comparison.effects)


def _further(
    suspects: Iterable[tuple[NodeDef, Sequence[int]]], bodies: Mapping[str, Body], apart: Apart
) -> Iterator[tuple[str, ReferenceTarget]]:
    """The values that `suspects` must not read next time, at the positions that each is given with."""
    for node, positions in suspects:
        for text in _told(node, positions):
            found = source_told(text)
            if found is not None and found[0] in bodies:
                yield from _deeper(found[0], bodies[found[0]], [found[1]], apart)


def _instead(
    given: Iterable[tuple[str, ReferenceTarget]], bodies: Mapping[str, Body], apart: Apart
) -> Iterator[tuple[str, ReferenceTarget]]:
    """The values to make twins of, which are to be returned in the place of the `given` ones."""
    for function, source in given:
        yield from _deeper(function, bodies[function], [source], apart)


def _told(node: NodeDef, positions: Sequence[int]) -> Iterable[str]:
    told = [text.decode() for text in node.attr[READS].list.s]
    return (told[at] for at in positions) if max(positions, default=0) < len(told) else told


def _deeper(
    function: str, body: Body, sources: Sequence[ReferenceTarget], apart: Apart
) -> Iterator[tuple[str, ReferenceTarget]]:
    """Those of `sources` and of the values they are computed from that are not `apart` yet, the nearest ones."""

    def given(source: ReferenceTarget) -> list[ReferenceTarget]:
        if source.node is None or (function, source) not in apart:
            return []
        return list(map(body.source, body.data_inputs(body.nodes[source.node])))

    for source in reached(sources, given):
        if source.node is not None and (function, source) not in apart and has_twin(body.nodes[source.node]):
            yield function, source
