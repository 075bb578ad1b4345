"""Names for what TensorFlow hands us. It has no types that a checker could use, so they all mean Any."""

from __future__ import annotations

from typing import Any, TypeAlias

Op: TypeAlias = Any  # a tf.Operation of a graph
SymbolicTensor: TypeAlias = Any  # a tf.Tensor of a graph, which has no value
EagerTensor: TypeAlias = Any  # a tf.Tensor with a value, or the handle of a variable
TfGraph: TypeAlias = Any  # a tf.Graph or a FuncGraph
NodeDef: TypeAlias = Any
FunctionDef: TypeAlias = Any
RawSession: TypeAlias = Any  # the session that the program made, not the one that stands before it
RunOptions: TypeAlias = Any
RunMetadata: TypeAlias = Any
ConcreteFunction: TypeAlias = Any
AtomicFunction: TypeAlias = Any  # what runs one graph function, with its name and its graph
