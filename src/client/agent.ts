import {
  accessOf,
  addressesOf,
  draftsOf,
  secretsOf,
  suppressionsOf,
  threadsOf,
  tokensOf,
  webhooksOf,
} from './agent-resources.ts'
import type { components, operations } from './api.ts'
import { type AgentCall, agentCallOf, type BodyOf, type CallOptions, callOf, type QueryOf } from './call.ts'
import { type CodeOptions, type TakenCode, takeCode } from './code.ts'
import { AmsError } from './errors.ts'
import { type ClientOptions, Http } from './http.ts'
import { type ImportOptions, importMails, type MailContent } from './import.ts'
import {
  type InboxOptions,
  type NextOptions,
  nextMessage,
  type Received,
  readInbox,
  readPosition,
} from './inbox.ts'
import { List } from './list.ts'
import {
  exportOf,
  type ListOptions,
  list,
  type Message,
  messageOf,
  type Send,
  type SendOptions,
  send,
} from './message.ts'
import { type AskOptions, ask, type Question, questionsOf } from './question.ts'
import { type Event, type EventType, readStream, type Source, type StreamItem } from './stream.ts'

type CountRange = QueryOf<operations['countAgentPerDay']>
type Schemas = components['schemas']
type MarkMany = Omit<BodyOf<operations['markMessages']>, 'ids'>
type Update = BodyOf<operations['updateAgent']>

export interface AgentOptions extends ClientOptions {
  /** The agent's id; needed only with a member's token. */
  id?: string | undefined
  /** Shown to members as the name of the connected client. */
  client?: string | undefined
  /** Shown to members as the machine that the client runs on. */
  machine?: string | undefined
}

export interface EventsOptions extends CallOptions {
  /** Only events with a greater id. */
  after: number
  /** Types of the events to receive; `message.received` alone by default. */
  types?: readonly EventType[] | undefined
}

/** An agent: its inbox, and all that belongs to it. */
export class Agent {
  readonly secrets: ReturnType<typeof secretsOf>
  readonly access: ReturnType<typeof accessOf>
  readonly addresses: ReturnType<typeof addressesOf>
  readonly tokens: ReturnType<typeof tokensOf>
  readonly suppressions: ReturnType<typeof suppressionsOf>
  readonly drafts: ReturnType<typeof draftsOf>
  readonly threads: ReturnType<typeof threadsOf>
  readonly questions: ReturnType<typeof questionsOf>
  readonly webhooks: ReturnType<typeof webhooksOf>
  readonly #source: Source
  readonly #call: AgentCall

  /** `http` is that of a workspace whose agent this is. */
  constructor(options: AgentOptions = {}, http: Http = new Http(options)) {
    let found = options.id === undefined ? undefined : Promise.resolve(options.id)
    const id = (via = http) => {
      found ??= findId(via).catch((error: unknown) => {
        found = undefined
        throw error
      })
      return found
    }
    const call = agentCallOf(http, id)
    const { client = '@agent-messaging/client/1.1.0', machine = 'unknown' } = options
    this.#source = { http, call, id, client, machine }
    this.#call = call
    this.secrets = secretsOf(call)
    this.access = accessOf(call)
    this.addresses = addressesOf(call)
    this.tokens = tokensOf(call)
    this.suppressions = suppressionsOf(call)
    this.drafts = draftsOf(call)
    this.threads = threadsOf(call)
    this.questions = questionsOf(call)
    this.webhooks = webhooksOf(call)
  }

  /** The agent's id: with its own token, the service is asked once. */
  id(): Promise<string> {
    return this.#source.id()
  }

  read(options: CallOptions = {}): Promise<Schemas['Agent']> {
    return this.#call('get', '/agents/{id}', options)
  }

  update(change: Update, options: CallOptions = {}): Promise<Schemas['Agent']> {
    return this.#call('patch', '/agents/{id}', { body: change, ...options })
  }

