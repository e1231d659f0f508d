"""Runs the core's flows on asyncio's loop."""
from __future__ import annotations

import asyncio
import inspect
import socket
import ssl
from collections.abc import AsyncIterator, Coroutine
from typing import Any, Generic, TypeVar

from ._flow import Connect, Emit, Flow, Locked, Receive, Request, Run, Sleep, Write
from ._shells import CHUNK, END, left
from .errors import AmsError

T = TypeVar("T")


class _AsyncSocket:
    """A socket until TLS begins, and asyncio's streams from then on."""

    def __init__(self, plain: socket.socket) -> None:
        self.plain = plain
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def receive(self) -> bytes:
        if self.streams:
            return await self.streams[0].read(CHUNK)
        return await asyncio.get_running_loop().sock_recv(self.plain, CHUNK)

    async def write(self, data: bytes) -> None:
        if self.streams is None:
            return await asyncio.get_running_loop().sock_sendall(self.plain, data)
        self.streams[1].write(data)
        await self.streams[1].drain()

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        self.streams = await asyncio.open_connection(sock=self.plain, ssl=context, server_hostname=host)

    def close(self) -> None:
        if self.streams is None:
            return self.plain.close()
        try:
            self.streams[1].transport.abort()
        except RuntimeError:  # its loop is closed, and so is the socket
            pass


async def _connected(host: str, port: int) -> _AsyncSocket:
    loop = asyncio.get_running_loop()
    failure: OSError = OSError("no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.setblocking(False)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(plain, address)
            return _AsyncSocket(plain)
        except OSError as error:
            plain.close()
            failure = error
        except BaseException:
            plain.close()
            raise
    raise failure


class AsyncShell:
    """Runs flows on asyncio's loop. Cancelling the task cancels what it waits for."""

    def __init__(self, is_loop: bool = False) -> None:
        self.ended = asyncio.Event()
        self._is_loop = is_loop

    async def run(self, flow: Flow[T]) -> T:
        item, result = await self.advance(flow)
        assert item is END
        return result  # type: ignore[no-any-return]

    async def advance(self, flow: Flow[Any]) -> tuple[Any, Any]:
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
                result = await self._perform(request)
            except BaseException as thrown:
                error = thrown

    async def _perform(self, request: Request) -> Any:
        if isinstance(request, Sleep):
            return await self._ends_within(request.seconds)
        if isinstance(request, Run):
            if request.is_slow:
                return await asyncio.to_thread(request.work)
            done = request.work()
            return await done if inspect.isawaitable(done) else done
        if isinstance(request, Locked):
            request.holder.lock = request.holder.lock or asyncio.Lock()
            async with request.holder.lock:
                return await self.run(request.flow)
        assert not isinstance(request, Emit)
        seconds = left(request.until)
        work: Coroutine[Any, Any, Any]
        if isinstance(request, Receive):
            reading = self._until_end if self._is_loop else _AsyncSocket.receive
            work = reading(request.connection)
        elif isinstance(request, Write):
            work = request.connection.write(request.data)
        elif isinstance(request, Connect):
            work = _connected(request.host, request.port)
        else:
            work = request.connection.start_tls(request.context, request.host)
        try:
            return await asyncio.wait_for(work, seconds)
        except asyncio.TimeoutError:  # another class than TimeoutError before Python 3.11
            raise TimeoutError("timed out") from None

    async def _ends_within(self, seconds: float) -> bool:
        if not self._is_loop:  # an event belongs to one loop of asyncio's, but an agent can be used in several
            await asyncio.sleep(seconds)
            return False
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        return self.ended.is_set()

    async def _until_end(self, connection: _AsyncSocket) -> bytes:
        reading = asyncio.ensure_future(connection.receive())
        ending = asyncio.ensure_future(self.ended.wait())
        try:
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else b""
        finally:
            reading.cancel()
            ending.cancel()


class AsyncItems(Generic[T], AsyncIterator[T]):
    """What a loop yields. ``await aclose()`` ends it, also from another task."""

    def __init__(self, shell: AsyncShell, flow: Flow[None]) -> None:
        self._shell = shell
        self._flow = flow
        self._is_busy = False

    async def __anext__(self) -> T:
        if self._shell.ended.is_set():
            raise StopAsyncIteration
        self._is_busy = True
        try:
            item, _ = await self._shell.advance(self._flow)
        except AmsError:
            if self._shell.ended.is_set():
                raise StopAsyncIteration from None
            raise
        finally:
            self._is_busy = False
        if item is END:
            raise StopAsyncIteration
        return item  # type: ignore[no-any-return]

    async def aclose(self) -> None:
        self._shell.ended.set()
        if not self._is_busy:
            self._flow.close()

    async def __aenter__(self) -> "AsyncItems[T]":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
