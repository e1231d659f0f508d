import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Key } from '../core/cell.ts'
import { noSuchPath } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { readCookie } from '../core/http/cookie.ts'
import type { Cell } from './cells.ts'
import { type Claim, claimsOf, clientClaims, pathOf, readForm, tokenKey } from './claims.ts'
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

/** The lookups of fronts, which no client may make. */
const REFUSED = /^\/cell(?:\/|$)/

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
    const session = readCookie(this.#publicUrl(), request, 'session')
    const ofSession = session === null ? undefined : (await this.#directory.find(tokenKey(session)))[0]
    const found = await this.#find([
      ...claimsOf(request),
      ...(form?.claim ? [form.claim] : []),
      ...(session !== null && ofSession ? [{ key: tokenKey(session) }] : clientClaims(request)),
    ])
    const [location] = found.locations
    const own = ofSession && ofSession.cell === location?.cell ? session : null
    const others = pathOf(url) === LINK_FORM ? found.locations.slice(1) : []
    return {
      ...{ url, authorization: authorizationOf(headers), body: form?.body ?? null, ...found.redacted },
      cells: location ? [location.cell] : this.#any(),
      key: found.key,
      workspaceId: location?.workspaceId ?? null,
      copies: others.filter(({ isMoving }) => !isMoving).map(({ cell }) => cell),
      cookie: headers.cookie === undefined ? undefined : withSession(headers.cookie, own),
    }
  }

  /** All installations, those that answer first. */
  #any(): readonly Cell[] {
    return this.#cells.toSorted((a, b) => Number(a.isDown) - Number(b.isDown))
  }

  /** Finds the first of these that any installation has; secrets that this one does not have are redacted. */
  async #find(
    claims: readonly Claim[],
  ): Promise<{ locations: readonly Location[]; key: Key | null; redacted: Claim['redacted'] }> {
    let [found, redacted]: [readonly Location[], Claim['redacted']] = [[], {}]
    let key: Key | null = null
    for (const claim of claims) {
      if (key !== null && !claim.redacted) continue
      const locations = await this.#directory.find(claim.key)
      if (key === null && locations.length > 0) [found, key] = [locations, claim.key]
      else if (!locations.some(({ cell }) => cell === found[0]?.cell))
        redacted = { ...redacted, ...claim.redacted }
    }
    return { locations: found, key, redacted }
  }
}
