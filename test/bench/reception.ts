import type { ChildProcess } from 'node:child_process'
import { missing, startPostfix } from '../mta/postfix.ts'
import { dkimKey } from '../support/mail.ts'
import { until } from '../support/until.ts'
import { atEnd } from './cleanup.ts'
import { atRest } from './cpu.ts'
import { startHaraka } from './haraka.ts'
import { ask, startBench, startPart } from './machinery.ts'
import { startMailStack } from './mail-stack.ts'
import { createRecipients, startZone } from './mail-world.ts'
import { type Comparison, compareAll, type Side } from './paired.ts'
import { atLeast, atMost, median, percentile, type Report, type Suite } from './row.ts'
import type { MailKind, Sent } from './smtp-client.ts'

const AGENTS = 20

/** Mails after which V8 has compiled what they need: a server that has just started takes twice the CPU for each. */
const WARM_UP = 3_000

/** A server that receives, and its processes. */
interface Server {
  against: string
  port: number
  node: number | readonly number[]
  postgres: number | null
  to: string[]
}

/** A server whose 250 says that the mail is queued: it tells how many mails are in the mailboxes. */
interface Queueing extends Server {
  delivered(): number
}

type Kind = Exclude<MailKind, 'file'>

interface Load {
  kind: Kind
  sessions: number
  mails: number
}

/** Measures mails a second, and the times from the end of DATA to the 250 in microseconds: the median, and the 99th percentile. */
const sideOf = (client: ChildProcess, server: Server, { kind, sessions, mails }: Load): Side => {
  const { port, node, postgres, to } = server
  return {
    cpu: { node, postgres, units: mails },
    round: async () => {
      await ask(client, { prepare: { kind, mails, to } })
      const { seconds, answers } = await ask<Sent>(client, { port, sessions })
      return [mails / seconds, median(answers) * 1000, percentile(answers, 0.99) * 1000]
    },
  }
}

/** Measures mails a second until they are stored, which some do after the 250, and the CPU until they are also indexed. */
const storingSide = (client: ChildProcess, server: Server | Queueing, load: Load): Side => ({
  cpu: { node: server.node, postgres: server.postgres, units: load.mails },
  round: async () => {
    await ask(client, { prepare: { kind: load.kind, mails: load.mails, to: server.to } })
    const before = 'delivered' in server ? server.delivered() : 0
    const { seconds, startedAt } = await ask<Sent>(client, { port: server.port, sessions: load.sessions })
    let taken = seconds
    if ('delivered' in server) {
      await until(() => server.delivered() >= before + load.mails)
      taken = (performance.timeOrigin + performance.now() - startedAt) / 1_000
    }
    await atRest([server.node, server.postgres ?? []].flat())
    return [load.mails / taken]
  },
})

/** Sends mails of both kinds, which are not measured. */
const warmUp = async (client: ChildProcess, { port, to }: Server): Promise<void> => {
  for (const kind of ['plain', 'signed'] as const) {
    await ask(client, { prepare: { kind, mails: WARM_UP, to } })
    await ask(client, { port, sessions: 20 })
  }
}

const KINDS: Record<Kind, string> = {
  plain: '10 KB, plain',
  scripts: '10 KB, plain, in five scripts',
  strangers: '10 KB, plain, from domains that nobody vouches for and DNS takes 20 ms for',
  signed: '10 KB, HTML with an attachment, DKIM-signed',
}

type Goals = Pick<Comparison, 'goal'>

/** Returns what a side measures of a load: as many of its figures as there are goals. */
const rowsOf = (
  { kind, sessions }: Load,
  against: string,
  [rate, p50, p99]: readonly Goals[],
): Comparison[] => {
  const what = `${KINDS[kind]}, ${sessions} session${sessions === 1 ? '' : 's'}`
  const time = (share: string, goals: Goals | undefined): Comparison[] =>
    goals ? [{ name: `DATA to 250, ${share}, ${what}`, against, unit: 'µs', ...goals }] : []
  return [
    { name: `SMTP, checked and stored, ${what}`, against, unit: 'mails/s', ...rate },
    ...time('p50', p50),
    ...time('p99', p99),
  ]
}

const loadOf = (kind: Kind): Load => ({ kind, sessions: 20, mails: 400 })

