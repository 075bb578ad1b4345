"""The ops that ask a question of the tensors of a function, and add up the answers.

The sum, branches and turns of loops included, is one more output of the function. XLA does not know
DebugNumericSummaryV2; other ops answer there.
"""

from __future__ import annotations

from types import MappingProxyType

from tfdbg_cli.capture.function.definition.edit import Edit
from tfdbg_cli.capture.questions import Question
from tfdbg_cli.model.dtypes import BOOL, FLOAT, INT32

_SUMMED = frozenset({1, 2, 14, 19})  # float32, float64, bfloat16, float16: what DebugNumericSummaryV2 takes
_PARTS = MappingProxyType({8: 1, 18: 2})  # complex64 and complex128: the type of their parts
_OUTPUTS = MappingProxyType({
    "AddN": "sum", "AddV2": "z", "IsFinite": "y", "IsNan": "y", "IsInf": "y", "LogicalNot": "y", "Cast": "y",
})  # fmt: skip


class Health:
    """The answers in one function that is being rewritten, and their sum."""

    def __init__(self, edit: Edit, question: Question, compiled: bool) -> None:
        """Ask `question` in the function of `edit`; `compiled` if XLA compiles it."""
        self._edit = edit
        self._question = question
        self._compiled = compiled
        self._counts: list[str] = []
        self._flags: list[str] = []

    @property
    def width(self) -> int:
        """The length of a vector of counts."""
        return self._question.width

    def include(self, counts: str) -> None:
        """Add the sum that a function which is called gave."""
        self._counts.append(counts)

    def check(self, reference: str, dtype: int, device: str) -> None:
        """Ask of the tensor that the function calls `reference`."""
        if dtype in _PARTS:
            for op in ("Real", "Imag"):
                types = {"T": dtype, "Tout": _PARTS[dtype]}
                self.check(self._op(op, [reference], device, **types), _PARTS[dtype], device)
        elif dtype not in _SUMMED:  # 8 bit floats: all of them are float32 numbers too
            self.check(self._op("Cast", [reference], device, SrcT=dtype, DstT=FLOAT), FLOAT, device)
        elif self._compiled:
            self._flags.append(self._flag(reference, dtype, device))
        else:
            node = self._edit.add("tfdbg_check", "DebugNumericSummaryV2", [reference], device)
            node.attr["T"].type = dtype
            node.attr["output_dtype"].type = FLOAT
            node.attr["tensor_debug_mode"].i = self._question.mode
            node.attr["tensor_id"].i = 0
            self._counts.append(f"{node.name}:output:0")

    def zeros(self) -> str:
        """Counts of nothing."""
        node = self._edit.add("tfdbg_nothing", "Const", [])
        node.attr["dtype"].type = FLOAT
        tensor = node.attr["value"].tensor
        tensor.dtype = FLOAT
        tensor.tensor_shape.dim.add(size=self._question.width)
        tensor.float_val.append(0.0)
        return f"{node.name}:output:0"

    def total(self) -> str:
        """The sum of all answers so far, as the function refers to it."""
        found = self._summed(self._counts) if self._counts else self.zeros()
        if not self._flags:
            return found
        return self._op("AddV2", [found, self._summed(self._flags)], "", T=FLOAT)

    def _summed(self, terms: list[str]) -> str:
        if len(terms) == 1:
            return terms[0]
        node = self._edit.add("tfdbg_sum", "AddN", terms)
        node.attr["T"].type = FLOAT
        node.attr["N"].i = len(terms)
        return f"{node.name}:sum:0"

    def _flag(self, reference: str, dtype: int, device: str) -> str:
        """1.0 when an element is what is asked for, else 0.0."""
        told = self._op(self._question.op, [reference], device, T=dtype)
        flat = self._reshaped(told, device)
        either = self._edit.add("tfdbg_check", "All" if self._question.negated else "Any", flat, device)
        either.attr["Tidx"].type = INT32
        either.attr["keep_dims"].b = False
        answer = f"{either.name}:output:0"
        if self._question.negated:
            answer = self._op("LogicalNot", [answer], device)
        return self._op("Cast", [answer], device, SrcT=BOOL, DstT=FLOAT)

    def _reshaped(self, reference: str, device: str) -> list[str]:
        """The elements in one row, and the number of the axis along which they lie."""
        row = self._edit.add("tfdbg_row", "Reshape", [reference, self._vector(-1)], device)
        row.attr["T"].type = BOOL
        row.attr["Tshape"].type = INT32
        return [f"{row.name}:output:0", self._vector(0)]

    def _vector(self, number: int) -> str:
        node = self._edit.add("tfdbg_number", "Const", [])
        node.attr["dtype"].type = INT32
        node.attr["value"].tensor.dtype = INT32
        node.attr["value"].tensor.tensor_shape.dim.add(size=1)
        node.attr["value"].tensor.int_val.append(number)
        return f"{node.name}:output:0"

    def _op(self, op: str, inputs: list[str], device: str, **types: int) -> str:
        node = self._edit.add("tfdbg_check", op, inputs, device)
        for name, dtype in types.items():
            node.attr[name].type = dtype
        if op == "Cast":
            node.attr["Truncate"].b = False
        return f"{node.name}:{_OUTPUTS.get(op, 'output')}:0"
