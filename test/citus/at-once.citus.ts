import { expect, test } from 'vitest'
import { createReceiver } from '../support/receiver.ts'
import { type Api, createTestAgent, startService } from '../support/service.ts'

/**
 * Writes to reference tables lock these as a whole, with those that they refer to. What inserts must not end in a
 * deadlock; what deletes can, since Citus locks a table before those that it refers to.
 */

const AGENTS = 20

/** Repeats a request that could not be answered, as clients do. */
const untilDone = async (api: Api, ...request: Parameters<Api>): Promise<number> => {
  for (let attempt = 0; ; attempt++) {
    const { status } = await api(...request)
    if (status !== 503 || attempt === 5) return status
  }
}

test('agents, tokens, webhooks and connections are created and removed at once', async () => {
  const service = await startService({ environment: { ROLES: 'api' } })
  const owner = await service.workspace()
  const receiver = await createReceiver()
  const agents = await Promise.all(Array.from({ length: AGENTS }, () => createTestAgent(service, owner)))

  const answers = await Promise.all(
    agents.flatMap(({ id, api }) => [
      api('PUT', `/agents/${id}/access/email`, { admit: 'anyone', senders: [] }),
      api('PUT', `/agents/${id}/connection`, { client: 'c', machine: 'm' }),
      api('POST', `/agents/${id}/webhooks`, { url: `${receiver.url}/${id}` }),
      owner.api('POST', `/agents/${id}/tokens`, {}),
    ]),
  )
  expect(answers.map(({ status }) => status)).toEqual(agents.flatMap(() => [200, 200, 201, 201]))

  const tokens = answers.filter((_, n) => n % 4 === 3).map(({ body }) => body.id)
  const removals = await Promise.all(
    agents.flatMap(({ id }, n) => [
      untilDone(owner.api, 'DELETE', `/agents/${id}/tokens/${tokens[n]}`),
      n % 2 === 0
        ? untilDone(owner.api, 'POST', `/agents/${id}/tokens`, {})
        : untilDone(owner.api, 'POST', '/agents', { name: 'One more', icon: 'bot' }),
    ]),
  )
  expect(removals).toEqual(agents.flatMap(() => [204, 201]))

  const deleted = await Promise.all(agents.map(({ id }) => untilDone(owner.api, 'DELETE', `/agents/${id}`)))
  expect(deleted).toEqual(agents.map(() => 204))
  await receiver.close()
})
