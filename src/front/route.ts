import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Key } from '../core/cell.ts'
import { noSuchPath } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { readCookie } from '../core/http/cookie.ts'
import type { Cell } from './cells.ts'
import { type Claim, claimsOf, pathOf, readForm, tokenKey } from './claims.ts'
import type { Directory, Location } from './directory.ts'
import { type SentHeaders, withSession } from './headers.ts'
import type { HandedMail, MailOverHttp } from './mail-over-http.ts'

/** Where a request goes, and with what. */
export interface Route extends SentHeaders {
  /** The installation that it is for; or all, if any can answer it. */
  readonly cells: readonly Cell[]
  /** What it was found by; null if any installation can answer it. */
  readonly key: Key | null
  readonly workspaceId: string | null
  /** Installations that get a copy, and whose answers nobody reads. */
  readonly copies: readonly Cell[]
  /** Path and query. */
  readonly url: string
  /** A mail, which several installations may need. */
  readonly mail?: HandedMail
}

/**
 * Paths that no single installation can serve: the authorization server, where clients register with one installation and members
 * may be in another. And the lookups of fronts.
 */
const REFUSED = /^\/(?:\.well-known|oauth|cell)(?:\/|$)/

/** The form that asks for a link to sign in. Each installation in which the person is a member mails one. */
const LINK_FORM = '/app/sign-in/email'

/** Anything but a bearer token is a secret of another service, which no installation needs. */
const authorizationOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  authorization === undefined || bearerOf(authorization) ? authorization : 'Bearer'

/** Finds the installations that requests are for. */
export class Routes {
  readonly #directory: Directory
  readonly #cells: readonly Cell[]
  readonly #mail: MailOverHttp
  readonly #publicUrl: () => string

  constructor(directory: Directory, cells: readonly Cell[], mail: MailOverHttp, publicUrl: () => string) {
    this.#directory = directory
    this.#cells = cells
    this.#mail = mail
    this.#publicUrl = publicUrl
  }

  /** Throws `not_found` for what no front serves, and `unavailable` if an installation that it may be for does not answer. */
  async of(request: IncomingMessage): Promise<Route> {
    const { url = '/', headers } = request
    if (REFUSED.test(pathOf(url))) throw noSuchPath()
    const mail = await this.#mail.read(request)
    if (mail) {
      const forAny = { cells: this.#any(), key: null, workspaceId: null, copies: [] }
      return { ...forAny, url, mail, body: mail.body, authorization: undefined, cookie: undefined }
    }
    const form = await readForm(request)
    const found = await this.#find([...claimsOf(request), ...(form?.claim ? [form.claim] : [])])
    const session = readCookie(this.#publicUrl(), request, 'session')
    const ofSession = session === null ? undefined : (await this.#directory.find(tokenKey(session)))[0]
    const location = found.locations[0] ?? ofSession
    const own = ofSession && ofSession.cell === location?.cell ? session : null
    const others = pathOf(url) === LINK_FORM ? found.locations.slice(1) : []
    return {
      ...{ url, authorization: authorizationOf(headers), body: form?.body ?? null, ...found.redacted },
      cells: location ? [location.cell] : this.#any(),
      key: found.key ?? (own === null ? null : tokenKey(own)),
      workspaceId: location?.workspaceId ?? null,
      copies: others.filter(({ isMoving }) => !isMoving).map(({ cell }) => cell),
      cookie: headers.cookie === undefined ? undefined : withSession(headers.cookie, own),
    }
  }

  /** All installations, those that answer first. */
  #any(): readonly Cell[] {
    return this.#cells.toSorted((a, b) => Number(a.isDown) - Number(b.isDown))
  }

  /** Finds the first of these that any installation has; secrets that none has are redacted. */
  async #find(
    claims: readonly Claim[],
  ): Promise<{ locations: readonly Location[]; key?: Key; redacted: Claim['redacted'] }> {
    let redacted: Claim['redacted'] = {}
    for (const claim of claims) {
      const locations = await this.#directory.find(claim.key)
      if (locations.length > 0) return { locations, key: claim.key, redacted }
      redacted = { ...redacted, ...claim.redacted }
    }
    return { locations: [], redacted }
  }
}
