"""A workspace, as one of its members manages it: each line is one operation of the API."""
from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from . import api
from ._agent import Agent, AsyncAgent
from ._async_shell import AsyncShell
from ._http import Http
from ._operation import Async, M, Owner, Sync, content, contents, pages, request
from ._shells import Shell
from ._source import Identity, Source
from .errors import AmsError

G = TypeVar("G")


class Agents(Owner[M]):
    list = pages(api.list_agents)
    create = request(api.create_agent)


class Members(Owner[M]):
    list = request(api.list_members)
    update_own = request(api.update_own_member)
    change_role = request(api.change_role)
    remove = request(api.remove_member)


class ConnectedApps(Owner[M]):
    """Apps, such as hosted MCP clients, that members connected to agents."""

    list = request(api.list_connected_apps)
    disconnect = request(api.disconnect_app)


class Invitations(Owner[M]):
    list = request(api.list_invitations)
    create = request(api.invite_member)
    revoke = request(api.revoke_invitation)


class Identities(Owner[M]):
    """The phone numbers and Telegram ids by which agents recognize the member whose token is used."""

    list = request(api.list_identities)
    claim = request(api.claim_identity)
    verify = request(api.verify_identity)
    link_telegram = request(api.link_telegram)
    remove = request(api.remove_identity)


class Domains(Owner[M]):
    list = request(api.list_domains)
    add = request(api.add_domain)
    read = request(api.read_domain)
    verify = request(api.verify_domain)
    update = request(api.update_domain)
    remove = request(api.remove_domain)


class PhoneNumbers(Owner[M]):
    list = request(api.list_phone_numbers)
    search = request(api.search_phone_numbers)
    buy = request(api.buy_phone_number)
    release = request(api.release_phone_number)


class OwnTokens(Owner[M]):
    """The tokens of the member whose token is used."""

    list = request(api.list_own_tokens)
    create = request(api.create_own_token)
    revoke = request(api.revoke_own_token)


class WorkspaceOf(Owner[M], Generic[M, G]):
    _shell: Any = Shell
    _agent: Any = Agent

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        retries: int | None = None,
        timeout: float | None = None,
        on_waiting: Callable[[AmsError], object] | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        http = Http(url, token, retries, timeout, on_waiting, ssl_context)
        source = Source(http, self._shell(), Identity(None), "", "")
        super().__init__(source)
        self.agents: Agents[M] = Agents(source)
        self.members: Members[M] = Members(source)
        self.connected_apps: ConnectedApps[M] = ConnectedApps(source)
        self.invitations: Invitations[M] = Invitations(source)
        self.identities: Identities[M] = Identities(source)
        self.domains: Domains[M] = Domains(source)
        self.phone_numbers: PhoneNumbers[M] = PhoneNumbers(source)
        self.tokens: OwnTokens[M] = OwnTokens(source)

    viewer = request(api.read_viewer)
    read = request(api.read_workspace)
    update = request(api.update_workspace)
    delete = request(api.delete_workspace)
    restore = request(api.restore_workspace)
    counts = request(api.count_per_day)
    audit = pages(api.list_audit)
    messages = pages(api.list_workspace_messages)

    @contents
    def export(self: Any) -> object:
        """Everything of the workspace, as a tar archive that is made as it is read."""
        return content(self, "/export", {})

    def agent(self, id: str, **names: str) -> G:
        """One of the workspace's agents; ``client`` and ``machine`` name its client. Makes no request."""
        return self._agent(id=id, http=self._source.http, **names)  # type: ignore[no-any-return]


class Workspace(WorkspaceOf[Sync, Agent]):
    """A workspace, with methods that block; the options are those of Agent."""


class AsyncWorkspace(WorkspaceOf[Async, AsyncAgent]):
    """The same for asyncio."""

    _shell = AsyncShell
    _agent = AsyncAgent
