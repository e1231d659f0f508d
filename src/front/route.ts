import type { IncomingMessage } from 'node:http'
import type { Key } from '../core/cell.ts'
import { invalidInput, noSuchPath } from '../core/errors.ts'
import { readUpTo } from '../core/http/body.ts'
import type { Cell } from './cells.ts'
import type { Directory, Place } from './directory.ts'
import { formAt, MAX_FORM_BYTES } from './forms.ts'
import { bearerOf, digestOf, linkTokenOf, sessionsOf, tokenKey, withSessions } from './secrets.ts'

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

/** Cookies of this many sessions are looked at: others are of other services on this host. */
const MAX_SESSIONS = 4

const pathOf = (url: string): string => url.split('?', 1)[0]!

const ofHead = (request: IncomingMessage): Claim[] => {
  const { url = '/' } = request
  const bearer = bearerOf(request)
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

  constructor(directory: Directory, cells: readonly Cell[]) {
    this.#directory = directory
    this.#cells = cells
  }

  /** Throws `not_found` for what no front serves, and `unavailable` if an installation that it may be for does not answer. */
  async of(request: IncomingMessage): Promise<Route> {
    const { url = '/', headers } = request
    if (REFUSED.test(pathOf(url))) throw noSuchPath()
    const form = await ofForm(request)
    const found = await this.#claimed([...ofHead(request), ...form.claims])
    const sessions = await this.#sessionsOf(request)
    const place = found.places[0] ?? [...sessions.values()].find((each) => each !== undefined)
    const cells = place ? [place.cell] : this.#any()
    const own = [...sessions]
      .filter(([, each]) => each && each.cell === place?.cell)
      .map(([secret]) => secret)
    const session = own[0]
    return {
      ...{ url, authorization: headers.authorization, body: form.body, ...found.without },
      cells,
      key: found.key ?? (session === undefined ? null : tokenKey(session)),
      workspaceId: place?.workspaceId ?? null,
      also:
        pathOf(url) === LINKS
          ? found.places
              .slice(1)
              .filter(({ isLeaving }) => !isLeaving)
              .map(({ cell }) => cell)
          : [],
      cookie: headers.cookie === undefined ? undefined : withSessions(headers.cookie, new Set(own)),
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

  /** The sessions in the cookies of a request, and where they are. */
  async #sessionsOf(request: IncomingMessage): Promise<Map<string, Place | undefined>> {
    const secrets = sessionsOf(request).slice(0, MAX_SESSIONS)
    const places = await Promise.all(secrets.map((secret) => this.#directory.find(tokenKey(secret))))
    return new Map(secrets.map((secret, at) => [secret, places[at]![0]]))
  }
}
