import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ChangedCopy } from '../../support/changed-copy.ts'
import type { Running } from './additions.ts'

const NAME = 'message.opened'
const LAST = '  [MESSAGE_REPORTED]: {'

const WORDS = 'A recipient opened a message.'
const EDITS: readonly [file: string, before: string, after: string][] = [
  [
    'src/event/event.ts',
    LAST,
    `  '${NAME}': {
    description: '${WORDS}',
    detail: {
      reader: z.string().meta({ description: 'Who opened it.' }),
      times: z.int().min(1).meta({ description: 'How often.' }),
    },
  },
${LAST}`,
  ],
  [
    'src/dashboard/parts/strings.ts',
    "    'message.reported':",
    `    '${NAME}': 'A message was opened',\n    'message.reported':`,
  ],
  [
    'src/dashboard/parts/german.ts',
    "    'message.reported':",
    `    '${NAME}': 'Eine Nachricht wurde geöffnet',\n    'message.reported':`,
  ],
]

/** A type of event, but for the statement that appends it. */
export const addEventType = (copy: ChangedCopy): void => {
  for (const [file, before, after] of EDITS) copy.edit(file, [before, after])
}

/** Of a copy that has been compiled. */
export const testEventType = (running: () => Running, copy: ChangedCopy): void => {
  test('REST names it, and what it tells, in events and in the bodies of webhooks', async () => {
    const { components } = (await running().owner('GET', '/openapi.json')).body
    const { Event, WebhookPayload, StreamedEvent, Agent, Webhook, UpdateAgentInput } = components.schemas
    const tells = {
      reader: { type: 'string', description: `Who opened it. Only for ${NAME}` },
      times: { type: 'integer', minimum: 1, description: `How often. Only for ${NAME}` },
    }
    expect(Event).toMatchObject({ properties: tells })
    expect(Event.required).not.toContain('reader')
    expect(WebhookPayload.properties.data.properties.message).toMatchObject({ properties: tells })
    for (const named of [
      Event.properties.type,
      WebhookPayload.properties.name,
      StreamedEvent.properties.event,
      Agent.properties.eventTypes.items,
      Webhook.properties.events.items,
      UpdateAgentInput.properties.eventTypes.items,
    ])
      expect(named.enum).toContain(NAME)
  })

  test('GraphQL has what it tells as fields', () => {
    const schema = readFileSync(join(copy.dir, 'schema.graphql'), 'utf8')
    const [event] = /^type Event \{[^}]+\}/m.exec(schema)!
    expect(event).toContain(`Who opened it. Only for ${NAME}.`)
    expect(event).toMatch(/^ {2}reader: String$/m)
    expect(event).toMatch(/^ {2}times: Int$/m)
    expect(event).toMatch(/What happened: message\.received, .*message\.opened/)
  })

  test('MCP lists it with the schema of its data, and listeners can choose it', async () => {
    const script = `
      import { listEvents } from './src/mcp/events.ts'
      import { heardTypesInQuery } from './src/event/selection.ts'
      import { presentEvent } from './src/event/event.ts'
      const event = { id: 1, type: '${NAME}', channel: 'email', createdAt: new Date(0), reader: 'Ann', times: 2 }
      console.log(JSON.stringify({
        listed: listEvents({ kind: 'agent' }).find(({ name }) => name === '${NAME}'),
        chosen: heardTypesInQuery.parse('${NAME}'),
        presented: presentEvent(event),
      }))`
    const { listed, chosen, presented } = JSON.parse(await copy.run('--input-type=module', '-e', script))
    expect(listed).toMatchObject({ description: `${WORDS}` })
    expect(listed.payloadSchema.properties.message).toMatchObject({
      properties: {
        reader: { type: 'string', description: 'Who opened it.' },
        times: { type: 'integer', minimum: 1, description: 'How often.' },
      },
      required: expect.arrayContaining(['reader', 'times']),
    })
    expect(chosen).toEqual([NAME])
    expect(presented).toMatchObject({ type: NAME, reader: 'Ann', times: 2 })
  })
}
