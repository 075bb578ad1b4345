"""A run is made again with the kernels that made it: TensorFlow takes them by variables of the environment."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from tfdbg_cli.errors import WRONG_CONTENT
from tfdbg_cli.formats.bundles.environment import differences, environment_now, read_environment, take_over

ONEDNN, TF32 = "TF_ENABLE_ONEDNN_OPTS", "NVIDIA_TF32_OVERRIDE"


@pytest.fixture(autouse=True)
def _not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    for name in environment_now():
        monkeypatch.setenv(name, "")  # it is put back, also where it is set meanwhile
        monkeypatch.delenv(name)


def test_what_was_set_is_set_again_before_tensorflow_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ONEDNN, "0")
    written = environment_now()
    assert written[ONEDNN] == "0" and written[TF32] is None
    monkeypatch.delenv(ONEDNN)
    environment = read_environment({**written, "LD_PRELOAD": "evil.so"})
    assert environment == written
    take_over(environment)
    assert os.environ.get(ONEDNN) == "0" and TF32 not in os.environ and "LD_PRELOAD" not in os.environ
    assert not list(differences(environment))


def test_what_is_set_here_stays_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ONEDNN, "1")
    environment = {ONEDNN: "0", TF32: None}
    take_over(environment)
    assert os.environ[ONEDNN] == "1"
    [told] = differences(environment)
    assert told.startswith(f"The run was made with {ONEDNN}=0, and this is with {ONEDNN}=1: TensorFlow may take")
    monkeypatch.setenv(TF32, "0")
    assert len(list(differences(environment))) == 2


def test_nothing_is_set_once_tensorflow_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorflow", object())
    take_over({ONEDNN: "0"})
    assert ONEDNN not in os.environ
    [told] = differences({ONEDNN: "0"})
    assert f"this is without {ONEDNN}" in told


@pytest.mark.parametrize("fields", [{ONEDNN: 3}, {ONEDNN: ["0"]}, 5])
def test_what_is_no_setting_is_refused(fields: Any) -> None:
    with pytest.raises(WRONG_CONTENT):
        read_environment(fields)


def test_a_value_that_is_no_such_setting_is_not_taken_and_told() -> None:
    """It was as if nothing had been recorded of it."""
    environment = read_environment({ONEDNN: "0 --xla_dump_to=/tmp\x1b[2J", TF32: "0"})
    take_over(environment)
    assert ONEDNN not in os.environ and os.environ[TF32] == "0"
    [told] = differences(environment)
    assert f"was made with {ONEDNN}=0 --xla_dump_to=/tmp…, and this is without {ONEDNN}:" in told
