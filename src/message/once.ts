import type { Db } from '../db/client.ts'
import { type Apart, within } from '../db/transaction.ts'
import { type Answer, type Attempt, type IdempotencyDeps, once } from '../workspace/idempotency.ts'
import type { InvitationDeps } from '../workspace/invitation.ts'
import type { Viewer } from '../workspace/viewer.ts'
import type { SendDeps } from './out/send.ts'
import { storeDrafts } from './out/store-drafts.ts'
import type { MessageUrlDeps } from './out/url.ts'
import { createMessageReads, type ReadDeps } from './reading/read.ts'

/** Dependencies of operations that may run inside a transaction. */
export type AtomicDeps = SendDeps &
  Pick<MessageUrlDeps, 'feed' | 'texts'> &
  Pick<InvitationDeps, 'mailer'> &
  Pick<ReadDeps, 'reads'> & { apart: Apart }

/** Actions to run once a transaction is committed. */
type Effects = (() => void)[]

/**
 * The operations' dependencies inside the transaction `db`; writes outside of it go through `apart`.
 * Notifications, mail and other effects visible to others are collected in `effects`, to run after the
 * commit.
 */
const depsWithin = <Given extends AtomicDeps>(
  deps: Given,
  db: Db,
  apart: Apart,
  effects: Effects,
): Given => ({
  ...deps,
  ...db,
  apart,
  // On another connection, as many transactions as there are connections would wait for each other.
  reads: createMessageReads(db),
  drafts: {
    add: async (draft) => (await storeDrafts(db, [draft]))[0] ?? null,
  } satisfies AtomicDeps['drafts'],
  notifier: {
    ...deps.notifier,
    publish: (...told) => void effects.push(() => deps.notifier.publish(...told)),
  } satisfies AtomicDeps['notifier'],
  feed: {
    committed: (events) => void effects.push(() => deps.feed.committed(events)),
  } satisfies AtomicDeps['feed'],
  mailer: {
    normalize: (address) => deps.mailer.normalize(address),
    send: (mail) => void effects.push(() => deps.mailer.send(mail)),
  } satisfies AtomicDeps['mailer'],
  texts: {
    share: (...shared) => void effects.push(() => deps.texts.share(...shared)),
  } satisfies AtomicDeps['texts'],
})

/**
 * Runs operations in one transaction. What they publish, mail or share is sent only after the commit, and not
 * at all after a rollback.
 */
export const atomically = async <Given extends AtomicDeps, Result>(
  deps: Given,
  work: (deps: Given) => Promise<Result>,
): Promise<Result> => {
  const effects: Effects = []
  const result = await deps.prisma.$transaction((tx) =>
    work(depsWithin(deps, within(tx), deps.apart, effects)),
  )
  for (const effect of effects) effect()
  return result
}

/**
 * Executes a request at most once per idempotency key, as `once` does. `work` gets dependencies whose writes
 * are all part of one transaction, and returns the response to store, or null when the request failed. What
 * it publishes, mails or shares is sent only after the commit, and not at all after a rollback. Returns the
 * first response if there was one, else null.
 */
export const runOnce = async <Given extends AtomicDeps & IdempotencyDeps>(
  deps: Given,
  viewer: Viewer,
  attempt: Attempt,
  work: (deps: Given) => Promise<Answer | null>,
): Promise<Answer | null> => {
  const effects: Effects = []
  let done = false
  const first = await once(deps, viewer, attempt, async (db, apart) => {
    const answer = await work(depsWithin(deps, db, apart, effects))
    done = answer !== null
    return answer
  })
  if (done) for (const effect of effects) effect()
  return first
}
