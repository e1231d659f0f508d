"""Messages, with what can be done with them."""
from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from . import api
from ._call import Call
from ._flow import Flow
from ._operation import Async, AsyncPages, Either, M, Owner, Pages, Sync, content, contents, is_async, listed
from ._operation import operation, running
from ._position import Progress
from ._source import Source
from ._stream import Event
from .errors import AmsError, field_of

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F")


class AttachmentOf(Owner[M]):
    """A file of a message."""

    def __init__(self, source: Source, message_id: str, index: int, data: api.MessageAttachment) -> None:
        super().__init__(source)
        self.name = data["name"]
        self.type = data["type"]
        self.size = data["size"]
        self._path: dict[str, object] = {"messageId": message_id, "index": index}

    @contents
    def open(self: Any) -> object:
        """Its content, in pieces."""
        return content(self, "/agents/{id}/messages/{messageId}/attachments/{index}", self._path)

    @operation
    def bytes(self: Any) -> Flow[bytes]:
        path = "/agents/{id}/messages/{messageId}/attachments/{index}"
        return (yield from self._source.whole(path, self._path, {}))  # type: ignore[no-any-return]

    @operation
    def text(self: Any) -> Flow[str]:
        """Its text, of documents too, whole: of a PDF, for example. Raises ``invalid_input`` for a file that has none."""
        texts: list[str] = []
        offset: Any = 0
        while offset is not None:
            call = api.read_attachment_text(self._path["messageId"], self._path["index"], offset=offset)
            page = yield from self._source.call(call)
            texts.append(field_of(page, "text"))
            offset = field_of(page, "nextOffset")
        return "".join(texts)

    @operation
    def link(self: Any) -> Flow[api.AttachmentLink]:
        """A link that works without a token, for ten minutes."""
        call = api.link_attachment(self._path["messageId"], self._path["index"])
        return (yield from self._source.call(call))  # type: ignore[no-any-return]


class Attachment(AttachmentOf[Sync]):
    """A file of a message."""


class AsyncAttachment(AttachmentOf[Async]):
    """A file of a message."""


