import { useState } from 'react'
import { wordsOf } from '../channels/words.ts'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { Form } from '../parts/form.tsx'
import { PlusIcon, XIcon } from '../parts/icons.tsx'
import { say } from '../parts/toast.ts'
import { Person, useNames } from './people.tsx'
import type { Access, Channel } from './query.ts'
import { text } from './strings.ts'

type List = 'blocked' | 'senders'

const ALLOW = graphql(`
  mutation AllowSender($input: AllowSenderInput!) { allowSender(input: $input) { access { senders } } }
`)
const DISALLOW = graphql(`
  mutation DisallowSender($input: DisallowSenderInput!) { disallowSender(input: $input) { access { senders } } }
`)
const BLOCK = graphql(`
  mutation BlockSender($input: BlockSenderInput!) { blockSender(input: $input) { access { blocked } } }
`)
const UNBLOCK = graphql(`
  mutation UnblockSender($input: UnblockSenderInput!) { unblockSender(input: $input) { access { blocked } } }
`)

interface EntriesProps {
  agentId: string
  channel: Channel
  access: Access
  list: List
  may: boolean
}

/** The mutations of one list. Each resolves to null if it failed. */
const useChanges = ({ agentId, channel, list }: EntriesProps) => {
  const changes = { topic: 'agents', agentId } as const
  const allow = useAction(ALLOW, { quiet: true, changes })
  const block = useAction(BLOCK, { quiet: true, changes })
  const disallow = useAction(DISALLOW, { changes })
  const unblock = useAction(UNBLOCK, { changes })
  const adding = list === 'senders' ? allow : block
  const removing = list === 'senders' ? disallow : unblock
  return {
    add: (sender: string) => adding.run({ input: { agentId, channel, sender } }),
    remove: (sender: string) => removing.run({ input: { agentId, channel, sender } }),
    busy: adding.busy,
    failure: adding.failure,
  }
}

/** One list of a channel: the entries, each with a button that removes it, and a field that adds one. */
export const Entries = (props: EntriesProps) => {
  const { channel, access, list, may } = props
  const { add, remove, busy, failure } = useChanges(props)
  const [value, setValue] = useState('')
  const nameOf = useNames()
  const submit = async () => {
    if (await add(value.trim())) setValue('')
  }
  const drop = async (entry: string) => {
    if (!(await remove(entry))) return
    const undo = { label: text.undo, run: () => void add(entry) }
    say({ kind: 'done', text: text.removed(nameOf(entry)), action: undo })
  }
  const isListed = list === 'senders'
  const field = {
    label: isListed ? text.addListed : text.addBlocked,
    error: failure?.message,
    value,
    required: true,
  }
  return (
    <div className="entries">
      <h3>{isListed ? text.listed : text.blocked}</h3>
      {access[list].length === 0 && <p className="hint">{isListed ? text.noneListed : text.noneBlocked}</p>}
      <ul>
        {access[list].map((entry) => (
          <li key={entry}>
            <span>{nameOf(entry)}</span>
            {may && (
              <IconButton icon={XIcon} label={text.remove(nameOf(entry))} onClick={() => void drop(entry)} />
            )}
          </li>
        ))}
      </ul>
      {may && (
        <Form onSubmit={submit}>
          {channel === 'url' ? (
            <Person {...field} onChoose={setValue} />
          ) : (
            <Field
              {...field}
              placeholder={wordsOf(channel).example}
              onChange={(event) => setValue(event.target.value)}
              maxLength={320}
              autoComplete="off"
            />
          )}
          <Button submit icon={PlusIcon} busy={busy}>
            {isListed ? text.add : text.block}
          </Button>
        </Form>
      )}
    </div>
  )
}
