import { countAgents, findAgent, listAddresses, listAgents, reachableAgents } from '../../agent/index.ts'
import type { Context } from '../../context.ts'
import { compact, READS, type ToolCall, tool } from '../call/tool.ts'
import { clean, clip } from '../outside-text/fence.ts'

const MAX_AGENTS = 100
/** Agents that are named as correspondents, and characters of their names. */
const [MAX_OTHERS, MAX_NAME] = [20, 40]

const HOW = 'send_message to an address always arrives; send_to_agent only while that agent listens.'

/** The other agents that admit this one, and how to write to them. */
const othersOf = async ({ deps, viewer, agentId }: ToolCall) => {
  const found = await reachableAgents(deps, viewer, agentId, MAX_OTHERS + 1)
  return compact({
    agents: found.slice(0, MAX_OTHERS).map(({ id, name, address, url }) =>
      compact({
        name: clip(clean(name), MAX_NAME),
        address,
        messageUrl: url && messageUrlOf(deps, id),
      }),
    ),
    moreAgents: found.length > MAX_OTHERS,
    ...(found.length > 0 ? { next: HOW } : {}),
  })
}

const messageUrlOf = (deps: Pick<Context, 'messageUrlBase'>, agentId: string) =>
  `${deps.messageUrlBase()}/a/${agentId}`

const actorOf = ({ viewer: { kind, id, name, email, scopes } }: ToolCall) =>
  compact({ kind, id, name, email, scopes })

const agentsOf = async ({ deps, viewer }: ToolCall) => {
  const { items } = await listAgents(deps, viewer, { limit: MAX_AGENTS })
  return {
    agents: items.map(({ id, name }) => ({ agentId: id, name })),
    agentCount: await countAgents(deps, viewer),
  }
}

export const whoami = tool({
  name: 'whoami',
  title: 'Who am I',
  description: 'Show who you are, your addresses, and the agents that you can write to.',
  hints: READS,
  scope: 'any',
  agentArgument: 'optional',
  input: {},
  run: async (call) => {
    const { deps, viewer, agentId } = call
    if (agentId === '') return { actor: actorOf(call), ...(await agentsOf(call)) }
    const agent = await findAgent(deps, viewer, agentId)
    const addresses = await listAddresses(deps, viewer, agentId)
    return {
      actor: actorOf(call),
      agent: { agentId: agent.id, name: agent.name },
      addresses: addresses.map(({ channel, value, primary }) =>
        compact({ channel, address: value, primary }),
      ),
      messageUrl: messageUrlOf(deps, agent.id),
      ...(await othersOf(call)),
    }
  },
})
