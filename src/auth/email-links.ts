import type { IncomingMessage } from 'node:http'
import { AppError, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { quoted } from '../core/text/quoted.ts'
import { hashToken, type Mailer, needsCompany, type RateLimits } from '../workspace/index.ts'
import { clientKeyOf } from './client-key.ts'
import { type BrowserDeps, noteInBrowser, noteOf } from './email-browser.ts'
import { signInPath } from './return-path.ts'
import { createSignInLink, type LinkDeps } from './sign-in-link.ts'

export interface EmailLinkDeps extends LinkDeps, BrowserDeps {
  mailer: Mailer
  rates: Pick<RateLimits, 'takeAll'>
  log: Logger
}

/**
 * Sign-in mails that can be requested within an hour from one place. A browser in which a link to the same address
 * was used before has as many of its own, so that nobody else uses up its member's.
 * @limit Signing in
 */
const LINKS_AN_HOUR = 3
const HOUR_MS = 3_600_000
/**
 * After as many mails to one address in an hour, strangers cause one more in five minutes, at most: until then the
 * last one counts in their browsers, too, for five minutes at least. A mail is in the service's name to someone who
 * may not want it; but someone who asks for links all day must not keep the member from signing in.
 */
const MAIL_PAUSE_MS = 5 * 60_000
/** Workspaces of one person for which a mail has links. */
const MAX_WORKSPACES = 20

const textOf = (links: readonly { workspace: string; url: string }[]): string =>
  `${links.map(({ workspace, url }) => `Sign in to the workspace ${quoted(workspace)}:\n\n${url}\n`).join('\n')}
This works once, within 10 minutes, and only in a browser in which it was requested. If you did not request it, you can ignore this email.
`

/**
 * Sends links to sign in by email. Whether the address is a member's is looked up only after the response,
 * which is therefore the same for every address, in words and in time.
 */
export class EmailLinks {
  readonly #deps: EmailLinkDeps
  readonly #sending = new Set<Promise<void>>()

  constructor(deps: EmailLinkDeps) {
    this.#deps = deps
  }

  /**
   * Sends a link to this address, if it is a member's, for the browser of the request; returns the Set-Cookie
   * header that identifies it. Throws `invalid_input` for what is no address, and `rate_limited`.
   */
  request(request: IncomingMessage, { email, path }: { email: string; path: string }): string {
    const { mailer } = this.#deps
    const address = mailer.normalize(email)
    const known = noteOf(this.#deps, request, 'known', address)
    this.#count(request, known)
    const { value: browser, cookie } = noteInBrowser(this.#deps, request, 'asked', address)
    const sending: Promise<void> = this.#send(address, { browser, path: signInPath(path), known })
      .catch((error: unknown) =>
        this.#deps.log.warn({ error: messageOf(error) }, 'could not send a link to sign in'),
      )
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
    return cookie
  }

  /** Resolves when what was requested has been passed to the mailer. */
  async stop(): Promise<void> {
    await Promise.all(this.#sending)
  }

  #count(request: IncomingMessage, known: string | undefined): void {
    const client =
      known === undefined ? clientKeyOf(request) : `browser ${hashToken(known).toString('base64url')}`
    const use = { key: `sign-in mail from:${client}`, limit: LINKS_AN_HOUR, windowMs: HOUR_MS }
    if (!client || !this.#deps.rates.takeAll([use])) return
    const now = this.#deps.clock.now().getTime()
    throw new AppError(
      'rate_limited',
      `At most ${LINKS_AN_HOUR} links an hour can be requested from one place.`,
      { retryAfter: Math.ceil((HOUR_MS - (now % HOUR_MS)) / 1000) },
    )
  }

  /** Whether strangers may cause another mail to this address now. */
  #mayMail(address: string): boolean {
    // Hashed: the address may not be a member's, and should not be stored then.
    const key = `sign-in mail to:${hashToken(address).toString('base64url')}`
    const { rates } = this.#deps
    if (!rates.takeAll([{ key, limit: LINKS_AN_HOUR, windowMs: HOUR_MS }])) return true
    return !rates.takeAll([{ key: `${key} more`, limit: 1, windowMs: MAIL_PAUSE_MS }])
  }

  async #send(
    email: string,
    { known, ...bound }: { browser: string; path: string; known: string | undefined },
  ): Promise<void> {
    if (known === undefined && !this.#mayMail(email)) return
    const { prisma, mailer, afterCommit } = this.#deps
    const members = await prisma.member.findMany({
      where: { email, workspace: { move: null } },
      include: { workspace: { select: { name: true } } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: MAX_WORKSPACES,
    })
    const links: { workspace: string; url: string }[] = []
    for (const { id, workspaceId, workspace } of members) {
      if (await needsCompany(prisma, { workspaceId, email })) continue
      const { url } = await createSignInLink(this.#deps, id, bound)
      links.push({ workspace: workspace.name, url })
    }
    if (links.length === 0) return
    afterCommit(() =>
      mailer.send({ to: email, subject: 'Sign in to Agent Messaging Service', text: textOf(links) }),
    )
  }
}
