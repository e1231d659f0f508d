import type { Db } from '../../db/client.ts'
import { raw } from '../../db/sql/sql.ts'
import { isStranger } from './hold.ts'
import { readsFacts } from './recipient-facts.ts'

const readFacts = readsFacts(raw(`m.hold_reason = 'approval' and m.hold_until is not null`))

/**
 * Returns the recipients of each message that waits for approval who are neither in the workspace nor listed by a
 * member, and from whom its agent has received nothing; of other messages, none.
 */
export const strangersOf = async (
  db: Db,
  messages: readonly { id: string; agentId: string }[],
): Promise<string[][]> => {
  const strangers = (await readFacts(db, messages)).filter(isStranger)
  return messages.map((message) =>
    strangers.filter(({ id }) => id === message.id).map(({ address }) => address),
  )
}
