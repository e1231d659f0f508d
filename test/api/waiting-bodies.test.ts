import { expect, test } from 'vitest'
import { createTestAgent, sharedService } from '../support/service.ts'

/** A request that waits is in memory meanwhile, so that it must be short. One that does not wait need not be. */

const service = await sharedService()
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)
const LONG = ' '.repeat(50_000)
const REFUSED = 'body: must be at most 40960 bytes for a request that waits'

const post = async (path: string, body: string, more: Record<string, string> = {}) => {
  const headers = { Authorization: `Bearer ${agent.token}`, 'Content-Type': 'application/json', ...more }
  const response = await fetch(service.http + path, { method: 'POST', headers, body })
  return (await response.json()) as { error?: object; errors?: object[] }
}

test.each([
  ['', {}],
  [' with a key', { 'Idempotency-Key': 'waits' }],
])('over REST%s', async (_, headers) => {
  const take = (seconds: number) =>
    post(`/agents/${agent.id}/codes/take`, `{"seconds":${seconds}${LONG}}`, headers)
  expect(await take(1)).toEqual({ error: { code: 'invalid_input', message: REFUSED } })
  expect(await take(0)).toMatchObject({ error: { code: 'not_found' } })
})

test('over GraphQL, alone and with others', async () => {
  const query = `mutation($input: TakeCodeInput!) { takeCode(input: $input) { code { value } } }`
  const operation = (seconds: number) => ({
    query,
    variables: { input: { agentId: agent.id, seconds }, LONG },
  })
  const failed = (code: string) => ({ errors: [{ extensions: { code } }] })
  const alone = await post('/graphql', JSON.stringify(operation(1)))
  expect(alone).toMatchObject({ errors: [{ message: REFUSED, extensions: { code: 'invalid_input' } }] })
  const several = await post('/graphql', JSON.stringify([operation(1), operation(0)]))
  expect(several).toMatchObject([failed('invalid_input'), failed('not_found')])
})
