import { graphql } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Select } from '../parts/form/field.tsx'
import { useAgentNames } from '../screen/viewer.tsx'
import { text } from './strings.ts'

const MEMBERS = graphql(`
  query MembersOfWorkspace { workspace { id members { id name email } } }
`)

/** The names of the workspace's members and agents, by the ids by which the Message URL knows its senders. */
const useTeam = (): Readonly<Record<string, string>> => {
  const { data } = useLive(MEMBERS, {}, ['members'])
  const members = data?.workspace.members ?? []
  return {
    ...Object.fromEntries(members.map(({ id, name, email }) => [id, name ?? email])),
    ...useAgentNames(),
  }
}

/** Returns a function that names an entry: a member or an agent by their name, anyone else as listed. */
export const useNames = (): ((entry: string) => string) => {
  const team = useTeam()
  return (entry) => (Object.hasOwn(team, entry) ? team[entry]! : entry)
}

interface PersonProps {
  label: string
  error: string | undefined
  value: string
  required: boolean
  onChoose(id: string): void
}

/** Chooses a member or an agent. */
export const Person = ({ value, ...rest }: PersonProps) => {
  const options: Readonly<Record<string, string>> = { '': text.choose, ...useTeam() }
  return <Select {...rest} options={options} chosen={value} />
}
