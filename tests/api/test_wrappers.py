"""The public classes, with the arguments and the behaviour of TensorFlow's."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tempfile
import traceback

import numpy as np
import pytest
from support.scripted import ScriptedFrontend

import tfdbg_cli as tf_debug
from tfdbg_cli.analysis.watch.filters import BUILT_IN_FILTERS
from tfdbg_cli.formats.opening import open_path
from tfdbg_cli.model.decision import CaptureRequest, Continue, DebugRun, Detach, GraphChoice, RunUntil

pytestmark = pytest.mark.tf


@pytest.fixture(scope="module")
def tf():
    import tensorflow.compat.v1 as tf

    return tf


@pytest.fixture
def model(tf):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        yield x, tf.log(x, name="y")


@pytest.fixture
def decide(monkeypatch, tmp_path):
    """Answers the prompts of the public classes by a script."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    def use(*script) -> ScriptedFrontend:
        front = ScriptedFrontend(*script)
        monkeypatch.setattr("tfdbg_cli.api.session_debuggers.choose_frontend", lambda ui, **arguments: front)
        return front

    return use


PAIRS = {
    "LocalCLIDebugWrapperSession": "local_cli_wrapper",
    "DumpingDebugWrapperSession": "dumping_wrapper",
    "LocalCLIDebugHook": "hooks",
    "DumpingDebugHook": "hooks",
    "GrpcDebugWrapperSession": "grpc_wrapper",
    "TensorBoardDebugWrapperSession": "grpc_wrapper",
    "GrpcDebugHook": "hooks",
    "TensorBoardDebugHook": "hooks",
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_arguments_are_tensorflows_in_its_order(tf, name) -> None:
    theirs_module = pytest.importorskip(f"tensorflow.python.debug.wrappers.{PAIRS[name]}")
    ours = list(inspect.signature(getattr(tf_debug, name)).parameters)
    theirs = list(inspect.signature(getattr(theirs_module, name)).parameters)
    assert ours[: len(theirs)] == theirs
    added = inspect.signature(getattr(tf_debug, name)).parameters
    by_name = {key for key in ours if added[key].kind is inspect.Parameter.KEYWORD_ONLY}
    assert by_name == ({"recording"} if name.startswith("Dumping") else set())
    assert set(ours[len(theirs) :]) - by_name <= {"log_usage"}


def test_every_name_of_tensorflows_debugger_is_there(tf) -> None:
    """`import tfdbg_cli as tf_debug` stands in for `from tensorflow.python import debug as tf_debug`."""
    theirs = pytest.importorskip("tensorflow.python.debug")
    documented = set(re.findall(r"^@@(\w+)", theirs.__doc__ or "", re.MULTILINE))
    modules = {name for name in vars(theirs) if inspect.ismodule(getattr(theirs, name))}
    named = documented or {name for name in vars(theirs) if not name.startswith("_")} - modules
    assert {"DebugDumpDir", "GradientsDebugger"} <= named
    assert named - set(tf_debug.__all__) == set()


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("GrpcDebugWrapperSession", "DumpingDebugWrapperSession"),
        ("TensorBoardDebugWrapperSession", "LocalCLIDebugWrapperSession"),
        ("GrpcDebugHook", "DumpingDebugHook"),
        ("TensorBoardDebugHook", "LocalCLIDebugHook"),
    ],
)
def test_what_streams_to_a_server_says_what_to_use_instead(name, instead) -> None:
    arguments = {"grpc_debug_server_addresses": "localhost:6064"} | ({} if name.endswith("Hook") else {"sess": None})
    with pytest.raises(tf_debug.TfdbgError, match=f"^tfdbg has no {name}: .* {instead} "):
        getattr(tf_debug, name)(**arguments)
    assert instead in tf_debug.__all__


def test_a_hook_with_watch_fn_none_calls_no_none(tf, tmp_path) -> None:
    """TensorFlow's `GrpcDebugHook(watch_fn=None)` calls None in its first run: a TypeError in the program."""
    with pytest.raises(tf_debug.TfdbgError, match=r"^tfdbg has no GrpcDebugHook: "):
        tf_debug.GrpcDebugHook("localhost:6064", watch_fn=None)
    with tf.Graph().as_default():
        y = tf.constant(2.0, name="x") * 3.0
        hook = tf_debug.DumpingDebugHook(str(tmp_path / "s"), watch_fn=None)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert session.run(y) == 6.0
    assert len(list((tmp_path / "s").iterdir())) == 1


