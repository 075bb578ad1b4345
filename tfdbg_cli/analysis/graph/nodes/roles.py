"""The part that a node plays in a training step: forward, gradient or update."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property, lru_cache

from tfdbg_cli.model.graph import Graph, Node, once_per_graph
from tfdbg_cli.model.walks import reached
from tfdbg_cli.ops.effects import updates_variable
from tfdbg_cli.ops.kinds import (
    CALLS,
    LONG_SUMS,
    NEW_LISTS,
    PIPELINE_OPS,
    REFERENCE_VARIABLES,
    SENDS,
    UNPACKS,
    VARIABLE_READS,
    VARIABLES,
)


class Role(StrEnum):
    """What a node is for."""

    FORWARD = "forward"
    GRADIENT = "gradient"
    UPDATE = "update"  # it writes a variable, or feeds nothing else


# Scopes under which TensorFlow puts gradients: of tf.GradientTape, and of tf.gradients (its `name` may say another).
GRADIENT_SCOPE = re.compile(r"^(gradient_tape|gradients)(_\d+)?$")
# Scopes of the optimizers of Keras, tf_keras and tf.compat.v1.train, made unique by a number.
OPTIMIZER_SCOPE = re.compile(
    r"(?:^|/)(adadelta|adafactor|adagrad|adagrad_da|adam|adamax|adamw|ftrl|gradient_descent|gradientdescent|lamb|lion"
    r"|loss_scale_optimizer|momentum|muon|nadam|proximal\w*|rmsprop|sgd)(_\d+)?/",
    re.IGNORECASE,
)
# Op types that exist for gradients only (nn_ops.cc): ReluGrad, FusedBatchNormGradV3, Conv2DBackpropInput.
_GRADIENT_OP = re.compile(r"Grad(V\d+)?$|Backprop(Input|Filter)?(V\d+)?$|^BroadcastGradientArgs$")
# Of these transposed convolutions are made, too: tf.nn.conv2d_transpose. Where they differentiate a scope says so.
_TRANSPOSED = frozenset(
    {"Conv2DBackpropInput", "Conv2DBackpropInputV2", "Conv3DBackpropInput", "Conv3DBackpropInputV2"}
    | {"DepthwiseConv2dNativeBackpropInput"}
)
_PIPELINE = PIPELINE_OPS - UNPACKS  # an iterator is their input; an Optional may hold what the graph has packed
_READS_VARIABLE = VARIABLES | {"ReadVariableOp", "_ReadVariablesOp", "_VarHandlesOp", "Const"}
_IN_GRADIENT = re.compile(r"(?:^|/)(gradient_tape|gradients)(_\d+)?/")
_MOST_FOLLOWED = 20_000  # nodes of a graph whose edges are followed; in a larger one names and op types decide
_MOST_SCOPES = 4096
_NO_VALUE = SENDS | {"NoOp", "_Retval"}

Roles = Mapping[str, Role]  # by node name; a node that is not named is forward


def role_by_name(name: str, op_type: str, is_node: Callable[[str], bool] = lambda name: False) -> Role:
    """The role that a node's name and op type tell, without its edges.

    `is_node` says whether a name is that of a node: `MatMul_grad` is a scope of gradients where there is a MatMul.
    """
    told = _role_by_op(op_type)
    if op_type in _TRANSPOSED and name and "grad" not in name.rpartition("/")[0]:
        told = Role.FORWARD
    in_gradient = "gradient" in name and _IN_GRADIENT.search(name)  # few names have that word, and graphs are large
    if told is Role.FORWARD and (in_gradient or _in_grad_scope(name, is_node)):
        return Role.GRADIENT
    return told


@lru_cache(maxsize=1000)
def _role_by_op(op_type: str) -> Role:
    if op_type == "UpdatedVariable" or updates_variable(op_type):
        return Role.UPDATE
    return Role.GRADIENT if _GRADIENT_OP.search(op_type) else Role.FORWARD


def _in_grad_scope(name: str, is_node: Callable[[str], bool]) -> bool:
    """Whether a scope `X_grad` encloses the node, X being a node: tf.gradients(name="…") of TensorFlow 1."""
    if "_grad/" not in name:
        return False
    scopes = name.split("/")[:-1]
    for end, scope in enumerate(scopes):
        if scope.endswith("_grad"):
            path = [*scopes[:end], scope.removesuffix("_grad")]
            if any(is_node("/".join(path[start:])) for start in range(len(path))):
                return True
    return False


class _Reading:
    """The roles of one graph: first by name, then along the edges."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        told = {op_type for op_type in graph.distinct_op_types() if _role_by_op(op_type) is not Role.FORWARD}
        self.roles: dict[str, Role] = {}
        if not told and not any("grad" in name for name in graph.names()):
            return
        self.roles = {
            name: role
            for name, op_type in graph.op_types()
            if op_type in told or "grad" in name  # most are neither, and graphs are large
            if (role := role_by_name(name, op_type, graph.__contains__)) is not Role.FORWARD
        }

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self._graph.by_name()

    def read(self) -> Roles:
        if len(self._graph.names()) > _MOST_FOLLOWED:
            return self.roles
        if Role.GRADIENT in self.roles.values():
            self._join_gradients()
            self._take_back(Role.GRADIENT, after=frozenset())
        self._take_scopes_of_updates()
        # A loop of the forward pass fills lists for its gradient, which stand in the scope of that.
        names = (name for name, role in self.roles.items() if role is Role.GRADIENT)
        gradients = [name for name in names if self._nodes[name].op_type not in NEW_LISTS]
        self._take_back(Role.UPDATE, after=frozenset(self._reached(gradients, beside=NEW_LISTS)))
        return self.roles

    def _join_gradients(self) -> None:
        """A sum of gradients alone (a tensor that several ops read) is a gradient, whatever its name."""
        for name, node in self._nodes.items():
            known = name in self.roles or node.op_type not in LONG_SUMS
            if not known and all(self.roles.get(i.node) is Role.GRADIENT for i in node.inputs):
                self.roles[name] = Role.GRADIENT

    def _take_scopes_of_updates(self) -> None:
        """What stands in the scope of an op that writes: `AssignMovingAvg/sub` of `AssignMovingAvg`."""
        for name in self._nodes:
            scope, slash, _ = name.rpartition("/")
            while slash and name not in self.roles:
                if scope in self._nodes and _role_by_op(self._nodes[scope].op_type) is Role.UPDATE:
                    self.roles[name] = Role.UPDATE
                scope, slash, _ = scope.rpartition("/")

    def _take_back(self, role: Role, after: frozenset[str]) -> None:
        """Give `role` to what feeds only nodes that have it.

        Only to what lies behind the gradients (`after`), or is made of constants alone, as what an update takes may
        be of variables: a forward pass whose loss feeds nothing but a metric is a forward pass, and so is one of
        variables alone whose result only gradients read.
        """
        fed = self._fed if role is Role.UPDATE else self._fed_or_read
        waiting = deque(name for name, known in self.roles.items() if known is role)
        if role is Role.UPDATE:
            in_optimizer = lru_cache(_MOST_SCOPES)(_is_optimizer)
            scoped = [
                n
                for n in self._nodes
                if n not in self.roles and in_optimizer(n.rpartition("/")[0]) and (n in after or n not in self._fed)
            ]
            self.roles.update(dict.fromkeys(scoped, role))
            waiting.extend(scoped)
        left: dict[str, int] = {}  # readers of a node that do not have the role
        while waiting:
            for name in self._inputs(waiting.popleft()):
                left[name] = left[name] - 1 if name in left else self._count_readers(name) - 1
                if left[name] or name in self.roles or (name in fed and name not in after):
                    continue
                if name in self._nodes and not _is_handle(self._nodes[name]):
                    self.roles[name] = role
                    waiting.append(name)

    @cached_property
    def _fed(self) -> frozenset[str]:
        """What depends on values that are neither constants nor variables.

        Of a training step single numbers are left out: rates of an optimizer, which eager code writes down as data.
        """
        numbers = Role.GRADIENT in self.roles.values()
        data = (name for name, node in self._nodes.items() if _is_data(node) and not (numbers and _is_number(node)))
        return frozenset(self._reached(data))

    @cached_property
    def _fed_or_read(self) -> frozenset[str]:
        """What depends on values that are not constants."""
        reads = (name for name, node in self._nodes.items() if node.op_type in VARIABLE_READS | REFERENCE_VARIABLES)
        return self._fed | self._reached(reads)

    def _inputs(self, name: str) -> set[str]:
        return {tensor.node for tensor in self._nodes[name].inputs}

    def _count_readers(self, name: str) -> int:
        return len({node.name for node, _ in self._graph.consumers(name) if node.op_type not in _NO_VALUE})

    def _reached(self, starts: Iterable[str], beside: frozenset[str] = frozenset()) -> set[str]:
        """`starts` and what is computed of them, but by ops of types `beside`. What is read of a variable is new."""
        other = _READS_VARIABLE | beside

        def readers(name: str) -> list[str]:
            return [node.name for node, _ in self._graph.consumers(name) if node.op_type not in other]

        return set(reached(starts, readers))


