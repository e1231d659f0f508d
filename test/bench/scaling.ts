import { missing as missingSwift, startSwift } from '../s3/swift.ts'
import { dkimKey } from '../support/mail.ts'
import { atEnd } from './cleanup.ts'
import { usedByAll } from './cpu.ts'
import { type Ends, type MailLoad, sendMails, startEnds } from './mail-way.ts'
import { startZone } from './mail-world.ts'
import { type Comparison, compareAll, type Side } from './paired.ts'
import type { Report, Suite } from './row.ts'
import { AGENTS, openSite, type Site } from './scaling-sites.ts'

/** Mails that are not measured, besides those of a round. */
const WARM_UP = 60

type Load = Pick<MailLoad, 'kind' | 'mails'>

/** Rates of both ends, and milliseconds of CPU for each mail. */
const FIGURES = [
  ['mails in', 'mails/s'],
  ['webhooks out', 'webhooks/s'],
  ['CPU of the service for a mail', 'ms'],
  ['CPU of PostgreSQL for a mail', 'ms'],
] as const

const sideOf = (ends: Ends, site: Site, { kind, mails }: Load): Side => ({
  round: async () => {
    const groups = [site.node, [site.postgres]]
    const before = groups.map(usedByAll)
    const { seconds, startedAt, arrivals } = await sendMails(ends, site, { kind, mails, sessions: AGENTS })
    const used = groups.map((pids, n) => (usedByAll(pids) - before[n]!) / mails / 1000)
    return [mails / seconds, (mails * 1000) / (arrivals.at(-1)! - startedAt), ...used]
  },
})

/** Sites that V8 has compiled most of. */
const warm = new WeakSet<Site>()

interface World {
  ends: Ends
  environment: Record<string, string>
  report(row: Report): void
}

/** Compares two sites; `what` and `against` say what they are. */
const compareSites = async (
  { ends, report }: World,
  { what, ours, against, theirs }: { what: string; ours: Site; against: string; theirs: Site },
  load: Load,
): Promise<void> => {
  for (const site of [ours, theirs].filter((each) => !warm.has(each))) {
    warm.add(site)
    await sendMails(ends, site, { ...load, mails: load.mails + WARM_UP, sessions: AGENTS })
  }
  const about = FIGURES.map(([name, unit], n): Comparison => {
    return { name: n === 0 ? `${what}: ${name}` : name, against: n === 0 ? against : 'the same', unit }
  })
  const sides = [ours, theirs].map((site) => sideOf(ends, site, load)) as [Side, Side]
  for (const row of await compareAll(about, ...sides, { rounds: 5, seconds: 12 })) report(row)
}

const compareProcesses = async (world: World): Promise<void> => {
  const { ends, environment } = world
  const open = (workerProcesses: number) => openSite(ends, { environment, workerProcesses })
  const [ours, theirs] = [await open(4), await open(1)]
  const sites = { what: '4 worker processes', ours, against: '1 worker process', theirs }
  await compareSites(world, sites, { kind: 'plain', mails: 300 })
  await Promise.all([ours.stop(), theirs.stop()])
}

const compareStore = async (world: World): Promise<void> => {
  const { ends, environment, report } = world
  if (missingSwift !== null) return report({ skipped: `scaling with S3: ${missingSwift}` })
  const swift = await startSwift()
  atEnd(() => swift.stop())
  const { BLOB_MIN_BYTES, ...store } = swift.environment
  const open = (more: Record<string, string>) => openSite(ends, { environment: { ...environment, ...more } })
  const [ours, theirs] = [await open(store), await open({})]
  const sites = { what: 'S3, mails with a file of 50 KB', ours, against: 'without', theirs }
  await compareSites(world, sites, { kind: 'file', mails: 60 })
}

/**
 * Mails in and webhooks out with more processes than one, and with an object store. On a machine with few cores the
 * rates say what each adds to the work, and the CPU of each part where its limit is on more machines.
 */
export const benchScaling: Suite = async (report) => {
  const key = dkimKey('example.com')
  const environment = { DNS_SERVERS: await startZone(key) }
  const world: World = { ends: await startEnds(key), environment, report }
  await compareProcesses(world)
  await compareStore(world)
}
