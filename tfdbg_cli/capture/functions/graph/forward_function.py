"""The forward function of a gradient: of which function's call a gradient function computes the gradient.

A tape outside of a tf.function has its forward pass run by one function and its gradient by another, each traced for
itself. What the forward function hands over are captures of the gradient function, placeholders with names of their
own. Here they get those that the values have in the forward function, `step/Sqrt`, and that function is found, of
whose ops the gradients are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tfdbg_cli.analysis.graph.nodes.call_scopes import own_scope
from tfdbg_cli.capture.functions.definition.call_tree import Scope
from tfdbg_cli.capture.functions.graph.function_tree import grown
from tfdbg_cli.capture.functions.signature.arguments import slots_of
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.types import EagerTensor, TfGraph
from tfdbg_cli.model.names import TensorName, free_name
from tfdbg_cli.model.walks import depth_first

_FORWARD = "forward_function_name"  # TensorFlow's attribute of a gradient function
_CALLER = "forward"
_MADE = "__forward_{}_"  # how the name of a function begins that was made of a FuncGraph to hand something over


@dataclass(frozen=True, eq=False)
class ForwardFunction:
    """The function of whose call a gradient function computes the gradient.

    `graph` is the FuncGraph that it was made from, `root` the function with all that it calls. Its nodes stand under
    `scope` in a run of the gradient, as if the node `caller` there had called it. `names` are the names that the run
    has for what was handed over, by the placeholders in the FuncGraph of the gradient; `handed` says, by these names,
    which tensors under `scope` these are. `forward` is the forward function of it, where it is a gradient, too.
    """

    graph: TfGraph
    root: Scope
    scope: str
    caller: str
    names: Mapping[str, str]
    handed: Mapping[str, TensorName]
    forward: ForwardFunction | None

    def has(self, name: str) -> bool:
        """Whether the node called `name` in a run of the gradient is of it, or the call of it."""
        return name == self.caller or name.startswith(f"{self.scope}/")

    @cached_property
    def graphs(self) -> Mapping[str, TfGraph]:
        """The FuncGraphs of it and of the functions that it calls, by their names, as far as they are kept."""
        return _graphs(self.root.body.name, self.graph)


@dataclass(frozen=True, eq=False)
class HandedOver:
    """The `tensors` that a call of `function` handed to its gradient, by their names in a run of that.

    The nodes of the function stand under `scope` there.
    """

    function: str
    scope: str
    tensors: Mapping[str, EagerTensor]


def forward_function(name: str, graph: TfGraph) -> ForwardFunction | None:
    """The forward function of the function `name`, which was made from the FuncGraph `graph`.

    None where that is no gradient, where it is handed nothing by which the forward function could be found, and where
    the runtime does not know that one any more.
    """
    handed = [pair for pair in graph.captures if not isinstance(pair[0], compat.EagerTensor)]
    definition = compat.function_definition(name) if handed else None
    if definition is None or _FORWARD not in definition.attr:
        return None
    made_from = handed[0][0].graph
    called = _made_of(made_from, definition.attr[_FORWARD].s.decode())
    before = None if called is None else forward_function(called, made_from)
    try:
        root = grown(called or "", _graphs(called or "", made_from), argument_names(made_from, before))
    except LookupError:
        return None
    beginnings = {op.name.partition("/")[0] for op in graph.get_operations()}
    scope = free_name(own_scope(root.body.name), beginnings.__contains__)
    places = {id(tensor): place for place, tensor in enumerate(made_from.outputs)}
    tensors = {
        inner.op.name: root.resolve(root.body.returns[places[id(outer)]])
        for outer, inner in handed
        if places.get(id(outer), len(root.body.returns)) < len(root.body.returns)
    }
    names = _names(tensors, root)
    return ForwardFunction(
        made_from,
        root,
        scope,
        free_name(_CALLER, {*beginnings, scope}.__contains__),
        {placeholder: f"{scope}/{names[placeholder]}" for placeholder in tensors},
        {f"{scope}/{names[one]}": TensorName(f"{scope}/{made.node}", made.slot) for one, made in tensors.items()},
        before,
    )


def argument_names(graph: TfGraph, forward: ForwardFunction | None) -> tuple[str, ...]:
    """What a run calls the arguments of the function made from `graph`: as placeholders, variables by name.

    What `forward`, its forward function, handed over has the name that it has there.
    """
    return tuple(slot.argument.name for slot in slots_of(graph, {} if forward is None else forward.names))


def _made_of(graph: TfGraph, told: str) -> str | None:
    """The name of the function made of `graph` to hand over what a gradient needs; None where none is known.

    `told` is what the gradient says; that of a gradient names the function of the first gradient.
    """
    prefix = _MADE.format(graph.name)
    if told.startswith(prefix) and told.removeprefix(prefix).isdigit():
        return told
    known = [name for name in compat.eager_context().list_function_names() if name.startswith(prefix)]
    numbers = [int(end) for name in known if (end := name.removeprefix(prefix)).isdigit()]
    return f"{prefix}{max(numbers)}" if numbers else None


def _names(tensors: Mapping[str, TensorName], root: Scope) -> Mapping[str, str]:
    """A name for each of `tensors`, of the function of `root`: that of its node, where it is the first output."""
    found: dict[str, str] = {}
    taken = {scope.name_of(node) for scope in root.all() for node in scope.body.nodes} | set(root.argument_names)
    for placeholder, (node, slot) in tensors.items():
        exact = not slot and node not in found.values()
        name = node if exact else free_name(f"{node}_{slot}", taken.__contains__)
        taken.add(name)
        found[placeholder] = name
    return found


def _graphs(name: str, graph: TfGraph) -> dict[str, TfGraph]:
    return dict(depth_first([(name, graph)], lambda pair: compat.function_graphs(pair[1]).items()))
