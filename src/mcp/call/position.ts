import { invalidInput } from '../../core/errors.ts'

/** The ids of the newest event and of the newest deleted event in an agent's log. */
interface Head {
  lastId: number
  horizon: number
}

/** Parses a cursor. Throws `invalid_input` for one that this service cannot have returned. */
export const readPosition = (cursor: string, { lastId }: Head): number => {
  const position = Number(cursor)
  if (/^\d{1,16}$/.test(cursor) && Number.isSafeInteger(position) && position <= lastId) return position
  throw invalidInput('cursor', 'is not a valid cursor for this agent')
}
