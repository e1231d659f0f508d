import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { createOperatorLink } from '../../src/auth/operator-link.ts'
import { systemClock } from '../../src/core/clock.ts'
import { CHROMIUM, launchChromium } from '../support/chromium.ts'
import { dkimKey } from '../support/mail.ts'
import { atEnd } from './cleanup.ts'
import { openCommitter } from './committer.ts'
import { ask, type Bench, startBench, startPart } from './machinery.ts'
import { createRecipients, startZone } from './mail-world.ts'
import { atMostItself, type BenchRow, type Goal, percentile, type Suite } from './row.ts'
import type { Sent } from './smtp-client.ts'

/** How long mail arrives while members look on. */
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
const MAILS_PER_SECOND = 50
const AGENTS = 50
const THREADS = 10_000
const SESSIONS = 8
/** How long a page at rest is looked at. */
const REST_SECONDS = 10
const POLL_MS = 100
/** For this long, what arrived last may still be read. */
const SETTLE_MS = 3_000
/** How often the list is scrolled by a page. */
const TURNS = 300

/** Looks at the page as long as it is open: when each frame was drawn, and which mail is the newest that it shows. */
const WATCH = `(() => {
  const watch = { frames: [], shown: [] }
  let before = performance.now()
  const frame = (now) => { watch.frames.push(now - before); before = now; requestAnimationFrame(frame) }
  requestAnimationFrame(frame)
  setInterval(() => {
    const numbers = [...document.querySelectorAll('.thread-row')].map((row) => Number(/Order (\\d+)/.exec(row.textContent)?.[1] ?? -1))
    watch.shown.push([Date.now(), Math.max(-1, ...numbers)])
  }, ${POLL_MS})
  window.benchWatch = watch
})()`

interface Watched {
  frames: number[]
  /** When was looked, and the highest number of a mail in the list. */
  shown: [number, number][]
}

/** A page of a member, with what it asked for and what went wrong. */
interface Tab {
  page: Page
  requests: number
  failures: string[]
}

const openTab = async (opened: Page, url: string): Promise<Tab> => {
  const tab: Tab = { page: opened, requests: 0, failures: [] }
  opened.on('request', (request) => {
    if (request.url().endsWith('/graphql') && !request.postData()?.includes('subscription')) tab.requests++
  })
  opened.on('response', (response) => {
    if (response.status() >= 400) tab.failures.push(`${response.status()} ${response.url()}`)
  })
  opened.on('pageerror', (error) => tab.failures.push(String(error)))
  await opened.goto(url)
  await opened.locator('.live').waitFor({ state: 'attached' })
  return tab
}

/** Adds a second owner, and returns the addresses of both. */
const members = async ({ postgres }: Bench): Promise<string[]> => {
  await postgres.pool.query(
    `insert into member (id, workspace_id, email, name, role)
     select gen_random_uuid(), workspace_id, 'second@example.com', 'Second', 'owner' from member limit 1`,
  )
  const { rows } = await postgres.pool.query<{ email: string }>('select email from member')
  return rows.map(({ email }) => email)
}

/** Signs both members in, each with two tabs: an inbox with an open thread, and what needs a person. */
const openTabs = async (browser: Browser, bench: Bench): Promise<Tab[]> => {
  const { db } = await openCommitter(bench)
  const origin = bench.http.replace('127.0.0.1', 'localhost')
  const tabs: Tab[] = []
  for (const email of await members(bench)) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const first = await context.newPage()
    const deps = { ...db, clock: systemClock, publicUrl: () => origin }
    await first.goto((await createOperatorLink(deps, { email })).url)
    await first.getByRole('button', { name: 'Sign in', exact: true }).click()
    await first.locator('#content').waitFor()
    await first.goto(`${origin}/app/inbox`)
    // A row that was clicked on would keep the list in its place.
    const thread = await first.locator('.thread-row').first().getAttribute('href')
    tabs.push(await openTab(first, `${origin}${thread}`))
    await first.getByRole('article').first().waitFor()
    tabs.push(
      await openTab(await context.newPage(), `${origin}/app/${tabs.length === 1 ? 'home' : 'waiting'}`),
    )
  }
  return tabs
}

/** What a page showed since it was last asked. */
const watched = (page: Page): Promise<Watched> =>
  page.evaluate(
    '(() => { const w = window.benchWatch; const r = { ...w }; w.frames = []; w.shown = []; return r })()',
  )