/** Starts what is installed of the servers that only queue or parse. */
const startPeers = async (report: (row: Report) => void, to: string[]): Promise<Server[]> => {
  const peers: Server[] = []
  if (missing) report({ skipped: `reception against Postfix: ${missing}` })
  else {
    const settings = { smtpd_client_restrictions: 'check_client_access static:HOLD' }
    const postfix = await startPostfix({ routes: { 'agents.localhost': '127.0.0.1:9' }, settings })
    atEnd(() => postfix.stop())
    peers.push({ against: 'Postfix (queue only)', port: postfix.port, node: postfix.pid, postgres: null, to })
  }
  const haraka = await startHaraka()
  if ('missing' in haraka) report({ skipped: `reception against Haraka: ${haraka.missing}` })
  else peers.push({ against: 'Haraka (parse only)', port: haraka.port, node: haraka.pid, postgres: null, to })
  return peers
}

/** Compares with the servers that people run today to receive, authenticate, store and search mail. */
const compareWithStack = async (
  report: (row: Report) => void,
  client: ChildProcess,
  ours: Server,
  dns: string,
): Promise<void> => {
  const stack = await startMailStack(ours.to, dns)
  if ('missing' in stack)
    return report({ skipped: `reception against Postfix, rspamd and Dovecot: ${stack.missing}` })
  const theirs: Queueing = { ...stack, against: '', node: stack.pids, postgres: null, to: ours.to }
  for (const kind of ['plain', 'signed'] as const) {
    const about = {
      name: `SMTP, until stored (ours: the 250), CPU until indexed, ${KINDS[kind]}, 20 sessions`,
      against: 'Postfix, rspamd, Dovecot with fts_xapian (until in the Maildir)',
      unit: 'mails/s',
    }
    const sides = [ours, theirs].map((each) => storingSide(client, each, loadOf(kind))) as [Side, Side]
    for (const row of await compareAll([about], ...sides, { seconds: 20 })) report(row)
  }
}

/** Times the rate of what does the same work. */
const EQUAL: Record<Kind, number> = { plain: 2, scripts: 1, strangers: 1, signed: 1.8 }

/**
 * Mails that are parsed, checked, stored and announced, against a server that does the same and servers that do only a
 * part of it.
 */
export const benchReception: Suite = async (report) => {
  const key = dkimKey('example.com')
  const dns = await startZone(key)
  const bench = await startBench({ DNS_SERVERS: dns })
  const postgres = bench.postgres.pid
  const to = (await createRecipients(bench, AGENTS)).map(({ address }) => address)
  const client = await startPart('smtp-client.ts', JSON.stringify(key))
  const ours: Server = { against: '', port: bench.smtp.port, node: bench.pid, postgres, to }
  const start = async (against: string, file: string): Promise<Server> => {
    const { child, ready: port } = await startPart<number>(file, bench.postgres.url, dns)
    return { against, port, node: child.pid!, postgres, to }
  }
  const insert = await start('smtp-server, one insert', 'bare-smtp.ts')
  const equal = await start('smtp-server, postal-mime, mailauth, one statement', 'equal-smtp.ts')
  const run = async (load: Load, server: Server, goals: readonly Goals[]) => {
    const sides = [ours, server].map((each) => sideOf(client.child, each, load)) as [Side, Side]
    for (const row of await compareAll(rowsOf(load, server.against, goals), ...sides, { seconds: 8 }))
      report(row)
  }
  for (const server of [ours, insert, equal]) await warmUp(client.child, server)
  await run({ kind: 'plain', sessions: 1, mails: 300 }, insert, [{}, { goal: atMost(2.5) }, {}])
  for (const kind of ['plain', 'scripts', 'strangers', 'signed'] as const) {
    const times = kind === 'plain' ? [{}, {}] : []
    await run(loadOf(kind), equal, [{ goal: atLeast(EQUAL[kind]) }, ...times])
  }
  for (const kind of ['plain', 'signed'] as const) await run(loadOf(kind), insert, [{}])
  for (const peer of await startPeers(report, to)) {
    const isPostfix = peer.against.startsWith('Postfix')
    const goals = isPostfix ? [{ goal: atLeast(0.75) }] : [{}]
    if (!isPostfix) await warmUp(client.child, peer)
    for (const kind of ['plain', 'signed'] as const) await run(loadOf(kind), peer, goals)
  }
  await compareWithStack(report, client.child, ours, dns)
}
