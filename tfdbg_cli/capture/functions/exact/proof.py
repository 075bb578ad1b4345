"""Proves of a rewritten function that the program's own ops are as they were, by what the runtime makes of it.

A check is one more reader of a value, and TensorFlow's graph optimizer goes by who reads what. So the function is
compiled, and compared with the plain one. Checks that stand in the way read a second computation of their value
instead, and if that is in the way too, one that begins further back, until nothing differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tfdbg_cli.capture.functions.compiled import Compiled
from tfdbg_cli.capture.functions.definition.body import Body, Source
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.edit import READS, source_told
from tfdbg_cli.capture.functions.exact.comparison import Comparison, compared
from tfdbg_cli.capture.functions.instrumented import Instrumented
from tfdbg_cli.capture.functions.twins import has_twin
from tfdbg_cli.capture.tf.types import EagerTensor, NodeDef
from tfdbg_cli.model.walks import reached

Apart: TypeAlias = frozenset[tuple[str, Source]]  # values, with the function that they are in

_ROUNDS = 8  # the checks of a network settle in one to three


@dataclass(frozen=True)
class Proof:
    """A rewritten function and how it compares with the plain one; None where TensorFlow does not tell."""

    instrumented: Instrumented
    comparison: Comparison | None

    @property
    def holds(self) -> bool:
        """Whether the program's own ops are those of the plain function."""
        return self.comparison is not None and self.comparison.same and not self.comparison.unseen


def proven(
    root: Scope, plain: Compiled | None, inputs: Sequence[EagerTensor], make: Callable[[Apart], Instrumented]
) -> Proof:
    """What `make` makes, told which values the checks must not read so that the program's ops stay those of `plain`.

    `plain` is the function of `root` as the runtime compiles it for `inputs`.
    """
    own = len(root.body.returns)
    bodies = {scope.body.name: scope.body for scope in root.all()}
    apart: Apart = frozenset()
    best: Proof | None = None
    for _ in range(_ROUNDS):
        instrumented = make(apart)
        rewritten = None if plain is None else instrumented.compiled(inputs)
        if plain is None or rewritten is None:
            return best or Proof(instrumented, None)
        proof = Proof(instrumented, compared(plain, rewritten, own))
        best = proof if best is None or _parted(proof) <= _parted(best) else best
        more = apart.union(_further(proof.comparison, bodies, apart))
        if more == apart and _parted(proof) and proof.comparison is not None:
            wider = replace(proof.comparison, suspects=proof.comparison.near)
            more = apart.union(_further(wider, bodies, apart))
        if more == apart:
            return best
        apart = more
    assert best is not None
    return best


def _parted(proof: Proof) -> int:
    comparison = proof.comparison
    return 0 if comparison is None else len(comparison.outputs) + len(comparison.effects)


def _further(comparison: Comparison | None, bodies: Mapping[str, Body], apart: Apart) -> Iterator[tuple[str, Source]]:
    """The values that the suspects of `comparison` are not to read."""
    for node, positions in () if comparison is None else comparison.suspects:
        for text in _told(node, positions):
            found = source_told(text)
            if found is not None and found[0] in bodies:
                yield from _deeper(found[0], bodies[found[0]], [found[1]], apart)


def _told(node: NodeDef, positions: Sequence[int]) -> Iterable[str]:
    told = [text.decode() for text in node.attr[READS].list.s]
    return (told[at] for at in positions) if max(positions, default=0) < len(told) else told


def _deeper(function: str, body: Body, sources: Sequence[Source], apart: Apart) -> Iterator[tuple[str, Source]]:
    """The values from which `sources` are computed: the nearest that checks may still read."""

    def given(source: Source) -> list[Source]:
        if source.node is None or (function, source) not in apart:
            return []
        return list(map(body.source, body.data_inputs(body.nodes[source.node])))

    for source in reached(sources, given):
        if source.node is not None and (function, source) not in apart and has_twin(body.nodes[source.node]):
            yield function, source
