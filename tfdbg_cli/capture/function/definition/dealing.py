"""What ops have to do with the world outside of a run.

All else follows from what a run is given, the values of its variables, and what its source ops drew: batches of an
iterator, random numbers with a state of their own, answers of Python, of tables and of other machines.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache
from typing import Any

from tfdbg_cli.capture import compat
from tfdbg_cli.capture.function.definition.called_functions import called_by
from tfdbg_cli.model.control_flow import CALLS

_READS = re.compile(r"ReadVariableOp|ReadVariableXlaSplitND|VarIsInitializedOp|VariableShape|ResourceGather(Nd)?")
_WRITES = re.compile(
    r"Assign(Add|Sub)?VariableOp|AssignVariableXlaConcatND|DisableCopyOnRead|ResourceCountUpTo"
    r"|Resource(Sparse)?Apply\w+|ResourceScatter\w+|ResourceStridedSliceAssign"
    r"|Rng(ReadAnd)?Skip|Stateful(Uniform\w*|StandardNormal\w*|TruncatedNormal|RandomBinomial)"
)
_TYPED = re.compile(
    r"ReadVariableOp|Assign(Add|Sub)?VariableOp|ResourceGather(Nd)?|ResourceScatter\w+"
    r"|(?P<slots>Resource(Sparse)?Apply\w+)"
)
# What these hold begins and ends within a run.
_WITHIN = re.compile(r"TensorArray\w*V3|Stack(Push|Pop|Close)?V2|TemporaryVariable|DestroyTemporaryVariable|Assert")
# Stateful for the placer or the optimizer, but a function of what they read.
_PURE = frozenset({
    "CheckNumerics", "CheckNumericsV2", "GuaranteeConst", "StatelessRandomGetAlg", "DeviceIndex", "Empty",
    "CudnnRNN", "CudnnRNNV2", "CudnnRNNV3", "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3",
})  # fmt: skip
PYTHON = frozenset({"PyFunc", "EagerPyFunc", "PyFuncStateless"})


class Dealing(Enum):
    """What an op has to do with the world outside."""

    NOTHING = auto()
    READ = auto()  # of a variable
    WRITE = auto()  # to a variable; random numbers whose state is a variable, too
    CALL = auto()  # of functions, which may have
    EFFECT = auto()  # it gives nothing back: prints, summaries, queues
    SOURCE = auto()  # it draws what no second run would draw


@cache
def dealing_of(op_type: str) -> Dealing:
    """What an op of this type, or a function called by its name, has to do with the world outside."""
    if _READS.fullmatch(op_type):
        return Dealing.READ
    if _WRITES.fullmatch(op_type):
        return Dealing.WRITE
    definition = compat.op_definition(op_type)
    if op_type in CALLS or definition is None:
        return Dealing.CALL
    if op_type in _PURE or _WITHIN.fullmatch(op_type) or not (definition.is_stateful or op_type in PYTHON):
        return Dealing.NOTHING
    return Dealing.SOURCE if definition.output_arg else Dealing.EFFECT


def writes_variable(op_type: str) -> bool:
    """Whether an op of this type may change the variables whose handles it is given."""
    return dealing_of(op_type) is Dealing.WRITE


def type_in_variable(node: Any) -> int | None:
    """The number of the element type of the variables whose handles `node` is given; None if it does not tell."""
    match = _TYPED.fullmatch(node.op)
    attribute = "" if match is None else "T" if match["slots"] else "dtype"
    return node.attr[attribute].type if attribute in node.attr else None


def drawing_in(name: str) -> str:
    """What draws from outside in the function `name` or in what it calls: `node (op type)`; empty if nothing does."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        function = waiting.pop()
        definition = compat.function_definition(function) if function not in seen else None
        seen.add(function)
        for node in () if definition is None else definition.node_def:
            if dealing_of(node.op) is Dealing.SOURCE:
                return f"{node.name} ({node.op})"
            waiting.extend(called_by(node))
    return ""


def silence(definition: Any) -> Any:
    """`definition`, its nodes that only change the world made to do nothing but wait."""
    for node in definition.node_def:
        if dealing_of(node.op) is Dealing.EFFECT:
            waits = [text for text in node.input if text.startswith("^")]
            node.op = "NoOp"
            node.ClearField("attr")
            node.ClearField("input")
            node.input.extend(waits)
    return definition
