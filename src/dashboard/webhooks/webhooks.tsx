import { useState } from 'react'
import { useLive } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { PlusIcon, WebhookIcon } from '../parts/icons.tsx'
import { Empty, Load } from '../parts/states.tsx'
import { AddWebhook } from './add-webhook.tsx'
import { WEBHOOKS } from './query.ts'
import { text } from './strings.ts'
import { WebhookPanel } from './webhook-panel.tsx'

/** The agent's webhooks, with what was delivered to them. */
export const Screen = ({ agentId }: { agentId: string }) => {
  const loaded = useLive(WEBHOOKS, { id: agentId }, ['webhooks'])
  const [adding, setAdding] = useState(false)
  const add = (
    <Button kind="primary" icon={PlusIcon} onClick={() => setAdding(true)}>
      {text.add}
    </Button>
  )
  return (
    <Load from={loaded} lines={6}>
      {({ agent: { webhooks } }) => (
        <>
          {webhooks.length > 0 ? (
            <>
              <div className="row end">{add}</div>
              {webhooks.map((webhook) => (
                <WebhookPanel key={webhook.id} agentId={agentId} webhook={webhook} />
              ))}
            </>
          ) : (
            <Empty icon={WebhookIcon} title={text.none}>
              <p>{text.noneHint}</p>
              {add}
            </Empty>
          )}
          {adding && <AddWebhook agentId={agentId} onClose={() => setAdding(false)} />}
        </>
      )}
    </Load>
  )
}
