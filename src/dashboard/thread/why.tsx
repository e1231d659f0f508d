import { Badge, type Tone } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const TONES: Record<string, Tone> = { pass: 'good', fail: 'bad', refused: 'bad', softfail: 'warn' }

/** Which rule let the message in or kept it out, and what was checked. */
export const Why = ({ message }: { message: ShownMessage }) => (
  <div className="why-content">
    <p>
      {message.refusal && text.refusal[message.refusal]}
      {message.admission && text.admission[message.admission]}
    </p>
    <dl aria-label={text.whyTitle}>
      {message.checks.map(({ name, verdict, detail }) => (
        <div key={name}>
          <dt>
            {name} <Badge tone={TONES[verdict] ?? 'neutral'}>{verdict}</Badge>
          </dt>
          <dd>{detail}</dd>
        </div>
      ))}
    </dl>
  </div>
)

const RECIPIENT_TONES: Record<ShownMessage['recipients'][number]['status'], Tone> = {
  sent: 'good',
  failed: 'bad',
  sending: 'neutral',
}

/** How each recipient's server answered. */
export const Delivery = ({ message }: { message: ShownMessage }) => (
  <dl className="why-content">
    {message.recipients.map(({ address, status, detail, updatedAt }) => (
      <div key={address}>
        <dt>
          {address} <Badge tone={RECIPIENT_TONES[status]}>{text.recipient[status]}</Badge>
        </dt>
        <dd>
          {detail} <Time at={updatedAt} detailed />
        </dd>
      </div>
    ))}
  </dl>
)
