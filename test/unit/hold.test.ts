import { describe, expect, test } from 'vitest'
import type { Approval } from '../../src/db/generated/prisma/enums.ts'
import { newHoldOf } from '../../src/message/approval/hold.ts'
import type { RecipientFacts } from '../../src/message/approval/recipient-facts.ts'

const STRANGER: RecipientFacts = { isMember: false, isAgent: false, isListed: false, hasWritten: false }
const FACTS = ['isMember', 'isAgent', 'isListed', 'hasWritten'] as const
const MEMBER = { ...STRANGER, isMember: true }

const createdAt = new Date('2026-03-25T12:00:00.000Z')
/** A week later, across a change to summer time. */
const approvalEnds = new Date('2026-04-01T12:00:00.000Z')
const later = new Date(createdAt.getTime() + 1)

const AT_ONCE = { holdReason: null, holdUntil: null }
const FOR_APPROVAL = { holdReason: 'approval', holdUntil: approvalEnds }
const FOR_ITS_TIME = { holdReason: 'schedule', holdUntil: later }

type Case = [string, Approval, RecipientFacts[], Date | null, object]

describe('a new message waits', () => {
  test.each<Case>([
    ['for nothing', 'none', [STRANGER], null, AT_ONCE],
    ['for its time', 'none', [STRANGER], later, FOR_ITS_TIME],
    ['for nothing when its time is now', 'none', [], createdAt, AT_ONCE],
    ['for nothing when its time has passed', 'none', [], new Date(0), AT_ONCE],
    ['for approval of all, whoever gets it', 'all', [MEMBER], null, FOR_APPROVAL],
    ['for approval of all, though nobody was looked up', 'all', [], null, FOR_APPROVAL],
    ['for approval first, and then for its time', 'all', [MEMBER], later, FOR_APPROVAL],
    ['for approval when it goes to a stranger', 'strangers', [STRANGER], null, FOR_APPROVAL],
    ['for approval when one of several is a stranger', 'strangers', [MEMBER, STRANGER], later, FOR_APPROVAL],
    ['for nothing when nobody is a stranger', 'strangers', [MEMBER, MEMBER], null, AT_ONCE],
    ['for its time when nobody is a stranger', 'strangers', [MEMBER], later, FOR_ITS_TIME],
  ])('%s', (_, approval, recipients, sendAt, hold) => {
    expect(newHoldOf(approval, recipients, { sendAt, createdAt })).toEqual(hold)
  })

  test.each(FACTS)('for nothing when all that is known of its recipient is %s', (fact) => {
    const known = { ...STRANGER, [fact]: true }
    expect(newHoldOf('strangers', [known], { sendAt: null, createdAt })).toEqual(AT_ONCE)
    expect(newHoldOf('strangers', [known, STRANGER], { sendAt: null, createdAt })).toEqual(FOR_APPROVAL)
  })
})
