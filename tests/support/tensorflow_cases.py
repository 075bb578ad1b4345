"""Runs the test cases of TensorFlow's own debugger with our classes in the place of its own.

    python tensorflow_cases.py

It prints a line of JSON: by the name of each case "ok", or what went wrong. The cases are those of
tensorflow/python/debug/lib/session_debug_testlib.py, which TensorFlow is installed with: abstract classes, here with
file URLs, as in TensorFlow's session_debug_file_test.
"""

from __future__ import annotations

import json
import tempfile
import unittest

import tensorflow as tf
from tensorflow.python.debug.lib import session_debug_testlib as testlib

from tfdbg_cli import debug_data
from tfdbg_cli.capture import debug_options as watching

tf.compat.v1.disable_v2_behavior()  # else the cases skip themselves
testlib.debug_data = debug_data
testlib.debug_utils = watching


class SessionDebugFileTest(testlib.SessionDebugTestBase):
    """The cases of one session."""

    def _debug_urls(self, run_number: int | None = None) -> list[str]:
        return [f"file://{self._debug_dump_dir(run_number)}"]

    def _debug_dump_dir(self, run_number: int | None = None) -> str:
        return self._dump_root if run_number is None else f"{self._dump_root}/run_{run_number}"


class SessionDebugConcurrentTest(testlib.DebugConcurrentRunCallsTest):
    """Several threads that run one session, each with a folder of its own."""

    def setUp(self) -> None:
        self._num_concurrent_runs = 3
        self._dump_roots = [tempfile.mkdtemp() for _ in range(self._num_concurrent_runs)]

    def tearDown(self) -> None:
        testlib.ops.reset_default_graph()
        for root in self._dump_roots:
            testlib.file_io.delete_recursively(root)

    def _get_concurrent_debug_urls(self) -> list[str]:
        return [f"file://{root}" for root in self._dump_roots]


def outcomes() -> dict[str, str]:
    """By the name of each case "ok", or what went wrong."""
    kinds = (SessionDebugFileTest, SessionDebugConcurrentTest)
    names = {name: kind for kind in kinds for name in unittest.defaultTestLoader.getTestCaseNames(kind)}
    del names["test_session"]  # a method of TensorFlow's test cases that only looks like one
    result = unittest.TestResult()
    unittest.TestSuite(kind(name) for name, kind in names.items()).run(result)
    found = dict.fromkeys(names, "ok")
    for case, text in (*result.errors, *result.failures, *result.skipped):
        found[case.id().rpartition(".")[2]] = text
    return found


if __name__ == "__main__":
    print(json.dumps(outcomes()))
