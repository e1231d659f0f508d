import { graphql, type VariablesOf } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { say } from '../parts/toast.ts'
import { text } from './strings.ts'

const UPDATE = graphql(`
  mutation UpdateWorkspace($input: UpdateWorkspaceInput!) { updateWorkspace(input: $input) { workspace { id } } }
`)

export type Changes = VariablesOf<typeof UPDATE>['input']

/** Changes settings of the workspace. Failures are in the API's words, beside the form. */
export const useUpdate = () => {
  const { run, busy, failure } = useAction(UPDATE, { quiet: true, changes: { topic: 'all' } })
  const update = async (changes: Changes): Promise<boolean> => {
    if (!(await run({ input: changes }))) return false
    say({ kind: 'done', text: text.saved })
    return true
  }
  return { update, busy, failure }
}
