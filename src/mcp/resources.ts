import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import { findAgent, listAgents } from '../agent/index.ts'
import { AppError } from '../core/errors.ts'
import { uuid } from '../core/rules.ts'
import { ensureScope, hasScope } from '../core/scopes.ts'
import type { Feed } from '../event/index.ts'
import { listFields } from '../message/index.ts'
import type { Viewer } from '../workspace/index.ts'
import type { Call } from './call/tool.ts'
import { Fence } from './outside-text/fence.ts'
import { labelled } from './outside-text/label.ts'
import { LISTED, listView } from './view/message.ts'

/** Each agent's inbox as a resource, so that hosts without the Events extension can be notified of changes. */

const SCHEME = 'inbox://'
const uriOf = (agentId: string): string => `${SCHEME}${agentId}`

const MIME = 'application/json'
const MAX_INBOXES = 100
const NEWEST = 20
/** What it takes to read an inbox, and to hear of changes of it. */
const [READING, HEARING] = ['messages:read', 'events'] as const

/** The agent whose inbox a URI names; null for any other URI. */
const agentOfUri = (uri: string): string | null =>
  (uri.startsWith(SCHEME) && uuid.safeParse(uri.slice(SCHEME.length)).data) || null

export const listInboxes = async ({ deps, viewer }: Call) => ({
  resources: (await readableBy(deps, viewer)).map(({ id, name }) => ({
    uri: uriOf(id),
    name: `Inbox of ${name}`,
    description: 'The newest messages.',
    mimeType: MIME,
  })),
})

/** The agents whose inboxes a viewer may read: none without the scope. */
const readableBy = async (deps: Call['deps'], viewer: Viewer) =>
  hasScope(viewer, READING) ? (await listAgents(deps, viewer, { limit: MAX_INBOXES })).items : []

export const INBOX_TEMPLATES = {
  resourceTemplates: [
    {
      uriTemplate: `${SCHEME}{agentId}`,
      name: 'Inbox',
      description: "An agent's newest messages.",
      mimeType: MIME,
    },
  ],
}

const isDenied = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden')

/** The newest messages. An inbox that the viewer may not read is reported as not found. */
export const readInbox = async ({ deps, viewer }: Call, uri: string) => {
  const agentId = agentOfUri(uri)
  if (agentId === null) throw new ResourceNotFoundError(uri)
  ensureScope(viewer, READING)
  const fence = new Fence()
  try {
    const { items } = await listFields(deps, viewer, agentId, { limit: NEWEST, fields: LISTED })
    const text = JSON.stringify(listView(items, fence))
    return { contents: [{ uri, mimeType: MIME, text }], ...labelled(fence.label) }
  } catch (error) {
    throw isDenied(error) ? new ResourceNotFoundError(uri) : error
  }
}

const nullIfDenied = (error: unknown): null => {
  if (isDenied(error)) return null
  throw error
}

/** The agents whose inboxes these URIs name and the viewer may read. Throws `forbidden` without the scope. */
export const readableAgents = async ({ deps, viewer }: Call, uris: readonly unknown[]): Promise<string[]> => {
  ensureScope(viewer, HEARING)
  const ids = [...new Set(uris.map((uri) => (typeof uri === 'string' ? agentOfUri(uri) : null)))].filter(
    (id) => id !== null,
  )
  const found = await Promise.all(
    ids.slice(0, MAX_INBOXES).map((id) => findAgent(deps, viewer, id).catch(nullIfDenied)),
  )
  return found.filter((agent) => agent !== null).map(({ id }) => id)
}

type Changed = { kind: 'resource_updated'; uri: string }
type Listener = (event: Changed) => void

/** Changes of one inbox within this time are announced once. */
const GATHER_MS = 250

/** Notifies the SDK's `subscriptions/listen` streams of changed inboxes, in whichever process they changed. */
export class InboxChanges {
  readonly #listeners = new Set<Listener>()
  readonly #changed = new Set<string>()
  readonly #stop: () => void
  #gathering: NodeJS.Timeout | null = null

  constructor(feed: Pick<Feed, 'onNews'>) {
    this.#stop = feed.onNews((agentId) => this.#hear(agentId))
  }

  stop(): void {
    this.#stop()
    if (this.#gathering) clearTimeout(this.#gathering)
  }

  publish = (event: { kind: string; uri?: string }): void => {
    if (event.kind === 'resource_updated' && event.uri)
      this.#tell({ kind: 'resource_updated', uri: event.uri })
  }

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #hear(agentId: string): void {
    if (this.#listeners.size === 0) return
    this.#changed.add(agentId)
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null
      for (const id of this.#changed) this.#tell({ kind: 'resource_updated', uri: uriOf(id) })
      this.#changed.clear()
    }, GATHER_MS)
  }

  #tell(event: Changed): void {
    for (const listener of this.#listeners) listener(event)
  }
}
