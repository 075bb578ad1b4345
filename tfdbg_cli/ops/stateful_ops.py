"""What it means that an op is stateful, for a run that is to be made again.

TensorFlow calls an op stateful (`is_stateful` of its OpDef) for many reasons: it reads a variable, draws a batch,
prints, or must only be placed beside a variable. The table names those of which more is known. A stateful op that is
not in it draws what no second run would draw or, if it gives nothing back, changes the world outside.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache


class Nature(Enum):
    """What is known of an op type."""

    READS = auto()  # it gives what a variable holds
    WRITES = auto()  # it changes a variable; random numbers whose state is a variable, too
    HOLDS = auto()  # it gives a variable's handle or reference, not what that leads to
    WITHIN = auto()  # what it holds begins and ends within a run
    TENSOR_ARRAY = auto()  # the same of an array of tensors; it hands on a flow instead of the values
    PURE = auto()  # stateful for the placer or the optimizer, but a function of what it reads
    PASSES = auto()  # it gives what it is given, and prints it
    PYTHON = auto()  # it gives what a Python function answers, be it called stateful or not


_TABLE = (
    (Nature.READS, r"ReadVariableOp|ReadVariableXlaSplitND|VarIsInitializedOp|VariableShape|ResourceGather(Nd)?"),
    (Nature.WRITES, r"Assign(Add|Sub)?VariableOp|AssignVariableXlaConcatND|DisableCopyOnRead|ResourceCountUpTo"),
    (Nature.WRITES, r"Resource(Sparse)?Apply\w+|ResourceScatter\w+|ResourceStridedSliceAssign"),
    (Nature.WRITES, r"Rng(ReadAnd)?Skip|Stateful(Uniform\w*|StandardNormal\w*|TruncatedNormal|RandomBinomial)"),
    (Nature.HOLDS, r"VarHandleOp|Variable|VariableV2"),
    (Nature.TENSOR_ARRAY, r"TensorArray\w*V[23]|TensorArrayGradWithShape"),
    (Nature.WITHIN, r"Stack(Push|Pop|Close)?V2|TemporaryVariable|DestroyTemporaryVariable|Assert"),
    (Nature.PURE, r"CheckNumerics(V2)?|GuaranteeConst|StatelessRandomGetAlg|DeviceIndex|Empty"),
    (Nature.PURE, r"CudnnRNN(Backprop)?(V2|V3)?"),
    (Nature.PASSES, r"Print"),
    (Nature.PYTHON, r"PyFunc|EagerPyFunc|PyFuncStateless"),
)


@cache
def nature_of(op_type: str) -> Nature | None:
    """What is known of ops of this type; None of those that are not in the table."""
    return next((nature for nature, pattern in _TABLE if re.fullmatch(pattern, op_type)), None)
