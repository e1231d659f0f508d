import { listAddresses } from '../../agent/address.ts'
import { countAgents, listAgents } from '../../agent/agent.ts'
import { findAgent } from '../../agent/permission.ts'
import { compact, READS, type ToolCall, tool } from '../tool.ts'

const MAX_AGENTS = 100

const actorOf = ({ viewer: { kind, id, name, email } }: ToolCall) => compact({ kind, id, name, email })

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
  description: 'Show who you are and your addresses.',
  hints: READS,
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
      messageUrl: `${deps.messageUrlBase()}/a/${agent.id}`,
    }
  },
})
