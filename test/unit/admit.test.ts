import { describe, expect, test } from 'vitest'
import { type Admittance, admit, evidenceOf } from '../../src/admission/admit.ts'

const stranger: Admittance = {
  self: null,
  spam: null,
  team: false,
  listed: false,
  blocked: false,
  proven: false,
  admit: 'list',
  full: false,
  overRate: () => null,
}
/** Returns the outcome for each setting: anyone, team, list. */
const outcomes = (claim: Partial<Admittance>) =>
  (['anyone', 'team', 'list'] as const).map((value) => {
    const { refusal, admission } = admit({ ...stranger, ...claim, admit: value })
    return refusal ? `-${refusal}` : admission
  })

describe('admission under the settings “anyone”, “team” and “list”', () => {
  test.each<[string, Partial<Admittance>, string[]]>([
    ['a stranger', {}, ['anyone', '-outsider', '-sender']],
    ['a proven stranger', { proven: true }, ['anyone', '-outsider', '-sender']],
    ['a proven member', { proven: true, team: true }, ['team', 'team', '-sender']],
    ['a proven member on the list', { proven: true, team: true, listed: true }, ['team', 'team', 'team']],
    ['a proven listed sender', { proven: true, listed: true }, ['listed', 'listed', 'listed']],
    [
      'an unverified sender that claims to be a member',
      { team: true },
      ['anyone', '-unverified', '-unverified'],
    ],
    [
      'an unverified sender that claims to be listed',
      { listed: true },
      ['anyone', '-unverified', '-unverified'],
    ],
    [
      'an unverified sender that claims to be a listed member',
      { team: true, listed: true },
      ['anyone', '-unverified', '-unverified'],
    ],
    [
      'a message over the plan’s limit',
      { full: true, proven: true, team: true },
      ['-plan_limit', '-plan_limit', '-plan_limit'],
    ],
    [
      'a message over the rate limit',
      { overRate: () => 'too many', proven: true, listed: true },
      ['-rate_limit', '-rate_limit', '-rate_limit'],
    ],
    [
      'spam from a proven member on the list',
      { spam: 'Rspamd', proven: true, team: true, listed: true },
      ['-spam', '-spam', '-spam'],
    ],
    [
      'a blocked sender, whoever they are',
      { blocked: true, proven: true, team: true, listed: true },
      ['-sender', '-sender', '-sender'],
    ],
    [
      'an unverified sender that claims a blocked address',
      { blocked: true },
      ['-sender', '-sender', '-sender'],
    ],
    ['spam from a blocked sender', { spam: 'Rspamd', blocked: true }, ['-spam', '-spam', '-spam']],
    ['spam from an automatic sender', { self: 'a loop', spam: 'Rspamd' }, ['-self', '-self', '-self']],
    ['spam over the plan’s limit', { spam: 'Rspamd', full: true }, ['-spam', '-spam', '-spam']],
    ['an automatic sender', { self: 'Auto-Submitted' }, ['-self', '-self', '-self']],
    [
      'a proven member in a loop',
      { self: 'a loop', proven: true, team: true, listed: true },
      ['-self', '-self', '-self'],
    ],
  ])('decides correctly for %s', (_, claim, expected) => {
    expect(outcomes(claim)).toEqual(expected)
  })
})

test('messages refused for an earlier reason do not count towards the rate limit', () => {
  const overRate = () => {
    throw new Error('must not be called')
  }
  expect(admit({ ...stranger, self: 'a loop', overRate }).refusal).toBe('self')
  expect(admit({ ...stranger, spam: 'Rspamd', overRate }).refusal).toBe('spam')
  expect(admit({ ...stranger, full: true, overRate }).refusal).toBe('plan_limit')
})

test('every decision has the rule that it was based on', () => {
  for (const self of [null, 'a loop']) {
    for (const [team, listed, proven] of [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
      [bits & 1, bits & 2, bits & 4].map(Boolean),
    )) {
      for (const value of ['anyone', 'team', 'list'] as const) {
        const verdict = admit({
          ...stranger,
          self,
          team: team!,
          listed: listed!,
          proven: proven!,
          admit: value,
          full: false,
          overRate: () => null,
        })
        expect(verdict.refusal === null).toBe(verdict.admission !== null)
        expect(evidenceOf(verdict)).toEqual({
          name: 'admission',
          verdict: verdict.refusal ?? verdict.admission,
          detail: verdict.rule,
        })
        expect(verdict.rule).toMatch(/\S/)
      }
    }
  }
})
