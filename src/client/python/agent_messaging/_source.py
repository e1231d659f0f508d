"""The agent that requests are about."""
from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import api
from ._call import Call
from ._flow import Flow, Holder, Locked
from ._http import Http, Request
from ._http1 import Response
from .errors import AmsError, field_of

T = TypeVar("T")


class Identity(Holder):
    """Its id: with its own token, the service is asked once."""

    def __init__(self, value: str | None) -> None:
        self.value = value


class Source:
    """``is_patient`` is for a loop, which must survive that the service is away for a while."""

    def __init__(
        self, http: Http, shell: Any, identity: Identity, client: str, machine: str, is_patient: bool = False
    ) -> None:
        self.http = http
        self.shell = shell
        self.client = client
        self.machine = machine
        self._identity = identity
        self._is_patient = is_patient

    def within(self, shell: Any, is_patient: bool) -> Source:
        return Source(self.http, shell, self._identity, self.client, self.machine, is_patient)

    def id(self) -> Flow[str]:
        if self._identity.value is None:
            yield Locked(self._identity, self._find())
        assert self._identity.value is not None
        return self._identity.value

    def _find(self) -> Flow[None]:
        if self._identity.value is not None:  # found while this one waited
            return
        agents: Any = yield from self.http.json(api.list_agents(limit=2), self._is_patient)
        if agents == []:
            raise AmsError("invalid_input", "id: is missing; there is no agent yet that this token can access")
        if isinstance(agents, list) and len(agents) > 1:
            raise AmsError("invalid_input", "id: is missing; this token can access several agents: pass the id of one, or take a token of its own")
        self._identity.value = field_of(field_of(agents, 0), "id")

    def _filled(self, call: Call[T]) -> Flow[Call[T]]:
        if call.needs_id:
            call.values["id"] = yield from self.id()
        return call

    def call(self, call: Call[T]) -> Flow[T]:
        return (yield from self.http.json((yield from self._filled(call)), self._is_patient))

    def page(self, call: Call[Any]) -> Flow[Any]:
        return (yield from self.http.page((yield from self._filled(call)), self._is_patient))

    def content(self, path: str, values: dict[str, object], query: dict[str, object]) -> Flow[Response]:
        """A file, unread."""
        call: Call[None] = Call("GET", path, values, query=query)
        return (yield from self.http.content((yield from self._filled(call)).target(), self._is_patient))

    def whole(self, path: str, values: dict[str, object], query: dict[str, object]) -> Flow[bytes]:
        response = yield from self.content(path, values, query)
        parts: list[bytes] = []
        try:
            while piece := (yield from self.http.piece(response)):
                parts.append(piece)
        finally:
            response.close()
        return b"".join(parts)

    def upload(self, path: str, kind: str, pieces: Callable[[], Iterable[bytes]]) -> Flow[Any]:
        call: Call[Any] = yield from self._filled(Call("POST", path, {}))
        headers = (("content-type", kind), ("idempotency-key", secrets.token_hex(16)))
        return (yield from self.http.upload(Request("POST", call.target(), pieces, headers)))
