"""Requests to the service: adds the token, retries what is safe to retry, and turns failures into AmsError."""
from __future__ import annotations

import json
import logging
import os
import random
import secrets
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import SplitResult, parse_qs, urlsplit

from ._call import Call
from ._flow import Flow, Sleep
from ._http1 import Body, Peer, Response
from .errors import AmsError, error_of, parse_json

T = TypeVar("T")
VERSION = "1.1.0"
_RETRIES = 6
_TIMEOUT = 60.0
# A request that could only succeed later than this fails now.
_MAX_RETRY_AFTER = 60


def backoff(attempt: int, base: float, most: float, at_least: float = 0) -> float:
    """The delay in seconds before retry number ``attempt`` (from 0): a random part of a limit that doubles each time, so
    that clients that lost the service together do not come back together. Never less than the service asked for."""
    limit: float = min(most, base * 2 ** min(attempt, 20))
    return at_least + random.random() * limit


def _warn(error: AmsError) -> None:
    logging.getLogger("agent_messaging").warning("waiting for the service: %s", error.message)


class Outage:
    """Tells once that the service gives no answer and requests are repeated, until it answers again."""

    def __init__(self, tell: Callable[[AmsError], object] | None) -> None:
        self._tell = tell or _warn
        self._is_told = False

    def waiting(self, error: AmsError) -> None:
        if self._is_told or error.status in (409, 429):
            return
        self._is_told = True
        self._tell(error)

    def over(self) -> None:
        self._is_told = False


@dataclass
class Request:
    method: str
    target: str
    body: Body = None
    headers: tuple[tuple[str, str], ...] = ()


def _required(name: str, variable: str, value: str | None) -> str:
    # It was perhaps read from a file, with the end of its line.
    found = (value if value is not None else os.environ.get(variable, "")).strip()
    if not found:
        raise AmsError("invalid_input", f"{name}: is missing; pass it, or set {variable}")
    return found


def _parsed(given: str) -> SplitResult:
    try:
        url = urlsplit(given)
        if url.scheme in ("http", "https") and url.hostname and url.port != 0:
            host = url.hostname.encode("idna").decode() if not url.hostname.isascii() else url.hostname
            host = f"[{host}]" if ":" in host else host
            netloc = host if url.port is None else f"{host}:{url.port}"
            return SplitResult(url.scheme, netloc, url.path.rstrip("/"), "", "")
    except ValueError:
        pass
    raise AmsError("invalid_input", "url: must be an http or https URL")


def _header(name: str, value: str) -> str:
    if value.isascii() and value.isprintable():
        return value
    raise AmsError("invalid_input", f"{name}: must be printable ASCII characters")


def _json_of(response: Response) -> Flow[Any]:
    text = (yield from response.read()).decode("utf-8-sig", "replace")
    if response.status == 204:
        return None
    try:
        return parse_json(text)
    except ValueError:
        raise AmsError("bad_response", "The response is not JSON.", status=response.status) from None


def _page_of(response: Response) -> Flow[tuple[Any, str | None]]:
    return (yield from _json_of(response)), _next_cursor(response.headers.get("link", ""))


def _next_cursor(link: str) -> str | None:
    """Only the cursor is taken from the URL: the token is for this service only."""
    for part in link.split(","):
        target, *parameters = (one.strip() for one in part.split(";"))
        if 'rel="next"' in parameters or "rel=next" in parameters:
            cursors = parse_qs(urlsplit(target.strip("<>")).query).get("cursor")
            return cursors[0] if cursors else None
    return None


