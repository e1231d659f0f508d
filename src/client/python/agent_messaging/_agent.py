"""An agent: its inbox, and all that belongs to it."""
from __future__ import annotations

import io
import math
import re
import ssl
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Concatenate, Literal, ParamSpec, TypedDict

from . import api
from ._async_shell import AsyncItems, AsyncShell
from ._call import NOT_GIVEN, Call, NotGiven, Page
from ._flow import Flow
from ._http import VERSION, Http
from ._inbox import From, ask_question, next_message, read_events, read_inbox, read_position, take_code
from ._message import AsyncMessage, AsyncReceived, Message, Received, message_operation, message_pages
from ._operation import Async, Either, M, Owner, Sync, calling, content, contents, is_async, operation, pages
from ._operation import request, running
from ._position import PositionStore
from ._resources import Access, Addresses, Drafts, Questions, Secrets, Suppressions, Threads, Tokens, Webhooks
from ._shells import Items, Shell
from ._source import Identity, Source
from ._stream import Event, StreamItem
from .errors import AmsError

P = ParamSpec("P")
TakenCode = TypedDict(
    "TakenCode",
    {"value": str, "kind": str, "purpose": str, "domain": str | None, "messageId": str, "from": str, "at": str},
    total=False,
)
# A mail or a mailbox: whole, or a function that opens it, again for each attempt.
MailContent = bytes | str | Callable[[], BinaryIO]
_PIECE = 65_536


def _loop(flow: Callable[..., Flow[None]], is_patient: bool) -> Any:
    """A method that yields what a flow emits, in surroundings of its own: it can be ended by itself."""

    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        shell: Any = AsyncShell(is_loop=True) if is_async(owner) else Shell()
        kind: Any = AsyncItems if is_async(owner) else Items
        return kind(shell, flow(owner, owner._source.within(shell, is_patient), *args, **kwargs))

    return Either(call, flow.__doc__)


def _inbox(
    flow: Callable[Concatenate[Any, Source, P], Flow[None]],
) -> Either[P, Items[Received], AsyncItems[AsyncReceived]]:
    return _loop(flow, is_patient=True)  # type: ignore[no-any-return]


def _stream(
    flow: Callable[Concatenate[Any, Source, P], Flow[None]],
) -> Either[P, Items[StreamItem], AsyncItems[StreamItem]]:
    return _loop(flow, is_patient=False)  # type: ignore[no-any-return]


def _waiting(
    flow: Callable[Concatenate[Any, P], Flow[Any]],
) -> Either[P, Message | None, Coroutine[Any, Any, AsyncMessage | None]]:
    return running(flow, flow.__doc__)  # type: ignore[no-any-return]


def _log(
    *, after: int = 0, types: Sequence[api.EventType] | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN
) -> Call[Page[api.Event]]:
    """The event log, oldest first; of all types by default."""
    return api.list_events(after=after, types=types if isinstance(types, NotGiven) else ",".join(types), limit=limit)


def _pieces(content: MailContent, on_progress: Callable[[int], object] | None) -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        sent = 0
        whole = content.encode() if isinstance(content, str) else content
        with io.BytesIO(whole) if isinstance(whole, bytes) else whole() as file:
            while piece := file.read(_PIECE):
                yield piece
                sent += len(piece)
                if on_progress:
                    on_progress(sent)

    return pieces


