import { graphql } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { CheckIcon, UserRoundIcon } from '../parts/icons.tsx'
import { Menu } from '../parts/menu.tsx'
import { Load } from '../parts/states.tsx'
import { text } from './strings.ts'

const MEMBERS = graphql(`query MembersToAssign { workspace { id members { id name email } } }`)
const ASSIGN = graphql(`
  mutation AssignThread($input: UpdateThreadsInput!) {
    updateThreads(input: $input) { threads { id assignedTo { id name } } }
  }
`)

interface AssignedThread {
  id: string
  agentId: string
  assignedTo: { id: string; name: string } | null
}

const Members = ({ thread }: { thread: AssignedThread }) => {
  const { run, busy } = useAction(ASSIGN)
  const { agentId, id: threadId, assignedTo } = thread
  const assign = (member: string | null) =>
    void run({ input: { threads: [{ agentId, threadId }], assignedTo: member } })
  return (
    <Load from={useLive(MEMBERS, {}, ['members'])}>
      {({ workspace }) => (
        <>
          {workspace.members.map(({ id, name, email }) => (
            <Button
              key={id}
              kind="ghost"
              busy={busy}
              aria-pressed={id === assignedTo?.id}
              {...(id === assignedTo?.id ? { icon: CheckIcon } : {})}
              onClick={() => assign(id)}
            >
              <bdi>{name || email}</bdi>
            </Button>
          ))}
          {assignedTo && (
            <Button kind="ghost" busy={busy} onClick={() => assign(null)}>
              {text.assign.nobody}
            </Button>
          )}
        </>
      )}
    </Load>
  )
}

/** Which member looks after a thread. */
export const Assign = ({ thread }: { thread: AssignedThread }) => {
  const name = thread.assignedTo?.name
  return (
    <Menu
      label={name ? text.assign.to(name) : text.assign.do}
      icon={UserRoundIcon}
      face={
        name && (
          <>
            <UserRoundIcon />
            <bdi aria-hidden="true">{name}</bdi>
          </>
        )
      }
    >
      <Members thread={thread} />
    </Menu>
  )
}