def _on_stored(make: Callable[Concatenate[str, P], Call[T]], what: str) -> Callable[Concatenate[Any, P], Flow[T]]:
    """An operation of the API on a message; ``what`` cannot be done with one that is not stored."""

    def flow(owner: Any, /, *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
        return (yield from owner._source.call(make(owner._stored(what), *args, **kwargs)))  # type: ignore[no-any-return]

    flow.__doc__ = make.__doc__
    return flow


def stored(make: Callable[Concatenate[str, P], Call[T]], what: str) -> Either[P, T, Coroutine[Any, Any, T]]:
    return operation(_on_stored(make, what))


def message_operation(
    flow: Callable[Concatenate[Any, P], Flow[Any]],
) -> Either[P, Message, Coroutine[Any, Any, AsyncMessage]]:
    """A method that is a flow whose result is the JSON of a message."""

    def shown(owner: Any, /, *args: P.args, **kwargs: P.kwargs) -> Flow[Any]:
        return message_of(owner._source, (yield from flow(owner, *args, **kwargs)))

    return running(shown, flow.__doc__)  # type: ignore[no-any-return]


def changing(
    make: Callable[Concatenate[str, P], Call[api.Message]], what: str
) -> Either[P, Message, Coroutine[Any, Any, AsyncMessage]]:
    """One whose result is the changed message."""
    return message_operation(_on_stored(make, what))


def message_pages(make: Callable[P, Call[Any]]) -> Either[P, Pages[Message], AsyncPages[AsyncMessage]]:
    says = make.__doc__
    return listed(make, lambda owner, one: message_of(owner._source, one), says)  # type: ignore[no-any-return]


class MessageOf(api.MessageFields, Owner[M], Generic[M, F]):
    """A message as the API describes it."""

    attachments: list[F]
    # The agent's own key of the thread: `conversation` of the API.
    conversation_key: str | None

    def __init__(self, source: Source, data: dict[str, Any]) -> None:
        api.MessageFields.__init__(self, data)
        Owner.__init__(self, source)
        self.conversation_key = data.get("conversation")
        kind: Any = AsyncAttachment if is_async(self) else Attachment
        self.attachments = [kind(source, self.id, index, one) for index, one in enumerate(data.get("attachments", ()))]

    def attachment(self, index: int) -> F:
        """One of its files, counted from 0."""
        if 0 <= index < len(self.attachments):
            return self.attachments[index]
        raise AmsError("not_found", "There is no attachment with this number.")

    def _stored(self, what: str) -> str:
        """Its id, unless it came to the Message URL: of such a message only the event exists."""
        if self.channel != "url":
            return self.id
        sender = self.data["sender"]
        hint = f" agent.send_to_url('{sender['id']}', …) reaches its sender." if sender["kind"] == "agent" else ""
        said = f"A message to the Message URL is not stored and cannot be {what}.{hint}"
        raise AmsError("not_stored", said)

    @contents
    def raw(self: Any) -> object:
        """The email as it was received, byte for byte."""
        path: dict[str, object] = {"messageId": self._stored("read again")}
        return content(self, "/agents/{id}/messages/{messageId}/raw", path)

    @operation
    def html(self: Any, *, remote_images: bool = False) -> Flow[str]:
        """A received email's HTML as a page without scripts, for an ``<iframe sandbox>``. ``remote_images``: whether images
        on other servers are shown, which tells these that the mail is read."""
        path: dict[str, object] = {"messageId": self._stored("read again")}
        query: dict[str, object] = {"remoteImages": True} if remote_images else {}
        page: bytes = yield from self._source.whole("/agents/{id}/messages/{messageId}/html", path, query)
        return page.decode("utf-8", "replace")

    @operation
    def headers(self: Any) -> Flow[list[api.HeaderField]]:
        """A received email's header fields, in order."""
        if self.channel == "url":
            return []
        return (yield from self._source.call(api.read_message_headers(self.id)))  # type: ignore[no-any-return]

    @operation
    def recipients(self: Any) -> Flow[list[api.Recipient]]:
        """The recipients of a sent message, each with its status."""
        if self.channel == "url":
            return []
        return (yield from self._source.call(api.list_recipients(self.id)))  # type: ignore[no-any-return]

    hidden_text = stored(api.read_hidden_text, "read again")
    reply = changing(api.reply_to_message, "replied to")
    forward = changing(api.forward_message, "forwarded")
    html_link = stored(api.link_message_html, "linked")
    raw_link = stored(api.link_raw_message, "linked")
    delete = stored(api.delete_message, "deleted")
    mark = changing(api.mark_message, "marked")
    release = changing(api.release_message, "released")
    approve = changing(api.approve_message, "approved")
    reject = changing(api.reject_message, "rejected")
    cancel = changing(api.cancel_message, "cancelled")
    unsubscribe = changing(api.unsubscribe, "unsubscribed from")


class Message(MessageOf[Sync, Attachment]):
    """A message as the API describes it, with what can be done with it."""

    def conversation(self) -> Pages[Message]:
        """The messages of its thread, newest first."""
        return _thread(self)  # type: ignore[no-any-return]


class AsyncMessage(MessageOf[Async, AsyncAttachment]):
    """A message as the API describes it, with what can be done with it."""

    def conversation(self) -> AsyncPages[AsyncMessage]:
        """The messages of its thread, newest first."""
        return _thread(self)  # type: ignore[no-any-return]


def _thread(message: Any) -> Any:
    thread = message._stored("part of a conversation")
    make = lambda: api.list_messages(thread=thread)
    return listed(make, lambda owner, one: message_of(owner._source, one), None).__get__(message, None)()


def message_of(source: Source, data: Any) -> Any:
    owner: Owner[Any] = Owner(source)
    field_of(data, "id")
    return AsyncMessage(source, data) if is_async(owner) else Message(source, data)


class _Received:
    """What a loop adds to a message."""

    event: Event
    _progress: Progress

    @operation
    def done(self: Any) -> Flow[None]:
        """Marks the message as handled: it will not be delivered again."""
        yield from self._progress.done(self.event.id)


class Received(_Received, Message):
    """A message of a loop."""


class AsyncReceived(_Received, AsyncMessage):
    """A message of a loop."""


def received_of(source: Source, event: Event, data: dict[str, Any], progress: Progress) -> Any:
    kind: Any = AsyncReceived if is_async(Owner(source)) else Received
    received = kind(source, data)
    received.event = event
    received._progress = progress
    return received


def data_of_url(event: Event) -> dict[str, Any]:
    """A message to the Message URL: all that exists of it is the event."""
    sender = event.sender
    text = event.text or ""
    nothing: list[Any] = []
    return {
        "id": event.message_id,
        "channel": "url",
        "sender": sender,
        "direction": "inbound",
        "counterpart": sender["email"] or sender["phone"] or sender["id"] or "",
        "counterpartName": sender["name"],
        **{name: nothing for name in ("to", "cc", "bcc", "attachments", "checks", "labels")},
        "metadata": {},
        "text": text,
        "replyText": text,
        "status": "received",
        "mayInstruct": event.may_instruct,
        "createdAt": event.created_at,
    }
