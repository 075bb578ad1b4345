"""The prompt of a stop as a service: commands, completion, pages, where the program stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from support import sample_run
from support.kept_stop import kept
from support.sample_stepper import SampleSteppable

from tfdbg_cli.commands.registry import Moment, UiAction
from tfdbg_cli.commands.service.pages import Page
from tfdbg_cli.commands.service.prompt_service import PromptService
from tfdbg_cli.commands.standard import standard_registry
from tfdbg_cli.commands.titles import StopKind
from tfdbg_cli.config.settings import Settings
from tfdbg_cli.document.document import Document, text_document
from tfdbg_cli.document.text import line
from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.model.decision import DebugRun, RunUntil
from tfdbg_cli.model.runs import Opened, Stop

_REGISTRY = standard_registry()


def _service(stop: Stop | None = None, **options) -> PromptService:
    return PromptService(stop or sample_run.run_end(), _REGISTRY, **options)


def _open(service: PromptService, command: str) -> Page:
    document = service.execute(command)
    assert isinstance(document, Document)
    return service.show(command, document)


def test_a_command_is_answered_by_a_document_a_decision_or_an_action() -> None:
    service = _service()
    assert isinstance(service.execute("lt"), Document)
    assert service.execute("run") == DebugRun()
    assert service.execute("prev") is UiAction.BACK
    assert not service.pages.all, "what becomes a page is for the front end to say"


def test_an_error_comes_out_with_its_way_out() -> None:
    with pytest.raises(TfdbgError, match="no command 'lst'") as caught:
        _service().execute("lst")
    assert "lt" in caught.value.hint
    with pytest.raises(TfdbgError, match="not happened yet"):
        _service(sample_run.run_start()).execute("lt")


def test_completion_and_usage_know_the_stop() -> None:
    service = _service()
    assert service.complete("pt loss/").candidates[0].startswith("loss/")
    assert "list_tensors" in service.complete("list_").candidates
    assert service.usage("pt x").startswith("print_tensor")
    assert service.usage("") == service.usage("lst x") == ""
    assert "list_tensors" not in _service(sample_run.run_start()).complete("list_").candidates


def test_pages_are_gone_back_to_and_forward() -> None:
    service = _service()
    first, second = _open(service, "lt"), _open(service, "ri")
    assert (service.pages.current, service.pages.at) == (second, 1)
    assert service.go(0)
    assert service.pages.current is first
    assert service.go(1)
    assert not service.go(2)
    assert not service.go(-1)
    assert service.pages.current is second
    service.go(0)
    third = _open(service, "help")
    assert service.pages.all == [first, third], "what lies ahead is forgotten"
    instead = service.show("lt -r", text_document("t"), replace=True)
    assert service.pages.all == [first, instead]


def test_the_first_page_stays_when_there_are_many() -> None:
    service = _service(most_pages=3)
    pages = [_open(service, command) for command in ("version", "help", "version", "help", "version")]
    assert service.pages.all == [pages[0], *pages[-2:]]
    assert service.pages.current is pages[-1]


def test_what_is_asked_again_takes_the_place_of_its_page() -> None:
    """A blind test: `lp` on the page of `lp` was a second page that looked the same."""
    service = _service(kept())
    first, again = _open(service, "help"), _open(service, "help")
    assert service.pages.all == [again] and again is not first
    _open(service, "version")
    service.go(0)
    _open(service, "help")
    assert [page.command for page in service.pages.all] == ["help"], "a new answer, of which nothing lies ahead"


def test_a_page_is_about_a_run_and_going_back_looks_at_it_again() -> None:
    service = _service(kept())
    page = _open(service, "pt loss")
    assert (page.label, service.label) == ("run #400", "run #400")
    assert service.execute("older 2") is UiAction.SHOW_AGAIN
    assert service.shown_again(page.command) == "pt loss"
    assert service.shown_again("help") == "lt"
    older = _open(service, "pt loss")
    assert (older.label, service.label) == ("run #398", "run #398")
    service.go(0)
    assert (service.label, service.run) == ("run #400", page.run)
    service.look_at(older)
    assert service.label == "run #398"


def test_a_page_that_could_not_be_shown_is_taken_back() -> None:
    service = _service()
    pages = [_open(service, "lt"), _open(service, "ri")]
    service.go(0)
    with pytest.raises(KeyboardInterrupt), service.pages.undone_by_error():
        _open(service, "help")
        raise KeyboardInterrupt
    assert service.pages.all == pages
    assert service.pages.at == 0
    with service.pages.undone_by_error():
        page = _open(service, "help")
    assert service.pages.all == [pages[0], page]


@pytest.mark.parametrize(
    ("stop", "moment", "kind", "graph", "opening"),
    [
        (sample_run.run_start(), Moment.RUN_START, StopKind.START, "", "run_info"),
        (sample_run.run_end(), Moment.RUN_END, StopKind.END, "runtime graph", "lt"),
        (sample_run.run_hit(), Moment.RUN_END, StopKind.HIT, "runtime graph", "origin"),
        (sample_run.run_failed(), Moment.RUN_END, StopKind.ERROR, "runtime graph", "error_info"),
        (sample_run.opened(2), Moment.OPENED, StopKind.OPENED, "recording", "runs"),
    ],
)
def test_where_the_program_stands(stop, moment, kind, graph, opening) -> None:
    service = _service(stop)
    assert (service.moment, service.kind, service.graph, service.opening) == (moment, kind, graph, opening)
    recording = isinstance(stop, Opened)
    assert service.recording == ("/data/dump" if recording else None)
    assert service.title.text.startswith("/data/dump: 2 runs" if recording else ("run-start", "run-end"))
    assert service.label == "run #3"


def test_a_kept_run_is_no_hit_and_the_stepper_is_a_moment() -> None:
    service = _service(kept())
    assert service.kind is StopKind.HIT
    assert any("Bundle: /data/case" in note for note in service.notes)
    service.execute("older")
    assert service.kind is StopKind.END
    service = _service(replace(sample_run.run_start(), steppable=SampleSteppable()))
    service.execute("invoke_stepper")
    assert service.moment is Moment.STEPPING
    assert service.title.text.startswith("stepper: 0 / 10")
    assert service.notes == ()


class _Unreadable(Sequence):
    """The runs of a recording that was deleted meanwhile."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, at):
        raise TfdbgError("The recording is gone.")