def _is_data(node: Node) -> bool:
    """Whether values come into the graph here that are neither constants nor variables."""
    if node.op_type in _PIPELINE:
        return True
    return not node.inputs and node.op_type not in _READS_VARIABLE and not _is_handle(node)


def _is_number(node: Node) -> bool:
    """Whether the node is known to give a single number."""
    return node.attributes.get("shape") == "[]"


def _is_handle(node: Node) -> bool:
    """Whether the node gives a variable or a resource, which feeds forward pass and update alike."""
    resource = any("resource" in node.attributes.get(name, "").lower() for name in ("dtype", "T"))
    return resource or node.op_type in ("VarHandleOp", "_VarHandlesOp")


def _is_optimizer(scope: str) -> bool:
    return OPTIMIZER_SCOPE.search(f"{scope}/") is not None


@once_per_graph
def roles_of(graph: Graph) -> Roles:
    """The nodes of `graph` that are not forward, with their roles; kept as long as the graph is."""
    return _Reading(graph).read()


def role_of(graph: Graph, node: str, op_type: str) -> Role:
    """The role of the node called `node`; by its name alone when `graph` does not hold it."""
    return roles_of(graph).get(node, Role.FORWARD) if node in graph else role_by_name(node, op_type)


def is_gradient(graph: Graph, name: str) -> bool:
    """Whether there is a node called `name` that differentiates."""
    node = graph.find(name)
    return node is not None and role_of(graph, name, node.op_type) is Role.GRADIENT


def is_weight(graph: Graph, handle: str) -> bool:
    """Whether the forward pass reads the variable, which it does not for optimizer state, and an update writes it.

    ReadVariableOps without a reader do not count: TensorFlow adds one to each variable, for fetching its value.
    Neither do calls, where what is inside of them reads the variable.
    """
    readers = [reader for reader, _ in graph.consumers(handle)]
    if any(reader.op_type in VARIABLE_READS for reader in readers):
        readers = [reader for reader in readers if reader.op_type not in CALLS]
    roles = {
        role_of(graph, reader.name, reader.op_type)
        for reader in readers
        if reader.op_type != "ReadVariableOp" or graph.consumers(reader.name)
    }
    return Role.FORWARD in roles and Role.UPDATE in roles
