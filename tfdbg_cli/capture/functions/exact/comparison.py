"""Whether a rewritten function computes what the plain one does, and if not, which of our ops are the reason.

Both are compared as the runtime made them: after its graph optimizer, on their devices, with the ops of oneDNN. Each
output of the plain function, and each of its ops with side effects, has to be computed by the same ops, with the same
attributes, of the same inputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tfdbg_cli.capture.functions.definition.edit import READS
from tfdbg_cli.capture.functions.definition.own_names import original_names
from tfdbg_cli.capture.functions.exact.values import Output, ValueDigests, acts
from tfdbg_cli.capture.functions.optimized.compiled import Compiled, steady_name
from tfdbg_cli.capture.functions.optimized.kept_values import LONG_SUM, NEVER_WRITTEN_OVER
from tfdbg_cli.capture.tf.types import AttrValue, NodeDef
from tfdbg_cli.ops.kinds import CALLS, RESHAPES, TRANSFERS


@dataclass(frozen=True)
class FunctionComparison:
    """What differs in a rewritten function.

    `outputs` are the positions of outputs, `effects` the names of ops with side effects, that are not computed by the
    same ops. `unseen` are calls of functions that the runtime compiles separately, so that their ops are not known.
    `suspects` are nodes of ours that read a value where a difference begins, or a buffer that a long sum reads, each
    with the positions of these inputs. `near` are nodes of ours that read any differing value, or an input of one.
    `given` are the positions of outputs of ours that return such values. `opened` are calls that are calls in the
    plain function only, as of a Keras 2 layer with two implementations, or that also give our answers, as a loop that
    stays a call: whatever our nodes read, that stays so.
    """

    outputs: tuple[int, ...]
    effects: tuple[str, ...]
    unseen: tuple[str, ...]
    suspects: tuple[tuple[NodeDef, tuple[int, ...]], ...]
    near: tuple[tuple[NodeDef, tuple[int, ...]], ...]
    given: tuple[int, ...]
    opened: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether all that can be seen is the same."""
        return not self.outputs and not self.effects


def compared(
    plain: Compiled, rewritten: Compiled, own: int, *, with_nan: bool = False, everywhere: bool = False
) -> FunctionComparison:
    """Compare the two; the first `own` outputs of `rewritten` are those of `plain`; `with_nan` as in `ValueDigests`.

    Suspected are those nodes of ours that read where differences begin: where the first do, or `everywhere`. What
    mends the first may mend others behind them, too.
    """
    values = ValueDigests(plain, with_nan=with_nan), ValueDigests(rewritten, with_nan=with_nan)
    return _Compared(*values, own, everywhere).found()


def compared_by_name(plain: Compiled, whole: Compiled) -> FunctionComparison | None:
    """The comparison of `plain` with `whole`, which must have all nodes of `plain` unchanged; None if it does not."""
    nodes = {node.name: node for node in whole.nodes}
    same = all(nodes.get(node.name) == node for node in plain.nodes)
    return FunctionComparison((), (), (), (), (), (), ()) if same else None


