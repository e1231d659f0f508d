import type { Instructors } from '../../db/generated/prisma/enums.ts'
import type { Target } from './target.ts'

/** Whether a sender who may instruct under one setting may do so under the agent's; PostgreSQL orders the enum alike. */
export const mayInstruct = (
  instructor: Instructors | null,
  { instructors }: { instructors: Instructors },
): boolean =>
  instructor === 'members' ? instructors !== 'none' : instructor !== null && instructors === instructor

/** The first setting under which the sender of an admitted message may instruct; null if there is none. */
export const instructorOf = (
  { admitted, proven, listedByMember }: { admitted: boolean; proven: boolean; listedByMember: boolean },
  target: Pick<Target, 'member'> | null,
): Instructors | null => {
  if (!admitted || !proven) return null
  return target?.member ? 'members' : listedByMember ? 'listed' : null
}
