"""Methods that are written once, as flows: they return their result where sockets block, and an awaitable with asyncio."""
from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ._async_shell import AsyncItems, AsyncShell
from ._call import Call, Page
from ._flow import Emit, Flow
from ._shells import Items, Shell
from ._source import Source
from .errors import field_of

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
A = TypeVar("A")


class Sync:
    """Its methods block."""


class Async:
    """Its methods are awaited."""


M = TypeVar("M")


class Owner(Generic[M]):
    """What has operations; M is Sync or Async."""

    def __init__(self, source: Source) -> None:
        self._source = source


class Either(Generic[P, S, A]):
    """A method with the result S of an owner that blocks, and A of one that is awaited."""

    def __init__(self, call: Callable[..., Any], says: str | None) -> None:
        self._call = call
        self.__doc__ = says

    @overload
    def __get__(self, owner: Owner[Sync], kind: Any) -> Callable[P, S]: ...

    @overload
    def __get__(self, owner: Owner[Async], kind: Any) -> Callable[P, A]: ...

    @overload
    def __get__(self, owner: None, kind: Any) -> Either[P, S, A]: ...

    def __get__(self, owner: Any, kind: Any) -> Any:
        if owner is None:
            return self

        def bound(*args: Any, **kwargs: Any) -> Any:
            return self._call(owner, *args, **kwargs)

        bound.__doc__ = self.__doc__
        return bound


def running(flow: Callable[..., Flow[Any]], says: str | None) -> Any:
    return Either(lambda owner, *args, **kwargs: owner._source.shell.run(flow(owner, *args, **kwargs)), says)


def operation(flow: Callable[Concatenate[Any, P], Flow[T]]) -> Either[P, T, Coroutine[Any, Any, T]]:
    """A method that is a flow."""
    return running(flow, flow.__doc__)  # type: ignore[no-any-return]


def calling(make: Callable[P, Call[T]]) -> Callable[Concatenate[Any, P], Flow[T]]:
    """An operation of the API as a flow."""

    def flow(owner: Any, /, *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
        return (yield from owner._source.call(make(*args, **kwargs)))  # type: ignore[no-any-return]

    flow.__doc__ = make.__doc__
    return flow


def request(make: Callable[P, Call[T]]) -> Either[P, T, Coroutine[Any, Any, T]]:
    """A method that is an operation of the API."""
    return operation(calling(make))


class Listing(Generic[T]):
    """A list that fetches its pages while it is iterated over."""

    def __init__(self, source: Source, call: Callable[[], Call[Any]], shown: Callable[[Any], T]) -> None:
        self._source = source
        self._call = call
        self._shown = shown

    def _read(self, cursor: str | None) -> Flow[Page[T]]:
        call = self._call()
        if cursor is not None:
            call.query["cursor"] = cursor
            call.query.pop("after", None)  # a list begins with one or the other
        content, linked = yield from self._source.page(call)
        if isinstance(content, list):
            return Page([self._shown(one) for one in content], linked)
        following = field_of(content, "nextCursor")
        return Page([self._shown(one) for one in field_of(content, "items")], None if following is None else str(following))

    def _each(self) -> Flow[None]:
        cursor: str | None = None
        while True:
            page = yield from self._read(cursor)
            for item in page.items:
                yield Emit(item)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _all(self, most: int | None) -> Flow[list[T]]:
        items: list[T] = []
        cursor: str | None = None
        while most is None or len(items) < most:
            page = yield from self._read(cursor)
            items += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
        return items[:most]


class Pages(Listing[T]):
    def __iter__(self) -> Iterator[T]:
        return Items(Shell(), self._each())

    def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or the one that starts at a cursor."""
        return self._source.shell.run(self._read(cursor))  # type: ignore[no-any-return]

    def all(self, most: int | None = None) -> list[T]:
        """All items, at most so many of them."""
        return self._source.shell.run(self._all(most))  # type: ignore[no-any-return]


class AsyncPages(Listing[T]):
    def __aiter__(self) -> AsyncIterator[T]:
        return AsyncItems(AsyncShell(), self._each())

    async def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or the one that starts at a cursor."""
        return await self._source.shell.run(self._read(cursor))  # type: ignore[no-any-return]

    async def all(self, most: int | None = None) -> list[T]:
        """All items, at most so many of them."""
        return await self._source.shell.run(self._all(most))  # type: ignore[no-any-return]


def is_async(owner: Owner[Any]) -> bool:
    return isinstance(owner._source.shell, AsyncShell)


def listed(make: Callable[..., Call[Any]], shown: Callable[[Owner[Any], Any], Any], says: str | None) -> Any:
    def call(owner: Owner[Any], *args: Any, **kwargs: Any) -> Any:
        kind: Any = AsyncPages if is_async(owner) else Pages
        return kind(owner._source, lambda: make(*args, **kwargs), lambda one: shown(owner, one))

    return Either(call, says)


def pages(make: Callable[P, Call[Page[T]]]) -> Either[P, Pages[T], AsyncPages[T]]:
    """A method that is a list of the API."""
    return listed(make, lambda _, one: one, make.__doc__)  # type: ignore[no-any-return]


class Content(Items[bytes]):
    """A file, in pieces. It is asked for when the first one is read."""

    def read(self) -> bytes:
        return b"".join(self)


class AsyncContent(AsyncItems[bytes]):
    """A file, in pieces. It is asked for when the first one is read."""

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self])


def _pieces(source: Source, path: str, values: dict[str, object]) -> Flow[None]:
    response = yield from source.content(path, values, {})
    try:
        while piece := (yield from source.http.piece(response)):
            yield Emit(piece)
    finally:
        response.close()


def content(owner: Owner[Any], path: str, values: dict[str, object]) -> Any:
    flow = _pieces(owner._source, path, values)
    return AsyncContent(AsyncShell(), flow) if is_async(owner) else Content(Shell(), flow)


def contents(open_: Callable[Concatenate[Any, P], object]) -> Either[P, Content, AsyncContent]:
    """A method whose result is a file."""
    return Either(open_, open_.__doc__)
