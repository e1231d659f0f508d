"""What the printed functions of api.py are made of."""
from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from collections.abc import Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

T = TypeVar("T")


class NotGiven(Enum):
    """An argument that was left out; None would be null in JSON."""

    NOT_GIVEN = "not given"


NOT_GIVEN = NotGiven.NOT_GIVEN


def plain(value: Any) -> Any:
    """A time as the API writes it; one without a time zone is local."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def listed(value: Any) -> Any:
    """A single text, where a list of them is expected, is a list of one: Python takes it for a sequence of letters."""
    return [value] if isinstance(value, str) else value


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in values.items() if value is not NOT_GIVEN}


def _pairs(name: str, value: Any) -> list[tuple[str, Any]]:
    """The parameters of a URL; a field with keys has one for each: ``metadata.order=4711``."""
    if isinstance(value, Mapping):
        return [(f"{name}.{key}", one) for key, one in value.items()]
    return [(name, str(value).lower() if isinstance(value, bool) else value)]


@dataclass
class Page(Generic[T]):
    """A page of a list, and the cursor of the next one."""

    items: list[T]
    next_cursor: str | None


class Call(Generic[T]):
    """A request of the API whose answer is a T. ``{id}`` in the path is the agent's, unless it is given."""

    def __init__(
        self,
        method: str,
        path: str,
        values: Mapping[str, object],
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> None:
        self.method = method
        self.values = dict(values)
        self.path = path
        self.query = _given(query or {})
        self.body = None if body is None else _given(body)
        self.key = key

    @property
    def needs_id(self) -> bool:
        return "{id}" in self.path and "id" not in self.values

    def target(self) -> str:
        """The path with all values, and the query."""
        path = re.sub(r"\{(\w+)\}", lambda name: quote(str(self.values[name[1]]), safe=""), self.path)
        pairs = [pair for name, value in self.query.items() for pair in _pairs(name, value)]
        return f"{path}?{urlencode(pairs)}" if pairs else path


class Fields:
    """JSON of the API with its fields as attributes, in Python's spelling; ``data`` has them as they came."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        for key, value in data.items():
            name = re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), key)
            if getattr(type(self), name, None) is None:  # a new field never hides a method
                setattr(self, name, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.data.get('id')}>"
