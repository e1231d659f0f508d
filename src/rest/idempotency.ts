import { createHash } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { invalidInput } from '../core/errors.ts'
import { storeDrafts } from '../message/send.ts'
import { type Answer, once } from '../workspace/idempotency.ts'
import type { RestDeps, RestEnv } from './env.ts'

/** The key, quoted (as the IETF draft has it) or bare. */
const keyOf = (header: string): string => {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalidInput('Idempotency-Key', 'must be 1 to 255 printable characters')
  return key
}

/** The service keeps no copy of a Message URL's text. The request that asks for the answer again has it: the hash says so. */
const TEXT_IS_KEPT_NOWHERE = /^\/a\/|\/url$/

/** Values of secrets are handed out by the operation alone, which puts each time into the audit: asked again, it runs again. */
const RUNS_AGAIN = /\/secrets\/reveal$/

const toKeep = (path: string, answer: string): string => {
  if (RUNS_AGAIN.test(path)) return ''
  return TEXT_IS_KEPT_NOWHERE.test(path) ? JSON.stringify({ ...JSON.parse(answer), text: null }) : answer
}

const asGiven = (path: string, kept: string, request: string): string =>
  TEXT_IS_KEPT_NOWHERE.test(path) ? JSON.stringify({ ...JSON.parse(kept), text: JSON.parse(request).text }) : kept

/** The operations' dependencies inside a transaction. What tells others of a commit waits for it, in `afterwards`. */
const depsWithin = (deps: RestDeps, db: Pick<RestDeps, 'prisma' | 'pool'>, afterwards: (() => void)[]): RestDeps => ({
  ...deps,
  ...db,
  drafts: { add: async (draft) => (await storeDrafts(db, [draft]))[0] },
  notifier: { ...deps.notifier, publish: (...told) => void afterwards.push(() => deps.notifier.publish(...told)) },
  feed: { committed: (events) => void afterwards.push(() => deps.feed.committed(events)) },
  mailer: {
    normalize: (address) => deps.mailer.normalize(address),
    send: (letter) => void afterwards.push(() => deps.mailer.send(letter)),
  },
  texts: { share: (...shared) => void afterwards.push(() => deps.texts.share(...shared)) },
})

/** `Idempotency-Key` on a POST: the same key and body get the first answer again. */
export const idempotency: MiddlewareHandler<RestEnv> = async (c, next) => {
  const header = c.req.header('Idempotency-Key')
  if (header === undefined || c.req.method !== 'POST') return next()
  const { deps, viewer } = c.var
  const request = await c.req.text()
  const attempt = { key: keyOf(header), hash: createHash('sha256').update(`${c.req.path}\n${request}`).digest() }
  const afterwards: (() => void)[] = []
  const first = await once(deps, viewer, attempt, async (db): Promise<Answer | null> => {
    c.set('deps', depsWithin(deps, db, afterwards))
    await next()
    return c.res.ok ? { status: c.res.status, body: toKeep(c.req.path, await c.res.clone().text()) } : null
  })
  if (first && RUNS_AGAIN.test(c.req.path)) return next()
  if (first) {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Replayed': 'true' }
    return c.body(asGiven(c.req.path, first.body, request), first.status as ContentfulStatusCode, headers)
  }
  if (c.res.ok) for (const tell of afterwards) tell()
}
