"""One request over HTTP/1.1, with proxies and certificates from the environment. Failures are OSError."""
from __future__ import annotations

import base64
import http.client
import io
import re
import ssl
import zlib
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ._flow import Connect, Connection, Flow, Receive, Run, StartTls, Write
from .errors import AmsError

Body = None | bytes | Callable[[], Iterable[bytes]]
_MAX_HEAD = 65_536
_LENGTH = re.compile(r"[0-9]{1,15}")
_SIZE = re.compile(rb"[0-9a-fA-F]{1,15}")


def _proxy_of(url: SplitResult) -> SplitResult | None:
    """HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, unless NO_PROXY names the host."""
    proxies = getproxies()
    given = proxies.get(url.scheme) or proxies.get("all")
    if not given or proxy_bypass(url.netloc.rpartition("@")[2]):
        return None
    try:
        proxy = urlsplit(given if "://" in given else f"http://{given}")
        if proxy.scheme == "http" and proxy.hostname and proxy.port != 0:
            return proxy
    except ValueError:  # of a port that is none
        pass
    raise AmsError("invalid_input", f"{url.scheme.upper()}_PROXY: must be an http URL")


def _credentials(proxy: SplitResult) -> list[tuple[str, str]]:
    if proxy.username is None:
        return []
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return [("proxy-authorization", "Basic " + base64.b64encode(pair.encode()).decode())]


class Response:
    """The head of a response; its body is read from the connection with ``chunk``."""

    def __init__(self, connection: Connection, until: float | None) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.until = until
        self._connection = connection
        self._buffer = bytearray()
        self._left: int | None = None  # of the body, or of this chunk of it; None: until the connection ends
        self._is_chunked = False
        self._unzip: Any = None  # some proxies compress what nobody asked them to

    def close(self) -> None:
        self._connection.close()

    def _fill(self) -> Flow[bool]:
        data: bytes = yield Receive(self._connection, self.until)
        self._buffer += data
        return bool(data)

    def _up_to(self, end: bytes) -> Flow[bytes]:
        while (at := self._buffer.find(end)) < 0:
            if len(self._buffer) > _MAX_HEAD:
                raise ConnectionError("the response is not HTTP")
            if not (yield from self._fill()):
                raise ConnectionError("the connection was closed before the response was complete")
        found = bytes(self._buffer[: at + len(end)])
        del self._buffer[: at + len(end)]
        return found

    def read_head(self) -> Flow[None]:
        while True:
            line = yield from self._up_to(b"\n")
            version, _, rest = line.partition(b" ")
            if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
                raise ConnectionError("the response is not HTTP")
            self.status = int(rest[:3])
            lines: list[bytes] = []
            while not lines or lines[-1].strip():
                lines.append((yield from self._up_to(b"\n")))
            try:
                fields = http.client.parse_headers(io.BytesIO(b"".join(lines)))
            except http.client.HTTPException as error:
                raise ConnectionError(f"the response is not HTTP: {error}") from None
            if self.status >= 200:
                break
        self.headers = {name.lower(): value for name, value in fields.items()}
        length = self.headers.get("content-length", "")
        self._is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        if self.status in (204, 304):
            self._left = 0
        elif _LENGTH.fullmatch(length) and not self._is_chunked:
            self._left = int(length)
        if "gzip" in self.headers.get("content-encoding", "").lower():
            self._unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def chunk(self) -> Flow[bytes]:
        """The next bytes of the body, none at its end."""
        while True:
            data = yield from self._chunk()
            if self._unzip is None or not data:
                return data
            try:
                unzipped: bytes = self._unzip.decompress(data)
                if unzipped:
                    return unzipped
            except zlib.error as error:
                raise ConnectionError(f"the response is not what it says: {error}") from None

    def _chunk(self) -> Flow[bytes]:
        if self._is_chunked and not self._left:
            size = yield from self._chunk_size()
            if size == 0:
                return b""
            self._left = size
        if self._left == 0:
            return b""
        if not self._buffer and not (yield from self._fill()):
            if self._left is None:
                return b""
            raise ConnectionError("the connection was closed before the response was complete")
        data = bytes(self._buffer if self._left is None else self._buffer[: self._left])
        del self._buffer[: len(data)]
        if self._left is not None:
            self._left -= len(data)
        return data

    def _chunk_size(self) -> Flow[int]:
        if self._left == 0:
            yield from self._up_to(b"\n")  # after the chunk before
        line = yield from self._up_to(b"\n")
        digits = line.split(b";")[0].strip()
        if not _SIZE.fullmatch(digits):
            raise ConnectionError("the response is not HTTP")
        return int(digits, 16)

    def read(self) -> Flow[bytes]:
        """All of the body."""
        parts: list[bytes] = []
        while part := (yield from self.chunk()):
            parts.append(part)
        return b"".join(parts)


