/** Ids that lines about the same request, mail or delivery share, the first of which decides. */
const IDS = ['requestId', 'session', 'messageId', 'event'] as const

/** Outcomes of work that went well. */
const WELL = new Set<unknown>([undefined, 'accepted', 'delivered'])

/** FNV-1a: spreads ids evenly over 32 bits. */
const hashOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const idOf = (fields: Record<string, unknown>): string | undefined => {
  for (const name of IDS) if (typeof fields[name] === 'string') return fields[name]
  return undefined
}

const wentWell = ({ status, outcome, refusal }: Record<string, unknown>): boolean =>
  !(typeof status === 'number' && status >= 400) && status !== null && WELL.has(outcome) && !refusal

/**
 * Returns whether a line below `warn` is kept. Only lines about single requests, mails and deliveries that
 * went well are sampled; lines with the same id are kept or left out together, in every process.
 */
export const isKept = (fields: object, share: number): boolean => {
  const known = fields as Record<string, unknown>
  const id = share < 1 && wentWell(known) ? idOf(known) : undefined
  return id === undefined || hashOf(id) < share * 2 ** 32
}