class AgentOf(Owner[M]):
    _shell: Any = Shell

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        id: str | None = None,
        client: str = f"agent-messaging-python/{VERSION}",
        machine: str = "unknown",
        retries: int | None = None,
        timeout: float | None = None,
        on_waiting: Callable[[AmsError], object] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        http: Http | None = None,
    ) -> None:
        http = http or Http(url, token, retries, timeout, on_waiting, ssl_context)
        source = Source(http, self._shell(), Identity(id), client, machine)
        super().__init__(source)
        self.secrets: Secrets[M] = Secrets(source)
        self.access: Access[M] = Access(source)
        self.addresses: Addresses[M] = Addresses(source)
        self.tokens: Tokens[M] = Tokens(source)
        self.suppressions: Suppressions[M] = Suppressions(source)
        self.drafts: Drafts[M] = Drafts(source)
        self.threads: Threads[M] = Threads(source)
        self.questions: Questions[M] = Questions(source)
        self.webhooks: Webhooks[M] = Webhooks(source)

    read = request(api.read_agent)
    update = request(api.update_agent)
    delete = request(api.delete_agent)
    mark = request(api.mark_messages)
    release = request(api.release_messages)
    delete_messages = request(api.delete_messages)
    counts = request(api.count_agent_per_day)
    listeners = request(api.list_listeners)
    send = message_operation(calling(api.send_message))
    log = pages(_log)
    list = message_pages(api.list_messages)

    @operation
    def id(self: Any) -> Flow[str]:
        """The agent's id: with its own token, the service is asked once."""
        return (yield from self._source.id())  # type: ignore[no-any-return]

    @contents
    def export(self: Any) -> object:
        """Everything of the agent, as a tar archive that is made as it is read."""
        return content(self, "/agents/{id}/export", {})

    @_inbox
    def messages(
        self: Any,
        source: Source,
        *,
        store: PositionStore | None = None,
        from_: From = "now",
        types: Sequence[api.EventType] | None = None,
        on_truncated: Callable[[int], object] | None = None,
    ) -> Flow[None]:
        """Connects as the agent's client and yields its new messages, over interruptions of the network and restarts of
        the service, until the loop is left or closed. Each message comes at least once: after a crash, those whose
        ``done`` was not reached come again. Raises ``replaced`` when another client connects.

        ``store`` keeps the position, by default only in memory; ``from_`` says where an empty one starts. ``types``: whose
        events' messages to yield, by default ``message.received``. ``on_truncated`` is called when events before an id were
        removed (after 7 days) while nobody listened."""
        return read_inbox(source, store, from_, types, on_truncated)

    @_stream
    def events(
        self: Any, source: Source, after: int, *, types: Sequence[api.EventType] | None = None
    ) -> Flow[None]:
        """The same stream as it comes, without messages or a stored position. Ends after ``Replaced``."""
        return read_events(source, after, types)

    @operation
    def position(self: Any) -> Flow[int]:
        """The id of the agent's newest event, 0 if there was none. Remember it before you cause the mail to wait for."""
        return (yield from read_position(self._source))

    @_waiting
    def next(self: Any, *, from_: str | None = None, after: int | None = None, seconds: float = 30) -> Flow[Any]:
        """Waits for a message, without being the agent's client: no loop ends for it. None if none came in time. ``from_``: an
        email address, ``*@example.com``, a phone number or a Telegram id. ``after``: the id of an event, by default the
        newest. Messages to the Message URL go to the agent's client only."""
        return (yield from next_message(self._source, from_, after, seconds))

    @operation
    def code(
        self: Any,
        *,
        from_: str | NotGiven = NOT_GIVEN,
        kind: Literal["code", "link"] | NotGiven = NOT_GIVEN,
        purpose: Literal["sign_in", "verify", "reset", "other"] | NotGiven = NOT_GIVEN,
        since: datetime | str | NotGiven = NOT_GIVEN,
        seconds: float = 30,
        unproven: bool | NotGiven = NOT_GIVEN,
        as_: str | NotGiven = NOT_GIVEN,
    ) -> Flow[TakenCode | None]:
        """Takes the newest code or link that nobody has taken, or waits for one; None if none came in time. ``from_``: an
        address, ``*@example.com`` or ``example.com``. ``since``: by default 10 minutes ago. With ``as_`` the value becomes the
        agent's secret of that name for 10 minutes, and is left out of the answer."""
        wanted = {"from_": from_, "kind": kind, "purpose": purpose, "unproven": unproven, "as_": as_}
        return (yield from take_code(self._source, wanted, seconds, since))  # type: ignore[no-any-return]

    @operation
    def ask(
        self: Any,
        text: str,
        *,
        options: Sequence[str] | NotGiven = NOT_GIVEN,
        to: Sequence[str] | NotGiven = NOT_GIVEN,
        expires_in: int | NotGiven = NOT_GIVEN,
        seconds: float = math.inf,
        key: str | None = None,
    ) -> Flow[api.Question]:
        """Asks members a question, and waits for it to end: it has an ``answer``, or has expired or was withdrawn. With
        ``seconds`` it may still be open then; ``questions.read`` looks again. ``expires_in``: in seconds, by default a day."""
        asked = {"text": text, "options": options, "to": to, "expires_in": expires_in, "key": key}
        return (yield from ask_question(self._source, asked, seconds))  # type: ignore[no-any-return]

    @message_operation
    def message(self: Any, message_id: str) -> Flow[Any]:
        return (yield from self._source.call(api.read_message(message_id)))

    @operation
    def import_(
        self: Any,
        content: MailContent,
        *,
        type: Literal["message/rfc822", "application/mbox"],
        on_progress: Callable[[int], object] | None = None,
    ) -> Flow[api.Import]:
        """Imports a mail or a mailbox of up to 1 GiB: the messages get the status ``imported``, and wake nobody. Mails that the
        agent already has change nothing, so it can be repeated. ``on_progress`` is told how many bytes were sent."""
        return (yield from self._source.upload("/agents/{id}/imports", type, _pieces(content, on_progress)))  # type: ignore[no-any-return]

    @operation
    def send_to_url(self: Any, agent: str, text: str, *, key: str | None = None) -> Flow[api.Event]:
        """Sends to the Message URL of an agent of the workspace, given by its id or that URL. The token goes to this service
        only, whatever host the URL names."""
        found = re.search(r"/a/([^/?#]+)/?\Z", agent)
        call = api.send_to_message_url(text, key=key) if found else api.send_to_url(text, key=key)
        call.values["id"] = found.group(1) if found else agent
        return (yield from self._source.call(call))  # type: ignore[no-any-return]


class Agent(AgentOf[Sync]):
    """An agent, with methods that block. ``url`` and ``token`` default to the environment variables AMS_URL and AMS_TOKEN;
    ``id`` is needed only with a member's token. Failed requests are repeated ``retries`` times (6), and an attempt may take
    ``timeout`` seconds (60). ``on_waiting`` is told once when requests are repeated because the service gives no answer; by
    default that is a warning."""


class AsyncAgent(AgentOf[Async]):
    """The same for asyncio: methods are awaited, and ``messages``, ``events`` and lists are read with ``async for``."""

    _shell = AsyncShell
