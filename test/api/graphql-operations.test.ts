import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type GraphqlAnswer, startGraphql } from '../support/graphql.ts'

const service = await startGraphql()
const ours = await service.tenant()
const errorsOf = ({ errors }: GraphqlAnswer) => errors?.map(({ message, extensions: { code, field } }) => ({ message, code, field }))
/** One mutation by its name, with its input. */
const change = async (ask: typeof ours.ask, name: string, selection: string, input: object) => {
  const answer = await ask(`mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) ${selection} }`, {
    input,
  })
  return { ...answer, payload: answer.data?.[name] }
}

test('the given address changes, and cannot be removed', async () => {
  const agent = await service.agent(ours, 'Movable')
  const { data } = await ours.ask('query ($id: UUID!) { agent(id: $id) { addresses { id } } }', { id: agent.id })
  const input = { agentId: agent.id, addressId: data.agent.addresses[0].id }
  const value = `${randomUUID()}@agents.localhost`
  const changed = await change(ours.ask, 'changeAddress', '{ address { id value } }', { ...input, value })
  expect(changed.payload.address).toEqual({ id: input.addressId, value })
  const wrong = await change(ours.ask, 'changeAddress', '{ address { id } }', { ...input, value: 'a@elsewhere.example' })
  expect(errorsOf(wrong)).toMatchObject([{ code: 'invalid_input', field: 'value' }])
  const removed = await change(ours.ask, 'removeAddress', '{ addressId }', input)
  expect(errorsOf(removed)).toMatchObject([{ code: 'conflict' }])
  const link = await change(agent.ask, 'setUpAddress', '{ url }', { agentId: agent.id, channel: 'telegram' })
  expect(link.payload.url).toMatch(/^http:\/\/localhost\/setup\/ast_/)
})

test('secrets are set and listed by members, and revealed to the agent alone', async () => {
  const agent = await service.agent(ours, 'Keeper')
  const agentId = agent.id
  const set = await change(ours.ask, 'setSecret', '{ secret { name kind setBy updatedAt } }', {
    agentId,
    name: 'KEY',
    value: 'hidden words',
  })
  expect(set.payload.secret).toMatchObject({ name: 'KEY', kind: 'secret', setBy: 'member' })
  await change(agent.ask, 'setSecret', '{ secret { name } }', { agentId, name: 'OTHER', value: '2' })
  const listed = await ours.ask('query ($id: UUID!) { agent(id: $id) { secrets { name setBy } } }', { id: agentId })
  expect(listed.data.agent.secrets).toEqual([
    { name: 'KEY', setBy: 'member' },
    { name: 'OTHER', setBy: 'agent' },
  ])
  const reveal = (ask: typeof ours.ask, names?: string[]) => change(ask, 'revealSecrets', '{ secrets { name value } }', { agentId, names })
  expect((await reveal(agent.ask, ['KEY', 'NONE'])).payload.secrets).toEqual([{ name: 'KEY', value: 'hidden words' }])
  expect((await reveal(agent.ask)).payload.secrets).toHaveLength(2)
  expect(errorsOf(await reveal(ours.ask))).toMatchObject([{ code: 'forbidden' }])
  expect(errorsOf(await reveal(agent.ask, Array(201).fill('A')))).toMatchObject([{ code: 'invalid_input', field: 'names' }])
  const wrong = await change(ours.ask, 'setSecret', '{ secret { name } }', { agentId, name: 'a b', value: '' })
  expect(errorsOf(wrong)).toMatchObject([{ code: 'invalid_input', field: 'name' }])
  expect((await change(ours.ask, 'deleteSecret', '{ name }', { agentId, name: 'KEY' })).payload).toEqual({ name: 'KEY' })
  expect(errorsOf(await change(ours.ask, 'deleteSecret', '{ name }', { agentId, name: 'KEY' }))).toMatchObject([{ code: 'not_found' }])
})

test('a message to the Message URL comes back as its event, whole', async () => {
  const agent = await service.agent(ours, 'Hearer')
  const input = { agentId: agent.id, text: 'Wake up' }
  const send = (ask = ours.ask) => change(ask, 'sendToUrl', '{ event { id type channel text sender { id kind } message { id } } }', input)
  expect(errorsOf(await send())).toMatchObject([{ code: 'conflict' }])
  await change(ours.ask, 'addWebhook', '{ secret }', { agentId: agent.id, url: 'http://127.0.0.1:9/hook' })
  expect((await send()).payload.event).toEqual({
    id: 1,
    type: 'message.received',
    channel: 'url',
    text: 'Wake up',
    sender: { id: ours.member, kind: 'member' },
    message: null,
  })
  expect(errorsOf(await send((await service.agent(ours, 'Unlisted')).ask))).toMatchObject([{ code: 'forbidden' }])
})
