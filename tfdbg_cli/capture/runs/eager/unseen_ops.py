"""Eager ops that could not be looked at."""

from __future__ import annotations

import tensorflow as tf

from tfdbg_cli.capture.failures import remark, report_once
from tfdbg_cli.capture.tf.custom_devices import NOT_WATCHED, on_custom_device


def report_unseen(error: Exception, *values: object) -> None:
    """Say, once, that an op was not looked at for this `error`; `values` are what it was given and gave."""
    if on_custom_device(tf.nest.flatten(values)):
        remark(NOT_WATCHED)
    else:
        report_once("look at an op", error)
