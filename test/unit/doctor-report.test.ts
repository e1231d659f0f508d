import { expect, test } from 'vitest'
import { asText, ok, reportOf } from '../../src/doctor/report.ts'

test('what another server says to the doctor is obeyed by no terminal, and adds no line', () => {
  const said = '220 mx\u001b[2J\u009b31m\u202e\n  ok       All is well.'
  const text = asText(reportOf([{ area: 'ports', ...ok(`A mail server answers: ${said}`) }]))
  expect(text).toBe(
    'Ports\n  ok       A mail server answers: 220 mx [2J 31m   ok       All is well.\n\n0 problems, 0 warnings.',
  )
})
