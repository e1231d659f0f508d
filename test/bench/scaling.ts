import { missing as missingCitus } from '../citus/cluster.ts'
import { missing as missingSwift, startSwift } from '../s3/swift.ts'
import { dkimKey } from '../support/mail.ts'
import { atEnd } from './cleanup.ts'
import { usedByFamily } from './cpu.ts'
import { explainCluster } from './cross-shard.ts'
import { type Ends, type MailLoad, sendMails, startEnds } from './mail-way.ts'
import { startZone } from './mail-world.ts'
import { type Comparison, compareAll, type Side } from './paired.ts'
import type { Report, Suite } from './row.ts'
import { AGENTS, openSite, type Site, startCitus, startEmbeddedPlace, startPlain } from './scaling-sites.ts'

/** Mails that are not measured, besides those of a round. */
const WARM_UP = 60

type Load = Pick<MailLoad, 'kind' | 'mails'>

const sumOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + usedByFamily(pid), 0)

/** Rates of both ends, and milliseconds of CPU for each mail. */
const FIGURES = [
  ['mails in', 'mails/s'],
  ['webhooks out', 'webhooks/s'],
  ['CPU of the service for a mail', 'ms'],
  ['CPU of the PostgreSQL that it is connected to', 'ms'],
  ['CPU of all nodes of PostgreSQL', 'ms'],
] as const

const sideOf = (ends: Ends, site: Site, { kind, mails }: Load): Side => ({
  round: async () => {
    const groups = [site.node, [site.postgres], [site.postgres, ...site.workers]]
    const before = groups.map(sumOf)
    const { seconds, startedAt, arrivals } = await sendMails(ends, site, { kind, mails, sessions: AGENTS })
    const used = groups.map((pids, n) => (sumOf(pids) - before[n]!) / mails / 1000)
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

/** The same load on plain PostgreSQL, on a coordinator with one worker, and with two. */
const compareCitus = async (world: World): Promise<void> => {
  const { ends, environment, report } = world
  if (missingCitus !== null) return report({ skipped: `scaling on Citus: ${missingCitus}` })
  const load: Load = { kind: 'plain', mails: 80 }
  const plain = await openSite(ends, await startPlain(), { environment })
  const one = await openSite(ends, await startCitus(1), { environment })
  const ours = { what: 'Citus, 1 worker node', ours: one }
  await compareSites(world, { ...ours, against: 'plain PostgreSQL 15', theirs: plain }, load)
  await plain.stop()
  const place = await startCitus(2)
  const two = await openSite(ends, place, { environment })
  const second = { what: 'Citus, 2 worker nodes', ours: two, against: '1 worker node', theirs: one }
  await compareSites(world, second, load)
  await one.stop()
  await explainCluster(ends, two, place.cluster)
  await two.stop()
}

const compareProcesses = async (world: World): Promise<void> => {
  const { ends, environment } = world
  const open = async (workerProcesses: number) =>
    openSite(ends, await startEmbeddedPlace(), { environment, workerProcesses })
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
  const open = async (more: Record<string, string>) =>
    openSite(ends, await startEmbeddedPlace(), { environment: { ...environment, ...more } })
  const [ours, theirs] = [await open(store), await open({})]
  const sites = { what: 'S3, mails with a file of 50 KB', ours, against: 'without', theirs }
  await compareSites(world, sites, { kind: 'file', mails: 60 })
}

/**
 * Mails in and webhooks out with more nodes, more processes and an object store than one of each. On a machine with
 * few cores the rates say what each adds to the work, and the CPU of each part where its limit is on more machines.
 */
export const benchScaling: Suite = async (report) => {
  const key = dkimKey('example.com')
  const environment = { DNS_SERVERS: await startZone(key) }
  const world: World = { ends: await startEnds(key), environment, report }
  await compareCitus(world)
  await compareProcesses(world)
  await compareStore(world)
}
