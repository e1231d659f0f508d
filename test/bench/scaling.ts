import { missing as missingSwift, startSwift } from '../s3/swift.ts'
import { dkimKey } from '../support/mail.ts'
import { atEnd } from './cleanup.ts'
import { openCommitter } from './committer.ts'
import { usedByAll } from './cpu.ts'
import { type Ends, type MailLoad, sendMails, startEnds } from './mail-way.ts'
import { startZone } from './mail-world.ts'
import { type Comparison, compareAll, type Side } from './paired.ts'
import type { Report, Suite } from './row.ts'
import { AGENTS, type Fleet, openFleet, openSite, type Site } from './scaling-sites.ts'
import { expectPosts } from './webhook-world.ts'

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
    let before: number[] = []
    const begins = () => {
      before = groups.map(usedByAll)
    }
    const load = { kind, mails, sessions: AGENTS }
    const { seconds, startedAt, arrivals } = await sendMails(ends, site, load, begins)
    const spent = groups.map((pids, n) => (usedByAll(pids) - before[n]!) / mails / 1000)
    return [mails / seconds, (mails * 1000) / (arrivals.at(-1)! - startedAt), ...spent]
  },
})

/** Sites that have had their first mails. */
const used = new WeakSet<Site>()

/**
 * Mails that the process with the other roles gets, and events that each worker process gets, until V8 has optimized
 * nearly all that they run. It does so for each process by itself: four workers would share what warms one.
 */
const WARM = { mails: 2_500, events: 6_000 }
/** Events of each agent that are committed one after the other and then delivered. */
const TOGETHER = 10

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
  for (const site of [ours, theirs].filter((each) => !used.has(each))) {
    used.add(site)
    await sendMails(ends, site, { ...load, mails: load.mails + WARM_UP, sessions: AGENTS })
  }
  const about = FIGURES.map(([name, unit], n): Comparison => {
    return { name: n === 0 ? `${what}: ${name}` : name, against: n === 0 ? against : 'the same', unit }
  })
  const sides = [ours, theirs].map((site) => sideOf(ends, site, load)) as [Side, Side]
  for (const row of await compareAll(about, ...sides, { rounds: 5, seconds: 12 })) report(row)
}

const warmUp = async (ends: Ends, site: Site, workers: number): Promise<void> => {
  await sendMails(ends, site, { kind: 'plain', mails: WARM.mails, sessions: AGENTS })
  const { store, announce } = await openCommitter(site.bench)
  const ids = site.endpoints.map(({ agentId }) => agentId)
  const posts = ids.length * TOGETHER
  for (let left = WARM.events * workers; left > 0; left -= posts) {
    const { arrived } = await expectPosts(ends, posts)
    for (let n = 0; n < TOGETHER; n++) announce(await store(ids, 1))
    await arrived
  }
}

/** Just after their start, and when each process has had the same amount of work. */
const compareProcesses = async (world: World): Promise<void> => {
  const { ends, environment } = world
  const open = (workerProcesses: number) => openSite(ends, { environment, workerProcesses })
  const [ours, theirs] = [await open(4), await open(1)]
  const compare = (state: string) =>
    compareSites(
      world,
      { what: `4 worker processes, ${state}`, ours, against: '1 worker process', theirs },
      { kind: 'plain', mails: 300 },
    )
  await compare('just started')
  await warmUp(ends, ours, 4)
  await warmUp(ends, theirs, 1)
  await compare('warm')
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

/** Mails through a front: what each takes of the busiest installation, and of the front. */
const fleetSide = (ends: Ends, fleet: Fleet): Side => ({
  round: async () => {
    const load = { kind: 'plain', mails: 300, sessions: AGENTS } as const
    const groups = [fleet.front, ...fleet.installations]
    let before: number[] = []
    const begins = () => {
      before = groups.map(usedByAll)
    }
    const { seconds } = await sendMails(ends, fleet, load, begins)
    const [front = 0, ...installations] = groups.map((pids, n) => (usedByAll(pids) - before[n]!) / 1_000_000)
    return [load.mails / Math.max(...installations), load.mails / seconds, (front / load.mails) * 1_000]
  },
})

/** Two installations behind a front against one, and one against what it does without a front; all warm. */
const compareInstallations = async ({ ends, environment, report }: World): Promise<void> => {
  const open = async (installations: number, front = true): Promise<Fleet> => {
    const fleet = await openFleet(ends, { environment, installations, front })
    const mails = WARM.mails * installations
    await sendMails(ends, fleet, { kind: 'plain', mails, sessions: AGENTS })
    return fleet
  }
  const [two, one, bare] = [await open(2), await open(1), await open(1, false)]
  const compare = async (about: Comparison[], ours: Fleet, theirs: Fleet) => {
    const sides = [ours, theirs].map((fleet) => fleetSide(ends, fleet)) as [Side, Side]
    for (const row of await compareAll(about, ...sides, { rounds: 7, seconds: 20 })) report(row)
  }
  const mails = (limit: number) => ({
    unit: 'mails',
    goal: { of: 'ratio', limit, better: 'higher' } as const,
  })
  const [of, same] = ['mails for a second of CPU of the busiest', 'the same']
  await compare(
    [
      { name: `2 installations behind a front: ${of}`, against: '1 behind a front', ...mails(1.7) },
      { name: 'mails in', against: same, unit: 'mails/s' },
      { name: 'CPU of the front for a mail', against: same, unit: 'ms' },
    ],
    two,
    one,
  )
  await compare(
    [
      { name: `1 installation behind a front: ${of}`, against: 'without a front', ...mails(0.7) },
      { name: 'mails in', against: same, unit: 'mails/s' },
    ],
    one,
    bare,
  )
}

/**
 * Mails in and webhooks out with more processes than one, with more installations, and with an object store. On a machine with few cores the
 * rates say what each adds to the work, and the CPU of each part where its limit is on more machines.
 */
export const benchScaling: Suite = async (report) => {
  const key = dkimKey('example.com')
  const environment = { DNS_SERVERS: await startZone(key) }
  const world: World = { ends: await startEnds(key), environment, report }
  await compareProcesses(world)
  await compareInstallations(world)
  await compareStore(world)
}
