"""Ops of ours wait while another thread of ours has TensorFlow collect graphs."""

import os
import threading
import warnings
from pathlib import Path

from tfdbg_cli.capture.tf.graph_collection import GraphCollection


def test_one_thread_at_a_time_is_in_it_and_it_may_enter_again() -> None:
    collection = GraphCollection()
    order = []

    def op() -> None:
        with collection.alone():
            order.append("op")

    with collection.alone():
        other = threading.Thread(target=op)
        other.start()
        with collection.alone():
            order.append("graphs")
    other.join()
    assert order == ["graphs", "op"]


def test_a_forked_process_does_not_wait_for_a_thread_that_it_has_not(tmp_path: Path) -> None:
    collection = GraphCollection()
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with collection.alone():
            holds.set()
            ends.wait()

    other = threading.Thread(target=hold)
    other.start()
    holds.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads
        child = os.fork()
    if child == 0:
        with collection.alone():
            (tmp_path / "entered").touch()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    ends.set()
    other.join()
    assert (status, (tmp_path / "entered").exists()) == (0, True)
