"""Results by the names that the program has for them, as the list of runs shows them: the loss of a train_step."""

from __future__ import annotations

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.calls import Call


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
