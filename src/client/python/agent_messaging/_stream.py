"""The agent's events over as many connections as it takes."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import api
from ._call import Call
from ._flow import Flow, Sleep
from ._http import Request, backoff
from ._http1 import Response
from ._source import Source
from ._sse import Frame, FrameParser
from .errors import AmsError, field_of, parse_json

# The service sends a heartbeat every 15 seconds: after three missing ones the connection is dead.
_MAX_SILENCE = 45.0


class Event(api.EventFields):
    """What happened to a message."""


class StreamEvent(NamedTuple):
    event: Event


class Truncated(NamedTuple):
    """The events before this id are no longer stored."""

    next_id: int


class Replaced(NamedTuple):
    """Another client connected as this agent."""


StreamItem = StreamEvent | Truncated | Replaced


def _id(value: Any) -> int:
    if type(value) is int:
        return value
    raise ValueError("it has no id")


def _item_of(frame: Frame) -> StreamItem:
    if frame.event == "replaced":
        return Replaced()
    try:
        content: dict[str, Any] = parse_json(frame.data)
        if frame.event == "truncated":
            return Truncated(_id(content["nextId"]))
        _id(content["id"])
        return StreamEvent(Event(content))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise AmsError("bad_response", "An event of the stream is not what the service sends.") from None


class EventStream:
    """Connects the agent's client once: a lost stream is opened again under the same connection, so that it never takes
    over from another client."""

    def __init__(self, source: Source, after: int, types: Sequence[api.EventType] | None) -> None:
        self._source = source
        self._after = after
        # The last event that was passed on: not ``after``, which is beyond the log of a database that was restored.
        self._passed = 0
        self._types = types
        self._connection: str | None = None
        self._response: Response | None = None
        self._parser = FrameParser()
        self._frames: deque[Frame] = deque()
        self._chunks = 0
        self._failures = 0

    def next(self) -> Flow[StreamItem | None]:
        """The next item; None after ``replaced`` and when the loop is to end."""
        while True:
            while self._frames:
                item = _item_of(self._frames.popleft())
                if isinstance(item, Truncated):
                    self._after = item.next_id - 1
                elif isinstance(item, StreamEvent):
                    if item.event.id <= self._passed:
                        continue  # it came before
                    self._after = self._passed = item.event.id
                return item
            at_least = 0.0
            try:
                if (yield from self._receive()):
                    continue
            except AmsError as error:
                self.close()
                if (yield Sleep(0)):
                    return None  # the loop was closed, and its connection with it: that is no outage
                if error.code == "replaced":
                    return Replaced()
                if error.is_temporary:
                    self._source.http.outage.waiting(error)
                elif error.code == "not_found" and self._connection:
                    self._connection = None
                else:
                    raise
                at_least = error.retry_after or 0
            if (yield Sleep(backoff(self._failures, 1, 30, at_least))):
                return None
            self._failures += 1

    def close(self) -> None:
        if self._response:
            self._response.close()
        self._response = None

    def _receive(self) -> Flow[bool]:
        """Reads on; False when the stream has ended."""
        piece = yield from self._source.http.guarded(self._piece(), _MAX_SILENCE)
        if not piece:
            self.close()
            return False
        if self._chunks > 0:  # more than its opening has arrived
            self._failures = 0
        self._chunks += 1
        self._frames.extend(self._parser.push(piece))
        return True

    def _piece(self) -> Flow[bytes]:
        response = self._response
        if response is None:
            response = yield from self._open()
        response.until = time.monotonic() + _MAX_SILENCE
        return (yield from response.chunk())

    def _open(self) -> Flow[Response]:
        source = self._source
        if self._connection is None:
            connection = yield from source.call(api.connect(source.client, source.machine))
            self._connection = field_of(connection, "id")
        call: Any = Call(
            "GET",
            "/agents/{id}/connections/{connectionId}/events",
            {"id": (yield from source.id()), "connectionId": self._connection},
            query={"after": self._after, **({"types": ",".join(self._types)} if self._types else {})},
        )
        request = Request("GET", call.target(), headers=(("accept", "text/event-stream"),))
        response = yield from source.http.once(request, time.monotonic() + _MAX_SILENCE)
        if response.status == 204:
            response.close()
            raise AmsError("replaced", "Another client connected as this agent.")
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.close()
            raise AmsError("bad_response", "The response is no stream of events.", status=response.status)
        self._response, self._parser, self._chunks = response, FrameParser(), 0
        return response
