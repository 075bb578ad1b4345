"""What was called, how it failed, how long it took and how exact it is, as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple
from typing import Any

from tfdbg_cli.formats.recording.json_fields import (
    finite,
    flag,
    items,
    number,
    partial_shape,
    text,
    text_or_none,
    texts,
    whole,
)
from tfdbg_cli.model.batch_place import BatchPlace, Order
from tfdbg_cli.model.calls import Call, CallArgument, RunError, RunKind
from tfdbg_cli.model.exactness import Exactness, ExecutionWay, Parting
from tfdbg_cli.model.profile import NodeTime, Profile


def call_fields(call: Call) -> dict[str, Any]:
    """Everything of `call` but the feeds, whose values lie elsewhere."""
    return {
        "number": call.number,
        "kind": call.kind,
        "fetches": list(call.fetches),
        "targets": list(call.targets),
        "thread": call.thread,
        "notes": list(call.notes),
        "function": call.function,
        "loop": call.loop,
        "fetches_text": call.fetches_text,
        "feed_keys_text": call.feed_keys_text,
        "arguments": [
            {"name": argument.name, "dtype": argument.dtype, "shape": argument.shape, "captured": argument.captured}
            for argument in call.arguments
        ],
        "came": [{"name": name, **asdict(place)} for name, place in call.came.items()],
        **({"worker": call.worker} if call.worker else {}),
        **({"result_names": list(call.result_names)} if call.result_names else {}),
        **({"for_gradient": call.for_gradient} if call.for_gradient else {}),
        **({"replaced": list(call.replaced)} if call.replaced else {}),
        **({"carried": [list(item) for item in call.carried.items()]} if call.carried else {}),
        **({"unchanged": list(call.unchanged)} if call.unchanged else {}),
        **({"runs_within": [list(item) for item in call.runs_within.items()]} if call.runs_within else {}),
    }


def read_call(fields: dict[str, Any], feeds: Mapping[str, Any]) -> Call:
    """The call in `fields`, which was fed `feeds`. Raises what `WRONG_CONTENT` lists where they are others."""
    return Call(
        number=whole(fields["number"], least=-1),
        kind=RunKind(fields["kind"]),
        fetches=texts(fields["fetches"]),
        feeds=feeds,
        targets=texts(fields["targets"]),
        thread=text(fields["thread"]),
        notes=texts(fields["notes"]),
        # Absent from the recordings of versions that knew sessions only.
        function=text(fields.get("function", "")),
        arguments=tuple(map(_argument, items(fields.get("arguments", [])))),
        fetches_text=text(fields.get("fetches_text", "")),
        feed_keys_text=text(fields.get("feed_keys_text", "")),
        loop=text(fields.get("loop", "")),
        result_names=texts(fields.get("result_names", [])),
        for_gradient=whole(fields.get("for_gradient", 0)),
        replaced=texts(fields.get("replaced", [])),
        worker=text(fields.get("worker", "")),  # there only where several workers recorded together
        came=dict(map(_came, items(fields.get("came", [])))),
        carried={text(name): whole(run) for name, run in map(items, items(fields.get("carried", [])))},
        unchanged=texts(fields.get("unchanged", [])),
        runs_within={text(scope): whole(run) for scope, run in map(items, items(fields.get("runs_within", [])))},
    )


def _came(fields: dict[str, Any]) -> tuple[str, BatchPlace]:
    first, epoch = fields["first"], fields["epoch"]
    return text(fields["name"]), BatchPlace(
        whole(fields["step"]),
        Order(fields["order"]),
        None if first is None else whole(first),
        None if epoch is None else whole(epoch),
        text(fields["loop"]),
        flag(fields["handle"]),
        whole(fields.get("steps", 1)),
        flag(fields.get("class_weight", False)),
        tuple(map(whole, items(fields.get("parts", [])))),
        texts(fields.get("keys", [])),
        flag(fields.get("single", False)),
        flag(fields.get("by_python", False)),
    )


def _argument(fields: dict[str, Any]) -> CallArgument:
    return CallArgument(
        text(fields["name"]), text(fields["dtype"]), partial_shape(fields["shape"]), flag(fields["captured"])
    )


def read_error(fields: dict[str, Any]) -> RunError:
    """The error in `fields`. Raises what `WRONG_CONTENT` lists where they are others."""
    return RunError(
        text(fields["type_name"]),
        text(fields["message"]),
        text_or_none(fields["node"]),
        text(fields.get("inputs_note", "")),
        texts(fields.get("causes", [])),
    )


def profile_fields(profile: Profile) -> dict[str, Any]:
    """The times of `profile`."""
    return {"times": [astuple(time) for time in profile.times]}


def read_profile(fields: dict[str, Any]) -> Profile:
    """The times in `fields`. Raises what `WRONG_CONTENT` lists where they are others."""
    return Profile(tuple(map(_node_time, items(fields["times"]))))


def _node_time(row: Any) -> NodeTime:
    node, op_type, device, *times = items(row)
    start_us, op_us, exec_us = map(number, times)
    return NodeTime(text(node), text(op_type), text(device), start_us, op_us, exec_us)


def exactness_fields(exactness: Exactness | None) -> dict[str, Any] | None:
    """All that is known of it; None where nothing is."""
    if exactness is None:
        return None
    return asdict(exactness)


def read_exactness(fields: dict[str, Any] | None) -> Exactness | None:
    """The exactness in `fields`. Raises what `WRONG_CONTENT` lists where they are others."""
    if fields is None:
        return None
    return Exactness(
        ExecutionWay(fields["way"]),
        whole(fields["compared"]),
        tuple(map(_parting, items(fields["differs"]))),
        tuple(map(_parting, items(fields["strays"]))),
        text(fields["doubt"]),
        text(fields["note"]),
        text(fields["order"]),
        text(fields["race"]),
    )


def _parting(fields: dict[str, Any]) -> Parting:
    gap, ulps = fields["max_abs"], fields["max_ulp"]
    return Parting(
        text(fields["name"]),
        whole(fields["elements"]),
        None if gap is None else finite(gap),
        None if ulps is None else whole(ulps),
        text(fields["told"]),
    )
