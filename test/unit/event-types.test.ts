import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { expect, test } from 'vitest'
import { dataSchemaOf, EVENT_NAMES, EVENT_TYPES } from '../../src/event/event.ts'

const src = join(import.meta.dirname, '../../src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('index.ts') && !file.includes(`generated${sep}`))
  // These know the API alone.
  .filter((file) => !file.startsWith(`client${sep}`) && !file.startsWith(`dashboard${sep}`))
  .map((file) => ({ file: file.replaceAll(sep, '/'), text: readFileSync(join(src, file), 'utf8') }))

const filesWith = (pattern: RegExp) =>
  sources
    .filter(({ text }) => pattern.test(text))
    .map(({ file }) => file)
    .sort()

test('event types are named only where they are defined, raised and documented', () => {
  expect(filesWith(/\bMESSAGE_(?:\w+ED|SENT|HELD)\b(?<!MESSAGE_CHANGED)/)).toEqual([
    'api/webhook/event.ts',
    'event/append.ts',
    'event/event.ts',
    'event/selection.ts',
    'message/approval/hold.ts',
    'message/reading/agent-states.ts',
    'message/receiving/delayed-events.ts',
    'message/receiving/receive.ts',
    'message/receiving/store-released.ts',
    'message/receiving/wake-limits.ts',
    'message/sending/url.ts',
    'message/stored/status.ts',
    'rest/resources/event-view.ts',
  ])
  const names = EVENT_NAMES.map((name) => name.replace('.', String.raw`\.`)).join('|')
  expect(filesWith(new RegExp(`'(?:${names})'`))).toEqual(['event/event.ts'])
  expect(filesWith(new RegExp(`[=!]== '(?:${names})'|case '(?:${names})'`))).toEqual([])
})

test.each(EVENT_NAMES)('%s has a description and a JSON Schema of its data', (name) => {
  const { description } = EVENT_TYPES[name]
  expect(description).toMatch(/\.$/)
  expect(dataSchemaOf(name)).toMatchObject({ type: 'object', required: expect.any(Array) })
})
