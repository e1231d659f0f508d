import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog/dialog.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, Select } from '../parts/form/field.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { type Scope, ScopeChoice } from './scopes.tsx'
import { text } from './strings.ts'

const DAY_MS = 24 * 60 * 60 * 1000

interface NewTokenProps {
  /** What it can be used for. */
  possible: readonly Scope[]
  /** Resolves with the token, or null after a failure. */
  create(asked: {
    name: string | null
    expiresAt: string | null
    scopes: Scope[] | null
  }): Promise<string | null>
  busy: boolean
  failure: { message: string } | null
  /** Commands that use the token. */
  snippets(token: string): { name: string; code: string }[]
  onClose(): void
}

/** The new token, which is shown only here, with commands that use it. */
const Created = ({
  token,
  snippets,
  onClose,
}: Pick<NewTokenProps, 'snippets' | 'onClose'> & { token: string }) => (
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
    <Snippet label={text.use} variants={snippets(token)} />
  </Dialog>
)

/** Creates a token, then shows it. */
export const NewToken = (props: NewTokenProps) => {
  const { possible, create, busy, failure, onClose } = props
  const [name, setName] = useState('')
  const [days, setDays] = useState('')
  const [scopes, setScopes] = useState(possible)
  const [token, setToken] = useState<string | null>(null)
  const submit = async () => {
    const expiresAt = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null
    setToken(
      await create({
        ...{ name: name.trim() || null, expiresAt },
        scopes: scopes.length === possible.length ? null : [...scopes],
      }),
    )
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
      <ScopeChoice possible={possible} chosen={scopes} onChange={setScopes} />
    </FormDialog>
  )
}
