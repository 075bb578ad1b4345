"""What each op type does besides computing: which state it reads, changes or draws from, and where that state is.

TensorFlow calls an op stateful (`is_stateful` of its OpDef) for many reasons: it reads a variable, draws a batch,
prints, or must only be placed beside a variable. The table names those of which more is known. A stateful op that is
not in it, and no call, draws what no second run would draw or, if it gives nothing back, changes the world outside.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache


class Does(Enum):
    """What an op does with its state."""

    HOLDS = auto()  # gives the handle of it or the reference to it, not what that leads to
    ASKS = auto()  # tells of it what no update changes: its shape, whether it is there
    READS = auto()  # gives what is in it
    WRITES = auto()  # changes it
    DRAWS = auto()  # gives what follows from it, and moves it on: something else each time
    FOLLOWS = auto()  # gives what follows from its inputs alone
    SPEAKS = auto()  # says something, and gives its first input if it gives anything


class State(Enum):
    """Where the state is."""

    NONE = auto()
    VARIABLE = auto()  # behind a handle
    REFERENCE = auto()  # a variable of the old kind, whose memory is handed from op to op (`use_resource=False`)
    TABLE = auto()  # of keys and values, behind a handle
    TENSOR_ARRAY = auto()  # begins and ends within a run; what orders its ops is the flow that they hand on
    STACK = auto()  # the same, of loops of version 1
    SCRATCH = auto()  # the same, under a name
    KERNEL = auto()  # in the op itself: another op of the same kind would do something else
    NEW = auto()  # a thing made anew each time
    PYTHON = auto()
    FILES = auto()
    SCREEN = auto()
    CLOCK = auto()


@dataclass(frozen=True)
class Effect:
    """What is known of the op types whose names match the pattern `types`."""

    does: Does
    state: State
    types: str


_TABLE = (
    Effect(Does.HOLDS, State.VARIABLE, r"VarHandleOp"),
    # DisableCopyOnRead only says that reads need not copy any more: the numbers, and what was read, stay the same.
    Effect(Does.ASKS, State.VARIABLE, r"VarIsInitializedOp|VariableShape|DisableCopyOnRead"),
    Effect(Does.READS, State.VARIABLE, r"ReadVariable(Op|XlaSplitND)|ResourceGather(Nd)?"),
    Effect(Does.WRITES, State.VARIABLE, r"Assign((Add|Sub)?VariableOp|VariableXlaConcatND)"),
    Effect(Does.WRITES, State.VARIABLE, r"Resource((Sparse)?Apply\w+|Scatter\w+|StridedSliceAssign)"),
    # The numbers follow from a variable and move it on; no variable of a model is updated.
    Effect(Does.DRAWS, State.VARIABLE, r"Stateful(Uniform\w*|StandardNormal\w*|TruncatedNormal|RandomBinomial)"),
    Effect(Does.DRAWS, State.VARIABLE, r"Rng(ReadAnd)?Skip|ResourceCountUpTo"),
    Effect(Does.HOLDS, State.REFERENCE, r"Variable|VariableV2"),
    Effect(Does.ASKS, State.REFERENCE, r"IsVariableInitialized"),
    Effect(Does.WRITES, State.REFERENCE, r"Assign(Add|Sub)?|StridedSliceAssign|(Sparse)?Apply[A-Z]\w+"),
    # Not ScatterNd and ScatterNdNonAliasingAdd, which give new tensors.
    Effect(Does.WRITES, State.REFERENCE, r"Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)"),
    # Tables are filled before the steps of a program: what an Insert beside a Find does is not told apart.
    Effect(Does.READS, State.TABLE, r"LookupTable(Find|Size|Export)(V2)?"),
    Effect(Does.FOLLOWS, State.TENSOR_ARRAY, r"TensorArray\w*V[23]|TensorArrayGradWithShape"),
    Effect(Does.FOLLOWS, State.STACK, r"Stack(Push|Pop|Close)?V2"),
    Effect(Does.FOLLOWS, State.SCRATCH, r"(Destroy)?TemporaryVariable"),
    # They are stateful so that they are not left out, merged, or moved to another device.
    Effect(Does.FOLLOWS, State.NONE, r"Assert|CheckNumerics(V2)?|DeepCopy"),
    Effect(Does.FOLLOWS, State.NONE, r"GuaranteeConst|StatelessRandomGetAlg|DeviceIndex"),
    # It draws for a dropout within it, which Keras leaves at 0; what was drawn is kept in the kernel.
    Effect(Does.FOLLOWS, State.KERNEL, r"CudnnRNN(Backprop)?(V2|V3)?"),
    # Nobody computes with what the memory happened to hold, but no second op would be given the same.
    Effect(Does.FOLLOWS, State.KERNEL, r"Empty"),
    Effect(Does.SPEAKS, State.SCREEN, r"Print|PrintV2"),
    # The kernel counts how many numbers it drew from its seed.
    Effect(Does.DRAWS, State.KERNEL, r"Random(Crop|Gamma|Poisson(V2)?|Shuffle|StandardNormal|Uniform(Int)?)"),
    Effect(Does.DRAWS, State.KERNEL, r"(Parameterized)?TruncatedNormal|Multinomial|NonDeterministicInts"),
    Effect(Does.DRAWS, State.KERNEL, r"\w+CandidateSampler|SampleDistortedBoundingBox(V2)?"),
    # What Python answers is not asked again, though the program says of the last one that it would be the same.
    Effect(Does.DRAWS, State.PYTHON, r"PyFunc|EagerPyFunc|PyFuncStateless"),
    Effect(Does.DRAWS, State.CLOCK, r"Timestamp"),
    Effect(Does.DRAWS, State.FILES, r"Restore(V2|Slice)?"),
    Effect(Does.WRITES, State.FILES, r"Save(V2|Slices)?|MergeV2Checkpoints|WriteFile"),
    Effect(Does.DRAWS, State.NEW, r"Anonymous\w+"),
)
_VARIABLES = frozenset({State.VARIABLE, State.REFERENCE})
_ANYWHERE = frozenset(State)
_USES = frozenset({Does.ASKS, Does.READS, Does.WRITES, Does.DRAWS})


@cache
def effect_known(op_type: str) -> Effect | None:
    """What is known of ops of this type; None of those that are not in the table."""
    return next((effect for effect in _TABLE if re.fullmatch(effect.types, op_type)), None)


def does(op_type: str, what: Container[Does], where: Container[State] = _ANYWHERE) -> bool:
    """Whether ops of this type are known to do something of `what` with a state that is one of `where`."""
    effect = effect_known(op_type)
    return effect is not None and effect.does in what and effect.state in where


@cache
def speaks(op_type: str) -> bool:
    """Whether ops of this type say something, and do nothing else."""
    return does(op_type, {Does.SPEAKS})


@cache
def follows(op_type: str) -> bool:
    """Whether what ops of this type give follows from their inputs, although TensorFlow calls them stateful."""
    return does(op_type, {Does.FOLLOWS}, {State.NONE})


@cache
def is_of_a_run(op_type: str) -> bool:
    """Whether ops of this type make or use an array or a stack of tensors that begins and ends within a run."""
    return does(op_type, {Does.FOLLOWS}, {State.TENSOR_ARRAY, State.STACK})


@cache
def leaves_variable(op_type: str) -> bool:
    """Whether ops of this type are given a variable and leave it as it is."""
    return does(op_type, {Does.ASKS, Does.READS}, _VARIABLES)


@cache
def updates_variable(op_type: str) -> bool:
    """Whether ops of this type write a variable, their first input."""
    return does(op_type, {Does.WRITES}, _VARIABLES)


@cache
def takes_handle(op_type: str) -> bool:
    """Whether ops of this type are given the handle of a variable."""
    return does(op_type, _USES, {State.VARIABLE})


@cache
def may_run_again(op_type: str) -> bool:
    """Whether ops of this type change nothing, and give the same again while nothing else changes a variable."""
    same = does(op_type, {Does.HOLDS}) or follows(op_type) or is_of_a_run(op_type)
    return same or leaves_variable(op_type)


@cache
def keeps_own_state(op_type: str) -> bool:
    """Whether ops of this type that TensorFlow calls stateful, and that are given no handle, may have a state inside.

    Then another op of the same kind would not do the same. What holds a variable is one that no other op is.
    """
    known = effect_known(op_type)
    return known is None or known.does is Does.HOLDS or known.state in (State.KERNEL, State.SCRATCH)


@cache
def draws_numbers(op_type: str) -> bool:
    """Whether ops of this type draw random numbers, or the time: that takes nothing from anybody."""
    return does(op_type, {Does.DRAWS}, {State.KERNEL, State.VARIABLE, State.CLOCK})
