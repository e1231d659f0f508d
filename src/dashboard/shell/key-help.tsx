import { Dialog } from '../parts/dialog/dialog.tsx'
import { type Binding, shownKeys, useBindings } from '../screen/keys.ts'
import { text } from './strings.ts'

export const Keys = ({ keys }: { keys: string }) => (
  <span className="keys">
    {shownKeys(keys).map((key, index) => (
      <span key={key}>
        {index > 0 && <span className="unseen">{text.followedBy}</span>}
        <kbd>{key}</kbd>
      </span>
    ))}
  </span>
)

const GROUPS = ['any', 'go', 'list', 'thread'] as const

const Group = ({ title, bindings }: { title: string; bindings: readonly Binding[] }) => (
  <section>
    <h3>{title}</h3>
    <dl className="key-list">
      {bindings.map(({ keys, label }) => (
        <div key={keys}>
          <dt>{label}</dt>
          <dd>
            <Keys keys={keys} />
          </dd>
        </div>
      ))}
    </dl>
  </section>
)

/** All keys that do something on the present screen. */
export const KeyHelp = ({ onClose }: { onClose(): void }) => {
  const bindings = useBindings()
  return (
    <Dialog title={text.keysHelp} onClose={onClose} wide>
      <div className="key-help">
        {GROUPS.map((group) => {
          const own = bindings.filter((binding) => binding.group === group)
          return own.length > 0 && <Group key={group} title={text.groups[group]} bindings={own} />
        })}
      </div>
    </Dialog>
  )
}
