"""The examples without the debugger: each shows its bug, and works where the bug is mended."""

from __future__ import annotations

import re

import pytest
from support.example_process import run_example
from support.libraries import require

pytestmark = pytest.mark.tf


def _losses(output: str) -> list[float]:
    return [float(text) for text in re.findall(r"loss:? ([-\w.+]+)", output)]


def test_the_classifier_learns_until_its_loss_is_not_a_number() -> None:
    done = run_example("classifier")
    assert done.returncode == 0, done.stderr
    losses = _losses(done.stdout)
    shares = [float(text) for text in re.findall(r"test images ([\d.]+)", done.stdout)]
    assert losses[0] == losses[0]
    assert losses[-1] != losses[-1]
    assert max(shares) > 0.7
    assert shares[-1] < 0.2


def test_the_fixed_classifier_goes_on_learning() -> None:
    done = run_example("classifier", "--fixed")
    assert done.returncode == 0, done.stderr
    losses = _losses(done.stdout)
    assert len(losses) == 6
    assert all(loss == loss for loss in losses)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("flags", "number"),
    [
        (("--length", "50"), "[-298632863]"),  # 12586269025 - 3 * 2**32
        (("--length", "50", "--dtype", "int64", "--tensor_size", "2"), "[12586269025 12586269025]"),
        (("--length", "200", "--dtype", "float32"), "[inf]"),
    ],
)
def test_fibonacci_overflows_its_type(flags: tuple[str, ...], number: str) -> None:
    assert 12586269025 - 3 * 2**32 == -298632863
    done = run_example("fibonacci", *flags)
    assert done.stdout.strip().endswith(number), done.stderr


@pytest.mark.parametrize(
    ("error", "type_name", "code"),
    [("shape_mismatch", "InvalidArgumentError", 1), ("uninitialized_variable", "FailedPreconditionError", 1)],
)
def test_errors_of_ops_end_the_program(error: str, type_name: str, code: int) -> None:
    done = run_example("errors", "--error", error)
    assert done.returncode == code
    assert type_name in done.stderr


def test_no_error_gives_the_product() -> None:
    done = run_example("errors", "--error", "no_error")
    assert done.stdout.split() == ["[[", "5.]", "[-1.]]"]


def test_the_monitored_training_is_ended_by_its_hook() -> None:
    done = run_example("monitored")
    assert done.returncode == 1
    assert "NanLossDuringTrainingError" in done.stderr
    assert _losses(done.stdout)[-1] == float("inf")


def test_the_monitored_training_works_at_a_lower_rate() -> None:
    done = run_example("monitored", "--learning_rate", "1e-4")
    assert done.returncode == 0, done.stderr
    losses = _losses(done.stdout)
    assert losses[-1] < losses[0] / 3


@pytest.mark.parametrize(("epsilon", "finite"), [("0", False), ("1e-3", True)])
def test_keras_divides_by_a_deviation_of_zero(epsilon: str, finite: bool) -> None:
    require("tf_keras")
    done = run_example("keras_v1", "--epsilon", epsilon)
    assert done.returncode == 0, done.stderr
    loss = _losses(done.stdout)[-1]
    assert (loss == loss) is finite


def test_the_linear_regression_finds_its_slope() -> None:
    done = run_example("linear_regression", "--max_steps", "30")
    assert done.stdout.strip() == "k = 42.000", done.stderr
