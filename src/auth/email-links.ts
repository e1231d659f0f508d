import type { IncomingMessage } from 'node:http'
import { AppError, messageOf } from '../core/errors.ts'
import { clientOf } from '../core/http.ts'
import type { Logger } from '../core/logger.ts'
import type { Mailer } from '../workspace/invitation.ts'
import type { RateLimits } from '../workspace/rate-limits.ts'
import { hashToken } from '../workspace/token.ts'
import { signInPath } from './return-path.ts'
import { createSignInLink, identifyBrowser, type LinkDeps } from './sign-in-link.ts'

export interface EmailLinkDeps extends LinkDeps {
  mailer: Mailer
  rates: Pick<RateLimits, 'takeAll'>
  log: Logger
}

/** Each is a mail in the service's name to someone who may not want it. */
const LINKS_AN_HOUR = 3
const HOUR_MS = 3_600_000
/** Workspaces of one person for which a mail has links. */
const MAX_WORKSPACES = 20

/**
 * Returns what the limit counts for the client of a request; '' for a proxy that does not say who its client
 * is, which may stand for everyone.
 */
const clientKeyOf = (request: IncomingMessage): string =>
  clientOf(request) || (request.headers['x-forwarded-for'] || request.headers.forwarded ? '' : 'this machine')

const textOf = (links: readonly { workspace: string; url: string }[]): string =>
  `${links.map(({ workspace, url }) => `Sign in to the workspace ${workspace}:\n\n${url}\n`).join('\n')}
This works once, within 10 minutes, and only in the browser in which it was requested. If you did not request it, you can ignore this email.
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
    this.#count(request, address)
    const { browser, cookie } = identifyBrowser(this.#deps, request)
    const sending: Promise<void> = this.#send(address, { browser, path: signInPath(path) })
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

  #count(request: IncomingMessage, address: string): void {
    const client = clientKeyOf(request)
    const limit = { limit: LINKS_AN_HOUR, windowMs: HOUR_MS }
    const uses = [
      ...(client ? [{ key: `sign-in mail from:${client}`, ...limit }] : []),
      // Hashed: the address may not be a member's, and should not be stored then.
      { key: `sign-in mail to:${hashToken(address).toString('base64url')}`, ...limit },
    ]
    if (!this.#deps.rates.takeAll(uses)) return
    const now = this.#deps.clock.now().getTime()
    throw new AppError(
      'rate_limited',
      `At most ${LINKS_AN_HOUR} links an hour can be sent to an address, and be requested from one place.`,
      { retryAfter: Math.ceil((HOUR_MS - (now % HOUR_MS)) / 1000) },
    )
  }

  async #send(email: string, bound: { browser: string; path: string }): Promise<void> {
    const { prisma, mailer } = this.#deps
    const members = await prisma.member.findMany({
      where: { email },
      include: { workspace: { select: { name: true } } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      take: MAX_WORKSPACES,
    })
    if (members.length === 0) return
    const links: { workspace: string; url: string }[] = []
    for (const { id, workspace } of members) {
      const { url } = await createSignInLink(this.#deps, id, bound)
      links.push({ workspace: workspace.name, url })
    }
    mailer.send({ to: email, subject: 'Sign in to Agent Messaging Service', text: textOf(links) })
  }
}
