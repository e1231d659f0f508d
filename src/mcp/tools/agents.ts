import { z } from 'zod'
import { createAgent, givenAddressOf, ICONS } from '../../agent/index.ts'
import { invalidInput } from '../../core/errors.ts'
import { agentName, urlText, uuid } from '../../core/rules.ts'
import { sendToUrl } from '../../message/index.ts'
import { listSecrets, refuseLeaks } from '../../secret/index.ts'
import { atMostOnce, callKey } from '../call/once.ts'
import { ADDS, READS, SENDS, type ToolCall, tool } from '../call/tool.ts'

/** The agent in a Message URL of this service. */
const agentOf = ({ deps }: ToolCall, url: string): string => {
  const base = `${deps.messageUrlBase()}/a/`
  const { data } = uuid.safeParse(url.startsWith(base) ? url.slice(base.length) : '')
  if (data === undefined) throw invalidInput('url', `must be a Message URL of this service: ${base}{agentId}`)
  return data
}

export const sendToAgent = tool({
  name: 'send_to_agent',
  title: 'Send to an agent',
  description: 'Send a text to another agent, which must be listening at its Message URL.',
  hints: SENDS,
  scope: 'messages:write',
  agentArgument: 'none',
  input: { url: z.string().max(2048).describe("The agent's Message URL."), text: urlText, key: callKey },
  run: async (call, input) => {
    const agentId = agentOf(call, input.url)
    const delivered = { delivered: true, agentId }
    return atMostOnce(call, {
      name: 'send_to_agent',
      asked: input,
      work: async (deps) => {
        await sendToUrl(deps, call.viewer, agentId, input.text)
        return delivered
      },
      again: async ({ first }) => (first === JSON.stringify(delivered) ? delivered : null),
    })
  },
})

const RUN = 'ams run --secrets'
const VALUES = 'The command finds the value in its environment; nobody needs to see it.'

export const secrets = tool({
  name: 'list_secrets',
  title: 'List secrets',
  description: 'List the names of the secrets, never their values, and how to use one.',
  hints: READS,
  scope: 'settings',
  input: {},
  run: async ({ deps, viewer, agentId }) => {
    const names = (await listSecrets(deps, viewer, agentId)).map(({ name }) => name)
    const [one] = names
    return one === undefined ? { names } : { names, use: `In a shell, ${RUN} ${one} -- COMMAND. ${VALUES}` }
  },
})

export const create = tool({
  name: 'create_agent',
  title: 'Create an agent',
  description: 'Create an agent in the workspace, with its own email address.',
  hints: ADDS,
  scope: 'settings',
  agentArgument: 'none',
  input: { name: agentName, icon: z.enum(ICONS).optional().meta({ deprecated: true }), key: callKey },
  run: async (call, input) =>
    atMostOnce(call, {
      name: 'create_agent',
      asked: input,
      work: async (deps) => {
        const { name, icon = 'bot' } = input
        const { viewer } = call
        if (viewer.kind === 'agent')
          await refuseLeaks(deps, viewer, viewer.id, [{ name: 'name', text: name }])
        const agent = await createAgent(deps, viewer, { name, icon })
        return { agentId: agent.id, name: agent.name, address: await givenAddressOf(deps, agent.id) }
      },
    }),
})
