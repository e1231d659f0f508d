import { useState } from 'react'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { ShowOnce } from '../parts/dialog/show-once.tsx'
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

/** Creates a token, then shows it. */
export const NewToken = ({ possible, create, busy, failure, snippets, onClose }: NewTokenProps) => {
  const [name, setName] = useState('')
  const [days, setDays] = useState<keyof typeof text.lifetimes>('')
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
  if (token)
    return (
      <ShowOnce title={text.created} hint={text.once} value={token} what={text.token} onClose={onClose}>
        <Snippet label={text.use} variants={snippets(token)} />
      </ShowOnce>
    )
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
      <Select label={text.lifetime} options={text.lifetimes} chosen={days} onChoose={setDays} />
      <ScopeChoice possible={possible} chosen={scopes} onChange={setScopes} />
    </FormDialog>
  )
}
