"""Names for what TensorFlow hands us. It has no types that a checker could use, so they all mean Any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Op: TypeAlias = Any  # a tf.Operation of a graph
SymbolicTensor: TypeAlias = Any  # a tf.Tensor of a graph, which has no value
GraphElement: TypeAlias = Any  # an Op or a SymbolicTensor: what a session can be told to run or to fetch
EagerTensor: TypeAlias = Any  # a tf.Tensor with a value, or the handle of a variable
DType: TypeAlias = Any  # a tf.DType
TfGraph: TypeAlias = Any  # a tf.Graph or a FuncGraph
GraphDef: TypeAlias = Any
NodeDef: TypeAlias = Any
FunctionDef: TypeAlias = Any
OpDef: TypeAlias = Any
AttrValue: TypeAlias = Any  # an attribute of a node, as the message has it

RawSession: TypeAlias = Any  # the session that the program made, not the one that stands before it
RunOptions: TypeAlias = Any
RunMetadata: TypeAlias = Any
CallableOptions: TypeAlias = Any
MonitoredSession: TypeAlias = Any
RawRunner: TypeAlias = Callable[..., Any]  # what the session's own make_callable gives, or the like
Fetches: TypeAlias = Any  # what a call of a session fetches: graph elements and names of them, in any nesting
Feeds: TypeAlias = Mapping[Any, Any]  # values by what they stand for: a tensor, its name, or several tensors as one
FetchedValue: TypeAlias = Any  # what a session gives for a tensor: an array, a NumPy scalar, bytes for a string

Method: TypeAlias = Callable[..., Any]  # a method or function of TensorFlow's, or what takes its place
TfFunction: TypeAlias = Any  # what tf.function makes
ConcreteFunction: TypeAlias = Any
AtomicFunction: TypeAlias = Any  # what runs one graph function, with its name and its graph

OpInput: TypeAlias = Any  # what an eager op is given: a tensor, a variable, a Python value, or a list of these
OpOutputs: TypeAlias = Any  # what an eager op gives: a tensor, a list of tensors and of lists, or None
AttributeList: TypeAlias = Sequence[Any]  # attributes of an eager op: names and values in turn

RunResult: TypeAlias = Any  # what a run gives to the program
