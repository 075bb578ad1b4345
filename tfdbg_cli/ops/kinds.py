"""Op types by what they are: one set for each meaning, for everybody who asks the same.

What ops do besides computing stands in `effects`.
"""

from __future__ import annotations

from collections.abc import Mapping


def ops(text: str) -> frozenset[str]:
    """The op types that `text` names, with blanks between them."""
    return frozenset(text.split())


# Calls of functions: in version 2 one op calls the functions that are the branches of a condition, or the cond and
# the body of a loop.
PLAIN_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
FAKES = frozenset({"FakeParam"})  # what a branch gives for a value that only another one computes
CONDITIONS = frozenset({"If", "StatelessIf"})
CASES = frozenset({"Case", "StatelessCase"})
BRANCHES = CONDITIONS | CASES
LOOPS = frozenset({"While", "StatelessWhile"})
CALLS = PLAIN_CALLS | BRANCHES | LOOPS

# Control flow of version 1 (core/ops/control_flow_ops.cc).
ENTER = frozenset({"Enter", "RefEnter"})
EXIT = frozenset({"Exit", "RefExit"})
SWITCH = frozenset({"Switch", "RefSwitch", "_SwitchN"})
MERGE = frozenset({"Merge", "RefMerge"})
NEXT_ITERATION = frozenset({"NextIteration", "RefNextIteration"})
CONTROL_FLOW = ENTER | EXIT | SWITCH | MERGE | NEXT_ITERATION
LOOP_CONDITION = frozenset({"LoopCond"})  # whether a loop makes one more turn

# What TensorFlow's runtime puts where a value goes to another device or process.
SENDS = frozenset({"_Send", "_HostSend"})
RECEIVES = frozenset({"_Recv", "_HostRecv"})
TRANSFERS = SENDS | RECEIVES
DEBUG_COPIES = frozenset({"Copy", "CopyHost"})
"""TensorFlow's own debugger has the runtime put them behind what it dumps."""

# Where values come into a graph.
PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2"})
"""They have to be fed."""
INPUTS = PLACEHOLDERS | {"PlaceholderWithDefault", "_Arg"}
"""They stand for what a run is given; the runtime puts an `_Arg` in the place of a feed."""
PYTHON = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
"""They give what a Python function answers. What they give has a shape only where the program says so."""
REFERENCE_VARIABLES = frozenset({"Variable", "VariableV2"})
VARIABLES = REFERENCE_VARIABLES | {"VarHandleOp"}
VARIABLE_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
"""They give elements of the variable whose handle they are given."""
RESTORES = frozenset({"Restore", "RestoreSlice", "RestoreV2"})
"""They give tensors of a checkpoint."""
ASSIGNMENTS = frozenset({"Assign", "AssignVariableOp"})
"""After them a variable holds their second input."""

WRITES_IN_PART = frozenset({
    "StridedSliceAssign", "ResourceStridedSliceAssign", "ScatterUpdate", "ResourceScatterUpdate", "ScatterNdUpdate",
    "ResourceScatterNdUpdate", "ScatterMin", "ResourceScatterMin", "ScatterMax", "ResourceScatterMax",
    "ResourceScatterNdMin", "ResourceScatterNdMax",
})  # fmt: skip
"""They put elements into some places of a variable, and compute with none of those that are there."""
WRITES_OVER = ASSIGNMENTS | WRITES_IN_PART

