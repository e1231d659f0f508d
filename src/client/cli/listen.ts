import { setMaxListeners } from 'node:events'
import type { Agent } from '../agent.ts'
import { backoff, pause } from '../backoff.ts'
import { AmsError } from '../errors.ts'
import type { From, Received } from '../inbox.ts'
import { fileStore } from '../node.ts'
import { memoryStore, type PositionStore } from '../position.ts'
import type { EventType } from '../stream.ts'
import { type Command, type Input, valued } from './command.ts'
import { fieldsOf, forward, newSecret, runCommand } from './handlers.ts'
import { Lanes } from './lanes.ts'
import { lineOf } from './messages.ts'
import { type Credentials, positionFile } from './settings.ts'
import { UsageError } from './terminal/failure.ts'
import { oneLine, printableJson, type Terminal } from './terminal/terminal.ts'

const WAKE_FAILED = 'wake-failed'
const ATTEMPTS = 8
const TIMEOUT_SECONDS = 3600
const BACKOFF = { baseMs: 1000, maxMs: 60_000 }

const fromOf = (input: Input): From | undefined => {
  const given = input.text('from')
  if (given === undefined || given === 'now' || given === 'beginning') return given
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new UsageError('--from must be now, beginning or the id of an event.')
}

const typesOf = (input: Input): EventType[] | undefined =>
  input
    .text('types')
    ?.split(',')
    .map((type) => type.trim() as EventType)

/** The line of a message, after the type of its event if it is not a new message. */
const shown = ({ event, message }: Received, terminal: Terminal): string =>
  event.type === 'message.received'
    ? lineOf(message, terminal)
    : `${terminal.style('bold', event.type)} ${lineOf(message, terminal)}`

/** With `--from` the stored position no longer counts, and is overwritten. */
const storeOf = (input: Input, credentials: Credentials, agentId: string): PositionStore => {
  if (input.text('exec') === undefined) return memoryStore()
  const store = fileStore(positionFile(process.env, credentials, agentId))
  return fromOf(input) === undefined ? store : { ...store, load: async () => null }
}

type Handler = (received: Received) => Promise<void>

/** Tells of a message for which the command failed each time: others must not wait for it. */
const giveUp = async (agent: Agent, { event, message }: Received, terminal: Terminal): Promise<void> => {
  if (event.channel === 'url') return // not stored: there is nothing to label
  await agent.mark([message.id], { addLabels: [WAKE_FAILED] }).catch((error: unknown) => {
    if (!(error instanceof AmsError)) throw error
    terminal.note(`ams: the message cannot be labelled: ${oneLine(error.message)}`)
  })
}

/** Runs the command until it exits with 0, or has failed too often: a message counts as handled only then. */
const executor = async (
  input: Input,
  command: string,
  agent: Agent,
  signal: AbortSignal,
): Promise<Handler> => {
  const { terminal } = input
  const agentId = await agent.id()
  const attempts = input.integer('attempts', ATTEMPTS)
  const seconds = input.integer('timeout', TIMEOUT_SECONDS)
  return async (received) => {
    const { event, message } = received
    const stdin = `${JSON.stringify({ event, message })}\n`
    for (let attempt = 1; ; attempt++) {
      const how = await runCommand(command, stdin, fieldsOf(agentId, event, message), { signal, seconds })
      if (how === null) return
      const failed = `ams: the command ${how} for event ${event.id};`
      if (attempt >= attempts) {
        terminal.note(
          `${failed} giving up after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}, label ${WAKE_FAILED}`,
        )
        return giveUp(agent, received, terminal)
      }
      const ms = Math.round(backoff(attempt - 1, { ...BACKOFF, atLeastMs: 500 }))
      terminal.note(`${failed} retrying in ${(ms / 1000).toFixed(1)} s`)
      await pause(ms, signal)
    }
  }
}

