import { Time } from '../parts/time.tsx'
import type { Viewer } from './query.ts'
import { text } from './strings.ts'

/** The member's passkeys. They are added and removed on a page of their own, which works without this application. */
export const Passkeys = ({ passkeys }: Pick<Viewer, 'passkeys'>) => (
  <section className="panel">
    <h2>{text.passkeys}</h2>
    <div className="panel-content">
      <p className="hint">{text.passkeysHint}</p>
      {passkeys.length > 0 ? (
        <ul>
          {passkeys.map(({ id, name, createdAt }) => (
            <li key={id} className="row between">
              {name} <Time at={createdAt} />
            </li>
          ))}
        </ul>
      ) : (
        <p className="soft">{text.noPasskeys}</p>
      )}
      <div className="row">
        <a className="button plain" href="/app/passkeys">
          {text.managePasskeys}
        </a>
      </div>
    </div>
  </section>
)
