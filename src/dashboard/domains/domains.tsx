import { useState } from 'react'
import { useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { GlobeIcon, PlusIcon } from '../parts/icons.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { useViewer } from '../screen/viewer.tsx'
import { AddDomain } from './add-domain.tsx'
import { DomainPanel } from './domain-panel.tsx'
import { DOMAINS } from './query.ts'
import { text } from './strings.ts'

/** The workspace's own domains, with the DNS records that they need. */
export const Screen = () => {
  const loaded = useLive(DOMAINS, {}, ['domains'])
  const { may } = useViewer()
  const [adding, setAdding] = useState(false)
  const add = may.manageDomains && (
    <Button kind="primary" icon={PlusIcon} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  )
  return (
    <Load from={loaded} lines={6}>
      {({ workspace: { domains } }) => (
        <>
          {domains.length > 0 ? (
            <>
              <div className="row end">{add}</div>
              {domains.map((domain) => (
                <DomainPanel key={domain.id} domain={domain} />
              ))}
            </>
          ) : (
            <Empty icon={GlobeIcon} title={text.none}>
              <p>{text.noneHint}</p>
              {add}
            </Empty>
          )}
          {adding && <AddDomain onClose={() => setAdding(false)} />}
        </>
      )}
    </Load>
  )
}