class Http:
    def __init__(
        self,
        url: str | None,
        token: str | None,
        retries: int | None,
        timeout: float | None,
        on_waiting: Callable[[AmsError], object] | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        base = _parsed(_required("url", "AMS_URL", url))
        self.url = base.geturl()
        self.outage = Outage(on_waiting)
        self._base = base.path
        self._peer = Peer(base, ssl_context)
        self._token = _header("token", _required("token", "AMS_TOKEN", token))
        self._retries = _RETRIES if retries is None else retries
        self._may_wait = retries is None
        self._timeout = _TIMEOUT if timeout is None else timeout

    def once(self, request: Request, until: float | None) -> Flow[Response]:
        """One attempt; the body of a success is still unread."""
        headers: list[tuple[str, str]] = [
            ("authorization", f"Bearer {self._token}"),
            ("user-agent", f"agent-messaging-python/{VERSION}"),
            *request.headers,
        ]
        target = self._base + request.target
        response = yield from self._peer.send(request.method, target, headers, request.body, until)
        if not 200 <= response.status < 300:
            try:
                text = (yield from response.read()).decode("utf-8", "replace")
            finally:
                response.close()
            raise error_of(response.status, response.headers, text)
        self.outage.over()
        return response

    def unreachable(self, error: OSError, seconds: float) -> AmsError:
        if isinstance(error, TimeoutError):
            why = f"no answer within {seconds:g} s"
        else:
            why = getattr(error, "verify_message", "") or error.strerror or str(error) or type(error).__name__
        return AmsError("unreachable", f"Cannot reach {self.url}: {why}")

    def guarded(self, flow: Flow[T], seconds: float) -> Flow[T]:
        try:
            return (yield from flow)
        except OSError as error:
            raise self.unreachable(error, seconds) from error

    def piece(self, response: Response) -> Flow[bytes]:
        """The next bytes of a file, none at its end: it may take any time, but not stop."""
        response.until = time.monotonic() + self._timeout
        return (yield from self.guarded(response.chunk(), self._timeout))

    def _attempt(self, request: Request, read: Callable[[Response], Flow[T]], keeps: bool) -> Flow[T]:
        until = None if callable(request.body) else time.monotonic() + self._timeout
        response = yield from self.guarded(self.once(request, until), self._timeout)
        try:
            return (yield from self.guarded(read(response), self._timeout))
        finally:
            if not keeps:
                response.close()

    def _retrying(
        self, request: Request, read: Callable[[Response], Flow[T]], patient: bool, keeps: bool = False
    ) -> Flow[T]:
        attempt = 0
        while True:
            try:
                return (yield from self._attempt(request, read, keeps))
            except AmsError as error:
                failure = error
            # An earlier attempt deleted it, and its answer was lost.
            if attempt > 0 and request.method == "DELETE" and failure.status == 404:
                return cast(T, None)
            retry_after = failure.retry_after or 0
            is_last = attempt >= self._retries or retry_after > _MAX_RETRY_AFTER
            if not failure.is_temporary or (is_last and not (patient and self._may_wait)):
                raise failure
            if (yield Sleep(0)):  # a loop that was closed waits no longer, and tells of no outage
                raise failure
            self.outage.waiting(failure)
            if (yield Sleep(backoff(attempt, 0.3, 10, retry_after))):
                raise failure
            attempt += 1

    def page(self, call: Call[Any], patient: bool = False) -> Flow[tuple[Any, str | None]]:
        """The JSON of the response, and the cursor of the next page if its header ``Link`` has one."""
        return (yield from self._retrying(_request_of(call), _page_of, patient))

    def json(self, call: Call[T], patient: bool = False) -> Flow[T]:
        return cast(T, (yield from self._retrying(_request_of(call), _json_of, patient)))

    def upload(self, request: Request) -> Flow[Any]:
        return (yield from self._retrying(request, _json_of, False))

    def content(self, target: str, patient: bool = False) -> Flow[Response]:
        """A file, unread."""

        def unread(response: Response) -> Flow[Response]:
            yield from ()
            return response

        return (yield from self._retrying(Request("GET", target), unread, patient, True))


def _request_of(call: Call[Any]) -> Request:
    headers: list[tuple[str, str]] = []
    body: Body = None
    if call.body is not None:
        headers.append(("content-type", "application/json"))
        body = json.dumps(call.body).encode()
    if call.method == "POST":
        headers.append(("idempotency-key", _header("key", call.key or secrets.token_hex(16))))
    return Request(call.method, call.target(), body, tuple(headers))
