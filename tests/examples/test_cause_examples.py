"""One program for each cause: what `origin` says of it is agreed upon, and what it suggests mends the program."""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.example_process import run_example
from support.golden import check_golden
from support.package_source import PROJECT
from support.prompt import json_of, text_of
from support.scripted import ScriptedFrontend
from test_debugged import _tfdbg

from tfdbg_cli.examples import causes
from tfdbg_cli.formats.container.saving import save_runs
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import RunUntil
from tfdbg_cli.model.runs import RunEnd

pytestmark = pytest.mark.tf
NAMES = sorted(module.name for module in pkgutil.iter_modules(causes.__path__) if module.name != "command")


def _losses(name: str, mended: bool) -> Iterator[float]:
    return importlib.import_module(f"{causes.__name__}.{name}").losses(mended)


@pytest.fixture
def front(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedFrontend]:
    """A front end that runs until something is not finite; every run of the process is debugged."""
    import keras

    from tfdbg_cli.api import process, process_debugger

    # Keras counts layers over the process, and columns are as wide as names; to free memory takes half a second.
    keras.utils.clear_session(free_memory=False)
    scripted = ScriptedFrontend(RunUntil("has_inf_or_nan"))
    process_debugger.process_debugger.cache_clear()
    monkeypatch.setattr(process_debugger, "choose_frontend", lambda *_, **__: scripted)
    process.enable()
    yield scripted
    process.disable()
    process_debugger.process_debugger.cache_clear()


def _shown(text: str) -> str:
    """`text` without what depends on the machine, or on how the values were taken."""
    text = re.sub(r"  [CG]PU:0$", "", text.replace(f"{PROJECT}/", ""), flags=re.MULTILINE)
    text = re.sub(r"(sequential|logarithm|dense)(_\d+)+", r"\1", text)  # Keras counts models over the process
    return re.sub(r"[\d,]+ of [\d,]+ (later tensors?|of the next [\d,]+ tensors)", r"some of the \1", text)


def _is_mended_by_tensorflow(name: str) -> bool:
    """Whether this program has nothing left to find: tf.norm has a slope at 0 from TensorFlow 2.22 on."""
    from support.versions import TENSORFLOW

    return name == "gradient_of_a_norm" and TENSORFLOW >= (2, 22)


def _golden(name: str) -> str:
    """The file with what `origin` says of this program: newer Keras and TensorFlow make other ops of some."""
    from support.keras_steps import is_given_batches
    from support.versions import TENSORFLOW

    if name in ("column_of_nan", "log_of_data", "swapped_loss") and is_given_batches():
        return f"causes/{name}.given_batches"
    if name == "division_by_a_norm_of_zero" and TENSORFLOW >= (2, 22):  # which ends in a tf.where
        return f"causes/{name}.from_2_22"
    return f"causes/{name}"


def _nothing_comes_of_it() -> bool:
    """Whether TensorFlow makes a zero of what is infinite, since it is multiplied by 0."""
    from support.versions import TIMES_ZERO_IS_ZERO

    return TIMES_ZERO_IS_ZERO


def _stop(name: str, front: ScriptedFrontend) -> RunEnd:
    list(_losses(name, mended=False))
    assert front.ends, f"no watched run of {name} was bad"
    return front.ends[0]


def _reopened(stop: RunEnd, path: Path) -> str:
    """What `origin` says of the run of `stop` where it was saved and opened again."""
    save_runs([stop.run], path)
    return _shown(text_of("origin", open_path(path), width=None))


def _of_the_run(shown: str) -> list[str]:
    """The lines of `shown` that do not say where the program stands or goes on, or since when it was watched."""
    return [line for line in shown.splitlines() if not line.startswith(("Since", "After", "Next"))]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_the_origin_and_the_suggestion(name: str, front: ScriptedFrontend, tmp_path: Path) -> None:
    if _is_mended_by_tensorflow(name):
        losses = list(_losses(name, mended=False))
        assert losses and all(map(math.isfinite, losses))
        assert not front.ends
        return
    stop = _stop(name, front)
    shown = _shown(text_of("origin", stop, width=None))
    if name == "derivatives_of_a_power" and _nothing_comes_of_it():
        assert "Harm      no result and no variable is NaN or infinite by it." in shown
    else:
        check_golden(_golden(name), shown)
    assert _of_the_run(_reopened(stop, tmp_path / "saved")) == _of_the_run(shown)
    data = json_of("origin", stop)
    assert data["cause"] and data["suggestion"]
    assert data["file"].endswith(f"{name}.py") and data["line"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_suggestion_mends_the_program(name: str, front: ScriptedFrontend) -> None:
    losses = list(_losses(name, mended=True))
    assert losses and all(map(math.isfinite, losses))
    assert losses[-1] <= losses[0] + 1e-6 or name in ("nan_in_the_data", "division_by_zero")  # there batches differ
    if name not in ("zero_times_infinity",):  # whose mask of -inf is meant: see the next test
        assert not front.ends


def test_a_mask_that_is_meant_is_all_that_is_left(front: ScriptedFrontend) -> None:
    """The watch is exact, so it stops at the mask; `origin` says that it looks intended."""
    list(_losses("zero_times_infinity", mended=True))
    data = json_of("origin", front.ends[0])
    assert data["intended"] == "a mask of -inf"
    assert json_of("origin --benign skip", front.ends[0])["tensor"] is None


@pytest.mark.parametrize(("name", "cause"), [("zero_over_zero", "0 / 0"), ("division_by_zero", "Division by 0")])
def test_under_tfdbg_run(name: str, cause: str) -> None:
    done = _tfdbg("run", "--until", "has_inf_or_nan", "-c", "origin", "-m", f"tfdbg_cli.examples.causes.{name}")
    assert done.returncode == 0, done.stderr
    assert f"Cause     {cause}" in done.stdout and "divide_no_nan" in done.stdout
    assert "step 3: loss" in done.stdout


def test_the_command_line() -> None:
    assert "nan" in run_example("causes.exp_overflow").stdout
    mended = run_example("causes.exp_overflow", "--mended").stdout
    assert mended.count("step") == 3 and "nan" not in mended