def test_a_run_that_cannot_be_read_has_no_name() -> None:
    service = _service(Opened("/data/gone", _Unreadable()))
    assert service.label == "no run"
    assert service.show("help", text_document("help")).label == "no run"


def test_the_last_watch_goes_on() -> None:
    assert _service().watching_on == "run -f has_inf_or_nan"
    assert "--keep 3" in _service(replace(sample_run.run_end(), watch=RunUntil("has_nan", keep=3))).watching_on


def test_settings_go_both_ways(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    told: list[Settings] = []
    service = _service(on_setting=told.append)
    service.execute("config set theme light")
    assert [settings.theme for settings in told] == ["light"]
    assert service.settings.theme == "light"
    service.settings = replace(service.settings, mouse_mode=False)
    assert not service.settings.mouse_mode
    assert len(told) == 1, "a front end that sets something knows it already"


def test_what_a_front_end_shows_of_its_own_becomes_a_page_too() -> None:
    service = _service()
    page = service.show("/loss", text_document("matches", line("1: loss")), label="here")
    assert (page.label, service.pages.current) == ("here", page)


@pytest.mark.parametrize("command", ["py 3 > 2", "py a = 1; a > 0"])
def test_python_has_no_steps_and_may_compare(command: str) -> None:
    """A blind test: at a terminal it was told that `> 2` would write a file, and from `-c` it was computed."""
    assert list(_service().steps(command)) == []