/** How far the list was behind at each look: how old the oldest mail was that was answered and not shown, in ms. */
const delays = ({ shown }: Watched, { ends }: Pick<Sent, 'ends'>, first: number): number[] =>
  shown.map(([at, newest]) => {
    const missing = ends[Math.max(0, newest + 1 - first)]
    return missing === undefined || missing > at ? 0 : at - missing
  })

/** Scrolls the list as fast as it loads. */
const scrolled = async (page: Page): Promise<Watched> => {
  await watched(page)
  await page.locator('.thread-row').first().hover()
  for (let turn = 0; turn < TURNS; turn++) {
    await page.mouse.wheel(0, 1_000)
    await sleep(30)
  }
  return watched(page)
}

const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize / 1e6
}

/** Mail of one domain, and a client that sends it to many agents. */
const startMail = async () => {
  const key = dkimKey('example.com')
  const bench = await startBench({ RATE_LIMIT: '600', DNS_SERVERS: await startZone(key) })
  const to = (await createRecipients(bench, AGENTS)).map(({ address }) => address)
  const { child } = await startPart('smtp-client.ts', JSON.stringify(key))
  const prepare = (mails: number) => ask(child, { prepare: { kind: 'plain', mails, to } })
  const send = (rate?: number) => ask<Sent>(child, { port: bench.smtp.port, sessions: SESSIONS, rate })
  return { bench, prepare, send }
}

/** Throws when a page shows a failure, or was refused something. */
const expectNone = async (tabs: readonly Tab[]): Promise<void> => {
  const red = await Promise.all(tabs.map(({ page }) => page.locator('.failed').allInnerTexts()))
  const failures = [...red.flat(), ...tabs.flatMap((tab) => tab.failures)]
  if (failures.length > 0) throw new Error(`a page shows a failure: ${failures.slice(0, 5).join(', ')}`)
}

const row = (name: string, unit: string, [ours, counterpart]: [number, number], goal?: Goal): BenchRow => ({
  ...{ name, against: 'the same page at rest', unit, ours, counterpart, goal },
  ratio: ours / counterpart,
  spread: [ours / counterpart, ours / counterpart],
})

/** The web application of two members with two tabs each while mail arrives, against the same at rest. */
export const benchDashboard: Suite = async (report) => {
  if (!CHROMIUM) return report({ skipped: 'dashboard: Chromium is not installed' })
  const { bench, prepare, send } = await startMail()
  await prepare(THREADS)
  await send()
  const browser = await launchChromium()
  atEnd(() => browser.close())
  const tabs = await openTabs(browser, bench)
  const { page } = tabs[0]!
  await page.mouse.move(1_200, 600)
  await page.evaluate(WATCH)
  const heap = await heapOf(page)
  await prepare(MAILS_PER_SECOND * SECONDS)
  await watched(page)
  await sleep(REST_SECONDS * 1_000)
  const rest = percentile((await watched(page)).frames, 0.95)
  for (const tab of tabs) tab.requests = 0
  const sent = await send(MAILS_PER_SECOND)
  const requests = Math.max(...tabs.map((tab) => tab.requests)) / (sent.seconds / 60)
  const busy = await watched(page)
  await sleep(SETTLE_MS)
  await expectNone(tabs)
  const late = delays(busy, sent, THREADS)
  const load = `${MAILS_PER_SECOND} mails a second, ${THREADS} threads`
  const frames = (of: Watched): [number, number] => [percentile(of.frames, 0.95), rest]
  report(row(`delay of the list, median, ${load}`, 'ms', [percentile(late, 0.5), POLL_MS]))
  report(
    row(`delay of the list, 95 %, ${load}`, 'ms', [percentile(late, 0.95), POLL_MS], atMostItself(2_000)),
  )
  report(row(`requests of the busiest tab, ${load}`, '/min', [requests, 1], atMostItself(60)))
  report(row(`heap of a tab after ${SECONDS} s, ${load}`, 'MB', [await heapOf(page), heap]))
  report(row(`frame, 95 %, ${load}`, 'ms', frames(busy), atMostItself(33)))
  report(row('frame, 95 %, scrolling through them', 'ms', frames(await scrolled(page)), atMostItself(33)))
}
