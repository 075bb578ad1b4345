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

    HOLDS = auto()  # outputs a handle or reference to the state, not its content
    ASKS = auto()  # outputs a property of the state that updates do not change, such as its shape
    READS = auto()  # outputs the content of the state
    WRITES = auto()  # changes the state
    DRAWS = auto()  # computes its output from the state and advances it, so that each call gives something else
    FOLLOWS = auto()  # computes its output from its inputs alone
    SPEAKS = auto()  # prints something; its output, if any, is its first input


class StatePlace(Enum):
    """Where the state is."""

    NONE = auto()
    VARIABLE = auto()  # behind a handle
    REFERENCE = auto()  # a reference variable (`use_resource=False`): ops pass on a reference to its memory
    TABLE = auto()  # a lookup table, behind a handle
    QUEUE = auto()  # a queue, barrier, staging area or accumulator: another run takes out what one has put there
    TENSOR_ARRAY = auto()  # lives within one run; its ops are ordered by the flow tensor that they pass on
    STACK = auto()  # the same for the stacks of version 1 loops
    SCRATCH = auto()  # the same for temporary variables, which ops find by name
    KERNEL = auto()  # in the op's kernel, so that a copy of the op would behave differently
    NEW = auto()  # a resource that each call creates anew
    PYTHON = auto()
    FILES = auto()
    SCREEN = auto()
    CLOCK = auto()


@dataclass(frozen=True)
class Effect:
    """What is known of the op types whose whole name matches the regular expression `types`."""

    does: Does
    state: StatePlace
    types: str


_TABLE = (
    Effect(Does.HOLDS, StatePlace.VARIABLE, r"VarHandleOp"),
    # DisableCopyOnRead only makes later reads cheaper; it changes no numbers.
    Effect(Does.ASKS, StatePlace.VARIABLE, r"VarIsInitializedOp|VariableShape|DisableCopyOnRead"),
    Effect(Does.READS, StatePlace.VARIABLE, r"ReadVariable(Op|XlaSplitND)|ResourceGather(Nd)?"),
    Effect(Does.WRITES, StatePlace.VARIABLE, r"Assign((Add|Sub)?VariableOp|VariableXlaConcatND)"),
    Effect(Does.WRITES, StatePlace.VARIABLE, r"Resource((Sparse)?Apply\w+|Scatter\w+|StridedSliceAssign)"),
    # Random numbers are computed from the state of a tf.random.Generator, a variable, which is then advanced.
    Effect(Does.DRAWS, StatePlace.VARIABLE, r"Stateful(Uniform\w*|StandardNormal\w*|TruncatedNormal|RandomBinomial)"),
    Effect(Does.DRAWS, StatePlace.VARIABLE, r"Rng(ReadAnd)?Skip|ResourceCountUpTo"),
    Effect(Does.HOLDS, StatePlace.REFERENCE, r"Variable|VariableV2"),
    Effect(Does.ASKS, StatePlace.REFERENCE, r"IsVariableInitialized"),
    Effect(Does.WRITES, StatePlace.REFERENCE, r"Assign(Add|Sub)?|StridedSliceAssign|(Sparse)?Apply[A-Z]\w+"),
    # Not ScatterNd and ScatterNdNonAliasingAdd, which give new tensors.
    Effect(Does.WRITES, StatePlace.REFERENCE, r"Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)"),
    # Tables are usually filled before training, so that an Insert in the same run is not considered here.
    Effect(Does.READS, StatePlace.TABLE, r"LookupTable(Find|Size|Export)(V2)?"),
    Effect(Does.WRITES, StatePlace.TABLE, r"LookupTable(Insert|Import)(V2)?"),
    Effect(Does.WRITES, StatePlace.QUEUE, r"QueueEnqueue(Many)?(V2)?|BarrierInsertMany|(Ordered)?(Map)?Stage"),
    Effect(Does.WRITES, StatePlace.QUEUE, r"((Resource|Sparse)?Accumulator)ApplyGradient"),
    Effect(Does.FOLLOWS, StatePlace.TENSOR_ARRAY, r"TensorArray\w*V[23]|TensorArrayGradWithShape"),
    Effect(Does.FOLLOWS, StatePlace.STACK, r"Stack(Push|Pop|Close)?V2"),
    Effect(Does.FOLLOWS, StatePlace.SCRATCH, r"(Destroy)?TemporaryVariable"),
    # TensorFlow marks these as stateful only to keep them from being pruned, merged, or moved to another device.
    Effect(Does.FOLLOWS, StatePlace.NONE, r"Assert|CheckNumerics(V2)?|DeepCopy"),
    Effect(Does.FOLLOWS, StatePlace.NONE, r"GuaranteeConst|StatelessRandomGetAlg|DeviceIndex"),
    # Draws random numbers only for its own dropout, which Keras sets to 0; the kernel keeps that state.
    Effect(Does.FOLLOWS, StatePlace.KERNEL, r"CudnnRNN(Backprop)?(V2|V3)?"),
    # The output is uninitialized memory: no program computes with it, but a copy of the op would give another one.
    Effect(Does.FOLLOWS, StatePlace.KERNEL, r"Empty"),
    Effect(Does.SPEAKS, StatePlace.SCREEN, r"Print|PrintV2"),
    # The kernel keeps the generator that it has seeded, and so its position.
    Effect(Does.DRAWS, StatePlace.KERNEL, r"Random(Crop|Gamma|Poisson(V2)?|Shuffle|StandardNormal|Uniform(Int)?)"),
    Effect(Does.DRAWS, StatePlace.KERNEL, r"(Parameterized)?TruncatedNormal|Multinomial|NonDeterministicInts"),
    Effect(Does.DRAWS, StatePlace.KERNEL, r"\w+CandidateSampler|SampleDistortedBoundingBox(V2)?"),
    # A Python function is never called a second time, not even of PyFuncStateless, which claims to be pure.
    Effect(Does.DRAWS, StatePlace.PYTHON, r"PyFunc|EagerPyFunc|PyFuncStateless"),
    Effect(Does.DRAWS, StatePlace.CLOCK, r"Timestamp"),
    Effect(Does.DRAWS, StatePlace.FILES, r"Restore(V2|Slice)?"),
    Effect(Does.WRITES, StatePlace.FILES, r"Save(V2|Slices)?|MergeV2Checkpoints|WriteFile"),
    Effect(Does.DRAWS, StatePlace.NEW, r"Anonymous\w+"),
)
_VARIABLES = frozenset({StatePlace.VARIABLE, StatePlace.REFERENCE})
_ANYWHERE = frozenset(StatePlace)
_KEPT = frozenset({StatePlace.TABLE, StatePlace.QUEUE})
_USES = frozenset({Does.ASKS, Does.READS, Does.WRITES, Does.DRAWS})


