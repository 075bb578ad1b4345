"""What is known of an op by its type, and kept, since TensorFlow copies an OpDef whenever an op is asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfdbg_cli.capture.tf import compat
from tfdbg_cli.capture.tf.opaque import is_handle
from tfdbg_cli.capture.tf.types import Op, OpDef, SymbolicTensor, TfFunction

OF_FUNCTIONS = frozenset({"func", "list(func)"})  # the types of attributes that name functions
_GRAPH_FUNCTION = re.compile(r"__(?:inference|forward)_(?P<name>.+)_\d+$")
_MAY_CALL: dict[str, bool] = {}  # of registered types of ops; those of functions differ from graph to graph
_ONLY_COMPUTES: dict[str, bool] = {}  # of the same


def definition_of(op: Op) -> OpDef:
    """The OpDef of a tf.Operation; None when TensorFlow knows none."""
    return compat.op_definition(op.type) or op.op_def


def is_stateful(op: Op) -> bool:
    """Whether TensorFlow counts `op` as stateful, or knows nothing of it."""
    if only_computes(op.type):
        return False
    definition = definition_of(op)
    return definition is None or bool(definition.is_stateful)


def only_computes(op_type: str) -> bool:
    """Whether TensorFlow knows ops of that type, counts them as stateless, and none of them names a function."""
    known = _ONLY_COMPUTES.get(op_type)
    if known is None:
        definition = compat.op_definition(op_type)
        known = (
            definition is not None
            and not definition.is_stateful
            and not any(attribute.type in OF_FUNCTIONS for attribute in definition.attr)
        )
        if definition is not None:
            _ONLY_COMPUTES[op_type] = known
    return known


def calls_functions(op: Op) -> bool:
    """Whether `op` runs functions of the graph within the call: their insides are no ops of it.

    A data set or an iterator holds functions too, but runs them in threads of its own.
    """
    may_call = _MAY_CALL.get(op.type)
    if may_call is None:
        definition = compat.op_definition(op.type)
        if definition is None:
            return True  # a function of version 1, called by its name
        may_call = any(attribute.type in OF_FUNCTIONS for attribute in definition.attr)
        _MAY_CALL[op.type] = may_call
    return may_call and not only_handles(op.outputs)


def dtype_of_input(op_type: str, position: int, inputs: Sequence[int], outputs: Sequence[int]) -> int:
    """The dtype, by its number, that an op wants of one of its inputs; 0 where nobody knows.

    `inputs` and `outputs` are those of the op, as far as they are known, and else 0: some have the same dtype. Of an
    op that takes lists nobody knows which input stands where.
    """
    definition = compat.op_definition(op_type)
    arguments = [] if definition is None else [*definition.input_arg, *definition.output_arg]
    known = [*inputs, *outputs]
    if len(arguments) != len(known) or any(each.number_attr or each.type_list_attr for each in arguments):
        return 0
    wanted = arguments[position]
    if wanted.type:
        return int(wanted.type)
    alike = (dtype for each, dtype in zip(arguments, known, strict=True) if each.type_attr == wanted.type_attr)
    usual = (int(each.default_value.type) for each in definition.attr if each.name == wanted.type_attr)
    return next(filter(None, alike), 0) or next(usual, 0)


def only_handles(outputs: Iterable[SymbolicTensor]) -> bool:
    """Whether there are outputs, and all lead to something that is kept elsewhere."""
    found = list(map(is_handle, outputs))
    return bool(found) and all(found)


def function_name(op_type: str | bytes) -> str:
    """The name of the Python function in that of a graph function (`__inference_step_12`); others as they are."""
    text = op_type.decode() if isinstance(op_type, bytes) else op_type
    match = _GRAPH_FUNCTION.match(text)
    return match["name"] if match else text


def loaded_name(function: TfFunction | None) -> str:
    """The name that `function`, a tf.function of a loaded SavedModel, had when it was saved; empty of others."""
    saved = getattr(function, "concrete_functions", None)
    return function_name(saved[0].name) if saved else ""
