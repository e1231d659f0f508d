import { beforeAll, expect } from 'vitest'
import type { SentSms, TwilioStandIn } from '../../src/demo/sms/stand-in.ts'
import { createFakeClock, type FakeClock } from './clock.ts'
import { createTestLog, type TestLog } from './log.ts'
import { createTestAgent, startService, type Tenant, type TestAgent, type TestService } from './service.ts'
import { giveNumber, openTwilio } from './sms.ts'
import { until } from './until.ts'

/** The phone numbers of an outside person and of the agent. */
export const ANN = '+15551234567'
export const OURS = '+15005550101'

/** An agent with a phone number that anyone may text, and the stand-in for its provider. */
export class SmsWorld {
  readonly clock: FakeClock = createFakeClock()
  readonly log: TestLog = createTestLog()
  twilio!: TwilioStandIn
  service!: TestService
  owner!: Tenant
  agent!: TestAgent
  #count = 0

  async start(): Promise<void> {
    this.twilio = await openTwilio()
    const environment = { ...this.twilio.environment, RATE_LIMIT: '100000' }
    this.service = await startService({ environment, world: { clock: this.clock }, log: this.log })
    this.owner = await this.service.workspace()
    this.agent = await createTestAgent(this.service, this.owner)
    await giveNumber(this.service, this.twilio, this.agent, OURS)
    await this.agent.api('PUT', `${this.path()}/access/sms`, { admit: 'anyone', senders: [] })
  }

  readonly path = () => `/agents/${this.agent.id}`
  readonly messages = async (query = '') =>
    (await this.agent.api('GET', `${this.path()}/messages?channel=sms&limit=100${query}`)).body.items
  readonly newest = async () => (await this.messages())[0]
  readonly events = async () =>
    (await this.agent.api('GET', `${this.path()}/events?after=0&limit=100`)).body.items
  readonly send = (body: object) => this.agent.api('POST', `${this.path()}/messages`, body)
  /** Sends a text message to the agent. */
  readonly text = (body: string, more: Record<string, string> = {}, from = ANN) =>
    this.twilio.text(from, OURS, body, more)

  readonly isNow = (id: string, status: string) =>
    until(async () => {
      const { body } = await this.agent.api('GET', `${this.path()}/messages/${id}`)
      return body.status === status && body
    })

  /** Makes the agent send a message; resolves once Twilio has received it. */
  readonly sent = async (words = 'hello', to = ANN) => {
    const text = `${words} ${++this.#count}`
    const { body: message, status } = await this.send({ channel: 'sms', to: [to], text })
    expect(status).toBe(201)
    return {
      message,
      sms: await until((): SentSms | undefined => this.twilio.sent.find(({ body }) => body === text)),
    }
  }
}

/** Starts an SmsWorld before the file's first test. */
export const useSms = (): SmsWorld => {
  const world = new SmsWorld()
  beforeAll(() => world.start())
  return world
}
