import { graphql } from '../live/graphql.ts'
import { announce } from '../live/live.ts'
import { useAction } from '../live/use.ts'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Time } from '../parts/time.tsx'
import type { Delivery } from './deliveries.tsx'
import { text } from './strings.ts'

const RESEND = graphql(`
  mutation ResendDelivery($input: ResendDeliveryInput!) { resendDelivery(input: $input) { delivery { id } } }
`)

interface Header {
  name: string
  value: string
}

const Headers = ({ headers }: { headers: readonly Header[] }) => (
  <details>
    <summary>{text.headers}</summary>
    <pre className="delivery-text">{headers.map(({ name, value }) => `${name}: ${value}`).join('\n')}</pre>
  </details>
)

const pretty = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const Request = ({ request }: { request: NonNullable<Delivery['request']> }) => (
  <section className="stack">
    <div className="row between">
      <h3>{text.request}</h3>
      {request.body !== null && <CopyButton value={request.body} what={text.request} />}
    </div>
    <code>POST {request.url}</code>
    <Headers headers={request.headers} />
    {request.body === null ? (
      <p className="hint">{text.noBody}</p>
    ) : (
      <pre className="delivery-text">{pretty(request.body)}</pre>
    )}
  </section>
)

/** What came back is a stranger's text: it is shown as text only. */
const Attempt = ({ attempt, number }: { attempt: Delivery['attempts'][number]; number: number }) => (
  <li className="stack">
    <div className="row between">
      <h3>
        {text.attempt(number)}: {attempt.status ?? attempt.error ?? text.noAnswer}
      </h3>
      <span className="hint">
        <Time at={attempt.at} detailed /> · {text.took(attempt.ms)}
      </span>
    </div>
    {attempt.status !== null && attempt.error && <p className="hint">{attempt.error}</p>}
    {attempt.answer && (
      <>
        <Headers headers={attempt.answer.headers} />
        {attempt.answer.body && (
          <>
            <p className="hint">{text.answerBody}</p>
            <pre className="delivery-text">{attempt.answer.body}</pre>
          </>
        )}
      </>
    )}
  </li>
)

interface DetailsProps {
  agentId: string
  webhookId: string
  delivery: Delivery
  onClose(): void
}

/** One delivery: what was sent, what each attempt got back, and a button that sends it again. */
export const DeliveryDetails = ({ agentId, webhookId, delivery, onClose }: DetailsProps) => {
  const { run, busy } = useAction(RESEND)
  const resend = async () => {
    if (!(await run({ input: { agentId, webhookId, deliveryId: delivery.id } }))) return
    announce([{ topic: 'webhooks', agentId }])
    onClose()
  }
  return (
    <Dialog
      wide
      title={text.delivery(delivery.eventId.split('_').at(-1) ?? '')}
      onClose={onClose}
      actions={
        <Button kind="primary" busy={busy} onClick={() => void resend()}>
          {text.again}
        </Button>
      }
    >
      <ol className="stack">
        {delivery.attempts.map((attempt, index) => (
          <Attempt key={attempt.at} attempt={attempt} number={index + 1} />
        ))}
      </ol>
      {delivery.request && <Request request={delivery.request} />}
    </Dialog>
  )
}
