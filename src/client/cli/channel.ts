import type { Agent } from '../agent.ts'
import type { Received } from '../inbox.ts'
import { fileStore } from '../node.ts'
import type { PositionStore } from '../position.ts'
import { ChannelHost } from './channel/host.ts'
import type { Command } from './command.ts'
import { Bridge, MAIN, serveStdio } from './mcp.ts'
import { positionFile } from './settings.ts'
import { oneLine, printable, shellWord } from './terminal/terminal.ts'

/**
 * A channel of Claude Code (https://code.claude.com/docs/en/channels-reference): an MCP server over stdio that pushes each new message
 * into the session as a turn. It has the tools of the service's `/mcp` too.
 */

/** A longer text is cut: the model can read the message. */
const MAX_LENGTH = 20_000

/** The host writes these into attributes of a tag that it puts around the text. */
const attribute = (value: string): string => oneLine(value).replace(/[<>"]/g, "'").slice(0, 300)

/** Nothing in a message may end the tag that the host puts around it, or begin one, for whoever reads over what is not a letter. */
const contentOf = ({ id, replyText, text }: Received['message']): string => {
  const whole = printable(replyText || text || '').replace(/<(?=[^\p{L}\p{N}<>]{0,50}channel)/giu, '‹')
  return whole.length <= MAX_LENGTH
    ? whole
    : `${whole.slice(0, MAX_LENGTH).toWellFormed()}\n[cut: ${whole.length - MAX_LENGTH} more characters, read_message ${id}]`
}

const metaOf = ({ message, event }: Received, again: boolean): Record<string, string> => {
  const { id, threadId, conversationKey, channel, counterpart, counterpartName, subject, attachments } =
    message
  const meta = {
    message_id: id,
    thread_id: threadId,
    conversation: conversationKey,
    channel,
    from: counterpart,
    from_name: counterpartName,
    subject,
    sender: event.sender.kind,
    may_instruct: String(message.mayInstruct),
    attachments: attachments.length > 0 ? String(attachments.length) : null,
    again: again ? 'true' : null,
  }
  return Object.fromEntries(
    Object.entries(meta).flatMap(([name, value]) => (value ? [[name, attribute(value)]] : [])),
  )
}

/** Only those whom the service proved to be of the team or on the list start a turn. */
const mayWake = ({ message, event }: Received): boolean =>
  message.channel === 'url'
    ? event.sender.kind !== 'contact'
    : message.admission === 'team' || message.admission === 'listed'

/** Whether the agent has written in the message's thread since. */
const isAnswered = async ({ message }: Received): Promise<boolean> => {
  if (message.channel === 'url') return false
  for await (const { direction, createdAt } of message.conversation())
    if (createdAt <= message.createdAt) return false
    else if (direction === 'outbound') return true
  return false
}

/**
 * Pushes each message once. `pushed` keeps the last event that was written to the host: if the host did not confirm it,
 * it may have been read or not, and is pushed again, marked so, unless the agent has answered since.
 */
const pushAll = async (
  agent: Agent,
  host: ChannelHost,
  { done: store, pushed }: { done: PositionStore; pushed: PositionStore },
  signal: AbortSignal,
): Promise<void> => {
  const before = (await pushed.load()) ?? 0
  for await (const received of agent.messages({ store, signal })) {
    const { id } = received.event
    const again = id <= before
    if (mayWake(received) && !(again && (await isAnswered(received)))) {
      await pushed.save(id)
      await host.push(contentOf(received.message), metaOf(received, again), signal)
    }
    await received.done()
  }
}

export const channel: Command = {
  usage: 'channel',
  summary: 'push new messages into a session of Claude Code as a channel, with the tools of the service',
  options: {},
  examples: [
    `claude mcp add inbox -- node ${shellWord(MAIN)} channel`,
    'claude --dangerously-load-development-channels server:inbox',
  ],
  run: async (input) => {
    input.atMost(0)
    const { agent, credentials } = await input.open({ retries: Number.POSITIVE_INFINITY })
    const leaving = new AbortController()
    const write = (line: string) => void process.stdout.write(`${line}\n`)
    const host = new ChannelHost(agent, write, (line) => input.terminal.note(line), leaving.signal)
    const file = positionFile(process.env, credentials, `${await agent.id()}.channel`)
    const stores = { done: fileStore(file), pushed: fileStore(`${file}.pushed`) }
    let pushing: Promise<void> | undefined
    host.onReady = () => {
      pushing ??= pushAll(agent, host, stores, leaving.signal).catch((error: unknown) => {
        if (!leaving.signal.aborted)
          input.terminal.note(`ams: no messages are pushed any more: ${oneLine((error as Error).message)}`)
      })
    }
    await serveStdio(new Bridge(credentials, write, host.introduce), (line) => host.take(line))
    leaving.abort() // the host has closed its end
    await pushing
    return undefined
  },
}
