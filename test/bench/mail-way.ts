import type { ChildProcess } from 'node:child_process'
import type { DkimKey } from '../support/mail.ts'
import { ask, type Bench, startPart } from './machinery.ts'
import { createRecipients } from './mail-world.ts'
import type { MailKind, Sent } from './smtp-client.ts'
import { expectPosts } from './webhook-world.ts'

/** An agent's address, and its webhook at the receiver. */
export interface MailEndpoint {
  agentId: string
  address: string
  url: string
  secret: string
}

/** The processes at both ends: who sends mails, and who gets their webhooks. */
export interface Ends {
  client: ChildProcess
  receiver: ChildProcess
  /** The receiver's port. */
  port: number
}

/** Where mails go in, and whose webhooks come out. */
export interface Way {
  port: number
  endpoints: MailEndpoint[]
}

export const startEnds = async (key: DkimKey): Promise<Ends> => {
  const receiver = await startPart<number>('webhook-receiver.ts')
  const client = await startPart('smtp-client.ts', JSON.stringify(key))
  return { client: client.child, receiver: receiver.child, port: receiver.ready }
}

/** Tells the receiver of endpoints. */
export const expectAt = async ({ receiver }: Ends, endpoints: MailEndpoint[]): Promise<MailEndpoint[]> => {
  const secrets = Object.fromEntries(endpoints.map(({ url, secret }) => [new URL(url).pathname, secret]))
  await ask(receiver, { secrets })
  return endpoints
}

/** Creates agents with a webhook at the receiver each. */
export const createEndpoints = async (bench: Bench, ends: Ends, agents: number): Promise<MailEndpoint[]> => {
  const endpoints: MailEndpoint[] = []
  for (const { id, address } of await createRecipients(bench, agents)) {
    const url = `http://127.0.0.1:${ends.port}/${id}`
    const { secret } = (await bench.api('POST', `/agents/${id}/webhooks`, { url })).body
    endpoints.push({ agentId: id, address, url, secret })
  }
  return expectAt(ends, endpoints)
}

/** What is sent at once: one session for each of some agents. */
export interface MailLoad {
  kind: MailKind
  mails: number
  sessions: number
}

/**
 * Sends mails; returns how long that took, when each DATA ended and when each webhook arrived (both in milliseconds
 * since 1970). `begins` is called when they are composed.
 */
export const sendMails = async (
  { client, receiver }: Ends,
  { port, endpoints }: Way,
  { kind, mails, sessions }: MailLoad,
  begins: () => void = () => undefined,
): Promise<Pick<Sent, 'seconds' | 'startedAt' | 'ends'> & { arrivals: number[] }> => {
  const to = endpoints.slice(0, sessions).map(({ address }) => address)
  await ask(client, { prepare: { kind, mails, to } })
  const { arrived } = await expectPosts({ receiver }, mails)
  begins()
  const sent = await ask<Sent>(client, { port, sessions })
  return { ...sent, arrivals: (await arrived).map(([, at]) => at) }
}
