import { Badge, type Tone } from '../parts/badge.tsx'
import { ChevronDownIcon } from '../parts/icons.tsx'
import type { ShownMessage } from './message-fields.ts'
import { text } from './strings.ts'

const TONES: Record<string, Tone> = {
  pass: 'good',
  team: 'good',
  listed: 'good',
  anyone: 'warn',
  fail: 'bad',
  policy: 'bad',
  softfail: 'warn',
  temperror: 'warn',
  permerror: 'warn',
}

type Check = ShownMessage['checks'][number]

/** Without a DMARC record, SPF or DKIM of the sender's own domain proves as much. */
const proves = ({ name, verdict, detail }: Check): boolean =>
  (name === 'local' && verdict === 'pass') ||
  (name === 'dmarc' && (verdict === 'pass' || (verdict === 'none' && !detail.includes('nothing is aligned'))))

/** Email is proven by its domain; the other channels by their providers. */
export const isProven = ({ channel, checks }: Pick<ShownMessage, 'channel' | 'checks'>): boolean =>
  channel !== 'email' ||
  (checks.some(proves) &&
    !checks.some(({ name, verdict }) => (name === 'from' || name === 'replay') && verdict === 'fail'))

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

const Proof = ({ message }: { message: ShownMessage }) =>
  message.channel === 'email' && (
    <p>{isProven(message) ? text.proof.proven(domainOf(message.counterpart)) : text.proof.unproven}</p>
  )

const Rule = ({ message }: { message: ShownMessage }) => (
  <p>
    {message.refusal && text.refusal[message.refusal]}
    {message.admission && text.admission[message.admission]}
  </p>
)

/** The line that opens an explanation. */
export const Summary = ({ label }: { label: string }) => (
  <summary>
    <ChevronDownIcon size={14} />
    {label}
  </summary>
)

/** Which rule let the message in or kept it out, who it was proven to be from, and what was checked. */
export const Why = ({ message }: { message: ShownMessage }) => {
  if (message.status === 'imported') return <p className="hint">{text.imported}</p>
  const label = message.status === 'refused' ? text.whyLabel.refused : text.whyLabel.received
  return (
    <details className="why" open={message.status === 'refused'}>
      <Summary label={label} />
      <div className="why-content">
        <Rule message={message} />
        <Proof message={message} />
        <dl aria-label={text.checks}>
          {message.checks.map(({ name, verdict, detail }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: checks are known by their order
            <div key={index}>
              <dt>
                {text.check[name] ?? name}{' '}
                <Badge tone={TONES[verdict] ?? 'neutral'}>{text.verdict[verdict] ?? verdict}</Badge>
              </dt>
              <dd dir="auto">{detail}</dd>
            </div>
          ))}
        </dl>
      </div>
    </details>
  )
}
