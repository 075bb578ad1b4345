"""What a session and its graph tell of variables: which are trained, which are initialized."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfdbg_cli.capture.sessions.hidden_ops import is_hidden
from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.op_errors import OpError
from tfdbg_cli.capture.tf.reentrancy import INSIDE
from tfdbg_cli.capture.tf.types import RawSession, SymbolicTensor, TfGraph
from tfdbg_cli.process.interruptions import our_errors

v1 = compat.v1
_KEYS = v1.GraphKeys
# Where the program puts variables that it does not train.
_OTHERS = (_KEYS.GLOBAL_VARIABLES, _KEYS.LOCAL_VARIABLES, _KEYS.METRIC_VARIABLES, _KEYS.MODEL_VARIABLES)
_ASKS = frozenset({"VarIsInitializedOp", "IsVariableInitialized"})


@dataclass(frozen=True)
class SessionVariables:
    """The variables of `session` (`model.variables.TellsVariables`)."""

    session: RawSession

    @cached_property
    def trainable(self) -> Mapping[str, bool]:
        """By the collections of the graph; a variable in none of them is left out."""
        graph = self.session.graph
        found = dict.fromkeys((name for key in _OTHERS for name in _names(graph, key)), False)
        return found | dict.fromkeys(_names(graph, _KEYS.TRAINABLE_VARIABLES), True)

    def initialized(self, names: Collection[str]) -> Mapping[str, bool]:
        """By ops that TensorFlow made with the variables for this question; of one without such an op nothing.

        Nothing either where the session is closed, or the op cannot run.
        """
        asked = {name: tensor for name, tensor in _questions(self.session.graph).items() if name in names}
        if not asked:
            return {}
        try:
            with INSIDE:
                answers = self.session.run(list(asked.values()))
        except our_errors(OpError, RuntimeError):
            return {}
        return dict(zip(asked, map(bool, answers), strict=True))


def _names(graph: TfGraph, key: str) -> list[str]:
    """The names of the nodes of the variables in a collection, which may hold anything."""
    return [name for item in graph.get_collection(key) if (name := _name(item))]


def _name(variable: Any) -> str:
    holder = getattr(variable, "handle", None)
    held = getattr(variable if holder is None else holder, "op", None)
    name = getattr(held, "name", "")
    return name if isinstance(name, str) else ""


def _questions(graph: TfGraph) -> Mapping[str, SymbolicTensor]:
    """By the name of a variable what says whether it is initialized, where the graph has such an op."""
    asking = (op for op in graph.get_operations() if op.type in _ASKS and not is_hidden(op.name))
    return {op.inputs[0].op.name: op.outputs[0] for op in asking}
