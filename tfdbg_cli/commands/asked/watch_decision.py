"""What a user asks of a watch, checked, wherever they ask: at the prompt, on the command line, in the program."""

from __future__ import annotations

from dataclasses import replace

from tfdbg_cli.commands.asked.patterns import search_text
from tfdbg_cli.commands.syntax import quoted
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import CaptureRequest, GraphChoice, OnBenign, RunUntil, Values

MOST_KEPT = 10_000  # runs
NO_FILTER = "A watch is described, and no filter named."
SKIPPING = "has_inf_or_nan"  # the filter that can tell what does no harm
_FOR_NAN = frozenset({SKIPPING, "bad_result", "has_nan", "has_inf"})  # filters that look for NaN or infinities
_EVERYTHING = CaptureRequest()


def watch_decision(
    filter_name: str,
    exclude_node_names: str = "",
    capture: CaptureRequest = _EVERYTHING,
    *,
    force: bool = False,
    values: str = "auto",
    keep: int = 0,
    bundle: str = "",
    skip_update: bool = False,
    benign: str = "",
) -> RunUntil:
    """The decision to run until a tensor passes `filter_name`. Whether there is such a filter, its reader knows.

    An empty `benign` leaves it at a stop.

    Raises:
        TfdbgError: the regex cannot be read, `values` or `benign` is none of the ways, `bundle` is there already, or
            the wishes contradict each other.

    """
    if benign and benign not in list(OnBenign):
        raise TfdbgError(f"There is no way {benign!r} with what is benign.", hint=f"Ways: {', '.join(OnBenign)}.")
    if benign and filter_name != SKIPPING:
        raise TfdbgError(
            f"--benign is about {SKIPPING}: {filter_name} says by itself what passes.", hint="Leave out --benign."
        )
    if values not in list(Values):
        raise TfdbgError(f"There is no way {values!r} to the values.", hint=f"Ways: {', '.join(Values)}.")
    if not 0 <= keep <= MOST_KEPT:
        raise TfdbgError(f"{keep} runs cannot be kept.", hint=f"Keep 0 to {MOST_KEPT}.")
    if keep and values == Values.REPLAY:
        raise TfdbgError(
            "The values of the runs before the hit are to be kept, and replay keeps none.",
            hint="Leave out one of --keep and --values replay.",
        )
    return RunUntil(
        filter_name,
        search_text(exclude_node_names),
        capture,
        force,
        Values(values),
        keep,
        _new_folder(bundle) if bundle else "",
        skip_update,
        OnBenign(benign) if benign else OnBenign.STOP,
    )


def watch_on(last: RunUntil | None) -> str:
    """The command that runs until a tensor is NaN or infinite, with the wishes of the watch before it."""
    if last is not None and last.filter_name not in _FOR_NAN:
        last = replace(last, filter_name=SKIPPING)
    return _as_command(watched_again(last))


def watch_again(last: RunUntil | None) -> str:
    """The command that goes on with the watch before, whatever it is for; without one, until NaN or infinity."""
    return _as_command(watched_again(last))


def watched_again(last: RunUntil | None) -> RunUntil:
    """As `watch_again`, as a decision. A bundle that is there by now is not wished for again."""
    if last is None:
        return RunUntil(SKIPPING)
    return replace(last, bundle="") if last.bundle and _is_there(last.bundle) else last


def _as_command(watch: RunUntil) -> str:
    name, capture = watch.filter_name, watch.capture
    wishes = (
        ("-fenn", watch.exclude_node_names), ("--keep", watch.keep),
        ("--values", "" if watch.values is Values.AUTO else watch.values), ("--bundle", watch.bundle),
        ("--benign", watch.benign if name == SKIPPING and watch.benign is not OnBenign.STOP else ""),
        ("--node_name_filter", capture.node_name_filter), ("--op_type_filter", capture.op_type_filter),
        ("--tensor_dtype_filter", capture.tensor_dtype_filter),
        ("--graph", "" if capture.graph is GraphChoice.AUTO else capture.graph),
    )  # fmt: skip
    words = [f"{flag} {quoted(str(wish))}" for flag, wish in wishes if wish]
    words += ["--skip-update"] * watch.skip_update + ["--force"] * watch.force
    return " ".join([f"run -f {quoted(name)}", *words])


def _is_there(path: str) -> bool:
    try:
        _new_folder(path)
    except TfdbgError:
        return True
    return False


def _new_folder(name: str) -> str:
    """The path that `name` means, absolute, since a program may go to another folder meanwhile."""
    from tfdbg_cli.commands.file_name import named_file  # few commands write to a file

    path = named_file(name).absolute()
    try:
        if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
            raise TfdbgError(f"{path} is there already.", hint="Name a new folder for the bundle.")
        if not path.parent.is_dir():
            raise TfdbgError(f"There is no folder {path.parent} for the bundle.")
    except OSError as error:
        raise TfdbgError(f"Nothing can be written to {path}: {error.strerror}.") from None
    return str(path)
