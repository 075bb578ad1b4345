"""How much memory this process may still take: files of Linux, laid out below a folder as containers have them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tfdbg_cli.capture import budget
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.formats.recording import writing
from tfdbg_cli.process import free_memory as module
from tfdbg_cli.process.free_memory import least_free, lies_in_memory

GB = 1 << 30
HOST = 500 * GB
UNLIMITED_V1 = "9223372036854771712\n"
V2 = "31 23 0:28 {} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "35 31 0:32 {} /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory"

Machine = Callable[[str, str, Mapping[str, str]], Path]


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Machine:
    """Makes the files of a large machine: lines of cgroup and mountinfo, and files below /sys/fs/cgroup."""

    def made(groups: str, mounts: str, files: Mapping[str, str]) -> Path:
        contents = {
            "proc/meminfo": f"MemTotal: {HOST >> 10} kB\nMemAvailable:   {HOST >> 10} kB\n",
            "proc/self/cgroup": groups + "\n",
            "proc/self/mountinfo": f"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n{mounts}\n",
            "proc/self/statm": "1000 10 1 1 0 1 0\n",
        } | {f"sys/fs/cgroup/{name}": text for name, text in files.items()}
        for name, text in contents.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return made


def _limited(limit: int, taken: int, within: str = "", caches: int = 0) -> dict[str, str]:
    """A group of version 2 in the folder `within`, of whose memory `caches` bytes can be had again."""
    stat = f"anon 5\ninactive_file {caches // 2}\nactive_file {caches // 2}\nshmem 7\n"
    named = {"memory.max": f"{limit}\n", "memory.high": "max\n", "memory.current": f"{taken}\n", "memory.stat": stat}
    return {f"{within}{name}": text for name, text in named.items()}


def _limited_v1(limit: int | str, taken: int, within: str = "", caches: int = 0) -> dict[str, str]:
    stat = f"cache 1\ninactive_file 3\ntotal_inactive_file {caches}\ntotal_active_file 0\n"
    named = {"limit_in_bytes": f"{limit}\n", "usage_in_bytes": f"{taken}\n", "stat": stat}
    return {f"memory/{within}memory.{name}": text for name, text in named.items()}


def test_without_a_limit_the_machine_counts(machine) -> None:
    assert least_free(machine("0::/user.slice", V2.format("/"), {"user.slice/memory.max": "max\n"})) == HOST


def test_a_container_that_is_the_root_of_its_namespace_counts(machine) -> None:
    """A blind test: a pod of 8 GB on a machine with 500 GB, as Kubernetes runs it."""
    assert least_free(machine("0::/", V2.format("/"), _limited(8 * GB, 3 * GB))) == 5 * GB


def test_what_the_kernel_holds_of_files_is_not_taken(machine) -> None:
    """A blind test: a training that reads files fills its container with copies of them, which make room."""
    assert least_free(machine("0::/", V2.format("/"), _limited(8 * GB, 8 * GB, caches=6 * GB))) == 6 * GB


def test_groups_around_the_own_one_count(machine) -> None:
    groups = _limited(8 * GB, 3 * GB, "pods/") | _limited(6 * GB, GB, "pods/one/")
    assert least_free(machine("0::/pods/one", V2.format("/"), groups)) == 5 * GB
    groups["pods/one/memory.max"] = f"{4 * GB}\n"
    assert least_free(machine("0::/pods/one", V2.format("/"), groups)) == 3 * GB


def test_a_process_is_slowed_down_before_its_limit_is_reached(machine) -> None:
    groups = _limited(8 * GB, GB) | {"memory.high": f"{6 * GB}\n"}
    assert least_free(machine("0::/", V2.format("/"), groups)) == 5 * GB


@pytest.mark.parametrize("group", ["/docker/1f", "/../../elsewhere", "/docker"])
def test_a_container_that_sees_its_group_as_the_root_counts(machine, group) -> None:
    """Its own name of it is that of the host, or leads out of what it sees."""
    assert least_free(machine(f"0::{group}", V2.format("/docker/1f"), _limited(8 * GB, 3 * GB))) == 5 * GB


def test_groups_of_version_one_count(machine) -> None:
    names = "9:cpuset:/docker/1f\n4:cpu,memory:/docker/1f\n0::/"
    container = _limited_v1(8 * GB, 4 * GB, caches=GB)
    assert least_free(machine(names, V1.format("/docker/1f"), container)) == 5 * GB


def test_groups_around_one_of_version_one_count(machine) -> None:
    groups = _limited_v1(UNLIMITED_V1, GB, "docker/1f/") | _limited_v1(2 * GB, GB, "docker/")
    assert least_free(machine("4:memory:/docker/1f", V1.format("/"), groups)) == GB


def test_a_container_that_is_full_leaves_nothing(machine) -> None:
    assert least_free(machine("0::/", V2.format("/"), _limited(GB, 2 * GB))) == 0


def test_a_mount_whose_path_has_blanks_is_found(machine) -> None:
    mount = V2.format("/").replace("/sys/fs/cgroup", r"/sys/fs/cgroup/a\040b")
    assert least_free(machine("0::/", mount, _limited(8 * GB, 3 * GB, "a b/"))) == 5 * GB


def test_the_limit_of_the_process_counts(machine, monkeypatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: {resource.RLIMIT_AS: (2 * GB, 3 * GB)}[which])
    root = machine("0::/", V2.format("/"), {})
    assert least_free(root) == 2 * GB - 1000 * resource.getpagesize()


def test_a_process_with_a_limit_of_its_own_is_told_less_than_it() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "from tfdbg_cli.process.free_memory import free_memory; print(free_memory())"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (GB, GB)),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert 0 < int(said) < GB


def test_budgets_are_shares_of_what_is_free_in_the_container(machine, monkeypatch) -> None:
    root = machine("0::/", V2.format("/"), _limited(8 * GB, 4 * GB))
    monkeypatch.setattr(module, "_free_memory", lambda second: least_free(root))
    assert budget.memory_budget(Settings()) == 2 * GB
    assert budget.room_for_later() == GB // 2


def test_files_in_memory_may_take_no_more_than_the_memory(machine, monkeypatch, tmp_path) -> None:
    """A blind test: /tmp of many machines lies in memory, which a container has less of than the machine."""
    root = machine("0::/", V2.format("/"), _limited(8 * GB, 8 * GB - 1000))
    monkeypatch.setattr(module, "_free_memory", lambda second: least_free(root))
    monkeypatch.setattr(module, "lies_in_memory", lambda place: False)
    assert writing.free_disk(tmp_path) > 1000
    device = tmp_path.stat().st_dev
    mount = f"40 1 {os.major(device)}:{os.minor(device)} / /tmp rw - tmpfs tmpfs rw"
    (root / "proc/self/mountinfo").write_text(f"{V2.format('/')}\n{mount}\n")
    assert lies_in_memory(tmp_path, root)
    monkeypatch.setattr(module, "lies_in_memory", lambda place: lies_in_memory(place, root))
    assert writing.free_disk(tmp_path) == 1000
