import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { newest, post } from '../support/letter.ts'
import { rawOf } from '../support/mail.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { missing, type Swift, startSwift } from './swift.ts'

const MAILS = Number(process.env.MAILS ?? 240)
const SESSIONS = 8

interface Sent {
  subject: string
  file: Buffer
  envelope: { from: string; to: string }
  raw: Buffer
}

const mailTo = async (agent: TestAgent, subject: string, bytes = 20_000): Promise<Sent> => {
  const file = randomBytes(bytes)
  const [from, to] = ['ann@example.com', agent.address]
  const attachments = [{ filename: 'a.bin', content: file }]
  const raw = await rawOf({
    from,
    to,
    subject,
    text: subject,
    messageId: `<${subject}@example.com>`,
    attachments,
  })
  return { subject, file, envelope: { from, to }, raw }
}

/** Sends all mails over some sessions. Returns those that were accepted, and the replies to the others. */
const sendAll = async (
  service: TestService,
  mails: readonly Sent[],
  told: (accepted: number) => void = () => undefined,
) => {
  const waiting = [...mails]
  const accepted: Sent[] = []
  const refused: { mail: Sent; code: number }[] = []
  const session = async () => {
    for (let mail = waiting.shift(); mail; mail = waiting.shift()) {
      const { envelope, raw } = mail
      try {
        await post(service, { envelope, raw })
        accepted.push(mail)
        told(accepted.length)
      } catch (error) {
        refused.push({ mail, code: (error as { responseCode: number }).responseCode })
      }
    }
  }
  await Promise.all(Array.from({ length: SESSIONS }, session))
  return { accepted, refused }
}

describe.skipIf(missing !== null)(
  missing ? `a real S3 server (skipped: ${missing})` : 'a real S3 server',
  () => {
    const clock = createFakeClock()
    let swift: Swift
    let service: TestService
    let agentOf: () => Promise<TestAgent>
    beforeAll(async () => {
      swift = await startSwift()
      service = await startService({ environment: swift.environment, world: { clock } })
      const owner = await service.workspace()
      agentOf = async () => {
        const agent = await createTestAgent(service, owner)
        await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
        return agent
      }
    }, 120_000)
    afterAll(() => swift?.stop())

    const bytesAt = async (agent: TestAgent, path: string): Promise<Buffer> => {
      const headers = { Authorization: `Bearer ${agent.token}` }
      const response = await fetch(`${service.http}/agents/${agent.id}/messages/${path}`, { headers })
      expect(response.status).toBe(200)
      return Buffer.from(await response.arrayBuffer())
    }
    const keysOf = async (agent: TestAgent) => (await swift.keys()).filter((key) => key.includes(agent.id))

    test('contents of 20 KB and of 10 MB are stored, read byte for byte, and deleted with their messages', async () => {
      const agent = await agentOf()
      for (const bytes of [20_000, 10_000_000]) {
        const { raw, envelope, file } = await mailTo(agent, `of-${bytes}`, bytes)
        await post(service, { raw, envelope })
        const [message] = await newest(agent)
        expect((await bytesAt(agent, `${message.id}/raw`)).equals(raw)).toBe(true)
        expect((await bytesAt(agent, `${message.id}/attachments/0`)).equals(file)).toBe(true)
        expect(await keysOf(agent)).toHaveLength(2)
        await agent.api('DELETE', `/agents/${agent.id}/messages/${message.id}`)
        await until(async () => {
          clock.advance(60_000)
          return (await keysOf(agent)).length === 0
        }, 60_000)
      }
    })

    test('the server is killed under load: what is acknowledged is stored, and everything else is sent again', async () => {
      const agent = await agentOf()
      const mails = await Promise.all(Array.from({ length: MAILS }, (_, n) => mailTo(agent, `load-${n}`)))
      let killed = false
      const first = await sendAll(service, mails, (accepted) => {
        if (killed || accepted < MAILS / 4) return
        killed = true
        swift.kill()
      })
      expect(first.refused.length).toBeGreaterThan(0)
      expect(new Set(first.refused.map(({ code }) => code))).toEqual(new Set([451]))
      const unread = await agent.api(
        'GET',
        `/agents/${agent.id}/messages/${(await newest(agent))[0].id}/attachments/0`,
      )
      expect(unread.status).toBe(503)
      await swift.revive()
      const again = await sendAll(
        service,
        first.refused.map(({ mail }) => mail),
      )
      expect(again.refused).toEqual([])
      const stored = new Map<string, string>()
      for (let cursor = ''; ; ) {
        const page = (await agent.api('GET', `/agents/${agent.id}/messages?limit=100${cursor}`)).body
        for (const { id, subject } of page.items) stored.set(subject, id)
        if (!page.nextCursor) break
        cursor = `&cursor=${page.nextCursor}`
      }
      expect(stored.size).toBe(MAILS)
      for (const { subject, raw, file } of mails) {
        expect((await bytesAt(agent, `${stored.get(subject)}/raw`)).equals(raw), subject).toBe(true)
        expect((await bytesAt(agent, `${stored.get(subject)}/attachments/0`)).equals(file), subject).toBe(
          true,
        )
      }
      process.stdout.write(
        `${MAILS} mails: ${first.accepted.length} accepted, ${first.refused.length} answered 451 while the server was dead, all stored after it was back\n`,
      )
    })

    test('how long mails and reads take with the store, compared with the database', async () => {
      const without = await startService({ environment: { ROLES: 'api,smtp' } })
      const owner = await without.workspace()
      const plain = await createTestAgent(without, owner)
      await owner.api('PUT', `/agents/${plain.id}/access/email`, { admit: 'anyone', senders: [] })
      const agent = await agentOf()
      const timed = async (work: () => Promise<unknown>) => {
        const began = performance.now()
        await work()
        return performance.now() - began
      }
      const medians: Record<string, number[]> = {}
      for (let round = 0; round < 5; round++)
        for (const [name, at, to] of [
          ['database', without, plain],
          ['store', service, agent],
        ] as const) {
          const mails = await Promise.all(
            Array.from({ length: 40 }, (_, n) => mailTo(to, `${name}-${round}-${n}`, 50_000)),
          )
          const receiving = await timed(() => sendAll(at, mails))
          const messages = await newest(to, 40)
          const headers = { Authorization: `Bearer ${to.token}` }
          const reading = await timed(async () => {
            for (const { id } of messages) {
              const path = `${at.http}/agents/${to.id}/messages/${id}/attachments/0`
              expect((await (await fetch(path, { headers })).arrayBuffer()).byteLength).toBe(50_000)
            }
          })
          for (const [what, ms] of Object.entries({ receiving, reading }))
            medians[`${what} ${name}`] = [...(medians[`${what} ${name}`] ?? []), ms / 40]
        }
      const median = (what: string) => medians[what]!.toSorted((a, b) => a - b)[2]!
      for (const what of ['receiving', 'reading']) {
        const [store, database] = [median(`${what} store`), median(`${what} database`)]
        process.stdout.write(
          `${what}: ${store.toFixed(1)} ms with the store, ${database.toFixed(1)} ms without: ${(store / database).toFixed(2)}\n`,
        )
        expect(store).toBeGreaterThan(0)
      }
    })
  },
)
