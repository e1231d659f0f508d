"""Client of the Agent Messaging Service."""
from ._agent import Agent, AsyncAgent, TakenCode
from ._call import NOT_GIVEN, NotGiven, Page
from ._http import VERSION as __version__
from ._message import AsyncAttachment, AsyncMessage, AsyncReceived, Attachment, Message, Received
from ._operation import AsyncContent, AsyncPages, Content, Pages
from ._position import FileStore, MemoryStore, PositionStore
from ._stream import Event, Replaced, StreamEvent, StreamItem, Truncated
from ._webhook import verify_webhook
from ._workspace import AsyncWorkspace, Workspace
from .errors import AmsError

__all__ = [
    "NOT_GIVEN",
    "Agent",
    "AmsError",
    "AsyncAgent",
    "AsyncAttachment",
    "AsyncContent",
    "AsyncMessage",
    "AsyncPages",
    "AsyncReceived",
    "AsyncWorkspace",
    "Attachment",
    "Content",
    "Event",
    "FileStore",
    "MemoryStore",
    "Message",
    "NotGiven",
    "Page",
    "Pages",
    "PositionStore",
    "Received",
    "Replaced",
    "StreamEvent",
    "StreamItem",
    "TakenCode",
    "Truncated",
    "Workspace",
    "__version__",
    "verify_webhook",
]
