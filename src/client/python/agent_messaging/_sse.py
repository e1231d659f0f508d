"""Reads a ``text/event-stream`` as the HTML standard describes it."""
from __future__ import annotations

import codecs
import re
from typing import NamedTuple

_ENDS_LINE = re.compile(r"[\r\n]")
_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")  # the last \r may be the first half of \r\n


class Frame(NamedTuple):
    event: str
    data: str


class FrameParser:
    """Takes the stream in pieces of any size."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = [""]
        self._event = ""
        self._data: list[str] = []

    def push(self, piece: bytes) -> list[Frame]:
        """The events that end in this piece."""
        self._rest.append(self._decoder.decode(piece))
        # A long line comes in many pieces, which are put together once, at its end.
        if not _ENDS_LINE.search("".join(self._rest[-2:])):
            return []
        *lines, rest = _LINE_END.split("".join(self._rest))
        self._rest = [rest]
        frames = [self._line(line) for line in lines]
        return [frame for frame in frames if frame is not None]

    def _line(self, line: str) -> Frame | None:
        if line == "":
            data, event = self._data, self._event or "message"
            self._data, self._event = [], ""
            return Frame(event, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        return None
