"""Adds our ops to what TensorFlow's graph optimizer made of the plain function.

One more reader of a value changes what the optimizer makes of a function. So our ops are added after it has optimized
the plain function, and the result is not optimized again: the program's own ops stay exactly as they were. This also
saves a second run of the optimizer, which is most of the time that it takes to prepare a large function.

The optimizer sees a function with its calls inlined, and so do we (`inlined.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tfdbg_cli.capture.functions.definition.body import Body, Library, NodeOutput, ReferenceTarget
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.definition.called_functions import named_by
from tfdbg_cli.capture.functions.definition.own_names import marked
from tfdbg_cli.capture.functions.optimized.inlined import inlined
from tfdbg_cli.capture.functions.optimized.kept_values import READ, KeptValues, place_of
from tfdbg_cli.capture.functions.optimized.twins import TWIN, has_twin
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.memo import Memo
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import COPIES, MATMULS

# Parts of the names of ops by which the optimizer transposes values or converts them to other dtypes: where there are
# any, an op may compute something else under its old name, although its inputs have their old names.
_CONVERTED = ("LayoutOptimizer", "AutoMixedPrecision")


class CannotBeGrafted(Exception):  # noqa: N818
    """Our ops cannot be put onto this graph; they could if they did not read the values `lacking`.

    These are told with the name of the function that computes them.
    """

    def __init__(self, lacking: Iterable[tuple[str, ReferenceTarget]] = ()) -> None:
        super().__init__()
        self.lacking = frozenset(lacking)


def grafted(
    rewritten: Sequence[FunctionDef], root: Scope, optimized: Sequence[NodeDef], *, at_any_cost: bool = False
) -> FunctionDef:
    """A function of the nodes `optimized`, made of that of `root`, and of the ops that only `rewritten` has.

    `rewritten` are the functions that were rewritten, that of `root` the last. Values that our ops read and the
    optimizer has removed are computed once more, products of matrices and convolutions only `at_any_cost`. The result
    must be run without the optimizer.

    Raises:
        CannotBeGrafted: they do more than read, or computing values once more would be too expensive.

    """
    if any(map(_is_special, optimized)):
        raise CannotBeGrafted
    given = {definition.signature.name: definition for definition in rewritten}
    library = Library(definition_of=lambda name: given.get(name) or compat.function_definition(name))
    try:
        plain, whole = _INLINED.of(root), inlined(Body(rewritten[-1]), library.find)
    except RecursionError:
        raise CannotBeGrafted from None
    try:
        return _Graft(whole.body, plain.body, optimized, at_any_cost).made()
    except _Lacking as lacking:
        raise CannotBeGrafted(_values(map(plain.origins.__getitem__, lacking.nodes))) from None


_INLINED = Memo(lambda root: inlined(root.body, Library().find))


def _values(origins: Iterable[tuple[Body, str]]) -> Iterator[tuple[str, ReferenceTarget]]:
    for body, node in origins:
        yield from ((body.name, ReferenceTarget(node, slot)) for slot in range(len(body.outputs(node))))


class _Lacking(Exception):  # noqa: N818
    """What the nodes gave is not there any more, and is not computed once more."""

    def __init__(self, nodes: Iterable[str]) -> None:
        super().__init__()
        self.nodes = frozenset(nodes)


class _Graft:
    def __init__(self, rewritten: Body, plain: Body, nodes: Sequence[NodeDef], at_any_cost: bool) -> None:
        arguments = {node.attr["index"].i: node.name for node in nodes if node.op == "_Arg"}
        if list(map(arguments.get, range(len(arguments)))) != list(plain.arguments):
            raise CannotBeGrafted
        self._rewritten = rewritten
        self._plain = plain
        self._at_any_cost = at_any_cost
        self._returned = {node.attr["index"].i: node.input[0] for node in nodes if node.op == "_Retval"}
        self._made: FunctionDef = type(rewritten.definition)()
        self._made.node_def.extend(node for node in nodes if node.op not in ("_Arg", "_Retval"))
        self._optimized = Body(self._made)
        self._kept = KeptValues(plain, self._optimized, nodes)
        self._results = self._found_results()
        self._twins: dict[str, str] = {}  # from a removed node of `plain` to one that computes the same
        self._originals: dict[str, str] = {}
        self._arguments = frozenset(plain.arguments)

    def _found_results(self) -> dict[ReferenceTarget, NodeOutput]:
        """Where the values that the function gives back stand now, though the optimizer computes them otherwise.

        It moves constants through products: `a * b * 1000` becomes `a * (b * 1000)`, which may overflow where the
        first does not. What is told of a result is to be told of what the program gets. A draw stands where it did.
        """
        drawn = self._handed_on
        found: dict[ReferenceTarget, NodeOutput] = {}
        for position, source in enumerate(map(self._plain.source, self._plain.returns)):
            origin = self._kept.origin(source)
            if position in self._returned and source.node is not None and self._kept.place(origin) not in drawn:
                found.setdefault(origin, place_of(self._returned[position]))
        return found

    def made(self) -> FunctionDef:
        """The whole function."""
        own, _ = self._own, self._handed_on
        for node in self._made.node_def:
            self._read(node, [self._instead(text) for text in node.input if not text.startswith("^")])
        references = [text for node in own for text in self._rewritten.data_inputs(node)]
        self._compute_again(map(self._rewritten.source, [*references, *self._rewritten.returns]))
        for node in own:
            self._add(node, node.name, self._rewritten)
        self._give_back()
        return self._made

    @cached_property
    def _own(self) -> Sequence[NodeDef]:
        """Our nodes."""
        return [node for name, node in self._rewritten.nodes.items() if name not in self._plain.nodes]

    @cached_property
    def _handed_on(self) -> Mapping[NodeOutput, NodeOutput]:
        """By their places values that the program reads only behind ops of ours, and what it reads in their place.

        Raises:
            CannotBeGrafted: one of its nodes was rewritten in another way: a loop or a call with checks inside.

        """
        read: dict[ReferenceTarget, set[ReferenceTarget]] = defaultdict(set)
        for name, known in self._plain.nodes.items():
            node = self._rewritten.nodes.get(name)
            if node != known and (node is None or not _differ_in_inputs(node, known)):
                raise CannotBeGrafted
            pairs = zip(self._plain.data_inputs(known), self._rewritten.data_inputs(node), strict=True)
            for before, now in pairs:
                read[self._plain.source(before)].add(self._rewritten.source(now))
        found: dict[NodeOutput, NodeOutput] = {}
        for source, instead in read.items():
            if instead != {source}:
                found[self._kept.place(source)] = self._hands_on(source, instead)
        return found

    def _hands_on(self, source: ReferenceTarget, instead: Collection[ReferenceTarget]) -> NodeOutput:
        """What alone is read `instead` of `source`, a draw: an op of ours that hands it on.

        Raises:
            CannotBeGrafted: something else is.

        """
        drawing, name = source.node or "", next(iter(instead)).node or ""
        node = None if name in self._plain.nodes else self._rewritten.nodes.get(name)
        handed = node is not None and node.op in COPIES and self._rewritten.source(node.input[0]) == source
        there = (
            drawing in self._optimized.nodes and self._optimized.nodes[drawing].op == self._plain.nodes[drawing].op
        )
        if len(instead) > 1 or not handed or not there or has_twin(self._plain.nodes[drawing]):
            raise CannotBeGrafted
        return name, 0

    def _compute_again(self, sources: Iterable[ReferenceTarget]) -> None:
        """Add ops that compute those of `sources` once more that the optimizer has removed.

        Raises:
            _Lacking: some may not be computed twice, or would take as long as the program itself.

        """
        wanted = list(sources)
        lacking: set[str] = set()
        for name in needs_first(self._missing(wanted), self._missing_for):
            node = self._plain.nodes[name]
            if not lacking.isdisjoint(self._missing_for(name)):
                lacking.add(name)
                continue
            read = map(self._plain.source, self._plain.data_inputs(node))
            alike = (
                self._kept.alike_read(node) if node.op == READ else self._kept.alike(node, list(map(self._now, read)))
            )
            if alike:
                self._twins[name] = alike
                continue
            if not _is_computed_again(node, self._at_any_cost):
                lacking.add(name)
                continue
            again = self._twins[name] = f"{marked(name, 1)}_{len(self._twins)}"
            self._originals[again] = name
            self._add(node, again, self._plain, waiting=False).attr[TWIN].b = True
        if lacking:
            for source in wanted:  # what passes such a value on is not to be read either
                if source.node in self._plain.nodes and self._kept.origin(source).node in lacking:
                    lacking.add(source.node)
            raise _Lacking(lacking)

    def _missing(self, sources: Iterable[ReferenceTarget]) -> list[str]:
        """The nodes that gave those of `sources` that are not there any more."""
        own = (source for source in sources if source.node is None or source.node in self._plain.nodes)
        origins = (source for source in map(self._kept.origin, own) if source not in self._results)
        return [source.node for source in origins if source.node and source not in self._kept]

    def _missing_for(self, name: str) -> list[str]:
        return self._missing(map(self._plain.source, self._plain.data_inputs(self._plain.nodes[name])))

    def _add(self, node: NodeDef, name: str, body: Body, *, waiting: bool = True) -> NodeDef:
        """Add `node`, one of the function `body`, as `name`; unless `waiting`, without what it waits for."""
        added = self._made.node_def.add()
        added.CopyFrom(node)
        added.name = name
        if not waiting:
            del added.input[len(body.data_inputs(node)) :]
        self._read(added, [self._now(body.source(text)) for text in body.data_inputs(node)])
        return added

    def _now(self, source: ReferenceTarget) -> NodeOutput:
        """The node and slot that now give the value of `source`, one of the plain or the rewritten function."""
        if source.node is not None and source.node not in self._plain.nodes:
            return source.node, source.slot  # one of ours
        origin = self._kept.origin(source)
        if origin in self._results:
            return self._results[origin]
        if origin in self._kept or origin.node is None:
            return self._kept.place(origin)
        return self._twins[origin.node], origin.slot

    def _instead(self, text: str) -> NodeOutput:
        """What the program now reads in the place of `text`, an input in a GraphDef."""
        place = place_of(text)
        return self._handed_on.get(place, place)

    def _read(self, node: NodeDef, places: Iterable[NodeOutput]) -> None:
        """Have `node` read the values at `places`, and wait for what it waited for."""
        waits = [text[1:] for text in node.input if text.startswith("^") and text[1:] not in self._arguments]
        inputs = [*map(self._reference, places), *(f"^{name}" for name in self._there(waits))]
        del node.input[:]
        node.input.extend(inputs)

    def _there(self, names: Iterable[str]) -> Iterator[str]:
        """Those of the nodes `names` that are there. A read of a variable that nobody wanted need not be waited for.

        Raises:
            CannotBeGrafted: another one is not there any more.

        """
        for name in names:
            if name not in self._plain.nodes or name in self._optimized.nodes:
                yield name
            elif self._plain.nodes[name].op != READ:
                raise CannotBeGrafted

    def _reference(self, place: NodeOutput) -> str:
        """How a FunctionDef refers to the value at `place`."""
        name, slot = place
        if name in self._arguments:
            return name
        for body in (self._optimized, self._rewritten):
            if name in body.nodes:
                return body.outputs(name)[slot].reference
        original = self._originals[name]
        return self._plain.outputs(original)[slot].reference.replace(original, name, 1)

    def _give_back(self) -> None:
        """Give the function the arguments, outputs and side effects of the rewritten one."""
        wanted = self._rewritten.definition
        self._made.signature.CopyFrom(wanted.signature)
        self._made.attr.MergeFrom(wanted.attr)
        for at, attributes in wanted.arg_attr.items():
            self._made.arg_attr[at].CopyFrom(attributes)
        for position, output in enumerate(wanted.signature.output_arg):
            given = self._rewritten.source(wanted.ret[output.name])
            own = position < len(self._plain.returns)
            place = self._instead(self._returned[position]) if own else self._now(given)
            self._made.ret[output.name] = self._reference(place)
        del self._made.signature.control_output[:]
        for number, node in enumerate(self._there(sorted(set(wanted.control_ret.values())))):
            self._made.control_ret[f"effect_{number}"] = node
            self._made.signature.control_output.append(f"effect_{number}")


def _differ_in_inputs(one: NodeDef, other: NodeDef) -> bool:
    """Whether two nodes read other values, and are the same but for that."""
    alike = type(one)()
    alike.CopyFrom(one)
    del alike.input[:]
    alike.input.extend(other.input)
    waits = [{text for text in node.input if text.startswith("^")} for node in (one, other)]
    return bool(alike == other) and waits[0] == waits[1] and len(one.input) == len(other.input)


def _is_computed_again(node: NodeDef, at_any_cost: bool) -> bool:
    """Whether what `node` gives may be computed a second time, and, unless `at_any_cost`, without great cost."""
    cheap = node.op not in MATMULS and "Conv" not in node.op
    return has_twin(node) and not _calls(node) and (cheap or at_any_cost)


def _is_special(node: NodeDef) -> bool:
    """Whether `node` calls functions, which were optimized with the rest, or converts what others read."""
    return _calls(node) or any(part in node.name for part in _CONVERTED)


def _calls(node: NodeDef) -> bool:
    """Whether `node` runs functions, some of which only the optimizer can put in its place (SymbolicGradient)."""
    return any(True for _ in named_by(node))