class _Compared:
    def __init__(self, plain: ValueDigests, rewritten: ValueDigests, own: int, everywhere: bool) -> None:
        self._plain = plain
        self._everywhere = everywhere
        self._rewritten = rewritten
        self._ends = _ends(plain, own)
        self._found = _ends(rewritten, own)
        kept = [name for end, name in self._found.items() if end in self._ends]
        self._program = rewritten.ancestors(kept)

    def found(self) -> FunctionComparison:
        parted = [
            end
            for end, name in self._ends.items()
            if end not in self._found or self._plain.node(name) != self._rewritten.node(self._found[end])
        ]
        foreign = self._foreign() if parted else set()
        suspects, near = list(self._suspects(foreign)), list(self._near(foreign))
        given = [self._rewritten.nodes[name].attr["index"].i for name, _ in suspects if self._is_output(name)]
        return FunctionComparison(
            tuple(end for end in parted if isinstance(end, int)),
            tuple(end for end in parted if isinstance(end, str)),
            tuple(self._unseen()),
            tuple((self._rewritten.nodes[name], at) for name, at in suspects if not self._is_output(name)),
            tuple((self._rewritten.nodes[name], at) for name, at in near if not self._is_output(name)),
            tuple(given),
            tuple(self._opened()) if parted else (),
        )

    def _is_output(self, name: str) -> bool:
        return bool(self._rewritten.nodes[name].op == "_Retval")

    def _suspects(self, foreign: set[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Our nodes that read the reason why the nodes `foreign` differ, with the positions of these inputs."""
        # Whatever depends on a difference differs, too: the reason is at the first nodes that differ.
        first = {name for name in foreign if not foreign.intersection(self._given(name))}
        if self._everywhere:
            first.update(self._changed(foreign))
        wrong = first if self._reads(first) else foreign
        return self._readers(wrong, self._terms_of_sums())

    def _changed(self, foreign: set[str]) -> Iterator[str]:
        """Those of the nodes `foreign` that are other ops than in the plain function, or read others, by name."""
        names = Counter(map(steady_name, self._plain.nodes))
        plain = {steady: name for name in self._plain.nodes if names[steady := steady_name(name)] == 1}
        for name in foreign:
            before = plain.get(steady_name(name))
            if before is None or self._plain.looks(before) != self._rewritten.looks(name):
                yield name

    def _near(self, foreign: set[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Our nodes that read one of the nodes `foreign`, or what these read."""
        return self._readers(foreign.union(*map(self._given, foreign)), set())

    def _foreign(self) -> set[str]:
        """The nodes of the program that compute what no node of the plain function computes."""
        computed = self._plain.computed()
        return {name for name in self._program if self._rewritten.node(name) not in computed}

    def _readers(self, wrong: set[str], sums: set[Output]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Our nodes that read an output of one of `wrong`, or memory of `sums`, and at which positions."""
        for name, node in self._rewritten.nodes.items():
            if (name not in self._program and READS in node.attr) or self._is_foreign_output(name):
                at = tuple(
                    position
                    for position, given in enumerate(self._rewritten.inputs(name))
                    if given[0] in wrong or (sums and self._memory(given) in sums)
                )
                if at:
                    yield name, at

    def _is_foreign_output(self, name: str) -> bool:
        return self._is_output(name) and name not in self._program

    def _given(self, name: str) -> set[str]:
        return {given for given, _ in self._rewritten.inputs(name)}

    def _reads(self, wanted: set[str]) -> bool:
        """Whether one of our nodes reads one of `wanted`."""
        return any(
            not wanted.isdisjoint(self._given(name)) for name in self._rewritten.nodes if name not in self._program
        )

    def _terms_of_sums(self) -> set[Output]:
        """The input buffers of long sums. One more reader of such a buffer may change the order of the sum."""
        found: set[Output] = set()
        for name in self._program:
            if "AddN" in self._rewritten.nodes[name].op:
                terms = self._rewritten.inputs(name)
                if len(terms) >= LONG_SUM:
                    found.update(map(self._memory, terms))
        return {one for one in found if self._rewritten.nodes[one[0]].op not in NEVER_WRITTEN_OVER}

    def _memory(self, output: Output) -> Output:
        """The first output in whose memory `output` stands."""
        while self._rewritten.nodes[output[0]].op in RESHAPES:
            output = self._rewritten.inputs(output[0])[0]
        return output

    def _opened(self) -> Iterator[str]:
        calls = {steady_name(name): node for name, node in self._rewritten.nodes.items() if node.op in CALLS}
        for name in self._plain.ancestors(self._ends.values()):
            node = self._plain.nodes[name]
            if node.op in CALLS:
                call = calls.get(steady_name(name))
                if call is None or _types(call) != _types(node):
                    yield steady_name(name)

    def _unseen(self) -> Iterator[str]:
        for name in self._program:
            node = self._rewritten.nodes[name]
            if node.op in CALLS and any(original_names(text) != text for text in _functions(node)):
                yield steady_name(name)


def _ends(values: ValueDigests, own: int) -> dict[int | str, str]:
    """The nodes that give outputs, by position, and those with side effects, by steady name."""
    found: dict[int | str, str] = {}
    for name, node in values.nodes.items():
        if node.op == "_Retval":
            if node.attr["index"].i < own:
                found[node.attr["index"].i] = name
        elif acts(node.op) and node.op not in _NOT_ACTING:
            key = steady_name(name)
            while key in found:
                key += "'"
            found[key] = name
    return found


def _types(call: NodeDef) -> Sequence[int]:
    """The types of what a call is given, and of what it gives."""
    return [one for name in _TYPES if name in call.attr for one in call.attr[name].list.type]


_TYPES = ("T", "Tin", "Tout")
_NOT_ACTING = TRANSFERS | {"_Arg", "NoOp"}


def _functions(node: NodeDef) -> Sequence[str]:
    attributes: Mapping[str, AttrValue] = node.attr
    return [value.func.name for value in attributes.values() if value.HasField("func")]
