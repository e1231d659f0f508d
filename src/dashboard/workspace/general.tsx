import { type FormEvent, useState } from 'react'
import { graphql, type ResultOf, type VariablesOf } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction, useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Load } from '../parts/states.tsx'
import { Switch } from '../parts/switch.tsx'
import { say } from '../parts/toast.ts'
import { useViewer } from '../shell/viewer.tsx'
import { text } from './strings.ts'

const SETTINGS = graphql(`
  query WorkspaceSettings {
    workspace {
      id name
      settings { agentsMayCreateAgents agentsMaySetAccess requirePasskeys keepRefusedDays }
    }
  }
`)

const UPDATE = graphql(`
  mutation UpdateWorkspace($input: UpdateWorkspaceInput!) { updateWorkspace(input: $input) { workspace { id } } }
`)

type Workspace = ResultOf<typeof SETTINGS>['workspace']
type Changes = VariablesOf<typeof UPDATE>['input']

const useUpdate = () => {
  const { run, busy, failure } = useAction(UPDATE, { quiet: true })
  const update = async (changes: Changes): Promise<boolean> => {
    if (!(await run({ input: changes }))) return false
    announce([{ topic: 'all' }])
    say({ kind: 'done', text: text.saved })
    return true
  }
  return { update, busy, failure }
}

interface TextFormProps {
  title: string
  label: string
  hint?: string
  value: string
  type?: 'number'
  changesOf(value: string): Changes
}

/** One value, with a button that saves it. */
const TextForm = ({ title, label, hint, value: saved, type, changesOf }: TextFormProps) => {
  const [value, setValue] = useState(saved)
  const { update, busy, failure } = useUpdate()
  const { may } = useViewer()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void update(changesOf(value))
  }
  return (
    <section className="panel">
      <h2>{title}</h2>
      <form className="panel-content" onSubmit={submit}>
        <Field
          label={label}
          hint={hint}
          error={failure?.message}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          type={type ?? 'text'}
          autoComplete="off"
          disabled={!may.updateWorkspace}
          required
        />
        <div className="row">
          <Button submit busy={busy} disabled={!may.updateWorkspace || value === saved}>
            {text.save}
          </Button>
        </div>
      </form>
    </section>
  )
}

type Flag = 'agentsMayCreateAgents' | 'agentsMaySetAccess' | 'requirePasskeys'

interface SettingProps extends Pick<Workspace, 'settings'> {
  flag: Flag
  label: string
  hint: string
}

/** A setting that is on or off. */
const Setting = ({ flag, settings, ...rest }: SettingProps) => {
  const { update, failure } = useUpdate()
  const { may } = useViewer()
  return (
    <>
      <Switch
        {...rest}
        on={settings[flag]}
        disabled={!may.updateWorkspace}
        onSwitch={(on) => update({ [flag]: on })}
      />
      {failure && (
        <p className="error" role="alert">
          {failure.message}
        </p>
      )}
    </>
  )
}

/** The workspace's name, and what agents and members may do in it. */
export const Screen = () => {
  const loaded = useLive(SETTINGS, {}, ['workspace'])
  const { may } = useViewer()
  return (
    <Load from={loaded} lines={6}>
      {({ workspace: { name, settings } }) => (
        <>
          {!may.updateWorkspace && <p className="soft">{text.ownersOnly}</p>}
          <TextForm
            key={name}
            title={text.identity}
            label={text.name}
            value={name}
            changesOf={(value) => ({ name: value })}
          />
          <section className="panel">
            <h2>{text.agents}</h2>
            <div className="panel-content">
              <Setting
                flag="agentsMayCreateAgents"
                label={text.mayCreate}
                hint={text.mayCreateHint}
                settings={settings}
              />
              <Setting
                flag="agentsMaySetAccess"
                label={text.mayAccess}
                hint={text.mayAccessHint}
                settings={settings}
              />
            </div>
          </section>
          <section className="panel">
            <h2>{text.signIn}</h2>
            <div className="panel-content">
              <Setting
                flag="requirePasskeys"
                label={text.passkeys}
                hint={text.passkeysHint}
                settings={settings}
              />
            </div>
          </section>
          <TextForm
            key={settings.keepRefusedDays}
            title={text.keeping}
            label={text.keepDays}
            hint={text.keepHint}
            type="number"
            value={String(settings.keepRefusedDays)}
            changesOf={(value) => ({ keepRefusedDays: Number(value) })}
          />
        </>
      )}
    </Load>
  )
}
