import { ACTS, type Letter, type Line } from './lines.ts'
import { KIND } from './words.ts'

/** What somebody does with a code or a link. */
export type Purpose = 'sign_in' | 'verify' | 'reset' | 'other'

/** The purpose that phrases name. To verify is the least certain one: codes to sign in are called so too. */
export const purposeOf = (kinds: number): Purpose => {
  if (kinds & KIND.reset) return 'reset'
  if (kinds & KIND.signIn) return 'sign_in'
  return kinds & (KIND.verify | KIND.once) ? 'verify' : 'other'
}

/** The purpose of what is on a line: as the line says, those just around it, the subject, or the whole text. */
export const purposeAt = (letter: Letter, line: Line, at: number): Purpose => {
  const near = (distance: number) =>
    [at - distance, at + distance].reduce((kinds, place) => kinds | usefulKinds(letter.lines[place]), 0)
  const places = [usefulKinds(line), letter.subject.kinds, near(1), near(2), near(3)]
  const clear = places.map((kinds) => kinds & (KIND.reset | KIND.signIn)).find((kinds) => kinds !== 0)
  if (clear !== undefined) return purposeOf(clear)
  const all = places.reduce((kinds, one) => kinds | one, 0)
  return purposeOf(all & (ACTS | KIND.once) || letter.kinds & KIND.verify)
}

/** What a line says to do, up to where it is about others who may have asked for it. */
const usefulKinds = (line: Line | undefined): number => {
  let kinds = 0
  for (const hit of line?.hits ?? []) {
    if (hit.kinds & KIND.ignore) break
    kinds |= hit.kinds
  }
  return kinds
}