class Peer:
    """The server that requests go to."""

    def __init__(self, url: SplitResult, context: ssl.SSLContext | None) -> None:
        self._url = url
        self._context = context
        assert url.hostname is not None
        self._host = url.hostname
        self._port = url.port or (443 if url.scheme == "https" else 80)
        name = f"[{self._host}]" if ":" in self._host else self._host
        self._authority = f"{name}:{self._port}"
        self._name = name if url.port is None else self._authority

    def _secured(self, connection: Connection, until: float | None) -> Flow[None]:
        if self._context is None:  # made once, and only for https: reading the certificates takes a while
            self._context = yield Run(ssl.create_default_context, is_slow=True)
        yield StartTls(connection, self._context, self._host, until)

    def send(
        self, method: str, target: str, headers: list[tuple[str, str]], body: Body, until: float | None
    ) -> Flow[Response]:
        """The response, once its head has arrived. Whoever gets it closes it."""
        is_secure = self._url.scheme == "https"
        proxy = _proxy_of(self._url)
        at: tuple[str, int] = (self._host, self._port)
        if proxy:
            at = (proxy.hostname or "", proxy.port or 80)
        connection: Connection = yield Connect(*at, until)
        try:
            if proxy and is_secure:
                yield from self._tunnel(connection, proxy, until)
            if is_secure:
                yield from self._secured(connection, until)
            if proxy and not is_secure:
                target = f"http://{self._authority}{target}"
                headers = headers + _credentials(proxy)
            head = _head(method, target, [("host", self._name), ("connection", "close"), *headers], body)
            return (yield from _exchange(connection, head, body, until))
        except BaseException:
            connection.close()
            raise

    def _tunnel(self, connection: Connection, proxy: SplitResult, until: float | None) -> Flow[None]:
        headers = [("host", self._authority), *_credentials(proxy)]
        head = _head("CONNECT", self._authority, headers, None)
        response = yield from _exchange(connection, head, None, until)
        if response.status != 200:
            raise ConnectionError(f"the proxy answered with status {response.status}")


def _head(method: str, target: str, headers: list[tuple[str, str]], body: Body) -> bytes:
    if isinstance(body, bytes):
        headers = [*headers, ("content-length", str(len(body)))]
    elif body is not None:
        headers = [*headers, ("transfer-encoding", "chunked")]
    elif method in ("POST", "PUT", "PATCH"):
        headers = [*headers, ("content-length", "0")]
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _exchange(connection: Connection, head: bytes, body: Body, until: float | None) -> Flow[Response]:
    response = Response(connection, until)
    try:
        yield Write(connection, head + body if isinstance(body, bytes) else head, until)
        if callable(body):
            for part in body():
                yield Write(connection, b"%x\r\n%b\r\n" % (len(part), part), until)
            yield Write(connection, b"0\r\n\r\n", until)
    except ConnectionError as refused:  # a server that wants no more of it says why before it closes
        try:
            yield from response.read_head()
        except OSError:
            raise refused from None
        return response
    yield from response.read_head()
    return response
