"""A cache of what all runs with the same tensors have in common in a recording, such as the steps of a training."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from tfdbg_cli.model.dtypes import element_type_named
from tfdbg_cli.model.tensors import Shape, Tensor

_FORMS = 4  # cached forms; a program may alternate between runs of training and of evaluation, for example
_WORTH = 100_000  # forms of runs with more tensors are not cached, to save memory


class RunForm:
    """What is the same in all runs with these `tensors`, of which those at the places `valued` may have values.

    `order` is the order of places in which tensors are written. `names` maps the places in `valued` to names in the
    headers of data files, without the run's number. `numbers` caches, by place, the dtype and shape a tensor was last
    written with, and the numbers in its row of the index that follow from them.
    """

    def __init__(self, tensors: Sequence[Tensor], valued: Sequence[int]) -> None:
        self.tensors = tensors
        self.valued = valued
        self.names = dict(zip(valued, _entry_names([tensors[place] for place in valued]), strict=True))
        self.order = _widest_first(tensors) if self.names else range(len(tensors))
        self.numbers: dict[int, tuple[str, Shape | None, tuple[int | None, ...]]] = {}

    def fits(self, tensors: Sequence[Tensor], valued: Sequence[int]) -> bool:
        """Whether a run of these tensors is one of this form."""
        return self.tensors == tensors and self.valued == valued


class RunForms:
    """The forms of the last runs."""

    def __init__(self) -> None:
        self._known: deque[RunForm] = deque(maxlen=_FORMS)

    def of(self, tensors: Sequence[Tensor], valued: Sequence[int]) -> RunForm:
        """The form of a run with these tensors, of which those at the places `valued` may have values."""
        valued = valued if isinstance(valued, range) else list(valued)
        for known in self._known:
            if known.fits(tensors, valued):
                return known
        made = RunForm(tensors, valued)
        if len(tensors) <= _WORTH:
            self._known.append(made)
        return made

    def forget(self) -> None:
        """Drop all forms, since numbers in the index were rolled back."""
        self._known.clear()


def tame(text: str) -> str:
    """`text` with lone surrogates escaped, since they are not valid UTF-8 and other programs would refuse them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _widest_first(tensors: Sequence[Tensor]) -> Sequence[int]:
    """The places of `tensors`, those with the widest elements first, so that all elements are aligned in the file."""

    def width(place: int) -> int:
        element = element_type_named(tensors[place].dtype)
        return -(element.itemsize or 0) if element is not None else 0

    return sorted(range(len(tensors)), key=width)


def _entry_names(tensors: Sequence[Tensor]) -> list[str]:
    """Unique names of `tensors` within their run, for the headers of data files."""
    devices: dict[tuple[str, int, int], int] = Counter((t.node, t.slot, t.execution) for t in tensors)
    names: list[str] = []
    seen: Counter[str] = Counter()
    for tensor in tensors:
        name = f"{tame(tensor.node)}:{tensor.slot}"
        name += f" execution {tensor.execution}" if tensor.execution else ""
        name += f" on {tame(tensor.device)}" if devices[tensor.node, tensor.slot, tensor.execution] > 1 else ""
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
