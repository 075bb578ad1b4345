"""What is not needed is not loaded: recordings open without TensorFlow, programs that never stop do without urwid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support import sample_run
from support.package_source import modules

from tfdbg_cli.formats.container.writer import RecordingWriter

HEAVY = ("tensorflow", "tf_keras", "keras", "urwid", "pygments")
LIGHT = ("model", "formats", "analysis", "document", "commands", "debug_data")
_TELL = "import sys; print(' '.join(name for name in {heavy!r} if name in sys.modules))"


def _loaded(*names: str, heavy: tuple[str, ...]) -> str:
    script = "".join(f"import {name}\n" for name in names) + _TELL.format(heavy=heavy)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_package_alone_loads_nothing_heavy() -> None:
    assert _loaded("tfdbg_cli", heavy=(*HEAVY, "numpy")) == ""


def test_the_public_names_are_listed_without_loading_them() -> None:
    script = "import tfdbg_cli; dir(tfdbg_cli); " + _TELL.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("layer", LIGHT)
def test_a_layer_below_the_front_ends_loads_neither_tensorflow_nor_urwid(layer: str) -> None:
    names = [module.name for module in modules() if module.layer == layer]
    assert names
    assert _loaded(*names, heavy=("tensorflow", "tf_keras", "keras", "urwid")) == ""


def test_the_line_front_end_loads_neither_tensorflow_nor_urwid() -> None:
    names = [module.name for module in modules() if module.layer in ("line", "cli")]
    assert names
    names += ["tfdbg_cli.api.frontends", "tfdbg_cli.api.launch_options"]
    assert _loaded(*names, heavy=("tensorflow", "tf_keras", "keras", "urwid")) == ""


# What `tfdbg open` of a recording with `lt` takes today, and a few more: a start is as long as its list of modules.
MOST_FOR_A_LIST = 165
LATER = ("tensorflow", "urwid", "pygments", "tomllib", "html", "asyncio", "multiprocessing", "fsspec",
         "tfdbg_cli.formats.event_sets.reader", "tfdbg_cli.formats.dumps.reader", "tfdbg_cli.formats.remote",
         "tfdbg_cli.document.exports.by_name", "tfdbg_cli.commands.previews.table",
         "tfdbg_cli.analysis.origin", "tfdbg_cli.analysis.difference", "tfdbg_cli.capture")  # fmt: skip


def _modules_of(*words: str) -> set[str]:
    """The modules that `tfdbg` has loaded at its end."""
    script = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded:', *sys.modules, file=sys.stderr))\n"
        "from tfdbg_cli.cli.main import main\n"
        f"sys.exit(main({list(words)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.rpartition("loaded:")[2].split())


def test_a_recording_opens_with_the_modules_of_its_first_screen_alone(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "case")
    writer.write(sample_run.run_end().run)
    writer.close()
    loaded = _modules_of("open", str(tmp_path / "case"), "-c", "lt")
    verbs = {name for name in loaded if name.startswith("tfdbg_cli.commands.verbs.")}
    assert verbs == {"tfdbg_cli.commands.verbs.list_tensors"}
    assert loaded.isdisjoint(LATER)
    assert len({name for name in loaded if name.startswith("tfdbg_cli")}) <= MOST_FOR_A_LIST


@pytest.mark.parametrize("words", [("open", "--help"), ("--version",), ("info",)], ids=lambda words: words[0])
def test_what_opens_nothing_loads_no_numpy(words: tuple[str, ...]) -> None:
    loaded = _modules_of(*words)
    assert loaded.isdisjoint(("numpy", "ml_dtypes", "sqlite3", "google.protobuf", *LATER))
    assert not any(name.startswith("tfdbg_cli.commands") for name in loaded)
