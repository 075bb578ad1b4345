"""The script in a bundle: it makes the run again with TensorFlow alone, for those who have no tfdbg."""

from __future__ import annotations

from tfdbg_cli.formats.bundles.environment import KERNEL_CHOICES
from tfdbg_cli.model.graph import GraphKind
from tfdbg_cli.model.replay import ReplaySpec
from tfdbg_cli.model.runs import Run
from tfdbg_cli.version import __version__

_BEGINNING = '''\
"""Makes one run again, with TensorFlow alone: {title}

Written by tfdbg {version}. Run it with: python replay.py
`tfdbg replay` on the folder above this one does the same and opens the debugger.
{limits}"""

import json
import pathlib
from os import environ

HERE = pathlib.Path(__file__).resolve().parent
CASE = json.loads((HERE / "repetition.json").read_text())
for name in filter(CASE["environment"].get, {kernels}):  # TensorFlow goes by them when it is loaded
    environ.setdefault(name, CASE["environment"][name])

import numpy as np
import tensorflow as tf


def load(number):
    """The value of an input, an array."""
    dtype, shape = tf.as_dtype(CASE["inputs"][number]["dtype"]), CASE["inputs"][number]["shape"]
    path = HERE / "inputs" / str(number)
    if dtype == tf.string:
        return tf.io.parse_tensor(path.read_bytes(), tf.string).numpy()
    return np.fromfile(path, np.uint8).view(dtype.as_numpy_dtype).reshape(shape)


def report(what, value):
    """Print what is not finite in a value; whether anything is."""
    value = np.asarray(value)
    dtype = tf.as_dtype(value.dtype)
    if not (dtype.is_floating or dtype.is_complex):
        return False
    wide = value.astype(np.complex128 if dtype.is_complex else np.float64)
    bad = int((~np.isfinite(wide)).sum())
    if bad:
        print(f"{{what}}: {{bad}} of {{wide.size}} elements are not finite")
    return bad > 0


def main():
    """Make the run and print what is not finite before and after it."""
    loaded = [load(number) for number in range(len(CASE["inputs"]))]
    for item, value in zip(CASE["inputs"], loaded):
        report(f"{{item['role']}} {{item['name']}} before the run", value)
'''

_FUNCTION = """\
    definition = tf.compat.v1.GraphDef()
    definition.library.ParseFromString((HERE / "graph.pb").read_bytes())
    function = next(f for f in definition.library.function if f.signature.name == CASE["entry"])
    call = definition.node.add(name="run", op="StatefulPartitionedCall")
    call.attr["f"].func.name = CASE["entry"]
    call.attr["Tin"].list.type.extend(argument.type for argument in function.signature.input_arg)
    call.attr["Tout"].list.type.extend(output.type for output in function.signature.output_arg)
    call.input.extend(f"input_{n}" for n in range(len(CASE["inputs"])))
    if function.attr["_XlaMustCompile"].b:
        call.attr["_XlaMustCompile"].b = True
    types = [tf.as_dtype(output.type) for output in function.signature.output_arg]
    outputs = ["run", *(f"run:{n}" for n, kind in enumerate(types) if kind not in (tf.resource, tf.variant))]
    same = json.loads(CASE["details"].get("function", "{}")).get("aliases", {})

    with tf.Graph().as_default():
        inputs, values, assigns, variables = {}, {}, [], {}
        for number, item in enumerate(CASE["inputs"]):
            if str(number) in same:  # another handle of a variable
                inputs[f"input_{number}"] = inputs[f"input_{same[str(number)]}"]
                continue
            given = tf.compat.v1.placeholder(item["dtype"], item["shape"])
            values[given] = loaded[number]
            if item["role"] == "variable":
                kind = {"dtype": item["dtype"], "shape": item["shape"], "shared_name": f"variable_{number}"}
                handle = tf.raw_ops.VarHandleOp(**kind)
                assigns.append(tf.raw_ops.AssignVariableOp(resource=handle, value=given))
                variables[item["name"]] = tf.raw_ops.ReadVariableOp(resource=handle, dtype=item["dtype"])
                given = handle
            inputs[f"input_{number}"] = given
        run = tf.graph_util.import_graph_def(definition, inputs, outputs, name="")
        with tf.compat.v1.Session() as session:
            session.run(assigns, values)
            found = [report(name, value) for name, value in zip(outputs[1:], session.run(run, values)[1:])]
            after = session.run(variables)
    found += [report(f"variable {name} after the run", value) for name, value in after.items()]
    if not any(found):
        print("All outputs, and all variables after the run, are finite.")
"""

_SESSION = """\
    also = {also!r}  # what went wrong first
    definition = tf.compat.v1.GraphDef.FromString((HERE / "graph.pb").read_bytes())
    with tf.Graph().as_default() as graph:
        tf.compat.v1.import_graph_def(definition, name="")
        with tf.compat.v1.Session() as session:
            feeds = {{}}
            for number, item in enumerate(CASE["inputs"]):
                if not item["node"]:
                    feeds[item["name"]] = loaded[number]
                    continue
                variable = graph.get_tensor_by_name(item["node"] + ":0")
                value = tf.compat.v1.placeholder(item["dtype"], item["shape"])
                if variable.dtype == tf.resource:
                    assign = tf.raw_ops.AssignVariableOp(resource=variable, value=value)
                else:
                    assign = tf.raw_ops.Assign(ref=variable, value=value, validate_shape=False)
                session.run(assign, {{value: loaded[number]}})
            values = session.run((CASE["fetches"], also), feeds)
    fetched = zip([*CASE["fetches"], *also], [*values[0], *values[1]])
    found = [report(name, value) for name, value in fetched if value is not None]
    if not any(found):
        print("All that was fetched is finite.")
"""

SCRIPT_END = """

if __name__ == "__main__":
    main()
"""


def script_of(replay_spec: ReplaySpec, run: Run, first_bad: str = "") -> str:
    """The text of the script that makes `run` again; of a session it also fetches the tensor `first_bad`."""
    limits = "".join(f"{_harmless(limit)}\n" for limit in replay_spec.limits)
    beginning = _BEGINNING.format(
        title=_harmless(run.call.title), version=__version__, limits=limits, kernels=KERNEL_CHOICES
    )
    if not replay_spec.kind.of_session:
        return beginning + _FUNCTION + SCRIPT_END
    also = [first_bad] if first_bad and run.graph.kind is GraphKind.PYTHON else []
    return beginning + _SESSION.format(also=also) + SCRIPT_END


def _harmless(text: str) -> str:
    """`text` as a part of a docstring, which it can neither end nor spoil the terminal with."""
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return shown.replace("\\", "/").replace('"', "'")