def test_importing_loads_neither_tensorflow_nor_a_front_end() -> None:
    program = (
        "import sys, tfdbg_cli; dir(tfdbg_cli); tfdbg_cli.has_inf_or_nan; tfdbg_cli.WatchOptions;"
        "print([m for m in ('tensorflow', 'urwid') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    for name in tf_debug.__all__:
        assert getattr(tf_debug, name) is not None
        assert name in dir(tf_debug)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tf_debug.nothing


def test_a_session_is_debugged_by_the_front_end_of_choice(tf, model, decide) -> None:
    x, y = model
    front = decide(RunUntil("mine"), Continue())
    with tf.Session() as raw:
        session = tf_debug.LocalCLIDebugWrapperSession(raw, None, "curses", "MainThread$")
        session.add_tensor_filter("mine", lambda datum, tensor: bool((tensor < 0).any()))
        session.run(y, {x: [2.0]})
        session.run(y, {x: [0.5]})
        assert session.run_call_count == 2
        session.increment_run_call_count()
        assert session.run_call_count == 3
        assert isinstance(session, tf.Session)
        assert isinstance(session, tf_debug.LocalCLIDebugWrapperSession)
        assert session.session is raw
    assert front.path == ["start 1", "end 2"]


@pytest.mark.parametrize("choice", [GraphChoice.RUNTIME, GraphChoice.PYTHON])
def test_dump_root_keeps_what_was_stopped_at(tf, model, decide, tmp_path, choice) -> None:
    x, y = model
    request = CaptureRequest(graph=choice)
    decide(RunUntil("has_inf_or_nan", capture=request), DebugRun(request), Detach())
    root = tmp_path / "dumps"
    with tf.Session() as raw:
        session = tf_debug.LocalCLIDebugWrapperSession(raw, dump_root=str(root))
        for value in (1.0, 2.0, 0.0, 4.0, 5.0):
            session.run(y, {x: [value]})
    assert [path.name.rsplit("_", 1)[1] for path in sorted(root.iterdir())] == ["2", "3"]
    runs = open_path(root).runs
    assert [run.call.number for run in runs] == [3, 4]
    (index,) = runs[0].tensors.named("y", 0)
    assert runs[0].tensors.value(index).tolist() == [-np.inf]
    assert np.asarray(runs[0].call.feeds["x:0"]).tolist() == [0.0]
    frames = runs[0].tracebacks["y"]
    assert any(frame.file == __file__ for frame in frames)
    assert any("tf.log" in line for line in runs[0].sources.lines(__file__))


@pytest.mark.parametrize("make", [
    lambda root: tf_debug.LocalCLIDebugHook(dump_root=root),
    lambda root: tf_debug.DumpingDebugHook(root),
])  # fmt: skip
def test_folders_that_are_not_empty_and_files_are_refused(tmp_path, make) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="non-empty directory"):
        make(str(tmp_path))
    with pytest.raises(ValueError, match="points to a file"):
        make(str(tmp_path / "file"))


def test_an_unknown_ui_type_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="no front end 'gtk'"):
        tf_debug.LocalCLIDebugHook("gtk")


def test_a_config_file_may_be_tensorflows(tf, model, decide, tmp_path) -> None:
    path = tmp_path / "config"
    path.write_text('{"graph_recursion_depth": 3}')
    seen = {}

    def choose(ui, *, filters, settings):
        seen.update(depth=settings.graph_recursion_depth, filters=set(filters))
        return ScriptedFrontend(settings=settings)

    import tfdbg_cli.api.session_debuggers

    with pytest.MonkeyPatch.context() as patch, tf.Session() as raw:
        patch.setattr(tfdbg_cli.api.session_debuggers, "choose_frontend", choose)
        session = tf_debug.LocalCLIDebugWrapperSession(raw, config_file_path=str(path))
        session.run(model[1], {model[0]: [1.0]})
    assert seen == {"depth": 3, "filters": set(BUILT_IN_FILTERS)}


