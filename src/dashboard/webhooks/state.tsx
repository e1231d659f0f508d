import { Badge } from '../parts/badge.tsx'
import { CircleAlertIcon, CircleCheckIcon, ClockIcon } from '../parts/icons.tsx'
import type { WebhookState } from './query.ts'
import { text } from './strings.ts'

const STATES = {
  ok: { tone: 'good', icon: CircleCheckIcon },
  failing: { tone: 'bad', icon: CircleAlertIcon },
  paused: { tone: 'warn', icon: ClockIcon },
  idle: { tone: 'neutral', icon: ClockIcon },
} as const

const stateOf = ({ pausedAt, failingSince, lastDeliveredAt }: WebhookState): keyof typeof STATES => {
  if (pausedAt) return 'paused'
  if (failingSince) return 'failing'
  return lastDeliveredAt ? 'ok' : 'idle'
}

/** Whether a webhook delivers, in a word. */
export const StateBadge = ({ webhook }: { webhook: WebhookState }) => {
  const state = stateOf(webhook)
  return (
    <Badge tone={STATES[state].tone} icon={STATES[state].icon}>
      {text.states[state]}
    </Badge>
  )
}
