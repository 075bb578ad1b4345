"""What random ops draw in the turns of a loop of version 1: carried out of the loop, and fed to it in a replay.

Nothing in a loop can be fetched. So a list is added as one more variable of the loop, to which each turn appends what
it drew. Nothing of the program reads it, so the program's ops run in the same order as without. Dumping the draws
would change that order, since TensorFlow then makes one turn after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.sessions.as_written import WRITTEN
from tfdbg_cli.capture.sessions.hidden_ops import PREFIX, HiddenOps, NewOp
from tfdbg_cli.capture.sessions.reach import loops_of, nests_of
from tfdbg_cli.capture.tf.attributes import set_attribute
from tfdbg_cli.capture.tf.types import GraphDef, Op, SymbolicTensor
from tfdbg_cli.ops.control_flow import OUTSIDE, LoopFrame
from tfdbg_cli.ops.effects import Does, StatePlace, does
from tfdbg_cli.ops.kinds import LOOP_CONDITION


@dataclass(frozen=True)
class LoopDraw:
    """A `tensor` that is drawn once in each turn of a loop.

    `entering` is an Enter op of the loop, `going` the tensor that says whether the loop goes on.
    """

    tensor: SymbolicTensor
    entering: Op
    going: SymbolicTensor

    @cached_property
    def fed(self) -> str:
        """The name of the placeholder in the graph of the replay that is fed what all turns drew."""
        return f"{self._part('given')}:0"

    def _part(self, name: str) -> str:
        return f"{PREFIX}turns/{self.tensor.op.name}/{name}"

    @cached_property
    def _frame(self) -> dict[str, object]:
        return {name: self.entering.get_attr(name) for name in ("frame_name", "parallel_iterations")}

    def carried(self, hidden: HiddenOps) -> SymbolicTensor:
        """A hidden tensor after the loop, of shape [turns, *shape of `tensor`], with what each turn drew."""
        (stack,) = hidden.once({("turns", self.tensor.name): lambda at: self._carrying(hidden, at)})
        return stack.outputs[0]

    def _carrying(self, hidden: HiddenOps, at: int) -> list[NewOp]:
        shape, most, made, enter, turn, switch, more, back, leave = (hidden.name_of(at + i) for i in range(9))
        numbers = {"dtype": tf.int32, "value": np.array(self.tensor.shape.as_list(), np.int32)}
        elements = {"element_dtype": self.tensor.dtype}
        lists = {"T": tf.variant}
        return [
            NewOp("Const", (), numbers),
            NewOp("Const", (), {"dtype": tf.int32, "value": np.array(-1, np.int32)}),
            NewOp("EmptyTensorList", [shape, most], {**elements, "shape_type": tf.int32}),
            NewOp("Enter", [made], {**lists, **self._frame, "is_constant": False}),
            NewOp("Merge", [enter, back], {**lists, "N": 2}),
            NewOp("Switch", [turn, self.going], lists),
            NewOp("TensorListPushBack", [f"{switch}:1", self.tensor], elements),
            NewOp("NextIteration", [more], lists),
            NewOp("Exit", [switch], lists),
            NewOp("TensorListStack", [leave, shape], {**elements, "num_elements": -1}),
        ]

    def feed_turns(self, definition: GraphDef) -> None:
        """Rewrite the op in `definition`, so that each turn takes its row of `fed` instead of drawing."""
        dtype, shape, part = self.tensor.dtype, self.tensor.shape, self._part
        number, here = {"T": tf.int32}, f"^{part('here')}"
        _add(definition, part("given"), "Placeholder", (), {"dtype": dtype, "shape": tf.TensorShape([None, *shape])})
        entering = {**self._frame, "T": dtype, "is_constant": True}
        _add(definition, part("entered"), "Enter", [part("given")], entering)
        _add(definition, part("zero"), "Const", (), {"dtype": tf.int32, "value": np.array(0, np.int32)})
        _add(definition, part("first"), "Enter", [part("zero")], {**self._frame, **number, "is_constant": False})
        _add(definition, part("turn"), "Merge", [part("first"), part("next")], {**number, "N": 2})
        _add(definition, part("switch"), "Switch", [part("turn"), self.going.op.name], number)
        _add(definition, part("here"), "Identity", [f"{part('switch')}:1"], number)
        for name, value in (("axis", 0), ("one", 1)):
            _add(definition, part(name), "Const", [here], {"dtype": tf.int32, "value": np.array(value, np.int32)})
        _add(definition, part("more"), "AddV2", [part("here"), part("one")], number)
        _add(definition, part("next"), "NextIteration", [part("more")], number)
        node = next(node for node in definition.node if node.name == self.tensor.op.name)
        node.attr.clear()
        for name, value in (("Tparams", dtype), ("Tindices", tf.int32), ("Taxis", tf.int32)):
            set_attribute(node.attr[name], value)
        set_attribute(node.attr[WRITTEN], node.op.encode())
        waits = dict.fromkeys(f"^{text.removeprefix('^').partition(':')[0]}" for text in node.input)
        del node.input[:]
        node.input.extend([part("entered"), part("here"), part("axis"), *waits])
        node.op = "GatherV2"


def loop_draws(
    order: Sequence[Op], tensors: Sequence[SymbolicTensor], fed_names: frozenset[str]
) -> tuple[list[LoopDraw], list[SymbolicTensor]]:
    """Those of `tensors`, outputs of ops in `order`, that can be carried out of their loops, and those that cannot.

    A tensor can be carried out if its loop is in no other loop, each turn draws it once, outside of branches, and its
    shape is known.
    """
    found_nests, loops = nests_of(order, fed_names), loops_of(order, fed_names)
    going = {loops[op.name]: op.outputs[0] for op in order if op.type in LOOP_CONDITION}
    found: list[LoopDraw] = []
    left: list[SymbolicTensor] = []
    for tensor in tensors:
        around, nest = loops[tensor.op.name], found_nests[tensor.op.name]
        once = len(nest) == 2 and nest == (*OUTSIDE, LoopFrame(nest[-1].frame, body=True))
        if once and around in going and _is_number(tensor):
            found.append(LoopDraw(tensor, around[0], going[around]))
        else:
            left.append(tensor)
    return found, left


def _is_number(tensor: SymbolicTensor) -> bool:
    """Whether `tensor`, of known shape, is the only output of an op that draws by a generator in its kernel."""
    op = tensor.op
    return (
        does(op.type, {Does.DRAWS}, {StatePlace.KERNEL}) and len(op.outputs) == 1 and tensor.shape.is_fully_defined()
    )


def _add(
    definition: GraphDef, name: str, op_type: str, inputs: Collection[str], attributes: dict[str, object]
) -> None:
    node = definition.node.add(name=name, op=op_type, input=inputs)
    for key, value in attributes.items():
        set_attribute(node.attr[key], value)
