import { setTimeout as sleep } from 'node:timers/promises'
import { deliver } from '../support/mail.ts'
import { apiOf } from '../support/service.ts'
import type { Acknowledged } from './oracle.ts'
import type { Seeded } from './seeded.ts'
import type { Member, World } from './world.ts'

export interface ChaosAgent {
  id: string
  address: string
  token: string
  connectionId: string
  webhooks: { path: string; secret: string }[]
}

const WEBHOOKS = 2

/** Creates an agent that accepts mail from anyone, with a connected client and webhooks. */
export const createAgent = async (world: World, name: string): Promise<ChaosAgent> => {
  const owner = apiOf(world.members[0]!.place.http, world.ownerToken)
  const { id } = (await owner('POST', '/agents', { name, icon: 'bot' })).body
  await owner('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] })
  const [{ value: address }] = (await owner('GET', `/agents/${id}/addresses`)).body
  const { token } = (await owner('POST', `/agents/${id}/tokens`, {})).body
  const own = apiOf(world.members[0]!.place.http, token)
  const connection = await own('PUT', `/agents/${id}/connection`, { client: 'chaos', machine: 'm' })
  const webhooks: ChaosAgent['webhooks'] = []
  for (let n = 0; n < WEBHOOKS; n++) {
    const path = `/${name}/${n}`
    const { body } = await own('POST', `/agents/${id}/webhooks`, { url: world.receiverUrl + path })
    webhooks.push({ path, secret: body.secret })
  }
  return { id, address, token, connectionId: connection.body.id, webhooks }
}

export const fronts = ({ members }: World): Member[] => members.filter(({ roles }) => roles.includes('api'))

type Write = (world: World, random: Seeded, agent: ChaosAgent, name: string) => Promise<Acknowledged | string>

/** Sends a mail over SMTP, each from its own sender so that none exceeds the rate limit. */
const mail: Write = async (world, { pick }, agent, subject) => {
  const { place } = pick(fronts(world))
  await deliver(place.smtp!, {
    from: `${subject}@example.com`,
    to: agent.address,
    subject,
    text: `Text of ${subject}`,
  })
  return { agentId: agent.id, subject }
}

/** Sends a text to the Message URL. 409 means that there was no listener. */
const text: Write = async (world, { pick }, agent, name) => {
  const api = apiOf(pick(fronts(world)).place.http, world.ownerToken)
  const { status, body } = await api('POST', `/agents/${agent.id}/url`, { text: name })
  return status === 200 ? { agentId: agent.id, id: body.id, messageId: body.messageId } : String(status)
}

/**
 * Sends a message from one agent to another: accepted by one process, sent by a worker's outbox, received
 * like any mail.
 */
const letter =
  (from: ChaosAgent): Write =>
  async (world, { pick }, agent, subject) => {
    const api = apiOf(pick(fronts(world)).place.http, from.token)
    const send = { channel: 'email', to: [agent.address], subject, text: `Text of ${subject}` }
    const { status } = await api('POST', `/agents/${from.id}/messages`, send)
    return status === 201 ? { agentId: agent.id, subject } : String(status)
  }

/**
 * Starts all writers, which run until `over`, or `lettersOver` for messages between agents. Each waits for its
 * response, then for a short time.
 */
export const startWriters = (
  world: World,
  random: Seeded,
  agents: readonly ChaosAgent[],
  over: AbortSignal,
  lettersOver: AbortSignal,
) => {
  const acknowledged: Acknowledged[] = []
  const refused: Record<string, number> = {}
  const writer = async (write: Write, agent: ChaosAgent, tag: string, paceMs: number, until = over) => {
    for (let n = 0; !until.aborted; n++) {
      const result = await write(world, random, agent, `${tag}-${n}`).catch(
        (error: { responseCode?: number; code?: string }) =>
          String(error.responseCode ?? error.code ?? error),
      )
      if (typeof result !== 'string') acknowledged.push(result)
      else refused[result] = (refused[result] ?? 0) + 1
      await sleep(random.below(paceMs * 2)) // sets the rate of the traffic
    }
  }
  const writers = agents.flatMap((agent, index) => [
    writer(mail, agent, `mail-a${index}`, 60),
    writer(mail, agent, `mail-b${index}`, 150),
    writer(text, agent, `text${index}`, 100),
    // at most 60 a minute
    writer(letter(agent), agents[(index + 1) % agents.length]!, `letter${index}`, 1200, lettersOver),
  ])
  return { acknowledged, done: Promise.all(writers), refused }
}
