import { graphql, type VariablesOf } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const UPDATE = graphql(`
  mutation UpdateAgent($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { id } } }
`)

type Changes = Omit<VariablesOf<typeof UPDATE>['input'], 'agentId'>

/** Changes settings of an agent. Failures are in the API's words, beside the form. */
export const useUpdate = (agentId: string) => {
  const { run, busy, failure } = useAction(UPDATE, { quiet: true, changes: { topic: 'agents', agentId } })
  /** Resolves to whether it was saved. */
  const update = async (changes: Changes): Promise<boolean> => {
    if (!(await run({ input: { agentId, ...changes } }))) return false
    say({ kind: 'done', text: text.saved })
    return true
  }
  return { update, busy, failure }
}
