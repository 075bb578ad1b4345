"""Proves of a rewritten function that the program's own ops are as they were, by what the runtime makes of it.

A check is one more reader of a value, and what TensorFlow's graph optimizer does depends on who reads what. If
possible our ops are added to what the optimizer made of the plain function (`grafted`). Otherwise the rewritten
function is optimized as any other and compared with the plain one. Checks that cause a difference read a twin of
their value instead, and if that causes one, too, a twin that begins further back, until nothing differs. Where that
takes many rounds, products that the optimizer fused are computed once more, so that our ops can be added after all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    own = len(root.body.returns)
    onto = None if plain is None else plain.optimized
    first = make(frozenset(), onto)
    left_out: Apart = frozenset()
    while leaving_out is not None and not first.lacking <= left_out:  # without one value another may be wanted
        left_out |= first.lacking
        first = leaving_out(left_out, onto)
    found = _added_to(plain, first, inputs, with_nan=with_nan)
    if found is not None:
        return found
    bodies = {scope.body.name: scope.body for scope in root.all()}
    apart: Apart = frozenset()
    best: Proof | None = None
    parted = 0
    for number in range(_ROUNDS):
        if number == _USUAL and at_any_cost is not None:
            found = _added_to(plain, at_any_cost(frozenset(), onto), inputs, with_nan=with_nan)
            if found is not None:
                return found
        instrumented = make(apart, None) if apart or first.grafted or left_out else first
        rewritten = None if plain is None else instrumented.compiled(inputs)
        if plain is None or rewritten is None:
            return best or Proof(instrumented, None)
        everywhere = number > 0  # block by block a deep network would take as many rounds as it has blocks
        proof = Proof(instrumented, compared(plain, rewritten, own, with_nan=with_nan, everywhere=everywhere))
        best = proof if best is None or _parted(proof) <= _parted(best) else best
        if proof.comparison is not None and proof.comparison.opened:
            return best
        given = () if proof.comparison is None else instrumented.places_given(proof.comparison.given)
        more = apart.union(_further(proof.comparison, bodies, apart), _instead(given, bodies, apart))
        stays = more == apart or _parted(proof) == parted  # the last round has changed nothing
        parted = _parted(proof)
        if stays and parted and proof.comparison is not None:
            wider = replace(proof.comparison, suspects=proof.comparison.near)
            more = more.union(_further(wider, bodies, apart))
        if more == apart:
            return best
        apart = more
    assert best is not None
    return best


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


def _parted(proof: Proof) -> int:
    comparison = proof.comparison
    return 0 if comparison is None else len(comparison.outputs) + len(comparison.effects)


def _further(
    comparison: FunctionComparison | None, bodies: Mapping[str, Body], apart: Apart
) -> Iterator[tuple[str, ReferenceTarget]]:
    """The values that the suspects of `comparison` must not read next time."""
    for node, positions in () if comparison is None else comparison.suspects:
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
