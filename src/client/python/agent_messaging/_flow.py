"""What the core asks of its surroundings. A flow is a generator that yields these requests and gets their results, so
that the same code runs with blocking sockets and with asyncio: see _shells.py."""
from __future__ import annotations

from dataclasses import dataclass
from collections.abc import Callable, Generator
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Connection(Protocol):
    def close(self) -> None:
        """At once, without waiting for anything."""


@dataclass(frozen=True)
class Connect:
    """Opens a connection, until a time of ``time.monotonic``; OSError like all that follows."""

    host: str
    port: int
    until: float | None


@dataclass(frozen=True)
class StartTls:
    connection: Any
    context: Any
    host: str
    until: float | None


@dataclass(frozen=True)
class Write:
    connection: Any
    data: bytes
    until: float | None


@dataclass(frozen=True)
class Receive:
    """The next bytes, none at the end."""

    connection: Any
    until: float | None


@dataclass(frozen=True)
class Sleep:
    """True at once if the loop is to end."""

    seconds: float


@dataclass(frozen=True)
class Run:
    """Calls a function, which may be a coroutine function with asyncio. ``is_slow``: not on asyncio's thread."""

    work: Callable[[], Any]
    is_slow: bool = False


@dataclass(frozen=True)
class Locked:
    """Runs a flow while no other one with this holder runs."""

    holder: "Holder"
    flow: "Flow[Any]"


@dataclass(frozen=True)
class Emit(Generic[T]):
    """An item for whoever iterates."""

    item: T


class Holder:
    """Where the surroundings keep their lock."""

    lock: Any = None


Request = Connect | StartTls | Write | Receive | Sleep | Run | Locked | Emit[Any]
Flow = Generator[Request, Any, T]
