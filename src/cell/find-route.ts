import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { FIND_PATH, KEY_KINDS, type KeyKind, MAX_KEYS } from '../core/cell.ts'
import type { Route } from '../core/channel/callback-route.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { type Asked, type FindDeps, find } from './find.ts'

/** More than 500 keys take: the longest are credential ids. */
const MAX_BYTES = 1024 * 1024

const VALUES: Record<KeyKind, RegExp> = {
  token: /^[0-9a-f]{64}$/,
  id: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  passkey: /^[\w-]{1,1400}$/,
  member: /^[^\0]{1,320}$/,
  address: /^[^\0]{1,320}$/,
  domain: /^[^\0]{1,255}$/,
  number: /^\+\d{1,15}$/,
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const Question = z.object({ keys: z.array(z.string().max(1500)).max(MAX_KEYS) })

const read = (body: Buffer): Asked => {
  let given: unknown
  try {
    given = JSON.parse(body.toString())
  } catch {
    throw invalidInput('body', 'must be JSON')
  }
  const parsed = Question.safeParse(given)
  if (!parsed.success) throw invalidInput('keys', `must be at most ${MAX_KEYS} keys`)
  const asked = Object.fromEntries(KEY_KINDS.map((kind) => [kind, []])) as unknown as Record<
    KeyKind,
    string[]
  >
  for (const key of parsed.data.keys) {
    const [kind = '', ...rest] = key.split(':')
    const value = rest.join(':')
    if (!Object.hasOwn(VALUES, kind)) throw invalidInput('keys', 'must be KIND:VALUE each')
    // The request has other clients' keys too: one that cannot exist is not found, instead of refusing them all.
    if (VALUES[kind as KeyKind].test(value)) asked[kind as KeyKind].push(value)
  }
  return asked
}

/**
 * The route at which fronts look up what this installation has. Without the secret the answer is that of a path that does not
 * exist. The digests are compared, in constant time.
 */
export const createFindRoute = (deps: FindDeps, secret: string): Route => {
  const expected = digest(`Bearer ${secret}`)
  return {
    method: 'POST',
    path: FIND_PATH,
    maxBytes: MAX_BYTES,
    async authenticate({ url, headers }) {
      const isFront = timingSafeEqual(digest(headers.authorization ?? ''), expected)
      if (!isFront || url !== FIND_PATH) throw new AppError('not_found', 'There is no such path.')
      return { proven: true }
    },
    async handle({ body }) {
      return { status: 200, type: 'application/json', body: JSON.stringify(await find(deps, read(body))) }
    },
  }
}