def test_a_dumping_session_writes_runs_that_tensorflow_reads(tf, model, tmp_path) -> None:
    debug_data = pytest.importorskip("tensorflow.python.debug.lib.debug_data")
    x, y = model
    root = tmp_path / "session"
    with tf.Session() as raw:
        session = tf_debug.DumpingDebugWrapperSession(raw, str(root))
        for value in (1.0, 0.0):
            session.run(y, feed_dict={x: [value]})
    folders = sorted(root.iterdir())
    assert all(re.fullmatch(r"run_\d{16}_[01]", folder.name) for folder in folders)
    dump = debug_data.DebugDumpDir(str(folders[1]))
    assert dump.get_tensors("y", 0, "DebugIdentity")[0].tolist() == [-np.inf]
    assert "y:0" in str(dump.run_fetches_info)
    assert "x:0" in str(dump.run_feed_keys_info)
    run = open_path(root).runs[1]
    assert any(frame.file == __file__ for frame in run.tracebacks["y"])


def test_dumps_share_what_the_graph_says_until_it_grows(tf, model, tmp_path) -> None:
    x, y = model
    root = tmp_path / "session"
    with tf.Session() as raw:
        session = tf_debug.DumpingDebugWrapperSession(raw, str(root))
        for fetch in (y, y, None):
            session.run(y * 2 if fetch is None else fetch, {x: [1.0]})
    graphs = [folder / "_tfdbg_cli" / "python_graph.pb" for folder in sorted(root.iterdir())]
    assert [path.stat().st_nlink for path in graphs] == [2, 2, 1]
    assert graphs[2].stat().st_size > graphs[1].stat().st_size
    from tfdbg_cli.capture.dump_folders import disk_bytes

    assert disk_bytes(root) < sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    assert disk_bytes(root / "no such folder") == 0
    runs = open_path(root).runs
    assert [any(frame.file == __file__ for frame in run.tracebacks["y"]) for run in runs] == [True] * 3


def test_a_watch_fn_chooses_what_is_dumped(tf, model, tmp_path) -> None:
    x, y = model
    asked = []

    def watch_fn(fetches, feeds):
        asked.append((fetches, feeds))
        return tf_debug.WatchOptions(["DebugIdentity", "DebugNanCount"], node_name_regex_allowlist="y")

    with tf.Session() as raw:
        session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "s"), watch_fn)
        session.run(y, {x: [1.0]})
    assert asked == [(y, {x: [1.0]})]
    names = {path.name.rsplit("_", 1)[0] for path in (tmp_path / "s").rglob("*_Debug*")}
    assert names == {"y_0_DebugIdentity", "y_0_DebugNanCount"}


@pytest.mark.parametrize("make", [
    lambda tf, root, watch_fn: tf_debug.DumpingDebugWrapperSession(tf.Session(), root, watch_fn),
    lambda tf, root, watch_fn: tf_debug.DumpingDebugHook(root, watch_fn),
])  # fmt: skip
def test_a_watch_fn_that_cannot_be_called_is_told_at_once(tf, model, tmp_path, make) -> None:
    with pytest.raises(
        TypeError, match="watch_fn is not callable: a function of fetches and feeds is wanted, not 'y'"
    ):
        make(tf, str(tmp_path / "s"), "y")


def _boom(fetches, feeds):
    raise RuntimeError("the program's own")


@pytest.mark.parametrize(
    ("watch_fn", "error", "words"),
    [
        (_boom, RuntimeError, "the program's own"),
        (lambda fetches: tf_debug.WatchOptions(), TypeError, "positional argument"),
        (lambda fetches, feeds: None, TypeError, "watch_fn must return a WatchOptions, not NoneType"),
        (lambda fetches, feeds: (1, 2, 3, 4, 5, 6), TypeError, "has up to 5 items, not 6"),
        (lambda fetches, feeds: tf_debug.WatchOptions(debug_ops=[1]), TypeError, r"names of debug ops, not \[1\]"),
        (
            lambda fetches, feeds: tf_debug.WatchOptions(node_name_regex_allowlist="("),
            ValueError,
            r"watch_fn returned '\(', which is no regular expression",
        ),
        (
            lambda fetches, feeds: tf_debug.WatchOptions(node_name_regex_whitelist="y"),
            TypeError,
            "node_name_regex_whitelist is called node_name_regex_allowlist now",
        ),
    ],
)
@pytest.mark.parametrize("hooked", [False, True])
def test_a_bad_watch_fn_is_told_at_the_run(tf, model, tmp_path, capsys, watch_fn, error, words, hooked) -> None:
    x, y = model
    with tf.Session() as raw:
        if hooked:
            hook = tf_debug.DumpingDebugHook(str(tmp_path / "s"), watch_fn)
            session = monitored_session()._HookedSession(raw, [hook])
        else:
            session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "s"), watch_fn)
        with pytest.raises(error, match=words) as caught:
            session.run(y, {x: [1.0]})
    assert "WrongAnswerError" not in "".join(traceback.format_exception(caught.value))
    assert "tfdbg" not in capsys.readouterr().err
    assert list((tmp_path / "s").iterdir()) == []