  /** Deletes the agent with its addresses, messages and secrets. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.#call('delete', '/agents/{id}', options)
  }

  /** Everything of the agent, as a tar archive that is made as it is read. */
  async export(options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return exportOf(this.#source, options)
  }

  /**
   * Connects as the agent's client and yields its new messages, over interruptions of the network and restarts
   * of the service, until the loop is left or `signal` is aborted. Each message comes at least once: after a
   * crash, those whose `done` was not reached come again. Throws `replaced` when another client connects.
   */
  messages(options: InboxOptions = {}): AsyncGenerator<Received, void, undefined> {
    return readInbox(this.#source, options)
  }

  /** The same stream as it comes, without messages or a stored position. Ends after `replaced`. */
  events(options: EventsOptions): AsyncGenerator<StreamItem, void, undefined> {
    return readStream(this.#source, options)
  }

  /** The id of the agent's newest event, 0 if there was none. Remember it before you cause the mail to wait for. */
  position(options: CallOptions = {}): Promise<number> {
    return readPosition(this.#source, options)
  }

  /**
   * Waits for a message, without being the agent's client: no loop ends for it. Null if none came in time. Messages to
   * the Message URL go to the agent's client only.
   */
  next(options: NextOptions = {}): Promise<Message | null> {
    return nextMessage(this.#source, options)
  }

  /**
   * Takes the newest code or link to sign in, verify an address or reset a password that nobody has taken, or waits for one;
   * each is given out once. Null if none came in time.
   */
  code(options: CodeOptions = {}): Promise<TakenCode | null> {
    return takeCode(this.#call, options)
  }

  /**
   * Asks members a question, and waits for it to end: it has an `answer`, or has expired or was withdrawn. With `seconds` it may still
   * be open then; `questions.read` looks again.
   */
  ask(text: string, options: AskOptions = {}): Promise<Question> {
    return ask(this.#call, text, options)
  }

  /** The event log, oldest first; of all types by default. */
  log({ after = 0, types, signal }: Partial<EventsOptions> = {}): List<Event> {
    const only = types ? { types: types.join() } : {}
    return new List((cursor) =>
      this.#call('get', '/agents/{id}/events', {
        query: cursor === undefined ? { after, ...only } : { cursor: Number(cursor), ...only },
        signal,
      }),
    )
  }

  /** The messages received and sent, newest first. */
  list(filter: ListOptions = {}): List<Message> {
    return list(this.#source, filter)
  }

  async message(messageId: string, options: CallOptions = {}): Promise<Message> {
    const path = { messageId }
    return messageOf(
      this.#source,
      await this.#call('get', '/agents/{id}/messages/{messageId}', { path, ...options }),
    )
  }

  /**
   * Imports a mail (`message/rfc822`) or a mailbox of up to 1 GiB (`application/mbox`): the messages get the status
   * `imported`, and wake nobody. Mails that the agent already has change nothing, so it can be repeated.
   */
  import(content: MailContent, options: ImportOptions): Promise<Schemas['Import']> {
    return importMails(this.#source, content, options)
  }

  /** Adds labels to up to 100 messages, removes labels from them, marks them as read or unread, or sets their metadata. */
  mark(ids: string[], changes: MarkMany, options: CallOptions = {}): Promise<Schemas['MessageMarks'][]> {
    return this.#call('patch', '/agents/{id}/messages', { body: { ids, ...changes }, ...options })
  }

  /** Lets up to 100 refused messages in. */
  release(
    ids: string[],
    { listSender, ...options }: { listSender?: boolean } & CallOptions = {},
  ): Promise<Schemas['ReleasedMessage'][]> {
    const body = { ids, ...(listSender === undefined ? {} : { listSender }) }
    return this.#call('post', '/agents/{id}/messages/release', { body, ...options })
  }

  /** Deletes up to 100 messages: all of them, or none. */
  async deleteMessages(ids: string[], options: CallOptions = {}): Promise<void> {
    await this.#call('post', '/agents/{id}/messages/delete', { body: { ids }, ...options })
  }

  send(message: Send, options?: SendOptions): Promise<Message> {
    return send(this.#source, message, options)
  }

  /**
   * Sends to the Message URL of an agent of the workspace, given by its id or that URL. The token goes to this
   * service only, whatever host the URL names.
   */
  sendToUrl(agent: string, text: string, options: SendOptions = {}): Promise<Event> {
    const call = callOf(this.#source.http)
    const id = /\/a\/([^/?#]+)\/?$/.exec(agent)?.[1]
    return id === undefined
      ? call('post', '/agents/{id}/url', { path: { id: agent }, body: { text }, ...options })
      : call('post', '/a/{id}', { path: { id }, body: { text }, ...options })
  }

  /** What happened to the agent each day (UTC), of the last 30 days by default. */
  counts({ signal, ...range }: CountRange & CallOptions = {}): Promise<Schemas['DayCounts'][]> {
    return this.#call('get', '/agents/{id}/counts', { query: range, signal })
  }

  /** Who hears the agent's new messages now. */
  listeners(options: CallOptions = {}): Promise<Schemas['Listener'][]> {
    return this.#call('get', '/agents/{id}/listeners', options)
  }
}

const findId = async (http: Http): Promise<string> => {
  const agents = await callOf(http)('get', '/agents', { query: { limit: 2 } })
  const [agent, another] = agents
  if (agent && !another) return agent.id
  throw new AmsError(
    'invalid_input',
    agent
      ? 'id: is missing; this token can access several agents: pass the id of one, or take a token of its own'
      : 'id: is missing; there is no agent yet that this token can access',
  )
}
