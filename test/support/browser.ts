import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { afterFile } from './after-file.ts'
import { takeContext } from './browser-context.ts'
import { CHROMIUM, launchChromium } from './chromium.ts'

if (!CHROMIUM && process.env.CI === 'true')
  throw new Error('Chromium is not installed: apt-get install chromium-headless-shell')
if (!CHROMIUM)
  process.stderr.write(
    'browser tests are skipped because Chromium is not installed (apt-get install chromium-headless-shell)\n',
  )

/** A test in a real browser; skipped where there is none, except in continuous integration. */
export const browserTest = test.skipIf(!CHROMIUM)

export interface TestBrowser {
  /**
   * Opens a page with cookies and storage of its own, which is closed after the test: each page that listens for changes
   * loads them.
   */
  page(options?: BrowserContextOptions): Promise<Page>
  /** Opens one for a test that changes the context in a way that cannot be undone, such as by `addInitScript` or a clock, or all of its pages. */
  ownPage(options?: BrowserContextOptions): Promise<Page>
  /** Opens a page that is closed after the file's last test. */
  keptPage(): Promise<Page>
}

/** Errors that a page logs; a test may remove those that it expects. */
const errors = new WeakMap<Page, string[]>()

/** Returns the errors that the page has logged so far, such as violations of its policy. */
export const errorsOf = (page: Page): string[] => errors.get(page) ?? []

/** Test files that run in the same process share a browser, which ends with the process. */
let shared: Promise<Browser> | undefined

/** On a busy machine, a screen may be complete after Playwright's 30 seconds only. */
const PATIENCE_MS = 180_000

const prepare = (page: Page): Page => {
  page.setDefaultTimeout(PATIENCE_MS)
  const logged: string[] = []
  errors.set(page, logged)
  page.on('console', (message) => {
    if (message.type() === 'error') logged.push(message.text())
  })
  page.on('pageerror', (error) => logged.push(String(error)))
  return page
}

const open = async (browser: Browser, options: BrowserContextOptions): Promise<Page> =>
  prepare(await (await browser.newContext(options)).newPage())

/** Starts a browser, unless one runs. */
export const startBrowser = async (): Promise<TestBrowser> => {
  const none = () => Promise.reject(new Error('there is no browser'))
  if (!CHROMIUM) return { page: none, ownPage: none, keptPage: none }
  if ((await shared)?.isConnected() !== true) shared = launchChromium()
  const browser = await shared!
  const ownPage: TestBrowser['ownPage'] = async (options = {}) => {
    const page = await open(browser, options)
    onTestFinished(() => page.context().close())
    return page
  }
  return {
    page: async (options = {}) => {
      if (options.permissions) return ownPage(options)
      const lent = await takeContext(browser, options)
      const page = prepare(await lent.page(options))
      onTestFinished(() => lent.giveBack())
      return page
    },
    ownPage,
    keptPage: async () => {
      const page = await open(browser, {})
      afterFile(() => page.context().close())
      return page
    },
  }
}

/** The content scrolls in a part of the page, which a picture of the whole page would cut. */
const heightOf = (page: Page): Promise<number> =>
  page.evaluate<number>(
    '[...document.querySelectorAll("main, main *")].reduce((sum, one) => ' +
      'Math.max(sum, getComputedStyle(one).overflowY === "auto" ? one.scrollHeight - one.clientHeight : 0), 0)' +
      ' + innerHeight',
  )

/** Takes a picture for the eye when SCREENSHOTS names a folder. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  const size = page.viewportSize()!
  await page.setViewportSize({ ...size, height: Math.min(await heightOf(page), 4_000) })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  await page.setViewportSize(size)
}

/** Checks that a page is usable on a narrow screen: nothing of it is wider. */
export const expectNarrow = async (page: Page): Promise<void> => {
  const excess = await page.evaluate<number>(
    'Math.max(...[...document.querySelectorAll("html, main")].map((one) => one.scrollWidth - one.clientWidth))',
  )
  expect(excess).toBeLessThanOrEqual(0)
}
