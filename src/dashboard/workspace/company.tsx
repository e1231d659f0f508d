import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { Field, Toggle } from '../parts/form/field.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import { Panel } from '../parts/panel.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

export interface SignIn {
  issuer: string
  clientId: string
  domains: readonly string[]
  required: boolean
}

const FIELDS = ['issuer', 'clientId', 'clientSecret', 'domains'] as const

const domainsIn = (typed: string) => typed.split(/[\s,]+/).filter((name) => name !== '')

/** What to register with the provider: known before it is set. */
const Register = ({ workspaceId }: { workspaceId: string }) => {
  const redirectUrl = `${location.origin}/app/sign-in/company/${workspaceId}`
  return (
    <dl className="metadata">
      <div>
        <dt>{text.company.redirectUrl}</dt>
        <dd>
          <Copyable value={redirectUrl} what={text.company.redirectUrl} />
        </dd>
      </div>
      <div>
        <dt>{text.company.logoutUrl}</dt>
        <dd>
          <Copyable value={`${redirectUrl}/logout`} what={text.company.logoutUrl} />
        </dd>
      </div>
    </dl>
  )
}

const Remove = () => {
  const [asking, setAsking] = useState(false)
  const { update } = useUpdate()
  return (
    <>
      <Button onClick={() => setAsking(true)}>{text.company.remove}</Button>
      {asking && (
        <Confirm
          title={text.company.removeTitle}
          label={text.company.remove}
          onConfirm={() => update({ signIn: null })}
          onClose={() => setAsking(false)}
        >
          {text.company.removeHint}
        </Confirm>
      )}
    </>
  )
}

/** How members sign in with the account of their company, for owners. */
export const Company = ({ workspaceId, saved }: { workspaceId: string; saved: SignIn | null }) => {
  const { fields, edit, isEdited } = useEdits({
    issuer: saved?.issuer ?? '',
    clientId: saved?.clientId ?? '',
    clientSecret: '',
    domains: saved?.domains.join(', ') ?? '',
    required: String(saved?.required ?? false),
  })
  const { update, busy, failure } = useUpdate()
  const { role } = useViewer()
  const submit = async () => {
    const { issuer, clientId, clientSecret, domains, required } = fields
    const done = await update({
      signIn: {
        ...{ issuer: issuer.trim(), clientId: clientId.trim(), domains: domainsIn(domains) },
        required: required === 'true',
        ...(clientSecret === '' ? {} : { clientSecret }),
      },
    })
    if (done) edit('clientSecret', '')
  }
  const errorOf = (name: string) => (failure?.field === `signIn.${name}` ? failure.message : undefined)
  const isOfNoField = failure && !FIELDS.some((name) => failure.field === `signIn.${name}`)
  return (
    <Panel title={text.company.title} onSubmit={submit}>
      <p className="hint">{text.company.hint}</p>
      <Register workspaceId={workspaceId} />
      {FIELDS.map((name) => (
        <Field
          key={name}
          label={text.company[name]}
          hint={name === 'clientSecret' && saved ? text.company.secretKept : text.company.hints[name]}
          error={errorOf(name)}
          type={name === 'clientSecret' ? 'password' : 'text'}
          value={fields[name]}
          onChange={(event) => edit(name, event.target.value)}
          autoComplete="off"
          spellCheck={false}
          disabled={role !== 'owner'}
          required={name !== 'clientSecret' || !saved}
        />
      ))}
      <Toggle
        label={text.company.required}
        hint={text.company.requiredHint}
        checked={fields.required === 'true'}
        onChange={(event) => edit('required', String(event.target.checked))}
        disabled={role !== 'owner'}
      />
      {isOfNoField && (
        <p className="error" role="alert">
          {failure.message}
        </p>
      )}
      {role === 'owner' && (
        <div className="row">
          <Button submit busy={busy} disabled={!isEdited}>
            {text.save}
          </Button>
          {saved && <Remove />}
        </div>
      )}
    </Panel>
  )
}