# What gives the elements of what it is given.
IDENTITIES = frozenset({"Identity", "IdentityN"})
COPIES = frozenset({"Identity", "Snapshot", "StopGradient", "PreventGradient"})
"""They give their first input as it is: they stand there for the gradient or the optimizer."""
CHECKS = frozenset({"CheckNumerics", "EnsureShape"})
"""The same, or the run fails."""
NUMBERS_LOOKED_AT = frozenset({"CheckNumericsV2", "DebugNumericSummaryV2"})
"""Beside each op of a program that calls tf.debugging.enable_check_numerics: they compute nothing for it."""
UNPACKS = frozenset({"OptionalGetValue"})
"""They give what was put into an Optional, which a pipeline or another op of the graph made."""
RESHAPES = frozenset({"Reshape", "ExpandDims", "Squeeze"})
"""They give their first input in another shape, in the same memory."""
SAME_ELEMENTS = COPIES | RESHAPES | {"Transpose", "Reverse", "ReverseV2", "Roll"}
"""They give each element of their first input once."""
SIGNS = frozenset({"Neg", "Abs"})
REPEATS = frozenset({"BroadcastTo", "Tile"})
MOVES = RESHAPES | REPEATS | {
    "Transpose", "Cast", "StridedSlice", "Slice", "GatherV2", "GatherNd", "Pack", "ConcatV2", "Split", "SplitV",
    "Unpack", "Reverse", "ReverseV2", "Pad", "PadV2",
}  # fmt: skip
"""They move elements and compute none, in addition to those that pass a value on."""
JOINS = frozenset({"Pack", "ConcatV2"})
"""They set their inputs beside one another."""
PUTS_INTO = frozenset({"TensorScatterUpdate", "TensorScatterMin", "TensorScatterMax", "TensorStridedSliceUpdate"})
"""They give a copy of their first input into which elements of their last are put."""
GATHERS = frozenset({"Gather", "GatherV2", "ResourceGather"})
SORTS = frozenset({"TopK", "TopKV2"})
"""They give elements of the last axis of their first input, the largest first."""
QUEUES = frozenset({"QueueDequeueV2", "QueueDequeueManyV2", "QueueDequeueUpToV2"})
PIPELINE_OPS = QUEUES | UNPACKS | frozenset({
    "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "ParseExample", "ParseExampleV2",
    "OneShotIterator",
})  # fmt: skip
"""A batch enters a graph here that is not fed."""
BATCHES = UNPACKS | {"IteratorGetNext"}
"""They give Python the tensors of a batch, where an iterator delivered them."""
NEW_LISTS = frozenset({"EmptyTensorList", "TensorListReserve"})
"""They make a list of tensors that others fill."""
SELECTS = frozenset({"Select", "SelectV2"})
COMPARES = frozenset({"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"})
"""They compare an element with another: a literal infinity is then a limit."""
TRUTHS = COMPARES | {"LogicalAnd", "LogicalOr", "LogicalNot", "IsFinite", "IsInf", "IsNan"}
"""They say of each element whether something is so."""
EXTREMES = frozenset({"Maximum", "Minimum", "Max", "Min"})
"""They choose elements of their inputs."""
PASSING = frozenset({"Identity", "RefIdentity"}) | SWITCH | ENTER | EXIT
"""They give their first input, be it numbers, a handle or the reference to a variable."""
SAME_VALUE: Mapping[str, int | None] = {
    **dict.fromkeys(COPIES | CHECKS | PASSING | NEXT_ITERATION | RECEIVES | DEBUG_COPIES, 0),
    "IdentityN": None,
}
"""Which of their inputs they give, unchanged and wherever it goes; None: that of the output's slot."""

