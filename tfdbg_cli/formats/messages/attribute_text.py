"""Attributes of nodes as short texts, made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfdbg_cli.formats.messages.tensor_proto import shape_of
from tfdbg_cli.model.dtypes import FIRST_REFERENCE, element_type

_MOST_ITEMS = 8
_MOST_LETTERS = 200


class AttributeTexts(Mapping[str, str]):
    """The attributes of `node` (a NodeDef) by name, sorted; each becomes a text on access."""

    __slots__ = ("_node",)

    def __init__(self, node: Any) -> None:
        self._node = node

    def __getitem__(self, name: str) -> str:
        attributes = self._node.attr
        if name not in attributes:  # a protobuf map makes what it is asked for
            raise KeyError(name)
        return attribute_text(attributes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._node.attr))

    def __len__(self) -> int:
        return len(self._node.attr)

    def __repr__(self) -> str:
        return repr(dict(self))


def attribute_text(attribute: Any) -> str:
    """An AttrValue in a few words: `float32`, `[?,3]`, `True`, `float32 tensor of shape [2,2]`."""
    kind = attribute.WhichOneof("value")
    if kind is None:
        return ""
    value = getattr(attribute, kind)
    if kind == "list":
        return _list_text(value)
    return _text(kind, value)


def _text(kind: str, value: Any) -> str:
    if kind == "s":
        return _clip(value.decode("utf-8", "backslashreplace"))
    if kind == "type":
        return dtype_text(value)
    if kind == "shape":
        return shape_text(value)
    if kind == "tensor":
        return f"{dtype_text(value.dtype)} tensor of shape {shape_text(value.tensor_shape)}"
    if kind == "func":
        return str(value.name)
    if kind == "f":
        return f"{value:.7g}"
    return _clip(str(value))


def _list_text(values: Any) -> str:
    for kind in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
        items = getattr(values, kind)
        if items:
            shown = [_text(kind, item) for item in items[:_MOST_ITEMS]]
            if len(items) > _MOST_ITEMS:
                shown.append(f"… {len(items)} in all")
            return f"[{', '.join(shown)}]"
    return "[]"


def _clip(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… {len(text)} characters in all"


def dtype_text(number: int) -> str:
    """TensorFlow's name of the element type `number`, with `_ref` for a reference."""
    return element_type(number).name + ("_ref" if number >= FIRST_REFERENCE else "")


def shape_text(proto: Any) -> str:
    """A TensorShapeProto as `[?,3]`; `?` alone for an unknown rank."""
    shape = shape_of(proto)
    if shape is None:
        return "?"
    return f"[{','.join('?' if size < 0 else str(size) for size in shape)}]"
