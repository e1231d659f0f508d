import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { startApp } from '../app.ts'
import { openFoundation, welcomeOwner } from '../boot/foundation.ts'
import { readConfig } from '../config/config.ts'
import { AppError } from '../core/errors.ts'
import { createLogger } from '../observability/log.ts'
import { createHttpClient, type Message, untilSent } from './client.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { TwilioStandIn } from './sms/stand-in.ts'
import { tourSms } from './sms-tour.ts'
import { openTelegram, type TelegramStandIn } from './telegram/stand-in.ts'
import type { StandInBot } from './telegram/world.ts'
import { tourTelegram } from './telegram-tour.ts'

const ANN = 'ann@example.com'
/** Time limit for the whole demo. */
const LIMIT_MS = 60_000
const GRACE_MS = 2_000

/**
 * DNS records of Ann's domain: this machine may send its mail, and mail from anywhere else is to be rejected.
 */
const resolver = async (name: string, type: string): Promise<string[][]> => {
  const records: Record<string, string> = {
    'example.com': 'v=spf1 ip4:127.0.0.1 ip6:::1 -all',
    '_dmarc.example.com': 'v=DMARC1; p=reject',
  }
  const record = records[name]
  if (type !== 'TXT' || !record)
    throw Object.assign(new Error(`no ${type} record of ${name}`), { code: 'ENOTFOUND' })
  return [[record]]
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const numbered = (first: number) => (line: string) => say(`${first++}. ${line}`)
const ms = (from: number, to = performance.now()): string =>
  `${(to - from).toFixed(to - from < 10 ? 1 : 0)} ms`

interface Stage {
  base: string
  smtp: string
  ownerToken: string
  mailbox: Mailbox
  receiver: Receiver
  telegram: TelegramStandIn
  manager: StandInBot
  twilio: TwilioStandIn
}

const writeMail = async ({ smtp }: Stage, to: string) => {
  const [host, port] = smtp.split(':')
  const mail = createTransport({ host: host!, port: Number(port), tls: { rejectUnauthorized: false } })
  const started = performance.now()
  const { messageId, response } = await mail.sendMail({
    from: { name: 'Ann Example', address: ANN },
    to,
    subject: 'Where is my order?',
    text: 'Hello,\n\nmy order 4711 has not arrived yet. Where is it?\n\nAnn',
  })
  mail.close()
  return { messageId, answer: response.split(' ', 1)[0], took: ms(started), at: performance.now() }
}

/**
 * Creates the agent and all kinds of listeners: its client's event stream, a webhook, a dashboard's
 * subscription.
 */
const setUp = async ({ base, ownerToken, receiver }: Stage) => {
  const owner = createHttpClient(base, ownerToken)
  const { id } = await owner.call<{ id: string }>('POST', '/agents', {
    name: 'Support Bot',
    icon: 'headphones',
  })
  const [address] = await owner.call<{ value: string }[]>('GET', `/agents/${id}/addresses`)
  const { token } = await owner.call<{ token: string }>('POST', `/agents/${id}/tokens`, { name: 'demo' })
  say(`2. Ann creates an agent. Its address is ${address!.value}, and it accepts mail only from Ann.`)
  const agent = createHttpClient(base, token)
  const webhook = await agent.call<{ secret: string }>('POST', `/agents/${id}/webhooks`, {
    url: receiver.url,
  })
  receiver.trust(webhook.secret)
  const connection = await agent.call<{ id: string }>('PUT', `/agents/${id}/connection`, {
    client: 'demo',
    machine: 'this one',
  })
  const streamed = agent
    .firstEvent(`/agents/${id}/connections/${connection.id}/events`)
    .then((event) => ({ ...event, at: performance.now() }))
  const subscribed = owner.firstReceived(id).then((event) => ({ ...event, at: performance.now() }))
  for (const waiting of [streamed, subscribed]) waiting.catch(() => undefined)
  say('3. The agent connects and waits on its event stream. A webhook and a GraphQL dashboard listen too.')
  return { id, owner, agent, address: address!.value, streamed, subscribed }
}

const story = async (stage: Stage): Promise<void> => {
  const { id, owner, agent, address, streamed, subscribed } = await setUp(stage)
  const mail = await writeMail(stage, address)
  say(
    `4. Ann writes to it with an ordinary mail client, over SMTP with TLS: ${mail.answer} after ${mail.took}, and the mail is committed.`,
  )
  const [woken, dashboard, delivered] = await Promise.all([streamed, subscribed, stage.receiver.delivered])
  if (woken.id !== dashboard.id || !delivered.eventId.endsWith(`_${woken.id}`))
    throw new Error('the listeners received different events')
  say(`5. The agent receives event ${woken.id} on its stream, ${ms(mail.at, woken.at)} after the 250.`)
  say(
    `6. The webhook receives event ${delivered.eventId} after ${ms(mail.at, delivered.at)} and verifies its signature with standardwebhooks.`,
  )
  say(`   The dashboard receives the same event ${dashboard.id} after ${ms(mail.at, dashboard.at)}.`)
  const { items } = await agent.call<{ items: Message[] }>('GET', `/agents/${id}/messages`)
  const question = items[0]!
  say(
    `7. The agent reads it: "${question.text.split('\n')[2]}" SPF and DMARC prove that Ann wrote it (admission: ${question.admission}).`,
  )
  const asked = performance.now()
  const answer = await agent.call<Message>('POST', `/agents/${id}/messages`, {
    replyTo: question.id,
    text: 'It is out for delivery today.',
  })
  say(`8. It replies: the message is committed and ${answer.status} after ${ms(asked)}.`)
  await untilSent(agent, `/agents/${id}/messages/${answer.id}`)
  say(`9. It is sent after ${ms(asked)}.`)
  const reply = await stage.mailbox.next()
  if (reply.inReplyTo !== mail.messageId)
    throw new Error(`the reply is not in Ann's thread: In-Reply-To is ${reply.inReplyTo}`)
  say(`10. Ann's mailbox shows "${reply.subject}" from ${reply.from?.name}, in the thread of her question.`)
  const chapter = { ...stage, owner, agent, agentId: id, say: numbered(11) }
  await tourTelegram(chapter)
  await tourSms(chapter)
}

const withinLimit = async (work: Promise<void>, interruption: Promise<never>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the demo did not finish within ${LIMIT_MS / 1000} s`)),
      LIMIT_MS,
    )
  })
  await Promise.race([work, limit, interruption]).finally(() => clearTimeout(timer))
}

/**
 * Rejects when the user interrupts the demo (Ctrl-C) or stops reading its output (`| head`), so that it still
 * cleans up.
 */
const watchInterruption = (): Promise<never> => {
  const interruption = new Promise<never>((_, reject) => {
    const end = () => reject(new AppError('unavailable', 'The demo was interrupted.'))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
    process.stdout.on('error', end)
  })
  interruption.catch(() => undefined)
  return interruption
}

/**
 * Runs the demo: in a single process, without any account, with everything real but the DNS. Rejects when a
 * step fails.
 */
export const demo = async (): Promise<void> => {
  const started = performance.now()
  const interruption = watchInterruption()
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-messaging-demo-'))
  const mailbox = await openMailbox()
  const receiver = await openReceiver()
  const telegram = await openTelegram()
  const manager = telegram.world.bot('demo_manager_bot', { canManage: true })
  const twilio = await TwilioStandIn.open({ reports: true })
  const config = readConfig({
    ...twilio.environment,
    DATA_DIR: dataDir,
    PORT: '0',
    SMTP_PORT: '0',
    SMTP_RELAY_URL: mailbox.url,
    WEBHOOK_ALLOW: new URL(receiver.url).host,
    OWNER_EMAIL: ANN,
    TELEGRAM_API_URL: telegram.url,
    TELEGRAM_MANAGER_TOKEN: manager.token,
  })
  const log = createLogger('error')
  const foundation = await openFoundation(config, log, { service: true, migrates: 'always' })
  try {
    const ownerToken = await welcomeOwner(config, foundation)
    const app = await startApp(config, foundation, log, { resolver })
    say(`1. The service is running with its own PostgreSQL, HTTP and SMTP, ${ms(started)} after the start.`)
    const stage = {
      base: app.http,
      smtp: app.smtp!,
      ownerToken: ownerToken!,
      mailbox,
      receiver,
      telegram,
      manager,
      twilio,
    }
    await withinLimit(story(stage), interruption).finally(() => app.stop(GRACE_MS))
  } finally {
    await Promise.all([mailbox.stop(), receiver.stop(), telegram.stop(), twilio.stop()])
    await foundation.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}
