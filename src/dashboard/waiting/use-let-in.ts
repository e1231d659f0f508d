import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { isProven } from '../message/why.tsx'
import { say } from '../parts/toast.ts'
import type { RefusedMessage } from './queries.ts'
import { text } from './strings.ts'

const RELEASE = graphql(`
  mutation ReleaseMessages($input: ReleaseMessagesInput!) { releaseMessages(input: $input) { messages { id status } } }
`)
const BLOCK = graphql(`
  mutation BlockRefused($input: BlockSenderInput!) { blockSender(input: $input) { access { blocked } } }
`)

/** What is needed of a refused message. */
type Refused = Pick<RefusedMessage, 'channel' | 'checks' | 'counterpart' | 'id' | 'refusal'> & {
  agent: { id: string }
}

/** A list lets in only who proves to be on it: the same mail would be refused again. */
const isRefusedAgain = ({ refusal, ...message }: Refused): boolean =>
  (refusal === 'unverified' || refusal === 'sender' || refusal === 'outsider') && !isProven(message)

/** A request releases at most this many messages, of one agent. */
const MOST_AT_ONCE = 100

const byAgent = (messages: readonly Refused[]): [agentId: string, ids: string[]][] => {
  const groups = new Map<string, string[]>()
  for (const { id, agent } of messages) groups.set(agent.id, [...(groups.get(agent.id) ?? []), id])
  return [...groups].flatMap(([agentId, ids]) =>
    Array.from({ length: Math.ceil(ids.length / MOST_AT_ONCE) }, (_, part): [string, string[]] => [
      agentId,
      ids.slice(part * MOST_AT_ONCE, (part + 1) * MOST_AT_ONCE),
    ]),
  )
}

/** Lets in refused messages, and blocks their senders. */
export const useLetIn = () => {
  const release = useAction(RELEASE)
  const blocking = useAction(BLOCK)
  const letIn = async (messages: readonly Refused[], listSender: boolean): Promise<void> => {
    let count = 0
    for (const [agentId, ids] of byAgent(messages)) {
      const done = await release.run({ input: { agentId, ids, listSender } })
      count += done?.releaseMessages?.messages.length ?? 0
    }
    announce([{ topic: 'messages' }])
    if (count === 0) return
    const done = text.letInDone(count)
    const isAgain = listSender && messages.some(isRefusedAgain)
    say({ kind: 'done', text: isAgain ? `${done} ${text.letInOnce}` : done })
  }
  const block = async (messages: readonly Refused[]): Promise<void> => {
    const blocked = new Set<string>()
    for (const { agent, channel, counterpart } of messages) {
      const done = await blocking.run({ input: { agentId: agent.id, channel, sender: counterpart } })
      if (done) blocked.add(counterpart)
    }
    if (blocked.size > 0) say({ kind: 'done', text: text.blocked([...blocked]) })
  }
  return { letIn, block, busy: release.busy || blocking.busy }
}
