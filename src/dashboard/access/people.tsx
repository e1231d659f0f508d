import { graphql } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Select } from '../parts/form/field.tsx'
import { useAgents } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const MEMBERS = graphql(`
  query MembersOfWorkspace { workspace { id members { id name email } } }
`)

interface Named {
  id: string
  name: string
}

/** The members and agents of the workspace, by whose ids the Message URL knows its senders. */
const useTeam = (): readonly Named[] => {
  const { data } = useLive(MEMBERS, {}, ['members'])
  const members = data?.workspace.members ?? []
  return [...members.map(({ id, name, email }) => ({ id, name: name ?? email })), ...useAgents()]
}

/** Returns a function that names an entry: a member or an agent by their name, anyone else as listed. */
export const useNames = (): ((entry: string) => string) => {
  const team = useTeam()
  return (entry) => team.find(({ id }) => id === entry)?.name ?? entry
}

interface PersonProps {
  label: string
  error: string | undefined
  value: string
  required: boolean
  onChoose(id: string): void
}

/** Chooses a member or an agent. */
export const Person = ({ onChoose, ...rest }: PersonProps) => (
  <Select {...rest} onChange={(event) => onChoose(event.target.value)}>
    <option value="">{text.choose}</option>
    {useTeam().map(({ id, name }) => (
      <option key={id} value={id}>
        {name}
      </option>
    ))}
  </Select>
)
