import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import type { ShownMessage } from '../message/message-fields.ts'

const MARK = graphql(`
  mutation MarkMessages($input: MarkMessagesInput!) { markMessages(input: $input) { marks { id readAt labels } } }
`)

/** The API takes this many messages at once. */
const MOST = 100

/** Marks the messages of a thread, newest first. */
export const useMarks = (agentId: string, messages: readonly ShownMessage[]) => {
  const { run } = useAction(MARK)
  const mark = async (ids: readonly string[], marks: object): Promise<boolean> => {
    if (ids.length === 0) return true
    return (await run({ input: { agentId, ids: ids.slice(0, MOST), ...marks } })) !== null
  }
  const inbound = messages.filter(({ direction, status }) => direction === 'inbound' && status === 'received')
  return {
    /** Of a thread that is read, only the newest message becomes unread again. */
    unread: () =>
      mark(
        inbound.slice(0, 1).map(({ id }) => id),
        { read: false },
      ),
    addLabel: (label: string) =>
      mark(
        messages.slice(0, 1).map(({ id }) => id),
        { addLabels: [label] },
      ),
    removeLabel: (label: string) =>
      mark(
        messages.filter(({ labels }) => labels.includes(label)).map(({ id }) => id),
        { removeLabels: [label] },
      ),
  }
}
