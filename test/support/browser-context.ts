import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/**
 * Contexts that tests use one after the other. A page of a new one starts a process, and compiles the application again:
 * more than half of what it costs to open it.
 */
export interface LentContext {
  /** Opens a page with these options, in so far as they are not those of the context. */
  page(options: BrowserContextOptions): Promise<Page>
  /** Closes the pages, and removes what they stored. */
  giveBack(): Promise<void>
}

/** What a page can have for itself. */
const splitOptions = ({
  viewport,
  colorScheme = 'light',
  reducedMotion = 'no-preference',
  ...others
}: BrowserContextOptions) => ({ ofPage: { viewport, media: { colorScheme, reducedMotion } }, others })

const isWeb = (url: string): boolean => /^https?:/.test(url)

class KeptContext implements LentContext {
  readonly #context: BrowserContext
  readonly #rest: () => void
  /** Stays open, so that the process of its site does; without a page there is nothing that storage could belong to. */
  #keeper: Page | undefined
  /** Whose pages may have stored something. */
  readonly #origins = new Set<string>()

  constructor(context: BrowserContext, rest: (context: KeptContext) => void) {
    this.#context = context
    this.#rest = () => rest(this)
    // They would stay, whichever page asked for them.
    const refuse = () => Promise.reject(new Error('this needs ownPage()'))
    Object.assign(context, { addInitScript: refuse })
    Object.assign(context.clock, { install: refuse })
    context.on('page', (page) =>
      page.on('framenavigated', (frame) => {
        if (isWeb(frame.url())) this.#origins.add(new URL(frame.url()).origin)
      }),
    )
  }

  async page(options: BrowserContextOptions): Promise<Page> {
    this.#keeper ??= await this.#keep()
    const { viewport, media } = splitOptions(options).ofPage
    const page = await this.#context.newPage()
    if (viewport) await page.setViewportSize(viewport)
    await page.emulateMedia(media)
    return page
  }

  async #keep(): Promise<Page> {
    const page = await this.#context.newPage()
    await page.route('**', (route) => route.fulfill({ body: '' }))
    await page.goto('http://localhost/')
    return page
  }

  async giveBack(): Promise<void> {
    try {
      await this.#clean()
    } catch {
      // A test has closed it, or it does not let itself be cleaned.
      return this.#context.close()
    }
    this.#rest()
  }

  async #clean(): Promise<void> {
    const context = this.#context
    for (const page of context.pages()) if (page !== this.#keeper) await page.close()
    await context.clearCookies()
    await context.clearPermissions()
    const devtools = await context.newCDPSession(this.#keeper!)
    for (const origin of this.#origins)
      await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await devtools.detach()
    this.#origins.clear()
  }
}

const resting = new WeakMap<Browser, Map<string, KeptContext[]>>()

/** Returns a context without cookies and storage that no other test uses now. */
export const takeContext = async (browser: Browser, options: BrowserContextOptions): Promise<LentContext> => {
  const { others } = splitOptions(options)
  const all = resting.get(browser) ?? new Map<string, KeptContext[]>()
  resting.set(browser, all)
  const key = JSON.stringify(others)
  const alike = all.get(key) ?? []
  all.set(key, alike)
  const rested = alike.pop()
  return rested ?? new KeptContext(await browser.newContext(others), (context) => alike.push(context))
}