def monitored_session():
    return pytest.importorskip("tensorflow.python.training.monitored_session")


def test_old_names_of_arguments_are_told_everywhere(tf, model) -> None:
    for function, name in ((tf_debug.watch_graph, "allow"), (tf_debug.watch_graph_with_denylists, "deny")):
        old = {"allow": "white", "deny": "black"}[name]
        for what in ("node_name", "op_type", "tensor_dtype"):
            with pytest.raises(TypeError, match=f"^{what}_regex_{old}list is called {what}_regex_{name}list now"):
                function(tf.RunOptions(), tf.get_default_graph(), **{f"{what}_regex_{old}list": "y"})
    with pytest.raises(TypeError, match="unexpected keyword argument 'something_else'"):
        tf_debug.WatchOptions(something_else=1)


def _infos(root) -> list[tuple[str, str]]:
    dumps = [tf_debug.DebugDumpDir(str(folder), validate=False) for folder in sorted(root.iterdir())]
    return [(dump.run_fetches_info, dump.run_feed_keys_info) for dump in dumps]


def test_fetches_and_feed_keys_are_kept_as_tensorflow_keeps_them(tf, model, tmp_path) -> None:
    """Its own wrapper writes `repr` of what the program fetched, and of the keys of its feed_dict."""
    theirs = pytest.importorskip("tensorflow.python.debug.wrappers.dumping_wrapper").DumpingDebugWrapperSession
    x, y = model
    z = tf.constant(1.0, name="z")
    fetches = [(y, {x: [1.0]}), ({"first": y, "rest": [(z, z.op)]}, {"x:0": [1.0]}), (z, None), ("z:0", {})]
    found = []
    for name, kind in (("theirs", theirs), ("ours", tf_debug.DumpingDebugWrapperSession)):
        with tf.Session() as raw:
            session = kind(raw, str(tmp_path / name))
            for fetch, feeds in fetches:
                session.run(fetch, feeds)
        found.append(_infos(tmp_path / name))
    assert found[0] == found[1]
    assert found[1][0] == (repr(y), repr({x: 0}.keys()))
    assert found[1][2] == (repr(z), "None")
    run = open_path(tmp_path / "ours").runs[1]
    assert (run.call.fetches, run.call.targets, list(run.call.feeds)) == (("y:0", "z:0"), ("z",), ["x:0"])
    from tfdbg_cli.formats.dumps.writer import write_dump

    write_dump(run, tmp_path / "again" / "run_1_0")
    assert _infos(tmp_path / "again") == [found[1][1]]


def test_a_fetch_whose_repr_fails_is_kept_by_its_name(tf, model, tmp_path) -> None:
    class Fetch(list):
        def __repr__(self):
            raise RuntimeError("no")

    with tf.Session() as raw:
        session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "s"))
        assert session.run(Fetch([tf.constant(1.0, name="one")])) == [1.0]
    assert _infos(tmp_path / "s") == [("['one:0']", "None")]


def test_a_dumping_session_raises_errors_and_dumps_them(tf, tmp_path) -> None:
    """TensorFlow's tfdbg: the exception was returned as the run's value, unless pass_through_operrors was set."""
    with tf.Graph().as_default(), tf.Session() as raw:
        x = tf.placeholder(tf.float32, [None, None], name="x")
        product = tf.matmul(tf.exp(x, name="given"), tf.ones([3, 1]), name="product")
        for number, setting in enumerate((None, False, True)):
            root = tmp_path / str(number)
            session = tf_debug.DumpingDebugWrapperSession(raw, str(root), pass_through_operrors=setting)
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(product, {x: [[1.0]]})
            run = open_path(root).runs[0]
            assert run.error.node == "product"
            assert run.tensors.named("given", 0)


