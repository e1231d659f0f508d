import { useState } from 'react'
import { graphql } from '../live/graphql.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { Menu } from '../parts/menu.tsx'
import { say } from '../parts/toast.ts'
import { ChangeFormat } from './format.tsx'
import type { Webhook } from './query.ts'
import { Replay } from './replay.tsx'
import { ShowSecret } from './secret.tsx'
import { text } from './strings.ts'

const TEST = graphql(`
  mutation TestWebhook($input: TestWebhookInput!) { testWebhook(input: $input) { delivery { id } } }
`)
const UPDATE = graphql(`
  mutation PauseWebhook($input: UpdateWebhookInput!) { updateWebhook(input: $input) { webhook { id pausedAt } } }
`)
const ROTATE = graphql(`
  mutation RotateWebhook($input: RotateWebhookInput!) { rotateWebhook(input: $input) { secret } }
`)
const REMOVE = graphql(`
  mutation RemoveWebhook($input: RemoveWebhookInput!) { removeWebhook(input: $input) { webhookId } }
`)

const RESEND = graphql(`
  mutation ResendGivenUp($input: ResendGivenUpInput!) { resendGivenUp(input: $input) { events } }
`)

/** Deliveries are kept for seven days. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000

type Asked = 'remove' | 'replay' | 'rotate' | 'format' | null

interface ActionsProps {
  agentId: string
  webhook: Webhook
}

/** Removes or changes the webhook, or replaces its secret, after a question. */
const Questions = ({
  agentId,
  webhook,
  asked,
  onClose,
}: ActionsProps & { asked: Asked; onClose(): void }) => {
  const removal = useAction(REMOVE, { changes: { topic: 'webhooks', agentId } })
  const rotation = useAction(ROTATE)
  const [secret, setSecret] = useState<string | null>(null)
  const input = { agentId, webhookId: webhook.id }
  const remove = () => removal.run({ input })
  const rotate = async () => {
    const done = await rotation.run({ input })
    if (done?.rotateWebhook) setSecret(done.rotateWebhook.secret)
    return done
  }
  if (secret)
    return (
      <ShowSecret
        secret={secret}
        hint={`${text.secretHint} ${text.rotatedHint}`}
        onClose={() => setSecret(null)}
      />
    )
  if (asked === 'rotate')
    return (
      <Confirm title={text.rotateTitle} label={text.rotate} onConfirm={rotate} onClose={onClose}>
        <p>{text.rotatedHint}</p>
      </Confirm>
    )
  if (asked === 'remove')
    return (
      <Confirm title={text.removeTitle} label={text.remove} onConfirm={remove} onClose={onClose}>
        <p>{text.removeHint}</p>
      </Confirm>
    )
  if (asked === 'format') return <ChangeFormat webhook={webhook} onClose={onClose} />
  return asked === 'replay' ? <Replay webhooks={[webhook]} onClose={onClose} /> : null
}

/** What can be done with a webhook. */
export const WebhookActions = ({ agentId, webhook }: ActionsProps) => {
  const [asked, setAsked] = useState<Asked>(null)
  const changes = { topic: 'webhooks', agentId } as const
  const test = useAction(TEST, { changes })
  const update = useAction(UPDATE, { changes })
  const resend = useAction(RESEND, { changes })
  const input = { agentId, webhookId: webhook.id }
  const sendTest = async () => {
    if (await test.run({ input })) say({ kind: 'done', text: text.tested })
  }
  const pause = () => update.run({ input: { ...input, paused: webhook.pausedAt === null } })
  const resendGivenUp = async () => {
    const since = new Date(Date.now() - KEPT_MS).toISOString()
    const done = await resend.run({ input: { ...input, since } })
    if (done?.resendGivenUp) say({ kind: 'done', text: text.resent(done.resendGivenUp.events) })
  }
  return (
    <div className="row">
      <Button busy={test.busy} onClick={() => void sendTest()}>
        {text.test}
      </Button>
      <Button busy={update.busy} onClick={() => void pause()}>
        {webhook.pausedAt ? text.resume : text.pause}
      </Button>
      <Menu label={text.actions}>
        <Button kind="ghost" onClick={() => setAsked('replay')}>
          {text.replay}
        </Button>
        <Button kind="ghost" onClick={() => void resendGivenUp()}>
          {text.resendGivenUp}
        </Button>
        <Button kind="ghost" onClick={() => setAsked('format')}>
          {text.format}
        </Button>
        <Button kind="ghost" onClick={() => setAsked('rotate')}>
          {text.rotate}
        </Button>
        <Button kind="ghost" onClick={() => setAsked('remove')}>
          {text.remove}
        </Button>
      </Menu>
      <Questions agentId={agentId} webhook={webhook} asked={asked} onClose={() => setAsked(null)} />
    </div>
  )
}
