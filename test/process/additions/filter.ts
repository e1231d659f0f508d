import { beforeAll, expect, test } from 'vitest'
import type { ChangedCopy } from '../../support/changed-copy.ts'
import { deliver } from '../../support/mail.ts'
import type { Api } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Running } from './additions.ts'

let owner: Api
let agent: string

/** A field of messages, and a filter for it. */
export const addField = (copy: ChangedCopy): void => {
  /** Adds to a file, each time after something that it contains. */
  const after = (file: string, ...changes: [before: string, added: string][]): void =>
    copy.edit(file, ...changes.map(([before, added]) => [before, before + added] as const))
  copy.add(
    'prisma/migrations/29990101000000_urgent/migration.sql',
    'ALTER TABLE "message" ADD COLUMN "urgent" BOOLEAN NOT NULL DEFAULT false;',
  )
  after('prisma/schema.prisma', [
    '  handled           Boolean       @default(false)\n',
    '  urgent            Boolean       @default(false)\n',
  ])
  after(
    'src/message/stored/row.ts',
    ["type Defaulted = Nullable | 'labels' | 'handled'", " | 'urgent'"],
    ['  handled: false,\n', '  urgent: false,\n'],
  )
  after('src/message/receiving/receive.ts', [
    '      ...place,\n',
    "      urgent: message.subject?.includes('!') ?? false,\n",
  ])
  after(
    'src/message/reading/filter.ts',
    ['  hasAttachment?: boolean | undefined\n', '  urgent?: boolean | undefined\n'],
    ['  hasAttachment,\n', '  urgent,\n'],
    [
      '::"MessageStatus"`)\n',
      '  if (urgent !== undefined) conditions.push(raw(urgent ? "m.urgent" : "not m.urgent"))\n',
    ],
  )
  after(
    'src/api/message/message.ts',
    ['  ...MARKS,\n', "  urgent: says(z.boolean(), 'Whether its subject has an exclamation mark.'),\n"],
    ["  labels: ['orders'],\n", '  urgent: false,\n'],
    [
      'export const FILTER = {\n',
      "  urgent: says(z.boolean(), 'Only messages that are urgent, or that are not.').optional(),\n",
    ],
  )
}

export const testField = (running: () => Running): void => {
  beforeAll(async () => {
    const { smtp } = running()
    ;({ owner } = running())
    agent = (await owner('POST', '/agents', { name: 'Bot', icon: 'bot' })).body.id
    const addresses = await owner('GET', `/agents/${agent}/addresses`)
    const to = addresses.body.find(({ channel }: { channel: string }) => channel === 'email').value
    for (const subject of ['Calm', 'Now!'])
      await deliver(smtp, { from: 'ann@example.com', to, subject, text: subject })
    await until(async () => (await owner('GET', `/agents/${agent}/messages`)).body.items.length === 2)
  })

  test('REST shows and filters by the new field', async () => {
    for (const list of ['/messages', `/agents/${agent}/messages`]) {
      const listed = async (urgent: boolean) =>
        (await owner('GET', `${list}?channel=email&urgent=${urgent}`)).body.items
      expect(await listed(true)).toMatchObject([{ subject: 'Now!', urgent: true }])
      expect(await listed(false)).toMatchObject([{ subject: 'Calm', urgent: false }])
    }
    const [{ id }] = (await owner('GET', '/messages?urgent=true')).body.items
    expect((await owner('GET', `/agents/${agent}/messages/${id}`)).body).toMatchObject({ urgent: true })
    const { components } = (await owner('GET', '/openapi.json')).body
    expect(components.schemas.Message.properties.urgent).toMatchObject({ type: 'boolean' })
  })

  test('GraphQL shows and filters by the new field', async () => {
    const query = `query ($id: UUID!) {
      agent(id: $id) { messages(urgent: true) { edges { node { subject urgent } } } }
      workspace { messages(channel: email, urgent: false) { edges { node { subject urgent } } } }
    }`
    const { body } = await owner('POST', '/graphql', { query, variables: { id: agent } })
    expect(body.data).toEqual({
      agent: { messages: { edges: [{ node: { subject: 'Now!', urgent: true } }] } },
      workspace: { messages: { edges: [{ node: { subject: 'Calm', urgent: false } }] } },
    })
  })
}