def test_dumping_ends_at_the_budget_with_one_message(tf, model, tmp_path, monkeypatch, capsys) -> None:
    """tensorflow#16820, tensorpack#631: dumps filled the disk, and errors flooded the log."""
    monkeypatch.setenv("TFDBG_DISK_BUDGET", "150k")  # this file is a part of the dump
    x, y = model
    with tf.Session() as raw:
        session = tf_debug.DumpingDebugWrapperSession(raw, str(tmp_path / "s"))
        for _ in range(8):
            assert session.run(y, {x: np.ones(5000)}).sum() == 0.0
    folders = list((tmp_path / "s").iterdir())
    assert 1 <= len(folders) <= 2
    assert sum(path.stat().st_size for path in (tmp_path / "s").rglob("*") if path.is_file()) <= 150 << 10
    message = capsys.readouterr().err
    assert message.count("tfdbg:") == 1
    assert "TFDBG_DISK_BUDGET" in message


def test_a_hook_in_a_session_that_does_not_tell_of_its_making_dumps(tf, model, tmp_path) -> None:
    """`_HookedSession`, as TensorFlow's own tests of its hooks use it, calls before_run and after_run alone."""
    x, y = model
    asked = []

    def watch_fn(fetches, feeds):
        asked.append((fetches, feeds))
        return tf_debug.WatchOptions()

    with tf.Session() as raw:
        hook = tf_debug.DumpingDebugHook(str(tmp_path / "s"), watch_fn)
        session = monitored_session()._HookedSession(raw, [hook])
        for value in (1.0, 0.0):
            session.run(y, {x: [value]})
        hook.end(raw)
        raw.run(y, {x: [1.0]})
    assert asked == [(y, {x: [1.0]}), (y, {x: [0.0]})]
    folders = sorted((tmp_path / "s").iterdir())
    assert [tf_debug.DebugDumpDir(str(f)).get_tensors("y", 0, "DebugIdentity")[0].tolist() for f in folders] == [
        [0.0], [-np.inf],
    ]  # fmt: skip
    assert _infos(tmp_path / "s") == [(repr(y), repr({x: 0}.keys()))] * 2


def test_a_prompt_hook_in_such_a_session_stops(tf, model, decide) -> None:
    x, y = model
    front = decide(DebugRun(), Continue())
    with tf.Session() as raw:
        hook = tf_debug.LocalCLIDebugHook(ui_type="curses")
        assert monitored_session()._HookedSession(raw, [hook]).run(y, {x: [1.0]}) == [0.0]
    assert front.path == ["start 1", "end 1"]


def test_the_watch_fn_of_a_monitored_session_sees_the_programs_own_fetches(tf, model, tmp_path) -> None:
    """And not those that other hooks add."""
    x, y = model
    tf.train.get_or_create_global_step()
    asked = []

    def watch_fn(fetches, feeds):
        asked.append(fetches)
        return tf_debug.WatchOptions()

    extra = tf.constant(1.0, name="of_a_hook")
    other = tf.train.LoggingTensorHook({"extra": extra}, every_n_iter=1)
    hook = tf_debug.DumpingDebugHook(str(tmp_path / "s"), watch_fn)
    with tf.train.MonitoredSession(hooks=[other, hook]) as session:
        session.run({"mine": y}, {x: [1.0]})
    assert asked == [{"mine": y}]
    assert _infos(tmp_path / "s") == [(repr({"mine": y}), repr({x: 0}.keys()))]


def test_hooks(tf, decide, tmp_path) -> None:
    front = decide(RunUntil("has_inf_or_nan"), Continue())
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        loss = tf.log(2.0 - tf.cast(step, tf.float32), name="loss")
        with tf.control_dependencies([loss]):
            train = step.assign_add(1)
        hook = tf_debug.LocalCLIDebugHook(ui_type="curses")
        hook.add_tensor_filter("late", lambda datum, tensor: False)
        dumping = tf_debug.DumpingDebugHook(str(tmp_path / "dumps"))
        hooks = [tf.train.NanTensorHook(loss), hook]
        with pytest.raises(tf.train.NanLossDuringTrainingError), tf.train.MonitoredSession(hooks=hooks) as session:
            for _ in range(5):
                session.run([train, loss])
        with tf.train.MonitoredSession(hooks=[dumping]) as session:
            session.run([train, loss])
    assert front.path == ["start 1", "end 3"]
    assert len(list((tmp_path / "dumps").iterdir())) == 1
