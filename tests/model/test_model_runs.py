from support import sample_run
from support.made_run import made_run, op

from tfdbg_cli.model.calls import Call, CallArgument, RunKind
from tfdbg_cli.model.runs import Run


def test_titles_say_number_fetches_and_feeds():
    assert sample_run.CALL.title == "run #3: 1 fetch (loss/Mean:0); 2 feeds"
    assert Call(1, RunKind.SESSION, ("a:0", "b:0"), {}).title == "run #1: 2 fetches (a:0, …); 0 feeds"
    assert Call(2, RunKind.SESSION, (), {"x:0": 1}, ("train",)).title == "run #2: 1 fetch (train); 1 feed"
    assert Call(4, RunKind.CALLABLE, ()).title == "run #4: runner from make_callable()"


def test_a_run_knows_which_graph_it_shows():
    assert str(sample_run.sample_run().graph_kind) == "runtime graph"


def test_what_a_function_captured_was_not_given():
    arguments = (CallArgument("x", "float32", (4, 3)), CallArgument("dense/kernel", "float32", (4, 8), captured=True))
    call = Call(1, RunKind.FUNCTION, (), {"x": 1, "dense/kernel": 2}, function="step", arguments=arguments)
    assert call.given == {"x": 1}
    assert Call(1, RunKind.SESSION, (), {"x:0": 1}).given == {"x:0": 1}


def test_a_run_in_a_notebook_is_one_line() -> None:
    run = made_run(op("x", "Const", value=[1.0]), op("y", "Neg", "x", value=[-1.0]))
    assert repr(run) == "<run #1: 1 fetch (y:0); 0 feeds; 2 tensors>"


def test_a_graph_without_tensors_is_a_graph_alone() -> None:
    graph, called = Call(1, RunKind.GRAPH, ()), Call(1, RunKind.FUNCTION, ())
    held = made_run(op("x", "Const", value=[1.0])).tensors
    assert Run(graph).is_graph_alone
    assert not Run(called).is_graph_alone
    assert not Run(graph, held).is_graph_alone