# What computes.
INCREMENTS = frozenset({"AssignAddVariableOp", "AssignSubVariableOp"})
"""They add their second input to a variable, or take it from there."""
LITERALS = frozenset({"Const", "HostConst"})
"""They give what the program wrote down, or what the optimizer found that an op always gives."""
SHAPE_INPUT: Mapping[str, int] = {"Fill": 0, "Reshape": 1, "BroadcastTo": 1}
"""The input that says of what shape the output is, and nothing of its elements."""
_ALONG = frozenset({
    "All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "MirrorPad", "Pad", "PadV2", "Prod", "ReverseV2", "SplitV",
    "Sum", "Tile", "Transpose",
})  # fmt: skip
WHERE_INPUTS: Mapping[str, frozenset[int]] = {
    **{op_type: frozenset({place}) for op_type, place in SHAPE_INPUT.items()},
    **dict.fromkeys(_ALONG, frozenset({1})),
    **dict.fromkeys(("Slice", "Roll"), frozenset({1, 2})),
    "StridedSlice": frozenset({1, 2, 3}),
}
"""The inputs that say along which axes, how often or from where to where, and are no data."""
TEXTS_ONE_BY_ONE = frozenset({
    "AsString", "DecodeBase64", "DecodeCSV", "EncodeBase64", "RegexFullMatch", "RegexReplace", "StaticRegexFullMatch",
    "StaticRegexReplace", "StringJoin", "StringLength", "StringLower", "StringStrip", "StringToHashBucket",
    "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber", "StringUpper", "Substr", "UnicodeScript",
    "UnicodeTranscode",
})  # fmt: skip
"""They make one text or number of one text of each input, or of one number."""
LOOK_UPS_OF_TEXTS = frozenset({"LookupTableFind", "LookupTableFindV2"})
"""They give what a table has for each element of their second input."""
BYTES_OF_TEXTS = frozenset({"DecodeRaw", "DecodePaddedRaw"})
"""They make numbers of the bytes of each text, along an axis behind those of their first input."""
TEXT_SPLITS = frozenset({"StringSplit", "StringSplitV2"})
"""They take texts apart: their outputs are a sparse tensor, whose rows are the texts: indices, parts and shape."""
COUNTS = frozenset({"Bincount", "DenseBincount"})
"""They count how often each whole number is among the elements of their first input."""
SEGMENT_EXTREMES = frozenset({"SegmentMax", "SegmentMin", "UnsortedSegmentMax", "UnsortedSegmentMin"})
"""They choose one element of those that their second input puts together."""
SEGMENTS = SEGMENT_EXTREMES | {
    "SegmentSum", "SegmentMean", "SegmentProd", "UnsortedSegmentSum", "UnsortedSegmentProd",
}  # fmt: skip
"""They make one element of those that their second input puts together."""
VALUES_INPUT: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (*sorted(PUTS_INTO - {"TensorStridedSliceUpdate"}), "TensorScatterAdd", "TensorScatterSub"), (0, 2)
    ),
    "TensorStridedSliceUpdate": (0, 4),
    "ScatterNd": (1,),
    "SparseToDense": (2,),
    "RaggedTensorToTensor": (1,),
    **dict.fromkeys(SEGMENTS, (0,)),
}
"""The inputs whose elements they give, or compute with; their others say which elements lie where."""
SIZED_BY_VALUES = frozenset({
    "Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "DynamicPartition",
    "NonMaxSuppressionV3", "XlaSetDynamicDimensionSize",
})  # fmt: skip
"""How long their outputs are follows from the elements of their inputs, under XLA, too."""
OF_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"})
"""They look at no element: what they give follows from the shape of their input."""
ADDITIONS = frozenset({"Add", "AddV2"})
CONCATENATIONS = frozenset({"Concat", "ConcatV2"})
SPLITS = frozenset({"Split", "SplitV"})
STITCHES = frozenset({"DynamicStitch", "ParallelDynamicStitch"})
"""They put rows of several inputs where the indices of each say."""
PUTS = frozenset({
    "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin",
})  # fmt: skip
"""They put something into some places of their first input, or add it there."""
SUMS = ADDITIONS | {"Sub"}
LONG_SUMS = frozenset({"AddN", "AccumulateNV2"})
QUOTIENTS = frozenset({"Div", "RealDiv"})
RECIPROCALS = frozenset({"Inv", "Reciprocal"})
ADDED_UP = frozenset({"Mean", "Sum"})
"""They add up elements along axes that their second input names."""
MATMULS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
PLACES = frozenset({"ArgMax", "ArgMin"})
"""They give a place along the axis that their second input names."""
NEVER_FLOATS = TRUTHS | PLACES | {
    "Shape", "ShapeN", "Size", "Rank", "All", "Any", "VarHandleOp", "StatelessRandomGetKeyCounter",
}  # fmt: skip
"""They give truths, whole numbers or handles, of whatever dtype their inputs are: none of it can be NaN.
Of the many such op types those that eager code runs most: of one that is missing nobody knows whether it is finite.
"""
PRODUCTS = frozenset({"Mul", "MulNoNan"})
SHARES = frozenset({"Softmax", "LogSoftmax"})
"""They divide 1 among the elements of a row, along the last axis."""
CROSS_ENTROPIES = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
"""They give a loss for each row of logits."""
ACCUMULATIONS = frozenset({"Cumsum", "Cumprod", "CumulativeLogsumexp"})
"""One element of each is made of those of the first input that lie before it, or behind it, along one axis."""
SLOPES = frozenset({"TanhGrad", "SigmoidGrad"})
"""They give a product of dy and a function of y."""
RELUS = frozenset({"Relu", "Relu6"})
NORMALIZATIONS = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
NORMALIZATION_GRADIENTS = frozenset({"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"})
