"""Why two runs part where they do, in a sentence: rules in an order, of which the first that holds tells it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.analysis.difference.compared import DIFFERENT, Verdict
from tfdbg_cli.analysis.difference.comparison import Comparison
from tfdbg_cli.analysis.difference.divergence import InputGap
from tfdbg_cli.analysis.difference.set_values import set_in
from tfdbg_cli.analysis.graph.flow.deliveries import delivers
from tfdbg_cli.analysis.graph.nodes.feeds import fed_value
from tfdbg_cli.analysis.pairing.families import is_source
from tfdbg_cli.analysis.pairing.tensor_pairs import RowPair
from tfdbg_cli.document.array_words import scalar_text
from tfdbg_cli.model.calls import RunKind
from tfdbg_cli.model.graph import Node
from tfdbg_cli.model.names import tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.updates import UPDATED_VARIABLE
from tfdbg_cli.ops.effects import draws_numbers
from tfdbg_cli.ops.kinds import REFERENCE_VARIABLES, VARIABLE_READS

_SHARED = "Each {} was given something else, but this is to be the same on all."
_READ_OTHERWISE = "The two ops read different tensors."
_NO_MATTER = frozenset({"shared_name", "container", "value", "index", "shape"})  # attributes that the values tell of
_REDUCED = " Was the gradient reduced over the {}s?"


@dataclass(frozen=True)
class _Parting:
    """A pair of ops, one of A and one of B, at which both runs part.

    `inputs` are those of both ops beside each other. `nodes` and `types` are of A and of B: None and "" where a
    tensor has no node in the graph.
    """

    comparison: Comparison
    rows: RowPair
    inputs: Sequence[InputGap]

    @property
    def runs(self) -> tuple[Run, Run]:
        """A and B."""
        return self.comparison.runs

    @cached_property
    def nodes(self) -> Sequence[Node | None]:
        """The two ops."""
        return [run.graph.find(run.tensors[row].node) for run, row in zip(self.runs, self.rows, strict=True)]

    @cached_property
    def types(self) -> Sequence[str]:
        """Their op types."""
        return [node.op_type if node is not None else "" for node in self.nodes]

    @property
    def reads_what_differs(self) -> bool:
        """Whether one of the inputs differs, and by more than rounding."""
        return any(one.state in DIFFERENT for one in self.inputs)


def why(comparison: Comparison, first: Verdict, inputs: Sequence[InputGap]) -> str:
    """Why this is where they part, in a sentence."""
    parting = _Parting(comparison, first.rows, inputs)
    named = _other_checkpoint(parting) or _changed_by_set(parting)
    if named is not None:  # no op computed it: how the ops differ has nothing to do with it
        return named
    return next(filter(None, (rule(parting) for rule in _RULES))) + _ops_told(parting)


def _other_checkpoint(parting: _Parting) -> str | None:
    """A and B are two checkpoints."""
    of_checkpoints = all(run.call.kind is RunKind.CHECKPOINT for run in parting.runs)
    return "The variable holds something else." if of_checkpoints else None


def _changed_by_set(parting: _Parting) -> str | None:
    """B was computed with a value that the user put in the place of this one, or of the variable that it reads."""
    name = parting.runs[1].tensors[parting.rows[1]].name
    found = set_in(parting.runs[1], name, parting.nodes[1])
    if found is None:
        return None
    return "`set` gave it this value." if found == name else f"`set` gave the variable {found.node} another value."


def _other_batch(parting: _Parting) -> str | None:
    """It came out of an input pipeline; what such an op reads, an iterator, would only be told as unknown."""
    ops = zip(parting.runs, parting.nodes, strict=True)
    return "It is another batch." if all(op is not None and delivers(run.graph, op) for run, op in ops) else None


def _other_draw(parting: _Parting) -> str | None:
    """It is random; what such an op reads, a shape, is equal, and would only be told as that."""
    if not all(map(draws_numbers, parting.types)):
        return None
    return "It draws random numbers, with a state that is not recorded."


def _without_inputs(parting: _Parting) -> str | None:
    """There are no inputs to compare; all rules after this one are about them."""
    if parting.inputs:
        return None
    if any(op is not None and op.inputs and not is_source(op.op_type) for op in parting.nodes):
        return _READ_OTHERWISE  # in another number, of which no two are a pair
    if all(one == "Const" for one in parting.types):
        return "It is a constant of the program."
    if all(one in VARIABLE_READS | REFERENCE_VARIABLES for one in parting.types):
        return "It is a variable, as it was before."
    return "It comes from outside, or from before: no op computed it here."


def _given_otherwise(parting: _Parting) -> str | None:
    """An input is what the program itself gave: it began there, whatever is to be said of the other inputs."""
    given = [one for one in parting.inputs if one.given and one.state in DIFFERENT]
    if not given:
        return None
    return f"The program gave it something else: {'; '.join(_given_text(parting.runs, one) for one in given)}."


def _not_shared(parting: _Parting) -> str | None:
    """Of two workers, or replicas, inputs are to differ; what is made of them here should not have differed."""
    peer = parting.comparison.peer
    if not peer or not parting.reads_what_differs:
        return None
    reduced = _REDUCED if parting.types[0] == UPDATED_VARIABLE else ""
    return (_SHARED + reduced).format(peer, peer)


def _other_inputs(parting: _Parting) -> str | None:
    """An input is made by ops that are no pair: that is sure, while one that is not known may be equal."""
    return _READ_OTHERWISE if any(one.other for one in parting.inputs) else None


def _unknown_inputs(parting: _Parting) -> str | None:
    """An input was not recorded: the rules after this one speak of what lies between all inputs."""
    unknown = [one for one in parting.inputs if one.gap is None]
    if not unknown:
        return None
    names = [
        f"{one.names[0]} in A, or {one.names[1]} in B" if one.names[0] != one.names[1] else one.names[0]
        for one in unknown
    ]
    them = "it" if len(unknown) == 1 else "they"
    return f"No input that is known differs. {'; '.join(names)} is not recorded: {them} may."


def _more_than_its_inputs(parting: _Parting) -> str | None:
    """An input differs, and what the op made of it differs by more than that."""
    return "What it reads differs, but that does not explain as much." if parting.reads_what_differs else None


def _equal_inputs(parting: _Parting) -> str | None:
    """There is nothing between the inputs, not even rounding."""
    gaps = [one.gap for one in parting.inputs]
    if not all(gap is not None and gap.exact for gap in gaps):
        return None
    zeros = any(gap is not None and gap.zeros for gap in gaps)
    return f"Its inputs are equal {'but for the sign of zeros' if zeros else 'to the last bit'}."


def _more_than_rounding(_parting: _Parting) -> str:
    """What is left: the inputs differ by rounding, and by nothing else."""
    return "Its inputs differ by rounding only, which does not explain as much."


_RULES: tuple[Callable[[_Parting], str | None], ...] = (
    # What the ops themselves are
    _other_batch,
    _other_draw,
    _without_inputs,
    # What they read
    _given_otherwise,
    _not_shared,
    _other_inputs,
    _unknown_inputs,
    _more_than_its_inputs,
    _equal_inputs,
    _more_than_rounding,  # holds always
)
"""In their order: the first that holds gives the sentence, and the others None."""


def _ops_told(parting: _Parting) -> str:
    """What sets the two ops apart besides their inputs, behind the sentence: their types and attributes."""
    attributes = _attributes_told(parting.runs, parting.nodes)
    types = parting.types
    if types[0] == types[1] or not all(types):
        return attributes
    return f" It is {types[0]} in A, and {types[1]} in B.{attributes}"


def _attributes_told(runs: Sequence[Run], nodes: Sequence[Node | None]) -> str:
    """Which attributes of both ops differ.

    Of ops that Python ran one by one only those are known that Python named, types by their numbers.
    """
    if nodes[0] is None or nodes[1] is None:
        return ""
    one_by_one = any(run.call.kind is RunKind.EAGER for run in runs)
    told = []
    for key, ours in nodes[0].attributes.items():
        theirs = nodes[1].attributes.get(key, "")
        if key.startswith("_") or key in _NO_MATTER or ours == theirs:
            continue
        if one_by_one and (not ours or not theirs or ours.isdigit() != theirs.isdigit()):
            continue
        told.append(f"{key} is {ours or 'not set'} in A and {theirs or 'not set'} in B")
    return f" Its attributes: {'; '.join(told)}." if told else ""


def _given_text(runs: Sequence[Run], one: InputGap) -> str:
    """What both runs were given, by their numbers where each is one."""
    name = one.names[0] if one.names[0] == one.names[1] else f"{one.names[0]}, in B {one.names[1]}"
    first, second = (
        fed_value(run.call.feeds, tensor_name_of(text)) for run, text in zip(runs, one.names, strict=True)
    )
    if first is None or second is None or first.ndim or second.ndim:
        return name
    return f"{name} is {scalar_text(first, {})} in A, and {scalar_text(second, {})} in B"
