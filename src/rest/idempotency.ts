import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { AppError, invalidInput } from '../core/errors.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import { within } from '../db/transaction.ts'
import { storeDrafts } from '../message/send.ts'
import type { RestDeps, RestEnv } from './env.ts'

const KEPT_MS = 24 * 3_600_000
/** How long the request behind a key may take. */
const TIMEOUT_MS = 30_000

type Tx = Prisma.TransactionClient

/** Thrown to undo the transaction of a request that failed: its key is free again. */
class Undo extends Error {}

/** The key, quoted (as the IETF draft has it) or bare. */
const keyOf = (header: string): string => {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw invalidInput('Idempotency-Key', 'must be 1 to 255 printable characters')
  return key
}

const hashOf = async (c: Context<RestEnv>): Promise<Buffer> =>
  createHash('sha256')
    .update(`${c.req.method} ${c.req.path}\n`)
    .update(await c.req.text())
    .digest()

/** The service keeps no copy of a Message URL's text. The request that asks for the answer again has it: the hash says so. */
const TEXT_IS_KEPT_NOWHERE = /^\/a\/|\/url$/

const toKeep = (path: string, answer: string): string =>
  TEXT_IS_KEPT_NOWHERE.test(path) ? JSON.stringify({ ...JSON.parse(answer), text: null }) : answer

const asGiven = (path: string, kept: string, request: string): string =>
  TEXT_IS_KEPT_NOWHERE.test(path) ? JSON.stringify({ ...JSON.parse(kept), text: JSON.parse(request).text }) : kept

const boundTo = (tokenId: string, key: string) => `idempotency:${tokenId}:${key}`

/** Takes the key for this transaction; throws `conflict` while another request has it. */
const lock = async (tx: Tx, tokenId: string, key: string): Promise<void> => {
  const [row] = await tx.$queryRaw<
    { free: boolean }[]
  >`select pg_try_advisory_xact_lock(hashtextextended(${boundTo(tokenId, key)}, 0)) as free`
  if (!row?.free) throw new AppError('conflict', 'A request with this Idempotency-Key is still running.')
}

/** The first answer to this key, if there was one; throws `invalid_input` when it was to another request. */
const replay = async (c: Context<RestEnv>, tx: Tx, key: string, hash: Buffer): Promise<Response | null> => {
  const { viewer, deps } = c.var
  const found = await tx.idempotencyKey.findUnique({ where: { tokenId_key: { tokenId: viewer.tokenId, key } } })
  if (!found) return null
  if (found.createdAt.getTime() + KEPT_MS <= deps.clock.now().getTime()) {
    await tx.idempotencyKey.delete({ where: { tokenId_key: { tokenId: viewer.tokenId, key } } })
    return null
  }
  if (!hash.equals(found.requestHash)) throw invalidInput('Idempotency-Key', 'was used for another request')
  const body = await deps.keyring.open(viewer.workspaceId, found.body, boundTo(viewer.tokenId, key))
  return c.body(asGiven(c.req.path, body.toString(), await c.req.text()), found.status as ContentfulStatusCode, {
    'Content-Type': 'application/json',
    'Idempotency-Replayed': 'true',
  })
}

const keep = async (c: Context<RestEnv>, tx: Tx, key: string, hash: Buffer): Promise<void> => {
  const { viewer, deps } = c.var
  const body = await deps.keyring.seal(viewer.workspaceId, toKeep(c.req.path, await c.res.clone().text()), boundTo(viewer.tokenId, key))
  await tx.idempotencyKey.create({
    data: {
      tokenId: viewer.tokenId,
      key,
      requestHash: Uint8Array.from(hash),
      status: c.res.status,
      body: Uint8Array.from(body),
      createdAt: deps.clock.now(),
    },
  })
}

/** The operations' dependencies inside the transaction. What tells others of a commit waits for it, in `afterwards`. */
const depsWithin = (deps: RestDeps, tx: Tx, afterwards: (() => void)[]): RestDeps => {
  const db = within(tx)
  return {
    ...deps,
    ...db,
    drafts: { add: async (draft) => (await storeDrafts(db, [draft]))[0] },
    notifier: { ...deps.notifier, publish: (...told) => void afterwards.push(() => deps.notifier.publish(...told)) },
    feed: { committed: (events) => void afterwards.push(() => deps.feed.committed(events)) },
    texts: { share: (...shared) => void afterwards.push(() => deps.texts.share(...shared)) },
  }
}

/**
 * `Idempotency-Key` on a POST: the key is committed in the transaction that makes what the request asks for, with its answer. So a
 * crash leaves both or neither, and a request that failed leaves the key free.
 */
export const idempotency: MiddlewareHandler<RestEnv> = async (c, next) => {
  const header = c.req.header('Idempotency-Key')
  if (header === undefined || c.req.method !== 'POST') return next()
  const key = keyOf(header)
  const hash = await hashOf(c)
  const { deps, viewer } = c.var
  const afterwards: (() => void)[] = []
  const work = async (tx: Tx): Promise<void> => {
    await lock(tx, viewer.tokenId, key)
    const first = await replay(c, tx, key, hash)
    if (first) {
      c.res = first
      return
    }
    c.set('deps', depsWithin(deps, tx, afterwards))
    await next()
    if (c.res.status >= 400) throw new Undo()
    await keep(c, tx, key, hash)
  }
  try {
    await deps.prisma.$transaction(work, { timeout: TIMEOUT_MS, maxWait: 5_000 })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  for (const tell of afterwards) tell()
}
