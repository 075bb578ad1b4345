"""Adds our ops to what TensorFlow's graph optimizer made of the plain function.

One more reader of a value changes what the optimizer makes of a function. So our ops are added after it has optimized
the plain function, and the result is not optimized again: the program's own ops stay exactly as they were. This also
saves a second run of the optimizer, which is most of the time that it takes to prepare a large function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from tfdbg_cli.capture.functions.definition.body import Body, Source
from tfdbg_cli.capture.functions.definition.called_functions import named_by
from tfdbg_cli.capture.functions.kept_values import READ, KeptValues, NodeOutput, place_of
from tfdbg_cli.capture.functions.own_names import marked
from tfdbg_cli.capture.functions.twins import TWIN, has_twin
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.walks import needs_first
from tfdbg_cli.ops.kinds import MATMULS

# Parts of the names of ops by which the optimizer transposes values or converts them to other dtypes: where there are
# any, an op may compute something else under its old name, although its inputs have their old names.
_CONVERTED = ("LayoutOptimizer", "AutoMixedPrecision")


class CannotBeGrafted(Exception):  # noqa: N818
    """Our ops cannot be put onto this graph; they could if they did not read what the nodes `lacking` gave."""

    def __init__(self, lacking: Iterable[str] = ()) -> None:
        super().__init__()
        self.lacking = frozenset(lacking)


def grafted(rewritten: FunctionDef, plain: Body, optimized: Sequence[NodeDef]) -> FunctionDef:
    """A function of the nodes `optimized`, made of `plain`, and of the ops that only `rewritten` has.

    Values that these read and the optimizer has removed are computed once more. The result must be run without the
    optimizer.

    Raises:
        CannotBeGrafted: they do more than read, or computing values once more would be too expensive.

    """
    return _Graft(Body(rewritten), plain, optimized).made()


class _Graft:
    def __init__(self, rewritten: Body, plain: Body, nodes: Sequence[NodeDef]) -> None:
        arguments = {node.attr["index"].i: node.name for node in nodes if node.op == "_Arg"}
        if list(map(arguments.get, range(len(arguments)))) != list(plain.arguments) or any(map(_is_special, nodes)):
            raise CannotBeGrafted
        self._rewritten = rewritten
        self._plain = plain
        self._returned = {node.attr["index"].i: node.input[0] for node in nodes if node.op == "_Retval"}
        self._made: FunctionDef = type(rewritten.definition)()
        self._made.node_def.extend(node for node in nodes if node.op not in ("_Arg", "_Retval"))
        self._optimized = Body(self._made)
        self._kept = KeptValues(plain, self._optimized, nodes)
        self._results = self._found_results()
        self._twins: dict[str, str] = {}  # from a removed node of `plain` to one that computes the same
        self._originals: dict[str, str] = {}
        self._arguments = frozenset(plain.arguments)

    def _found_results(self) -> dict[Source, NodeOutput]:
        """Where the values that the function gives back stand now, though the optimizer computes them otherwise.

        It moves constants through products: `a * b * 1000` becomes `a * (b * 1000)`, which may overflow where the
        first does not. What is told of a result is to be told of what the program gets.
        """
        found: dict[Source, NodeOutput] = {}
        for position, source in enumerate(map(self._plain.source, self._plain.returns)):
            if position in self._returned and source.node is not None:
                found.setdefault(self._kept.origin(source), place_of(self._returned[position]))
        return found

    def made(self) -> FunctionDef:
        """The whole function."""
        for node in self._made.node_def:
            self._read(node, [place_of(text) for text in node.input if not text.startswith("^")])
        references = [text for node in self._own for text in self._rewritten.data_inputs(node)]
        self._compute_again(map(self._rewritten.source, [*references, *self._rewritten.returns]))
        for node in self._own:
            self._add(node, node.name, self._rewritten)
        self._give_back()
        return self._made

    @cached_property
    def _own(self) -> list[NodeDef]:
        """Our nodes."""
        return list(self._found())

    def _found(self) -> Iterator[NodeDef]:
        for name, node in self._rewritten.nodes.items():
            known = self._plain.nodes.get(name)
            if known is None:
                yield node
            elif node != known:  # one of the program's nodes was rewritten: a loop or a call with checks inside
                raise CannotBeGrafted

    def _compute_again(self, sources: Iterable[Source]) -> None:
        """Add ops that compute those of `sources` once more that the optimizer has removed.

        Raises:
            CannotBeGrafted: some may not be computed twice, or would take as long as the program itself.

        """
        lacking: set[str] = set()
        for name in needs_first(self._missing(sources), self._missing_for):
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
            if not _is_computed_again(node):
                lacking.add(name)
                continue
            again = self._twins[name] = f"{marked(name, 1)}_{len(self._twins)}"
            self._originals[again] = name
            self._add(node, again, self._plain, waiting=False).attr[TWIN].b = True
        if lacking:
            raise CannotBeGrafted(lacking)

    def _missing(self, sources: Iterable[Source]) -> list[str]:
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

    def _now(self, source: Source) -> NodeOutput:
        """The node and slot that now give the value of `source`, one of the plain or the rewritten function."""
        if source.node is not None and source.node not in self._plain.nodes:
            return source.node, source.slot  # one of ours
        origin = self._kept.origin(source)
        if origin in self._results:
            return self._results[origin]
        name, slot = self._kept.place(origin)
        return name if origin in self._kept else self._twins[name], slot

    def _read(self, node: NodeDef, places: Iterable[NodeOutput]) -> None:
        """Have `node` read the values at `places`, and wait for what it waited for."""
        waits = [text[1:] for text in node.input if text.startswith("^") and text[1:] not in self._arguments]
        inputs = [*map(self._reference, places), *(f"^{name}" for name in map(self._there, waits))]
        del node.input[:]
        node.input.extend(inputs)

    def _there(self, name: str) -> str:
        """`name`, of a node to wait for.

        Raises:
            CannotBeGrafted: it is not there any more.

        """
        if name in self._plain.nodes and name not in self._optimized.nodes:
            raise CannotBeGrafted
        return name

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
            place = place_of(self._returned[position]) if own else self._now(given)
            self._made.ret[output.name] = self._reference(place)
        for name, node in wanted.control_ret.items():
            self._made.control_ret[name] = self._there(node)


def _is_computed_again(node: NodeDef) -> bool:
    """Whether what `node` gives may be computed a second time, and at no great cost."""
    return has_twin(node) and not _calls(node) and node.op not in MATMULS and "Conv" not in node.op


def _is_special(node: NodeDef) -> bool:
    """Whether `node` calls functions, which were optimized with the rest, or converts what others read."""
    return _calls(node) or any(part in node.name for part in _CONVERTED)


def _calls(node: NodeDef) -> bool:
    """Whether `node` runs functions, some of which only the optimizer can put in its place (SymbolicGradient)."""
    return any(True for _ in named_by(node))