const forwarder = async (input: Input, url: string, agent: Agent): Promise<Handler> => {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError('--forward must be an http or https URL.')
  const { terminal } = input
  const about = await agent.read()
  const secret = input.text('secret') ?? newSecret()
  terminal.note(`Forwarding to ${url}, signed with ${secret}`)
  return async (received) => {
    const result = await forward(url, secret, about, received)
    const isFine = typeof result === 'number' && result >= 200 && result < 300
    const status = terminal.style(isFine ? 'green' : 'red', String(result))
    const { event } = received
    terminal.out(input.json ? printableJson({ event, result }) : `${status} ${shown(received, terminal)}`)
  }
}

const handlerOf = async (input: Input, agent: Agent, signal: AbortSignal): Promise<Handler> => {
  const [command, url] = [input.text('exec'), input.text('forward')]
  if (command !== undefined && url !== undefined) throw new UsageError('Use either --exec or --forward.')
  if (url !== undefined) return forwarder(input, url, agent)
  if (command !== undefined) return executor(input, command, agent, signal)
  return async (received) => {
    const { event, message } = received
    input.terminal.out(input.json ? printableJson({ event, message }) : shown(received, input.terminal))
  }
}

/** Hands each message to the handler, several at once but those of a thread in order, until `leaving` is aborted. */
const handleAll = async (
  messages: AsyncIterable<Received>,
  handle: Handler,
  parallel: number,
  leaving: AbortController,
): Promise<void> => {
  let failure: { error: unknown } | undefined
  const lanes = new Lanes(parallel, (error) => {
    if (!leaving.signal.aborted) failure = { error }
    leaving.abort()
  })
  try {
    for await (const received of messages) {
      const { event, message, done } = received
      await lanes.add(message.threadId ?? String(event.sender.id), async () => {
        leaving.signal.throwIfAborted()
        await handle(received)
        await done()
      })
    }
  } finally {
    await lanes.idle() // another client gets only what comes from now on
  }
  if (failure) throw failure.error
}

export const listen: Command = {
  usage: 'listen [--exec COMMAND | --forward URL] [--from POSITION]',
  summary: 'connect as the client of the agent and handle its new messages',
  options: {
    exec: valued(
      'COMMAND',
      'run a shell command for each: event and message as JSON on its standard input, AMS_* variables in its environment; retried if it does not exit with 0',
    ),
    parallel: valued(
      'N',
      'how many messages to handle at once; those of a thread stay in order; 1 by default',
    ),
    attempts: valued(
      'N',
      `how often to run the command for a message; then it gets the label ${WAKE_FAILED} and the next one comes; ${ATTEMPTS} by default`,
    ),
    timeout: valued(
      'SECONDS',
      `how long the command may run before it is ended and counts as failed; ${TIMEOUT_SECONDS} by default`,
    ),
    forward: valued('URL', 'POST each to a URL, signed like a webhook'),
    secret: valued('whsec_…', 'what --forward signs with; by default a new one'),
    from: valued(
      'POSITION',
      'start at now, at the beginning, or after the id of an event; by default --exec goes on where it stopped',
    ),
    types: valued(
      'TYPES',
      "event types, separated by commas, such as message.received,message.failed; by default message.received. The agent's eventTypes must name them",
    ),
  },
  examples: [
    'ams listen',
    `ams listen --exec 'ams reply "$AMS_MESSAGE_ID" "We got it."'`,
    'ams listen --forward http://localhost:3000/webhooks',
    'ams listen --types message.failed,message.reported',
  ],
  run: async (input) => {
    input.atMost(0)
    const leaving = new AbortController()
    const { signal } = leaving
    setMaxListeners(0, signal) // each command listens
    const parallel = input.integer('parallel', 1)
    const { agent, credentials } = await input.open({ retries: Number.POSITIVE_INFINITY })
    const handle = await handlerOf(input, agent, signal)
    const store = storeOf(input, credentials, await agent.id())
    const leave = () => leaving.abort()
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, leave)
    const onTruncated = (nextId: number) =>
      input.terminal.note(`ams: events before ${nextId} are no longer stored and were missed`)
    const options = { store, from: fromOf(input), types: typesOf(input), signal, onTruncated }
    await handleAll(agent.messages(options), handle, parallel, leaving)
    return undefined
  },
}
