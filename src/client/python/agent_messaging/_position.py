"""Where a reader of an agent's events stands: the id up to which all of them are done."""
from __future__ import annotations

import os
import re
import secrets
from collections.abc import Awaitable
from typing import Protocol

from ._flow import Flow, Holder, Locked, Run
from .errors import AmsError


class PositionStore(Protocol):
    """Keeps a position. With asyncio, both functions may be coroutine functions."""

    def load(self) -> int | None | Awaitable[int | None]:
        """The stored position, or None if there is none yet."""

    def save(self, position: int) -> None | Awaitable[None]: ...


class MemoryStore:
    """Forgets the position when the process ends."""

    def __init__(self, position: int | None = None) -> None:
        self.position = position

    def load(self) -> int | None:
        return self.position

    def save(self, position: int) -> None:
        self.position = position


class FileStore:
    """Keeps the position in a file that only this user can read. A crash leaves the old or the new position."""

    def __init__(self, path: str | "os.PathLike[str]") -> None:
        self.path = os.fspath(path)

    def load(self) -> int | None:
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                text = file.read(100)
        except FileNotFoundError:
            return None
        if re.fullmatch(r"[0-9]{1,15}\s*", text):
            return int(text)
        raise AmsError("invalid_input", f"{self.path}: does not contain a position; remove it to start over")

    def save(self, position: int) -> None:
        folder = os.path.dirname(self.path)
        if folder:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        draft = f"{self.path}.{secrets.token_hex(8)}"
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(f"{position}\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, self.path)
        except BaseException:
            try:
                os.unlink(draft)
            except OSError:
                pass
            raise


class Progress(Holder):
    """Keeps the stored position below every event that was delivered and is not done."""

    def __init__(self, store: PositionStore, position: int) -> None:
        self._store = store
        self._open: set[int] = set()
        self._delivered = position
        self._saved = position

    def deliver(self, event_id: int) -> Flow[None]:
        yield Locked(self, self._change(delivered=event_id))

    def done(self, event_id: int) -> Flow[None]:
        """Returns when the position is stored, as far as earlier events allow it to move."""
        yield Locked(self, self._change(done=event_id))

    def skip_to(self, position: int) -> Flow[None]:
        """Goes on after ``position``: the events up to it no longer exist."""
        yield Locked(self, self._change(skipped=position))

    def _change(self, delivered: int = 0, done: int = 0, skipped: int = 0) -> Flow[None]:
        self._delivered = max(self._delivered, delivered, skipped)
        if delivered:
            self._open.add(delivered)
            return
        self._open.discard(done)
        position = min(self._open) - 1 if self._open else self._delivered
        if position > self._saved:
            yield Run(lambda: self._store.save(position), is_slow=isinstance(self._store, FileStore))
            self._saved = position  # not if it failed: the next one tries again
