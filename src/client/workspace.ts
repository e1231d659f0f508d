import { Agent, type AgentOptions } from './agent.ts'
import type { components, operations } from './api.ts'
import { type BodyOf, type Call, type CallOptions, callOf, type QueryOf } from './call.ts'
import { type ClientOptions, Http } from './http.ts'
import { List } from './list.ts'
import { type ListOptions, queryOf } from './message.ts'

type Schemas = components['schemas']
type CountRange = QueryOf<operations['countPerDay']>
type AuditFilter = Omit<QueryOf<operations['listAudit']>, 'cursor'>

const agentsOf = (http: Http, call: Call) => ({
  /** Oldest first. */
  list: ({ metadata, signal }: { metadata?: Record<string, string> } & CallOptions = {}) =>
    new List<Schemas['Agent']>((cursor) =>
      http.page({ method: 'GET', path: '/agents', query: { metadata, cursor }, signal }),
    ),
  /** The new agent has an email address immediately. */
  create: (agent: BodyOf<operations['createAgent']>, options?: CallOptions) =>
    call('post', '/agents', { body: agent, ...options }),
})

const membersOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/members', { ...options }),
  /** Changes the name or the settings of the member whose token is used. */
  updateOwn: (changes: BodyOf<operations['updateOwnMember']>, options?: CallOptions) =>
    call('patch', '/members/me', { body: changes, ...options }),
  changeRole: (memberId: string, role: BodyOf<operations['changeRole']>['role'], options?: CallOptions) =>
    call('patch', '/members/{memberId}', { path: { memberId }, body: { role }, ...options }),
  remove: (memberId: string, options?: CallOptions) =>
    call('delete', '/members/{memberId}', { path: { memberId }, ...options }),
})

/** Apps, such as hosted MCP clients, that members connected to agents. */
const connectedAppsOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/connected-apps', { ...options }),
  disconnect: (appId: string, options?: CallOptions) =>
    call('delete', '/connected-apps/{appId}', { path: { appId }, ...options }),
})

const invitationsOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/members/invitations', { ...options }),
  create: (invitation: BodyOf<operations['inviteMember']>, options?: CallOptions) =>
    call('post', '/members/invitations', { body: invitation, ...options }),
  revoke: (invitationId: string, options?: CallOptions) =>
    call('delete', '/members/invitations/{invitationId}', { path: { invitationId }, ...options }),
})

type IdentityPath = operations['removeIdentity']['parameters']['path']

/** The phone numbers and Telegram ids by which agents recognize the member whose token is used. */
const identitiesOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/members/me/identities', { ...options }),
  /** Sends a code to a phone number. */
  claim: (identity: BodyOf<operations['claimIdentity']>, options?: CallOptions) =>
    call('post', '/members/me/identities', { body: identity, ...options }),
  verify: (code: BodyOf<operations['verifyIdentity']>, options?: CallOptions) =>
    call('post', '/members/me/identities/verify', { body: code, ...options }),
  /** The link with which a Telegram account is verified. */
  linkTelegram: (body: BodyOf<operations['linkTelegram']> = {}, options?: CallOptions) =>
    call('post', '/members/me/identities/telegram', { body, ...options }),
  remove: (channel: IdentityPath['channel'], value: string, options?: CallOptions) =>
    call('delete', '/members/me/identities/{channel}/{value}', { path: { channel, value }, ...options }),
})

const domainsOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/domains', { ...options }),
  add: (name: string, options?: CallOptions) => call('post', '/domains', { body: { name }, ...options }),
  read: (domainId: string, options?: CallOptions) =>
    call('get', '/domains/{domainId}', { path: { domainId }, ...options }),
  verify: (domainId: string, options?: CallOptions) =>
    call('post', '/domains/{domainId}/verify', { path: { domainId }, ...options }),
  /** Sets its catch-all agent. */
  update: (domainId: string, changes: BodyOf<operations['updateDomain']>, options?: CallOptions) =>
    call('patch', '/domains/{domainId}', { path: { domainId }, body: changes, ...options }),
  remove: (domainId: string, options?: CallOptions) =>
    call('delete', '/domains/{domainId}', { path: { domainId }, ...options }),
})

const phoneNumbersOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/phone-numbers', { ...options }),
  search: (query: QueryOf<operations['searchPhoneNumbers']>, options?: CallOptions) =>
    call('get', '/phone-numbers/available', { query, ...options }),
  buy: (value: string, options?: CallOptions) =>
    call('post', '/phone-numbers', { body: { value }, ...options }),
  release: (phoneNumberId: string, options?: CallOptions) =>
    call('delete', '/phone-numbers/{phoneNumberId}', { path: { phoneNumberId }, ...options }),
})

/** The tokens of the member whose token is used. */
const tokensOf = (call: Call) => ({
  list: (options?: CallOptions) => call('get', '/tokens', { ...options }),
  create: (token: BodyOf<operations['createOwnToken']>, options?: CallOptions) =>
    call('post', '/tokens', { body: token, ...options }),
  revoke: (tokenId: string, options?: CallOptions) =>
    call('delete', '/tokens/{tokenId}', { path: { tokenId }, ...options }),
})

/** A workspace, as one of its members manages it. */
export class Workspace {
  readonly agents: ReturnType<typeof agentsOf>
  readonly members: ReturnType<typeof membersOf>
  readonly connectedApps: ReturnType<typeof connectedAppsOf>
  readonly invitations: ReturnType<typeof invitationsOf>
  readonly identities: ReturnType<typeof identitiesOf>
  readonly domains: ReturnType<typeof domainsOf>
  readonly phoneNumbers: ReturnType<typeof phoneNumbersOf>
  readonly tokens: ReturnType<typeof tokensOf>
  readonly #http: Http
  readonly #call: Call

  constructor(options: ClientOptions = {}) {
    this.#http = new Http(options)
    this.#call = callOf(this.#http)
    this.agents = agentsOf(this.#http, this.#call)
    this.members = membersOf(this.#call)
    this.connectedApps = connectedAppsOf(this.#call)
    this.invitations = invitationsOf(this.#call)
    this.identities = identitiesOf(this.#call)
    this.domains = domainsOf(this.#call)
    this.phoneNumbers = phoneNumbersOf(this.#call)
    this.tokens = tokensOf(this.#call)
  }

  /** One of the workspace's agents. Makes no request. */
  agent(id: string, options: Pick<AgentOptions, 'client' | 'machine'> = {}): Agent {
    return new Agent({ ...options, id }, this.#http)
  }

  /** Who the token belongs to, and what it may be used for. */
  viewer(options: CallOptions = {}): Promise<Schemas['Viewer']> {
    return this.#call('get', '/viewer', options)
  }

  read(options: CallOptions = {}): Promise<Schemas['Workspace']> {
    return this.#call('get', '/workspace', options)
  }

  update(
    change: BodyOf<operations['updateWorkspace']>,
    options: CallOptions = {},
  ): Promise<Schemas['Workspace']> {
    return this.#call('patch', '/workspace', { body: change, ...options })
  }

  /** Has the workspace deleted in 24 hours. `restore` cancels it. */
  delete(options: CallOptions = {}): Promise<Schemas['Workspace']> {
    return this.#call('delete', '/workspace', options)
  }

  restore(options: CallOptions = {}): Promise<Schemas['Workspace']> {
    return this.#call('post', '/workspace/restore', options)
  }

  /** Everything of the workspace, as a tar archive that is made as it is read. */
  export(options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#http.content('/export', options.signal)
  }

  /** The messages of all agents, newest first. `agent(agentId).message(id)` returns one that can be answered. */
  messages({ signal, ...filter }: ListOptions = {}): List<Schemas['WorkspaceMessage']> {
    const query = queryOf(filter)
    return new List((cursor) =>
      this.#call('get', '/messages', { query: cursor === undefined ? query : { ...query, cursor }, signal }),
    )
  }

  /** What happened each day (UTC), of the last 30 days by default. */
  counts({ signal, ...range }: CountRange & CallOptions = {}): Promise<Schemas['DayCounts'][]> {
    return this.#call('get', '/counts', { query: range, signal })
  }

  /** Who revealed secrets, created tokens, changed members and so on, newest first. */
  audit({ signal, ...filter }: AuditFilter & CallOptions = {}): List<Schemas['AuditEntry']> {
    return new List((cursor) =>
      this.#call('get', '/audit', { query: cursor === undefined ? filter : { ...filter, cursor }, signal }),
    )
  }
}
