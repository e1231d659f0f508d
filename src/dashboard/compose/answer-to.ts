import type { ShownMessage } from '../message/message-fields.ts'
import type { Agent } from './use-agent.ts'

export interface Everybody {
  to: string[]
  cc: string[]
}

/** Where an answer goes, as the service decides it: for a message of the agent's own, to its recipients. */
export const answerTo = ({ direction, to, replyAddress, counterpart }: ShownMessage): string[] =>
  direction === 'outbound' ? to : [replyAddress ?? counterpart]

/**
 * Whom a reply to all goes to, likewise: the sender and the other recipients, in copy those who had one, and not the
 * agent itself. Null if that is nobody else than an answer goes to.
 */
export const everybodyOf = (message: ShownMessage, { addresses }: Agent): Everybody | null => {
  if (message.channel !== 'email') return null
  const seen = new Set(addresses.map(({ value }) => value.toLowerCase()))
  const others = (all: readonly string[]) =>
    all.filter((one) => !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase()))
  const answered = others(answerTo(message))
  const more = others(message.to)
  const cc = others(message.cc)
  return more.length + cc.length > 0 ? { to: [...answered, ...more], cc } : null
}
