import { invalidInput } from '../core/errors.ts'

/** Where an agent's log stands. */
interface Head {
  lastId: number
  horizon: number
}

/** The place in a log that a cursor names. Throws `invalid_input` for what no answer of this service gave. */
export const readPosition = (cursor: string, { lastId }: Head): number => {
  const position = Number(cursor)
  if (/^\d{1,16}$/.test(cursor) && Number.isSafeInteger(position) && position <= lastId) return position
  throw invalidInput('cursor', 'is not a valid cursor for this agent')
}
