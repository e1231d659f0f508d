import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Key } from '../core/cell.ts'
import { invalidInput, noSuchPath } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { readUpTo } from '../core/http/body.ts'
import { readCookie } from '../core/http/cookie.ts'
import type { Cell } from './cells.ts'
import type { Directory, Place } from './directory.ts'
import { formAt, MAX_FORM_BYTES } from './forms.ts'
import { digestOf, linkTokenOf, tokenKey, withSession } from './secrets.ts'

/** Where a request goes, and with what. */
export interface Route {
  /** The installation that it is for; or all, if any can answer it. */
  readonly cells: readonly Cell[]
  /** What it is known by; null if any installation can answer it. */
  readonly key: Key | null
  readonly workspaceId: string | null
  /** Installations that get it too, and whose answers nobody reads. */
  readonly also: readonly Cell[]
  /** Path and query. */
  readonly url: string
  readonly authorization: string | undefined
  readonly cookie: string | undefined
  /** A body that had to be read. */
  readonly body: Buffer | null
}

/** What says for which installation a request is, and how it is without a secret that no installation has. */
interface Claim {
  readonly key: Key
  readonly without?: Partial<Pick<Route, 'url' | 'authorization' | 'body'>>
}

/**
 * What an installation cannot answer alone: the authorization server, whose clients register with one and whose members are
 * another's, and mail that is handed over by HTTP, for recipients of several. And what fronts ask.
 */
const REFUSED = /^\/(?:\.well-known|oauth|inbound|cell)(?:\/|$)/

/** Paths whose first UUID is an agent's, or of something in the same workspace. */
const WITH_ID =
  /^\/(?:a|agents|answer|approve|files|app\/sign-in\/company|channels\/telegram|channels\/sms\/status)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i

/** Where links to sign in are asked for: of each installation in which a person is a member. */
const LINKS = '/app/sign-in/email'

const pathOf = (url: string): string => url.split('?', 1)[0]!

/** What is no bearer token is a secret of something else, which no installation needs. */
const authorizationOf = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  authorization === undefined || bearerOf(authorization) ? authorization : 'Bearer'

const ofHead = (request: IncomingMessage): Claim[] => {
  const { url = '/' } = request
  const bearer = bearerOf(request.headers.authorization)
  const link = linkTokenOf(pathOf(url))
  const id = WITH_ID.exec(pathOf(url))?.[1]
  return [
    ...(bearer ? [{ key: tokenKey(bearer), without: { authorization: `Bearer ${digestOf(bearer)}` } }] : []),
    ...(link
      ? [{ key: tokenKey(link), without: { url: url.replace(link, link.slice(0, 4) + digestOf(link)) } }]
      : []),
    ...(id ? [{ key: `id:${id.toLowerCase()}` as const }] : []),
  ]
}

const bytesOf = (form: URLSearchParams): Buffer => Buffer.from(form.toString())

/** Reads a form that says whose it is only in its body. */
const ofForm = async (request: IncomingMessage): Promise<{ body: Buffer | null; claims: Claim[] }> => {
  const reads = request.method === 'POST' ? formAt(pathOf(request.url ?? '')) : undefined
  if (!reads) return { body: null, claims: [] }
  // Not destroyed: it can still be answered.
  const body = await readUpTo(request.iterator({ destroyOnReturn: false }), MAX_FORM_BYTES)
  if (!body) throw invalidInput('body', `must be at most ${MAX_FORM_BYTES} bytes`)
  const claim = reads(new URLSearchParams(body.toString()))
  if (!claim) return { body, claims: [] }
  const { key, without } = claim
  return { body, claims: [without ? { key, without: { body: bytesOf(without) } } : { key }] }
}

/** Finds the installations that requests are for. */
export class Routes {
  readonly #directory: Directory
  readonly #cells: readonly Cell[]
  readonly #publicUrl: () => string

  constructor(directory: Directory, cells: readonly Cell[], publicUrl: () => string) {
    this.#directory = directory
    this.#cells = cells
    this.#publicUrl = publicUrl
  }

  /** Throws `not_found` for what no front serves, and `unavailable` if an installation that it may be for does not answer. */
  async of(request: IncomingMessage): Promise<Route> {
    const { url = '/', headers } = request
    if (REFUSED.test(pathOf(url))) throw noSuchPath()
    const form = await ofForm(request)
    const found = await this.#claimed([...ofHead(request), ...form.claims])
    const session = readCookie(this.#publicUrl(), request, 'session')
    const ofSession = session === null ? undefined : (await this.#directory.find(tokenKey(session)))[0]
    const place = found.places[0] ?? ofSession
    const own = ofSession && ofSession.cell === place?.cell ? session : null
    return {
      ...{ url, authorization: authorizationOf(headers), body: form.body, ...found.without },
      cells: place ? [place.cell] : this.#any(),
      key: found.key ?? (own === null ? null : tokenKey(own)),
      workspaceId: place?.workspaceId ?? null,
      also:
        pathOf(url) === LINKS
          ? found.places
              .slice(1)
              .filter(({ isLeaving }) => !isLeaving)
              .map(({ cell }) => cell)
          : [],
      cookie: headers.cookie === undefined ? undefined : withSession(headers.cookie, own),
    }
  }

  /** Those that answer first. */
  #any(): readonly Cell[] {
    return this.#cells.toSorted((a, b) => Number(a.isDown) - Number(b.isDown))
  }

  /** Where the first of these is that any installation has. */
  async #claimed(
    claims: readonly Claim[],
  ): Promise<{ places: readonly Place[]; key?: Key; without: Claim['without'] }> {
    let without: Claim['without'] = {}
    for (const claim of claims) {
      const places = await this.#directory.find(claim.key)
      if (places.length > 0) return { places, key: claim.key, without }
      without = { ...without, ...claim.without }
    }
    return { places: [], without }
  }
}
