"""One op as a function of its own, run by the runtime with the attributes of a NodeDef, and cases of ops to run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.model.dtypes import element_type, element_type_named

_SERIAL = itertools.count()
F = "float"  # stands for the dtype that is tried


@dataclass(frozen=True)
class Case:
    """An op with inputs: a shape for one of the dtype that is tried, or an array."""

    op: str
    inputs: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1


def lone_function(case: Case, dtype: str, inputs: Sequence[Any], target: str = "", optimized: bool = False) -> str:
    """Register a function that runs the op of `case`; `optimized` if large enough for the graph optimizer to look."""
    number = element_type_named(dtype).number
    definition = tf.compat.v1.GraphDef().library.function.add()
    name = f"lone_{case.op}_{next(_SERIAL)}"
    definition.signature.name = name
    node = definition.node_def.add(name="lone", op=case.op)
    for position, value in enumerate(inputs):
        definition.signature.input_arg.add(name=f"in{position}", type=value.dtype.as_datatype_enum)
        node.input.append(f"in{position}")
    op_def = compat.op_definition(case.op)
    given = dict(case.attributes)
    for attribute in op_def.attr:
        read = _type_read(op_def, attribute.name, inputs)
        if read and attribute.name not in given:
            node.attr[attribute.name].type = read
        else:
            _set(node.attr[attribute.name], attribute, given, number, target)
    place = itertools.count()
    for arg in op_def.output_arg:
        dtypes = [arg.type or node.attr[arg.type_attr].type] * (
            node.attr[arg.number_attr].i if arg.number_attr else 1
        )
        for index, one in enumerate(dtypes):
            out = f"out{next(place)}"
            definition.signature.output_arg.add(name=out, type=one)
            definition.ret[out] = f"lone:{arg.name}:{index}"
    if optimized:
        _pad(definition)
    compat.add_function(definition)
    return name


def _type_read(op_def: Any, attribute: str, inputs: Sequence[Any]) -> int:
    """The type of the first input whose type is `attribute`; 0 for none."""
    for position, arg in enumerate(op_def.input_arg):
        if arg.type_attr == attribute:
            return int(inputs[position].dtype.as_datatype_enum)
        if arg.number_attr:
            break
    return 0


def _pad(definition: Any) -> None:
    """More nodes: the graph optimizer leaves the smallest graphs alone."""
    previous = definition.node_def.add(name="pad", op="Const")
    previous.attr["dtype"].type = 1
    previous.attr["value"].tensor.dtype = 1
    previous.attr["value"].tensor.tensor_shape.SetInParent()
    previous.attr["value"].tensor.float_val.append(0.5)
    reference = "pad:output:0"
    for number in range(6):
        node = definition.node_def.add(name=f"pad{number}", op="Exp", input=[reference])
        node.attr["T"].type = 1
        reference = f"pad{number}:y:0"
    definition.signature.output_arg.add(name="padded", type=1)
    definition.ret["padded"] = reference


def _set(value: Any, attribute: Any, given: dict[str, Any], dtype: int, target: str) -> None:
    content = given.get(attribute.name)
    if content is None:
        if attribute.name in ("DstT", "Tout") and attribute.type == "type" and target:
            value.type = element_type_named(target).number
        elif attribute.type == "type" and not (attribute.HasField("default_value") and attribute.name != "T"):
            value.type = dtype
        elif attribute.HasField("default_value"):
            value.CopyFrom(attribute.default_value)
        return
    kind = attribute.type
    if kind == "type":
        value.type = dtype if content == F else content
    elif kind == "int":
        value.i = content
    elif kind == "bool":
        value.b = content
    elif kind == "float":
        value.f = content
    elif kind == "string":
        value.s = content.encode()
    elif kind == "list(int)":
        value.list.i.extend(content)
    elif kind == "shape":
        for length in content:
            value.shape.dim.add(size=length)


def outputs_of(name: str, definition_outputs: int, inputs: Sequence[Any]) -> Sequence[Any]:
    """What a function of `lone_function` gives."""
    return compat.run_function(name, list(inputs), definition_outputs)


def plants(array: Any, few: bool) -> Iterator[tuple[float, Any]]:
    """Copies of `array` with a NaN or an infinity at one place (`few`: the ends); for complex ones in one part."""
    flat = array.reshape(-1)
    for at in sorted({0, flat.size - 1} if few else range(flat.size)):
        for bad in (np.nan, np.inf, -np.inf):
            for part in (1, 1j) if array.dtype.kind == "c" else (1,):
                copy = flat.copy()
                copy[at] = complex(bad, 0.5) if part == 1 and array.dtype.kind == "c" else bad
                if part == 1j:
                    copy[at] = complex(0.5, bad)
                yield bad, copy.reshape(array.shape)


def inputs_of(case: Case, dtype: str, seed: int) -> list[Any]:
    """The inputs of `case` as arrays: small numbers, some of them 0."""
    random = np.random.RandomState(seed)
    numpy = element_type_named(dtype).numpy
    found = []
    for given in case.inputs:
        if isinstance(given, np.ndarray):
            found.append(given)
            continue
        value = random.normal(size=given)
        if numpy.kind == "c":
            value = value + 1j * random.normal(size=given)
        value = np.where(random.uniform(size=given) < 0.3, 0, value)
        found.append(np.asarray(value).astype(numpy))
    return found


def dtype_name(number: int) -> str:
    return element_type(number).name


def i32(*numbers: Any) -> Any:
    return np.array(numbers[0] if len(numbers) == 1 and not isinstance(numbers[0], int) else numbers, np.int32)


def scalar(number: int) -> Any:
    return np.array(number, np.int32)


_SHAPES = [(), (1,), (2, 3)]


def cases() -> Iterator[Case]:
    """Cases of every op in the table, and of kinds that it must not take for transparent."""
    for op in ("Identity", "Snapshot", "StopGradient", "PreventGradient", "Neg", "Abs", "Conj", "Square", "Floor",
               "Ceil", "Rint", "Round", "Sqrt", "Log", "Log1p", "Sin", "Cos", "Tan", "ComplexAbs", "L2Loss",
               "Cast"):  # fmt: skip
        yield from (Case(op, [shape]) for shape in _SHAPES)
    yield Case("CheckNumerics", [(2,)], {"message": "x"})
    yield Case("EnsureShape", [(2, 3)], {"shape": [2, 3]})
    yield Case("Reshape", [(2, 3), i32(3, 2)])
    yield Case("Reshape", [(), i32(1)])
    yield Case("ExpandDims", [(2, 3), scalar(1)])
    yield Case("Squeeze", [(1, 3)], {"squeeze_dims": []})
    yield Case("Transpose", [(2, 3), i32(1, 0)])
    yield Case("ConjugateTranspose", [(2, 3), i32(1, 0)])
    yield Case("Reverse", [(2, 3), np.array([True, False])])
    yield Case("ReverseV2", [(2, 3), i32([1])])
    yield Case("Roll", [(2, 3), scalar(1), scalar(0)])
    yield Case("SpaceToDepth", [(1, 2, 2, 1)], {"block_size": 2})
    yield Case("DepthToSpace", [(1, 1, 1, 4)], {"block_size": 2})
    yield Case("Pad", [(2, 3), i32([[1, 0], [0, 2]])])
    yield Case("PadV2", [(2, 3), i32([[1, 0], [0, 2]]), ()])
    yield Case("MirrorPad", [(2, 3), i32([[1, 0], [0, 2]])], {"mode": "REFLECT"})
    yield Case("SpaceToBatchND", [(1, 2, 3, 1), i32([2, 1]), i32([[0, 0], [1, 0]])])
    yield Case("MatrixDiag", [(2, 3)])
    yield Case("Diag", [(3,)])
    yield Case("BroadcastTo", [(1, 3), i32(2, 3)])
    yield Case("Tile", [(2, 1), i32(1, 3)])
    yield Case("Pack", [(2, 3), (2, 3)], {"N": 2, "axis": 1})
    yield Case("ConcatV2", [(2, 3), (2, 1), scalar(1)], {"N": 2})
    yield Case("Split", [scalar(1), (2, 4)], {"num_split": 2}, 2)
    yield Case("SplitV", [(2, 3), i32(1, 2), scalar(1)], {"num_split": 2}, 2)
    yield Case("Unpack", [(2, 3)], {"num": 2, "axis": 0}, 2)
    for op in ("Add", "AddV2", "Sub", "SquaredDifference", "Mul", "Div", "RealDiv"):
        for first, second in (((2, 3), (2, 3)), ((), ()), ((2, 3), ()), ((2, 1), (1, 3)), ((3,), (2, 3))):
            yield Case(op, [first, second])
    yield Case("AddN", [(2, 3), (2, 3), (2, 3)], {"N": 3})
    yield Case("AccumulateNV2", [(2, 3), (2, 3)], {"N": 2, "shape": [2, 3]})
    yield Case("BiasAdd", [(2, 3), (3,)])
    yield Case("BiasAdd", [(1, 3, 2, 2), (3,)], {"data_format": "NCHW"})
    for op in ("Sum", "Mean", "Prod"):
        for axes in (i32([0]), i32([1]), i32([0, 1]), np.array([], np.int32), i32([-1])):
            yield Case(op, [(2, 3), axes])
        yield Case(op, [(), np.array([], np.int32)])
        yield Case(op, [(2, 3), i32([0])], {"keep_dims": True})
    yield Case("Cumsum", [(2, 3), scalar(1)])
    yield Case("Cumsum", [(2, 3), scalar(0)], {"reverse": True})
    yield Case("Cumsum", [(2, 3), scalar(1)], {"exclusive": True})
    yield Case("BiasAddGrad", [(2, 3)])
    yield Case("LogSoftmax", [(2, 3)])
    for a, b in itertools.product((False, True), repeat=2):
        yield Case("MatMul", [(3, 2) if a else (2, 3), (2, 3) if b else (3, 2)], {"transpose_a": a, "transpose_b": b})
        for op in ("BatchMatMul", "BatchMatMulV2"):
            shapes = [(2, 3, 2) if a else (2, 2, 3), (2, 2, 3) if b else (2, 3, 2)]
            yield Case(op, shapes, {"adj_x": a, "adj_y": b})
    yield Case("BatchMatMulV2", [(1, 2, 3), (2, 3, 1)])
    yield Case("BatchMatMulV3", [(2, 3), (3, 2)], {"Ta": F, "Tb": F, "Tout": F})
    for equation, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 2)), ("bij,bkj->bik", (2, 1, 3), (2, 2, 3)), ("ij->i", (2, 3)),
        ("ij,ij->", (2, 2), (2, 2)),
        ("i,j->ij", (2,), (3,)), ("ii->i", (2, 2)), ("btd,vd->btv", (1, 2, 3), (2, 3)), ("ij,k->i", (2, 3), (2,)),
    ):  # fmt: skip
        yield Case("Einsum", shapes, {"equation": equation, "N": len(shapes)})
    for padding, size, stride in itertools.product(("SAME", "VALID"), (1, 2, 3), (1, 2)):
        window = {"strides": [1, stride, stride, 1], "padding": padding}
        yield Case("Conv2D", [(1, 4, 3, 2), (size, size, 2, 2)], window)
        yield Case("DepthwiseConv2dNative", [(1, 4, 3, 2), (size, size, 2, 1)], window)
        pool = {**window, "ksize": [1, size, size, 1]}
        yield Case("AvgPool", [(1, 4, 3, 2)], pool)
        height, width = (-(-(n if padding == "SAME" else n - size + 1) // stride) for n in (4, 3))
        out = (1, height, width, 2)
        yield Case("AvgPoolGrad", [i32(1, 4, 3, 2), out], pool)
        yield Case("Conv2DBackpropInput", [i32(1, 4, 3, 2), (size, size, 2, 2), out], window)
        yield Case("Conv2DBackpropFilter", [(1, 4, 3, 2), i32(size, size, 2, 2), out], window)
    for training in (True, False):
        rest = [np.array([1.5, 0.0], np.float32), *[np.array([1.0, 0.5], np.float32)] * 3]
        for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
            outputs = 6 if op.endswith("V3") else 5
            yield Case(op, [(2, 2, 1, 2), *rest], {"is_training": training}, outputs)
        for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"):
            given = [(2, 2, 1, 2), (2, 2, 1, 2), *rest[:3]]
            yield Case(op, given if not op.endswith("V3") else [*given, rest[3]], {"is_training": training}, 5)
    for op in ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"):
        yield Case(op, [(2, 3), (2, 3)])
        yield Case(op, [(), ()])