@cache
def effect_known(op_type: str) -> Effect | None:
    """What is known of ops of this type; None of those that are not in the table."""
    return next((effect for effect in _TABLE if re.fullmatch(effect.types, op_type)), None)


def does(op_type: str, what: Container[Does], where: Container[StatePlace] = _ANYWHERE) -> bool:
    """Whether ops of this type are known to do one of `what` with a state in one of `where`."""
    effect = effect_known(op_type)
    return effect is not None and effect.does in what and effect.state in where


@cache
def speaks(op_type: str) -> bool:
    """Whether ops of this type print something, and do nothing else."""
    return does(op_type, {Does.SPEAKS})


@cache
def follows(op_type: str) -> bool:
    """Whether the output of ops of this type depends on their inputs alone, though TensorFlow marks them stateful."""
    return does(op_type, {Does.FOLLOWS}, {StatePlace.NONE})


@cache
def is_of_a_run(op_type: str) -> bool:
    """Whether ops of this type create or use a TensorArray or stack, which lives within one run."""
    return does(op_type, {Does.FOLLOWS}, {StatePlace.TENSOR_ARRAY, StatePlace.STACK})


@cache
def leaves_variable(op_type: str) -> bool:
    """Whether ops of this type take a variable as input and do not change it."""
    return does(op_type, {Does.ASKS, Does.READS}, _VARIABLES)


@cache
def updates_variable(op_type: str) -> bool:
    """Whether ops of this type write a variable, their first input."""
    return does(op_type, {Does.WRITES}, _VARIABLES)


@cache
def puts_away(op_type: str) -> bool:
    """Whether ops of this type put their inputs where other runs find them, and which is no variable, as a queue."""
    return does(op_type, {Does.WRITES}, _KEPT)


@cache
def takes_handle(op_type: str) -> bool:
    """Whether ops of this type are given the handle of a variable."""
    return does(op_type, _USES, {StatePlace.VARIABLE})


@cache
def may_run_again(op_type: str) -> bool:
    """Whether ops of this type change nothing, and give the same output again as long as no variable changes."""
    same = does(op_type, {Does.HOLDS}) or follows(op_type) or is_of_a_run(op_type)
    return same or leaves_variable(op_type)


@cache
def keeps_own_state(op_type: str) -> bool:
    """Whether stateful ops of this type that take no handle may keep state in the op itself.

    Then a copy of the op would not do the same. That includes ops that hold a variable, since a copy would hold
    another one, and all types that are not in the table.
    """
    known = effect_known(op_type)
    return (
        known is None
        or known.does is Does.HOLDS
        or known.state in (StatePlace.KERNEL, StatePlace.SCRATCH, StatePlace.QUEUE)
    )


@cache
def draws_numbers(op_type: str) -> bool:
    """Whether ops of this type give random numbers, counts or the time, and consume no data by it."""
    return does(op_type, {Does.DRAWS}, {StatePlace.KERNEL, StatePlace.VARIABLE, StatePlace.CLOCK})
