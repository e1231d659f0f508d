"""An agent's messages, each at least once, and waiting for one of them."""
from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from . import api
from ._call import Call, NotGiven
from ._flow import Emit, Flow, Run
from ._message import data_of_url, message_of, received_of
from ._position import MemoryStore, PositionStore, Progress
from ._source import Source
from ._stream import Event, EventStream, Replaced, Truncated
from .errors import AmsError, field_of

# Where to start: after what is there already, with all that is stored, or after an event's id.
From = Literal["now", "beginning"] | int
_RECEIVED: tuple[api.EventType, ...] = ("message.received",)
# The service lets one request wait for at most 50 seconds.
_MAX_WAIT = 30


def read_position(source: Source) -> Flow[int]:
    page: Any = yield from source.call(api.list_events(limit=1))
    return int(field_of(page, "lastId"))


def _read(source: Source, message_id: str) -> Flow[Any]:
    """The JSON of a message; None if it was deleted since."""
    try:
        return (yield from source.call(api.read_message(message_id)))
    except AmsError as error:
        if error.code == "not_found":
            return None
        raise


def _is_from(wanted: str, sender: str) -> bool:
    if wanted.startswith("*@"):
        return sender.lower().endswith(wanted[1:].lower())
    return sender.lower() == wanted.lower()


def next_message(source: Source, from_: str | None, after: int | None, seconds: float) -> Flow[Any]:
    end = time.monotonic() + seconds
    position = after if after is not None else (yield from read_position(source))
    while True:
        wait = math.ceil(min(_MAX_WAIT, max(0, end - time.monotonic())))
        query = {"after": position, "wait": wait, "types": ",".join(_RECEIVED)}
        call: Call[Any] = Call("GET", "/agents/{id}/events", {}, query=query)
        page = yield from source.call(call)
        items = field_of(page, "items")
        for event in items:
            data = None if event["channel"] == "url" else (yield from _read(source, event["messageId"]))
            if data and (from_ is None or _is_from(from_, data["counterpart"])):
                return message_of(source, data)
        if not items and wait == 0:
            return None
        position = items[-1]["id"] if items else max(position, field_of(page, "lastId"))


def take_code(source: Source, wanted: dict[str, Any], seconds: float, since: datetime | str | NotGiven) -> Flow[Any]:
    end = time.monotonic() + seconds
    start = datetime.now(timezone.utc) - timedelta(minutes=10) if isinstance(since, NotGiven) else since
    while True:
        left = max(0, end - time.monotonic())
        call = api.take_code(**wanted, since=start, seconds=math.ceil(min(left, _MAX_WAIT)))
        try:
            return (yield from source.call(call))
        except AmsError as error:
            # There is none yet; an agent that does not exist has an error of its own.
            if error.code != "not_found" or "agent" in error.message:
                raise
        if left <= _MAX_WAIT:
            return None


def ask_question(source: Source, asked: dict[str, Any], seconds: float) -> Flow[Any]:
    end = time.monotonic() + seconds
    question = yield from source.call(api.ask_question(**asked))
    while question["status"] == "open" and (left := end - time.monotonic()) > 0:
        wait = math.ceil(min(left, _MAX_WAIT))
        question = yield from source.call(api.read_question(question["id"], seconds=wait))
    return question


def read_inbox(
    source: Source,
    store: PositionStore | None,
    from_: From,
    types: Sequence[api.EventType] | None,
    on_truncated: Callable[[int], object] | None,
) -> Flow[None]:
    kept: PositionStore = MemoryStore() if store is None else store
    stored: int | None = yield Run(kept.load)
    if stored is None:
        position: int = from_ if isinstance(from_, int) else 0
        if from_ == "now":
            position = yield from read_position(source)
        # Before the first event, so that a crash before the first `done` skips nothing.
        yield Run(lambda: kept.save(position))
    else:
        position = stored
    progress = Progress(kept, position)
    # Who starts at "now" or at the beginning misses nothing of what was removed before.
    is_expected = stored is None and not isinstance(from_, int)
    stream = EventStream(source, position, types)
    try:
        while (item := (yield from stream.next())) is not None:
            if isinstance(item, Replaced):
                raise AmsError("replaced", "Another client connected as this agent.")
            if isinstance(item, Truncated):
                if on_truncated and not is_expected:
                    on_truncated(item.next_id)
                yield from progress.skip_to(item.next_id - 1)
            else:
                yield from _deliver(source, item.event, types or _RECEIVED, progress)
            is_expected = False
    finally:
        stream.close()


def _deliver(source: Source, event: Event, types: Sequence[api.EventType], progress: Progress) -> Flow[None]:
    yield from progress.deliver(event.id)
    data: dict[str, Any] | None = None
    if event.type in types:
        data = data_of_url(event) if event.channel == "url" else (yield from _read(source, event.message_id))
    if data is None:
        yield from progress.done(event.id)
    else:
        yield Emit(received_of(source, event, data, progress))


def read_events(source: Source, after: int, types: Sequence[api.EventType] | None) -> Flow[None]:
    stream = EventStream(source, after, types)
    try:
        while (item := (yield from stream.next())) is not None:
            yield Emit(item)
            if isinstance(item, Replaced):
                return
    finally:
        stream.close()
