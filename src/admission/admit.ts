import type { Check } from '../core/channel/inbound.ts'
import type { Admission, Admit, Refusal } from '../db/generated/prisma/enums.ts'

/** Facts about one inbound message and one agent that it is addressed to. */
export interface Admittance {
  /** Reason, in words, why it is the agent's own message or an automatic reply; null when it is neither. */
  self: string | null
  /** Reason, in words, why it is spam; null when it is not. */
  spam: string | null
  /** Whether the sender claims to be a member or an agent of the workspace. */
  team: boolean
  /** Whether the sender claims an address on the channel's list. */
  listed: boolean
  /** Whether the sender claims an address that the channel blocks. */
  blocked: boolean
  /** Whether the channel proved who the sender is. */
  proven: boolean
  admit: Admit
  /** Whether the workspace has reached the stored message limit of its plan. */
  full: boolean
  /**
   * Counts the message against the sender's rate limit. Returns the reason, in words, when it exceeds the
   * limit, else null. Called only for messages that the earlier rules did not refuse.
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
 * Maximum number of times within an hour that agents may wake an agent in one of its threads. It ends endless
 * exchanges between two agents; messages from people in between are not counted.
 * @limit Receiving
 */
export const AGENT_TURNS_AN_HOUR = 20

/** Checked in this order; the first rule that applies decides. */
const RULES: readonly Rule[] = [
  ({ self }) => (self === null ? null : refuse('self', self)),
  ({ spam }) => (spam === null ? null : refuse('spam', spam)),
  ({ full }) =>
    full ? refuse('plan_limit', 'the workspace has reached the stored message limit of its plan') : null,
  ({ overRate }) => {
    const over = overRate()
    return over === null ? null : refuse('rate_limit', over)
  },
  ({ blocked }) => (blocked ? refuse('sender', "on the channel's list of blocked senders") : null),
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

/** Returns whether the message wakes the agent, and the rule that decided. */
export const admit = (claim: Admittance): Verdict => {
  for (const rule of RULES) {
    const verdict = rule(claim)
    if (verdict) return verdict
  }
  return refuse('outsider', 'neither in the team nor on the list')
}

/** Returns the deciding rule as the last entry of the message's checks. */
export const evidenceOf = (verdict: Verdict): Check => ({
  name: 'admission',
  verdict: verdict.refusal ?? verdict.admission,
  detail: verdict.rule,
})
