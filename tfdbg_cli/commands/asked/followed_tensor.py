"""What `history` follows from run to run: the tensor that a user names, where any of the runs has it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from tfdbg_cli.analysis.graph.making.lineage import Lineage
from tfdbg_cli.commands.asked.result_names import NoSuchTensorError, NotComputedError, result_called, split_of
from tfdbg_cli.commands.asked.tensor_choice import Choice, choose_in
from tfdbg_cli.commands.context import Context
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.names import TensorName, did_you_mean, node_of, tensor_name_of
from tfdbg_cli.model.runs import Run
from tfdbg_cli.model.tensors import Tensor
from tfdbg_cli.model.updates import after_update


@dataclass(frozen=True, slots=True)
class FollowedTensor:
    """A tensor as it was chosen in `run`. `everything` says that it is followed through other functions, too."""

    choice: Choice
    run: Run
    everything: bool

    @property
    def tensor(self) -> Tensor:
        """It, as it was first in that run."""
        return self.run.tensors[self.choice.indices[0]]

    @property
    def title(self) -> str:
        """Its name with the slice: by that of the program where it is another tensor in each function."""
        name = self.choice.result if self.everything else ""
        return f"{name or self.choice.name}{self.choice.slicing}"

    @property
    def key(self) -> Hashable:
        """Equal for what has the same history."""
        return self.choice, self.run.call.same

    def name_in(self, run: Run) -> TensorName | None:
        """What it is called in `run`: a result goes by the program's name, for elsewhere it is another node."""
        if not self.choice.result:
            return self.tensor.name
        with suppress(TfdbgError):  # several tensors, as of a sparse one, are none that can be followed
            if result := result_called(run.call, self.choice.result):
                return tensor_name_of(result)
        call, here = run.call, self.run.call
        return self.tensor.name if (call.kind, call.place) == (here.kind, here.place) else None


def followed(context: Context, text: str, device: str, everything: str) -> FollowedTensor:
    """What `text` means in the run looked at, else in the last run of another call that has it.

    `everything` is the command that follows it through those, too; empty where that is asked.

    Raises:
        TfdbgError: there is none, several fit, or only other runs have it and `everything` is not empty.

    """
    run = context.run
    try:
        return FollowedTensor(choose_in(run, _shown_name(run, text), device, context.stepper), run, not everything)
    except NoSuchTensorError as error:
        missing = error
    names: list[str] = []
    for other in _others(context):
        names += filter(None, other.call.names_of_fetches)
        try:
            choice = choose_in(other, _shown_name(other, text), device)
        except TfdbgError:  # not there either, or several fit
            continue
        if everything:
            raise TfdbgError(missing.message, hint=f"Other runs have it: `{everything}` follows it there.")
        return FollowedTensor(choice, other, everything=True)
    is_name = bool(everything) or isinstance(missing, NotComputedError)
    hint = "" if is_name else did_you_mean(text, filter(None, run.call.names_of_fetches), names)
    raise TfdbgError(missing.message, hint=hint or missing.hint)


def _others(context: Context) -> Iterator[Run]:
    """The last run of each call that is not the one looked at, the latest first."""
    seen = {context.call.same}
    for place in reversed(range(len(context.runs))):
        try:
            run = context.runs[place]
        except TfdbgError:  # deleted meanwhile, or not ours to read
            continue
        if not run.what_if_title and run.call.same not in seen:
            seen.add(run.call.same)
            yield run


def _shown_name(run: Run, text: str) -> str:
    """`text`, but of a variable that has no numbers of its own, only a handle, what shows it.

    That is what it is after its update, else, as in a turn that has not come to that yet, what was read of it.
    """
    name, slicing = split_of(run.call, text)
    store, updated = run.tensors, after_update(node_of(name))
    if any(store[index].dtype != "resource" for index in store.named(node_of(name))):
        return text
    if store.named(updated):
        return f"{updated}{slicing}"
    lineage = Lineage(run)
    node = next((found for graph in lineage.graphs if (found := graph.find(node_of(name))) is not None), None)
    read = lineage.was_read(node) if node is not None and lineage.is_variable(node) else []
    return f"{store[read[0]].name}{slicing}" if read else text
