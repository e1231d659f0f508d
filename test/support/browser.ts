import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { afterFile } from './after-file.ts'
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
  /** Opens a page with cookies of its own. */
  page(options?: BrowserContextOptions): Promise<Page>
}

/** Errors that a page logs; a test may remove those that it expects. */
const errors = new WeakMap<Page, string[]>()

/** Returns the errors that the page has logged so far, such as violations of its policy. */
export const errorsOf = (page: Page): string[] => errors.get(page) ?? []

/** Starts a browser, which ends after the file's last test. */
export const startBrowser = async (): Promise<TestBrowser> => {
  if (!CHROMIUM) return { page: () => Promise.reject(new Error('there is no browser')) }
  const browser = await launchChromium()
  afterFile(() => browser.close())
  return {
    page: async (options = {}) => {
      const context: BrowserContext = await browser.newContext(options)
      const page = await context.newPage()
      const logged: string[] = []
      errors.set(page, logged)
      page.on('console', (message) => {
        if (message.type() === 'error') logged.push(message.text())
      })
      page.on('pageerror', (error) => logged.push(String(error)))
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
