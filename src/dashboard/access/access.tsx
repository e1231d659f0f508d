import { CHANNELS } from '../channels/channels.ts'
import { wordsOf } from '../channels/words.ts'
import { graphql } from '../live/graphql.ts'
import { useAction, useLive } from '../live/use.ts'
import { Panel } from '../parts/panel.tsx'
import { Load } from '../parts/states.tsx'
import { useViewer } from '../screen/viewer.tsx'
import './access.css'
import { Entries } from './entries.tsx'
import { ACCESS, type Access, type Channel } from './query.ts'
import { text } from './strings.ts'

const SET = graphql(`
  mutation SetAdmit($agentId: UUID!, $channel: Channel!, $admit: Admit!) {
    setAccess(input: { agentId: $agentId, channel: $channel, admit: $admit }) { access { admit } }
  }
`)

type Admit = Access['admit']

const ADMITS: readonly Admit[] = ['list', 'team', 'anyone']

interface PartProps {
  agentId: string
  channel: Channel
  access: Access
  may: boolean
}

const WhoMayWrite = ({ agentId, channel, access, may }: PartProps) => {
  const { run, busy } = useAction(SET, { changes: { topic: 'agents', agentId } })
  return (
    <fieldset className="admit" disabled={!may || busy}>
      <legend>{text.admit}</legend>
      {ADMITS.filter((admit) => channel !== 'url' || admit !== 'anyone').map((admit) => (
        <label key={admit}>
          <input
            type="radio"
            name={`${channel}-admit`}
            checked={admit === access.admit}
            onChange={() => void run({ agentId, channel, admit })}
          />
          <span>
            {text.admits[admit]} <span className="hint">{text.admitHints[admit]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const ChannelPanel = ({ has, ...props }: PartProps & { has: boolean }) => (
  <Panel title={props.channel === 'url' ? text.url : wordsOf(props.channel).name}>
    {!has && <p className="hint">{text.notSetUp}</p>}
    {props.channel === 'url' && <p className="hint">{text.urlHint}</p>}
    <WhoMayWrite {...props} />
    <div className="access-lists">
      {props.access.admit !== 'anyone' && <Entries {...props} list="senders" />}
      <Entries {...props} list="blocked" />
    </div>
  </Panel>
)

/** Who may write to the agent, by channel. Entries are changed one by one, so that two people lose nothing. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(ACCESS, { id: agentId }, ['access'])
  const { may } = useViewer()
  return (
    <Load from={loaded} lines={8}>
      {({ agent }) => (
        <>
          <p className="soft">{may.setAccess ? text.intro : `${text.intro} ${text.notAllowed}`}</p>
          {([...CHANNELS, 'url'] as const).map((channel) => (
            <ChannelPanel
              key={channel}
              agentId={agentId}
              channel={channel}
              access={agent.access[channel]}
              may={may.setAccess}
              has={channel === 'url' || agent.addresses.some((address) => address.channel === channel)}
            />
          ))}
        </>
      )}
    </Load>
  )
}
