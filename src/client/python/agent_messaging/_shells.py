"""Runs the core's flows with blocking sockets. _async_shell.py is the same with asyncio."""
from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from ._flow import Connect, Emit, Flow, Locked, Receive, Request, Run, Sleep, StartTls, Write
from .errors import AmsError

T = TypeVar("T")
CHUNK = 65_536
END: Any = object()
_FIRST = threading.Lock()  # of two threads that need the lock of the same holder


def left(until: float | None) -> float | None:
    if until is None:
        return None
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("timed out")
    return seconds


class _Socket:
    def __init__(self, plain: socket.socket) -> None:
        self.plain = plain
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def within(self, until: float | None) -> socket.socket:
        self.plain.settimeout(left(until))
        return self.plain

    def interrupt(self) -> None:
        """Ends a call of another thread that reads; of the class, because that of TLS changes the socket under it."""
        try:
            socket.socket.shutdown(self.plain, socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        self.plain.close()


class Shell:
    """Runs flows with blocking sockets, in the thread of the caller."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._open: _Socket | None = None

    def run(self, flow: Flow[T]) -> T:
        item, result = self.advance(flow)
        assert item is END
        return result  # type: ignore[no-any-return]

    def advance(self, flow: Flow[Any]) -> tuple[Any, Any]:
        """The next item, or END with the result."""
        result: Any = None
        error: BaseException | None = None
        while True:
            try:
                request = flow.send(result) if error is None else flow.throw(error)
            except StopIteration as end:
                return END, end.value
            if isinstance(request, Emit):
                return request.item, None
            result, error = None, None
            try:
                result = self._perform(request)
            except BaseException as thrown:  # the flow closes its connection
                error = thrown

    def _perform(self, request: Request) -> Any:
        if isinstance(request, Receive):
            self._open = request.connection
            if self.ended.is_set():
                return b""
            return request.connection.within(request.until).recv(CHUNK)
        if isinstance(request, Write):
            return request.connection.within(request.until).sendall(request.data)
        if isinstance(request, Connect):
            return _Socket(socket.create_connection((request.host, request.port), left(request.until)))
        if isinstance(request, StartTls):
            plain = request.connection.within(request.until)
            request.connection.plain = request.context.wrap_socket(plain, server_hostname=request.host)
            return None
        if isinstance(request, Sleep):
            return self.ended.wait(request.seconds)
        if isinstance(request, Run):
            return request.work()
        assert isinstance(request, Locked)
        with _FIRST:
            request.holder.lock = request.holder.lock or threading.RLock()
        with request.holder.lock:
            return self.run(request.flow)

    def end(self) -> None:
        self.ended.set()
        if self._open is not None:
            self._open.interrupt()


class Items(Generic[T], Iterator[T]):
    """What a loop yields. ``close()`` ends it, also from another thread or a signal handler."""

    def __init__(self, shell: Shell, flow: Flow[None]) -> None:
        self._shell = shell
        self._flow = flow
        self._is_busy = False

    def __next__(self) -> T:
        if self._shell.ended.is_set():
            raise StopIteration
        self._is_busy = True
        try:
            item, _ = self._shell.advance(self._flow)
        except AmsError:
            if self._shell.ended.is_set():
                raise StopIteration from None
            raise
        finally:
            self._is_busy = False
        if item is END:
            raise StopIteration
        return item  # type: ignore[no-any-return]

    def close(self) -> None:
        self._shell.end()
        if not self._is_busy:
            self._flow.close()

    def __enter__(self) -> "Items[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
