import { expect, test } from 'vitest'
import { scanHeaders } from '../../../src/mail/header/headers.ts'
import { automaticMark } from '../../../src/mail/header/loop.ts'

const mark = (header: string, reversePath: string | null = 'a@x.com') =>
  automaticMark(scanHeaders(Buffer.from(`${header}\r\n\r\nbody`)), reversePath, 'agents.example')

test.each([
  ['Auto-Submitted: auto-replied', 'Auto-Submitted: auto-replied'],
  ['AUTO-SUBMITTED:\r\n auto-generated (vacation)', 'Auto-Submitted: auto-generated (vacation)'],
  ['Auto-Submitted: nope', 'Auto-Submitted: nope'],
  ['X-Loop: bot@agents.example', 'x-loop names agents.example'],
  ['List-Id: Ours <news.agents.example>', 'list-id names agents.example'],
  ['List-Post: <mailto:team@agents.example>', 'list-post names agents.example'],
  ['Mailing-List: list team@agents.example; contact x@else.example', 'mailing-list names agents.example'],
  [
    Array.from({ length: 26 }, (_, i) => `Received: from h${i}`).join('\r\n'),
    '26 Received headers, at most 25 are accepted',
  ],
])('%j marks a message as automatic', (header, expected) => expect(mark(header)).toBe(expected))

test.each([
  'Auto-Submitted: no',
  'Auto-Submitted: No (a person)',
  'X-Loop: someone@else.example',
  'X-Loop: bot@notagents.example',
  'List-Id: <dev.lists.else.example>',
  'Precedence: bulk',
  'List-Unsubscribe: <https://else.example/?who=bot@agents.example>, <mailto:off+bot=agents.example@else.example>',
  Array.from({ length: 25 }, (_, i) => `Received: from h${i}`).join('\r\n'),
])('%j does not mark a message as automatic', (header) => expect(mark(header)).toBeNull())

test('a null reverse path marks a message as automatic', () =>
  expect(mark('Subject: bounce', '')).toBe('null reverse path'))
