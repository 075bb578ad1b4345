"""Results by the names that the program has for them, as the list of runs shows them: the loss of a train_step."""

from __future__ import annotations

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call
from tfdbg_cli.model.names import split_slice


class NoSuchTensorError(TfdbgError):
    """Nothing in the run has the name that was asked for."""


class NotComputedError(NoSuchTensorError):
    """The program has a node of that name, and the run no value of it: other runs may."""


def result_called(call: Call, name: str) -> str:
    """The tensor that `call` gave the program as what it calls `name`; empty where there is none.

    Raises:
        TfdbgError: several tensors are called so, such as those of a sparse one.

    """
    named = zip(call.fetches, call.names_of_fetches, strict=True)
    found = list(dict.fromkeys(tensor for tensor, called in named if called == name)) if name else []
    if len(found) > 1:
        raise TfdbgError(f"{name} is the name of {len(found)} results.", hint=f"Write {' or '.join(found[:4])}.")
    return found[0] if found else ""


def bracketed_result(call: Call, text: str) -> tuple[str, str]:
    """The result of a name with brackets that `text` is or begins with, such as `out[0]`, and the slice behind it.

    Of several the longest; the name is empty where `text` begins with none.
    """
    text = text.strip()
    found = [name for name in call.names_of_fetches if "[" in name and text.startswith(name)]
    fitting = [name for name in found if _is_slice(text[len(name) :])]
    name = max(fitting, key=len, default="")
    return name, text[len(name) :] if name else ""


def _is_slice(text: str) -> bool:
    return not text or (text.startswith("[") and text.endswith("]"))


def split_of(call: Call, text: str) -> tuple[str, str]:
    """`text` as a name, which may be that of a result of `call` with brackets in it, and the slice behind it.

    What is nothing but brackets is a name, too: that of a result which this call may not have, such as `[1]`.

    Raises:
        NoSuchTensorError: the brackets do not close, or it is no such result and more follows them.

    """
    name, slicing = bracketed_result(call, text)
    if name:
        return name, slicing
    alone = text.strip()
    if alone and _is_slice(alone):
        return alone, ""
    try:
        return split_slice(text)
    except TfdbgError as error:
        raise NoSuchTensorError(error.message, hint=error.hint) from None
