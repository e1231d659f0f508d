import type { Check } from '../channel/channel.ts'
import type { Admission, Admit, Refusal } from '../db/generated/prisma/enums.ts'

/** What is known of one inbound message and one agent that it is for. */
export interface Admittance {
  /** Why it is the agent's own message or a machine's answer, in words; null when it is neither. */
  self: string | null
  /** Why it is spam, in words; null when it is none. */
  spam: string | null
  /**
   * Whether the sender claims to be a member or an agent of the workspace, or to be on the channel's list.
   */
  team: boolean
  listed: boolean
  /** Whether the channel proved who the sender is. */
  proven: boolean
  admit: Admit
  /** The workspace stores as many messages as its plan includes. */
  full: boolean
  /**
   * Counts the message against the sender's rate; why it is over that, in words, or null. Asked only of what
   * got this far.
   */
  overRate(): string | null
}

export type Verdict =
  | { refusal: Refusal; admission: null; rule: string }
  | { refusal: null; admission: Admission; rule: string }

type Rule = (claim: Admittance) => Verdict | null

const refuse = (refusal: Refusal, rule: string): Verdict => ({ refusal, admission: null, rule })
const receive = (admission: Admission, rule: string): Verdict => ({ refusal: null, admission, rule })

/**
 * How often agents may wake an agent in one of its threads within an hour. Two that answer each other without
 * end stop there; people, who write in between, are never counted.
 */
export const AGENT_TURNS_AN_HOUR = 20

/** In this order; the first that applies decides. */
const RULES: readonly Rule[] = [
  ({ self }) => (self === null ? null : refuse('self', self)),
  ({ spam }) => (spam === null ? null : refuse('spam', spam)),
  ({ full }) =>
    full ? refuse('plan_limit', 'the workspace has reached the stored message limit of its plan') : null,
  ({ overRate }) => {
    const over = overRate()
    return over === null ? null : refuse('rate_limit', over)
  },
  ({ admit, team, listed, proven }) =>
    admit === 'anyone' && (!proven || !(team || listed))
      ? receive('anyone', 'the channel accepts messages from anyone')
      : null,
  ({ team, listed, proven }) =>
    (team || listed) && !proven
      ? refuse(
          'unverified',
          `claims to be ${team ? 'in the team' : 'a listed sender'}, but could not be verified`,
        )
      : null,
  ({ admit, team }) =>
    team && admit !== 'list' ? receive('team', 'a member or an agent of the workspace') : null,
  ({ listed, team }) =>
    listed
      ? receive(team ? 'team' : 'listed', team ? 'in the team, and on the list' : "on the channel's list")
      : null,
  ({ admit }) => (admit === 'list' ? refuse('sender', "not on the channel's list") : null),
]

/** Whether the message wakes the agent, and which rule said so. */
export const admit = (claim: Admittance): Verdict => {
  for (const rule of RULES) {
    const verdict = rule(claim)
    if (verdict) return verdict
  }
  return refuse('outsider', 'neither in the team nor on the list')
}

/** The rule that decided, as the last line of a message's evidence. */
export const evidenceOf = (verdict: Verdict): Check => ({
  name: 'admission',
  verdict: verdict.refusal ?? verdict.admission,
  detail: verdict.rule,
})
