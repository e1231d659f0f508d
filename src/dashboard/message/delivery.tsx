import { Badge, type Tone } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import { useThreadContext } from './context.ts'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'
import { Summary } from './why.tsx'

type Recipient = ShownMessage['recipients'][number]
type State = Recipient['status'] | 'captured'

const TONES: Record<State, Tone> = { sent: 'good', failed: 'bad', sending: 'neutral', captured: 'neutral' }

/** Returns what became of the message for each recipient; mail that was stored on this machine was not sent. */
export const useDelivery = ({ channel, recipients }: ShownMessage) => {
  const { capturedExcept } = useThreadContext()
  const isCaptured = ({ address, status }: Recipient) =>
    status === 'sent' &&
    channel === 'email' &&
    capturedExcept !== null &&
    !address.toLowerCase().endsWith(`@${capturedExcept}`)
  const states = recipients.map((one): Recipient & { state: State } => ({
    ...one,
    state: isCaptured(one) ? 'captured' : one.status,
  }))
  return { states, allCaptured: states.length > 0 && states.every(({ state }) => state === 'captured') }
}

const summaryOf = (states: readonly { state: State }[], allCaptured: boolean): string => {
  if (allCaptured) return text.captured
  const accepted = states.filter(({ state }) => state === 'sent').length
  return text.deliveryOf(accepted, states.length)
}

/** What happened to a message for each recipient, in order, as far as the service was told. */
export const Delivery = ({ message }: { message: ShownMessage }) => {
  const { states, allCaptured } = useDelivery(message)
  return (
    <details className="why" open={states.some(({ state }) => state === 'failed')}>
      <Summary label={summaryOf(states, allCaptured)} />
      <div className="why-content">
        {states.length === 0 && <p>{text.noRecipients}</p>}
        {allCaptured && <p>{text.capturedHint}</p>}
        <dl aria-label={text.delivery}>
          {states.map(({ address, state, detail, updatedAt, deliveredAt }) => (
            <div key={address}>
              <dt>
                <bdi>{address}</bdi> <Badge tone={TONES[state]}>{text.recipient[state]}</Badge>
              </dt>
              <dd>
                <ol className="timeline">
                  <li>
                    <Time at={message.createdAt} detailed /> {text.step.written}
                  </li>
                  <li>
                    <Time at={updatedAt} detailed /> {text.step[state]}
                    {detail && (
                      <>
                        : <bdi>{detail}</bdi>
                      </>
                    )}
                  </li>
                  {deliveredAt && (
                    <li>
                      <Time at={deliveredAt} detailed /> {text.step.delivered}
                    </li>
                  )}
                </ol>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </details>
  )
}
