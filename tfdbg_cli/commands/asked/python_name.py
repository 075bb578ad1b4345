"""What the program's Python calls a variable of TensorFlow, where the program stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from tfdbg_cli.commands.asked.current_frame import asks_python, current_frame
from tfdbg_cli.commands.context import Context

_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras"})


def python_name(context: Context, name: str) -> str:
    """`w` or `self.w`, by which the call that is looked at has the variable called `name`; else empty.

    It may be called so by TensorFlow, by Keras, or by Python itself.
    """
    if not asks_python(context):
        return ""
    frame = current_frame(context)
    for called, variable in _variables({**frame.outer, **frame.names}):
        if name in (called, *_names_of(variable)):
            return called
    return ""


def _variables(held: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The variables that have a name in `held`, and then those that are attributes of objects there."""
    yield from ((name, one) for name, one in held.items() if _is_variable(one))
    for name, one in held.items():
        if not issubclass(type(one), ModuleType | type) and not _is_variable(one):
            for attribute, value in _attributes(one).items():
                if _is_variable(value):
                    yield f"{name}.{attribute}", value


def _attributes(held: Any) -> Mapping[str, Any]:
    """What the object itself has, without running code of the program."""
    try:
        found = object.__getattribute__(held, "__dict__")
    except AttributeError:
        return {}
    return dict(found) if issubclass(type(found), dict) else {}


def _is_variable(held: Any) -> bool:
    kind = type(held)
    return kind.__module__.partition(".")[0] in _LIBRARIES and hasattr(kind, "assign") and hasattr(kind, "name")


def _names_of(variable: Any) -> Iterator[str]:
    yield str(variable.name).removesuffix(":0")
    if hasattr(type(variable), "path"):  # of Keras 3, where the name is its last part
        yield str(variable.path)
