import { describe, expect, test } from 'vitest'
import { type Admittance, admit, evidenceOf } from '../../src/admission/admit.ts'

const nobody: Admittance = {
  self: null,
  spam: null,
  team: false,
  listed: false,
  proven: false,
  admit: 'list',
  full: false,
  overRate: () => null,
}
/** The outcome for each admit: anyone, team, list. */
const outcomes = (claim: Partial<Admittance>) =>
  (['anyone', 'team', 'list'] as const).map((value) => {
    const { refusal, admission } = admit({ ...nobody, ...claim, admit: value })
    return refusal ? `-${refusal}` : admission
  })

describe('who gets in where anyone may, the team may, only the list may', () => {
  test.each<[string, Partial<Admittance>, string[]]>([
    ['a stranger', {}, ['anyone', '-outsider', '-sender']],
    ['a proven stranger', { proven: true }, ['anyone', '-outsider', '-sender']],
    ['a proven member', { proven: true, team: true }, ['team', 'team', '-sender']],
    ['a proven member on the list', { proven: true, team: true, listed: true }, ['team', 'team', 'team']],
    ['a proven listed sender', { proven: true, listed: true }, ['listed', 'listed', 'listed']],
    ['who claims to be a member', { team: true }, ['anyone', '-unverified', '-unverified']],
    ['who claims to be listed', { listed: true }, ['anyone', '-unverified', '-unverified']],
    ['who claims both', { team: true, listed: true }, ['anyone', '-unverified', '-unverified']],
    [
      'one too many for the plan',
      { full: true, proven: true, team: true },
      ['-plan_limit', '-plan_limit', '-plan_limit'],
    ],
    [
      'one too many in a minute',
      { overRate: () => 'too many', proven: true, listed: true },
      ['-rate_limit', '-rate_limit', '-rate_limit'],
    ],
    ['what is spam', { spam: 'Rspamd', proven: true, team: true, listed: true }, ['-spam', '-spam', '-spam']],
    ['a machine whose mail is spam', { self: 'a loop', spam: 'Rspamd' }, ['-self', '-self', '-self']],
    ['spam beyond the plan', { spam: 'Rspamd', full: true }, ['-spam', '-spam', '-spam']],
    ['a machine', { self: 'Auto-Submitted' }, ['-self', '-self', '-self']],
    [
      'a proven member in a loop',
      { self: 'a loop', proven: true, team: true, listed: true },
      ['-self', '-self', '-self'],
    ],
  ])('%s', (_, claim, expected) => {
    expect(outcomes(claim)).toEqual(expected)
  })
})

test('only what got so far counts against the rate', () => {
  const overRate = () => {
    throw new Error('asked')
  }
  expect(admit({ ...nobody, self: 'a loop', overRate }).refusal).toBe('self')
  expect(admit({ ...nobody, spam: 'Rspamd', overRate }).refusal).toBe('spam')
  expect(admit({ ...nobody, full: true, overRate }).refusal).toBe('plan_limit')
})

test('every verdict says which rule decided', () => {
  for (const self of [null, 'a loop']) {
    for (const [team, listed, proven] of [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
      [bits & 1, bits & 2, bits & 4].map(Boolean),
    )) {
      for (const value of ['anyone', 'team', 'list'] as const) {
        const verdict = admit({
          ...nobody,
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
