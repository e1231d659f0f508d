import type { Db } from '../db/client.ts'
import type { InvitationDeps } from '../workspace/invitation.ts'
import { type SendDeps, storeDrafts } from './send.ts'
import type { MessageUrlDeps } from './url.ts'

type Deps = SendDeps & Pick<MessageUrlDeps, 'feed' | 'texts'> & Pick<InvitationDeps, 'mailer'>

/**
 * The operations' dependencies inside a transaction, `db`. What tells others of a commit waits for it: it gathers in `afterwards`, to be
 * called when all is committed.
 */
export const depsWithin = <Given extends Deps>(deps: Given, db: Db, afterwards: (() => void)[]): Given => ({
  ...deps,
  ...db,
  drafts: { add: async (draft) => (await storeDrafts(db, [draft]))[0] ?? null } satisfies Deps['drafts'],
  notifier: {
    ...deps.notifier,
    publish: (...told) => void afterwards.push(() => deps.notifier.publish(...told)),
  } satisfies Deps['notifier'],
  feed: { committed: (events) => void afterwards.push(() => deps.feed.committed(events)) } satisfies Deps['feed'],
  mailer: {
    normalize: (address) => deps.mailer.normalize(address),
    send: (letter) => void afterwards.push(() => deps.mailer.send(letter)),
  } satisfies Deps['mailer'],
  texts: { share: (...shared) => void afterwards.push(() => deps.texts.share(...shared)) } satisfies Deps['texts'],
})
