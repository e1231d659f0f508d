import { graphql, type ResultOf } from '../live/graphql.ts'
import { useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/form/field.tsx'
import { Switch } from '../parts/form/switch.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { Company } from './company.tsx'
import { Ending } from './ending.tsx'
import { Keeping } from './keeping.tsx'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

const SETTINGS = graphql(`
  query WorkspaceSettings {
    workspace {
      id name deletesAt
      settings {
        agentsMayCreateAgents agentsMaySetAccess requirePasskeys keepMessagesDays keepRawDays keepRefusedDays
        signIn { issuer clientId domains required }
      }
    }
  }
`)

type Workspace = ResultOf<typeof SETTINGS>['workspace']

const Name = ({ saved }: { saved: string }) => {
  const { fields, edit, isEdited } = useEdits({ name: saved })
  const { update, busy, failure } = useUpdate()
  const { may } = useViewer()
  return (
    <Panel title={text.identity} onSubmit={() => update(fields)}>
      <Field
        label={text.name}
        error={failure?.message}
        value={fields.name}
        onChange={(event) => edit('name', event.target.value)}
        autoComplete="off"
        disabled={!may.updateWorkspace}
        required
      />
      <div className="row">
        <Button submit busy={busy} disabled={!may.updateWorkspace || !isEdited}>
          {text.save}
        </Button>
      </div>
    </Panel>
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
  const { role } = useViewer()
  return (
    <>
      <Switch
        {...rest}
        on={settings[flag]}
        disabled={role !== 'owner'}
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

/** The workspace's name, what agents and members may do in it, how long messages are kept, and its end. */
export const Screen = () => {
  const loaded = useLive(SETTINGS, {}, ['workspace'])
  const { role } = useViewer()
  return (
    <Load from={loaded} lines={6}>
      {({ workspace, workspace: { name, settings } }) => (
        <>
          {role !== 'owner' && <p className="soft">{text.ownersOnly}</p>}
          <Name saved={name} />
          <Panel title={text.agents}>
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
          </Panel>
          <Panel title={text.signIn}>
            <Setting
              flag="requirePasskeys"
              label={text.passkeys}
              hint={text.passkeysHint}
              settings={settings}
            />
          </Panel>
          <Company workspaceId={workspace.id} saved={settings.signIn} />
          <Keeping saved={settings} />
          {role === 'owner' && <Ending workspace={workspace} />}
        </>
      )}
    </Load>
  )
}
