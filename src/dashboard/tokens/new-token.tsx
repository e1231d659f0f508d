import { useState } from 'react'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { CREATE } from './create.ts'
import { tokenSnippets } from './hosts.ts'
import { AGENT_SCOPES, narrowed, type Scope, ScopeChoice } from './scopes.tsx'
import { text } from './strings.ts'

const DAY_MS = 24 * 60 * 60 * 1000

interface NewTokenProps {
  agentId: string
  publicUrl: string
  onClose(): void
}

/** The new token, which is shown only here, with commands that use it. */
const Created = ({ token, agentId, publicUrl, onClose }: NewTokenProps & { token: string }) => (
  <Dialog
    wide
    title={text.created}
    onClose={onClose}
    actions={
      <Button kind="primary" onClick={onClose}>
        {text.done}
      </Button>
    }
  >
    <p>{text.once}</p>
    <p>
      <Copyable value={token} what={text.token} />
    </p>
    <Snippet label={text.use} variants={tokenSnippets({ agentId, publicUrl, token })} />
  </Dialog>
)

/** Creates a token, then shows it. */
export const NewToken = (props: NewTokenProps) => {
  const { agentId, onClose } = props
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [scopes, setScopes] = useState<readonly Scope[]>(AGENT_SCOPES)
  const [token, setToken] = useState<string | null>(null)
  const { run, busy, failure } = useAction(CREATE, { quiet: true })
  const submit = async () => {
    const expiresAt = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null
    const made = await run({
      input: { agentId, name: name.trim() || null, expiresAt, scopes: narrowed(scopes) },
    })
    if (!made?.createToken) return
    announce([{ topic: 'agents', agentId }])
    setToken(made.createToken.token)
  }
  if (token) return <Created {...props} token={token} />
  return (
    <FormDialog
      title={text.create}
      label={text.submit}
      onClose={onClose}
      onSubmit={submit}
      busy={busy}
      disabled={scopes.length === 0}
    >
      <Field
        label={text.name}
        hint={text.nameHint}
        error={failure?.message}
        value={name}
        onChange={(event) => setName(event.target.value)}
        maxLength={100}
        autoComplete="off"
        autoFocus
      />
      <Select label={text.lifetime} value={days} onChange={(event) => setDays(event.target.value)}>
        {Object.entries(text.lifetimes).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <ScopeChoice chosen={scopes} onChange={setScopes} />
    </FormDialog>
  )
}
