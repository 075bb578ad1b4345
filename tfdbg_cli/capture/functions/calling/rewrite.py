"""Rewrites functions so that they give their inner values to us.

A value of a plain call becomes one more output of the called function and of the call's node. A branch or a loop
hands the values of each turn to a callback in this process (an EagerPyFunc op), as a side effect of the function.
Names of nodes stay, so that resources named after them are shared with the original.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from functools import cached_property

from tfdbg_cli.capture.functions.checking.checking_edit import CheckingEdit, LoopEdit, WantedRewrite
from tfdbg_cli.capture.functions.definition.body import IMPLEMENTATION, XLA
from tfdbg_cli.capture.functions.definition.call_tree import CallKind, CallSite, Scope
from tfdbg_cli.capture.functions.definition.edit import Edit
from tfdbg_cli.capture.functions.definition.own_names import marked
from tfdbg_cli.capture.functions.definition.shown_values import Item, given_items, items_of
from tfdbg_cli.capture.tf.types import FunctionDef, NodeDef
from tfdbg_cli.model.dtypes import FLOAT
from tfdbg_cli.model.names import TensorName

_SERIAL = itertools.count(1)


@dataclass(frozen=True, eq=False)
class ReportingBody:
    """A branch, or the cond or body of a loop: each time it runs, its values reach the callback under `number`."""

    number: int
    scope: Scope
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Exposed:
    """A rewritten function: its name, and what it gives behind its own outputs: `items`, then the answer, if any."""

    name: str
    items: tuple[Item, ...]
    answers: bool
    answer_type: int = FLOAT

    @cached_property
    def types(self) -> list[int]:
        """The element types of what it gives behind its own outputs."""
        found = [item.shown.dtype for item in self.items if item.given_back and item.shown is not None]
        return [*found, self.answer_type] if self.answers else found


@dataclass
class Rewriting:
    """One function rewritten with all that it calls.

    `token` names the callback (as tf.py_function registers it); `without_xla` asks that nothing be compiled by XLA;
    functions whose names are in `apart` are rewritten anew for each call. Afterwards `definitions` holds the new
    functions, those that are called first, `scopes` by their names what they stand for, `frames` the branches and
    loops, and `early` what is reported under -1, -2 and so on. `compiled_no_more` says that some function was meant
    for XLA, which cannot call back; `compiled` that some function still is.
    """

    token: bytes
    without_xla: bool = False
    wanted: WantedRewrite = field(default_factory=WantedRewrite)
    apart: frozenset[str] = frozenset()
    scopes: dict[str, Scope] = field(default_factory=dict)
    definitions: list[FunctionDef] = field(default_factory=list)
    frames: list[ReportingBody] = field(default_factory=list)
    early: list[tuple[TensorName, ...]] = field(default_factory=list)
    compiled_no_more: bool = False
    compiled: bool = False
    _serial: int = field(default_factory=lambda: next(_SERIAL))
    _done: dict[tuple[object, ...], Exposed] = field(default_factory=dict)

    def exposed(self, scope: Scope) -> Exposed:
        """Rewrite the function of `scope` to give its values, and the answer to the question, behind its outputs."""
        key = self._key(scope)
        is_apart = bool(self.apart) and any(inner.body.name in self.apart for inner in scope.all())
        shareable = not (scope.has_frames or scope.cut or is_apart)
        if shareable and key in self._done:
            # Its values have other names where it is called here.
            return replace(self._done[key], items=self._items(scope))
        edit = self._edited(scope)
        items = (*self._items(scope), *edit.updated)
        for position, item in enumerate(item for item in items if item.given_back):
            if item.shown is not None and item.reference is not None:
                edit.give_back(f"tfdbg_value_{position}", item.shown.dtype, edit.given_as(item.reference))
        answers = self.wanted.checks_in(scope)
        if answers:
            edit.give_back("tfdbg_health", edit.answers.dtype, edit.answers.total())
        answer_type = edit.answers.dtype if answers else FLOAT
        done = Exposed(self._finish(edit), items, answers, answer_type)
        if shareable:
            self._done[key] = done
        return done

    def _key(self, scope: Scope) -> tuple[object, ...]:
        """Scopes with the same key are rewritten to the same function."""
        checks = self.wanted.frontier.checks
        places = tuple(tuple(tensor.reference for tensor in checks.get(inner, ())) for inner in scope.all())
        given = tuple(item.reference for item in self._items(scope) if item.given_back)
        slots = frozenset(scope.needed.slots.items())
        early = self.wanted.early.within(scope)
        copied = tuple(at for at, item in enumerate(self._items(scope)) if self._is_copied(item))
        return scope.body.name, slots, scope.compiled, scope.recomputes, places, given, early, copied

    def _is_copied(self, item: Item) -> bool:
        return item.shown is not None and item.shown.name in self.wanted.copied

    def _items(self, scope: Scope) -> tuple[Item, ...]:
        return items_of(scope) if self.wanted.values else given_items(scope, self.wanted.given)

    def _edited(self, scope: Scope) -> CheckingEdit:
        """A copy of the function of `scope` that calls rewritten functions and asks the question."""
        edit = CheckingEdit(scope, self.wanted, self._will_compile(scope))
        if not self._will_compile(scope):
            edit.copy_draws()
            reports = self.wanted.early.add_reports(edit, scope, -1 - len(self.early), self.token)
            self.early.extend(list(reports))
        for site in scope.calls.values():
            node = edit.nodes[site.node.name]
            if site.kind is CallKind.PLAIN:
                if self._stays(site.scopes[0]):
                    continue
                self._rewrite_call(site, node, edit)
                if not site.scopes[0].has_frames and not self._reports_early(site):
                    continue
            elif site.kind is CallKind.BRANCH:
                self._rewrite_branches(site, node, edit)
            else:
                self._rewrite_loop(site, node, edit)
            if self.wanted.values or self._reports_early(site):
                edit.make_stateful(node)
        edit.ask()
        if scope.compiled:
            edit.drop_checks()
        if scope.body.compiled:
            if self._will_compile(scope):
                self.compiled = True
            else:
                del edit.definition.attr[XLA]
                self.compiled_no_more = True
        return edit

    def _will_compile(self, scope: Scope) -> bool:
        if not scope.compiled or self.without_xla:
            return False
        # Branches and loops call back, which XLA cannot. A tensor whose size is known at run time only may come out
        # of it with any size at all, at which TensorFlow aborts the process (xla/shape.cc).
        if scope.has_sizes_by_values and (self.wanted.values or self.wanted.given):
            return False
        return not (self.wanted.values and scope.has_frames)

    def _stays(self, scope: Scope) -> bool:
        """Whether a call of the function of `scope` stays as it is, since XLA compiles it and it is asked nothing."""
        if not scope.body.compiled or self.without_xla or self.wanted.values or self.wanted.checks_in(scope):
            return False
        return not self.wanted.early.within(scope) and not given_items(scope, self.wanted.given)

    def _reports_early(self, site: CallSite) -> bool:
        return any(self.wanted.early.within(scope) and not self._will_compile(scope) for scope in site.scopes)

    def _rewrite_call(self, site: CallSite, node: NodeDef, edit: CheckingEdit) -> None:
        own = len(node.attr["Tout"].list.type)
        exposed = self.exposed(site.scopes[0])
        node.attr["f"].func.name = exposed.name
        node.attr["Tout"].list.type.extend(exposed.types)
        if self.without_xla and XLA in node.attr:
            del node.attr[XLA]
        if exposed.answers:
            edit.answers.include(f"{node.name}:output:{own + len(exposed.types) - 1}")

    def _rewrite_branches(self, site: CallSite, node: NodeDef, edit: CheckingEdit) -> None:
        answers = any(map(self.wanted.checks_in, site.scopes))
        names = []
        for scope in site.scopes:
            branch = self._framed(scope)
            if answers:
                branch.give_back("tfdbg_health", FLOAT, branch.health.total())
            names.append(self._finish(branch))
        if "branches" in node.attr:
            for called, name in zip(node.attr["branches"].list.func, names, strict=True):
                called.name = name
        else:
            node.attr["then_branch"].func.name, node.attr["else_branch"].func.name = names
        if answers:
            edit.health.include(edit.one_more_output(node))

    def _rewrite_loop(self, site: CallSite, node: NodeDef, edit: CheckingEdit) -> None:
        framed, body = map(self._framed, site.scopes)
        condition: Edit = framed
        if any(map(self.wanted.checks_in, site.scopes)):
            loop = LoopEdit(node, edit, body)
            if self.wanted.checks_in(site.scopes[0]):
                framed.give_back("tfdbg_health", FLOAT, framed.health.total())
                condition = loop.ask_condition(self._finish(framed), framed)
            loop.carry_answers(condition)
        node.attr["cond"].func.name = self._finish(condition)
        node.attr["body"].func.name = self._finish(body)
        if self.wanted.values or self._reports_early(site):
            # One turn at a time, so that what the turns report is in their order.
            node.attr["parallel_iterations"].i = 1

    def _framed(self, scope: Scope) -> CheckingEdit:
        """Rewrite the function of `scope` to report its values each time it runs."""
        edit = self._edited(scope)
        if self.wanted.values:
            frame = ReportingBody(len(self.frames), scope, (*items_of(scope), *edit.updated))
            self.frames.append(frame)
            edit.report(frame.number, frame.items, self.token)
        return edit

    def _finish(self, edit: Edit) -> str:
        name = f"{marked(edit.definition.signature.name, self._serial)}_{len(self.definitions)}"
        edit.definition.signature.name = name
        for attribute in IMPLEMENTATION & set(edit.definition.attr):
            del edit.definition.attr[attribute]
        self.definitions.append(edit.definition)
        self.scopes[name] = edit.scope
        return name
