import { Webhook } from 'standardwebhooks'

/** What the receiver writes down, in the order in which it happened. */
export type ReceiverLine =
  | { kind: 'began'; n: string; path: string }
  | { kind: 'got'; n: string; headers: Record<string, string>; body: string }
  | { kind: 'answered'; n: string; status: number }
  | { kind: 'over'; n: string }

/** An event as the log has it when all is over. */
export interface Logged {
  id: number
  messageId: string
  channel: string
  subject: string | null
}

/**
 * What a writer was told: the subject of a mail that got 250 or 201, or the event that a Message URL's sender
 * got.
 */
export type Acknowledged =
  | { agentId: string; subject: string }
  | { agentId: string; id: number; messageId: string }

/** One listener that is a webhook, with what it must have heard. */
export interface WebhookListener {
  path: string
  secret: string
  /**
   * The ids of the events that have a job for it (all but those of the Message URL that it was not listening
   * to), in order.
   */
  due: number[]
}

export interface Verdict {
  violations: string[]
  deliveries: number
  duplicates: number
  lost: number
}

interface Post {
  n: string
  path: string
  headers: Record<string, string>
  body: string
  status: number | null
}

/** The ids of a log are 1, 2, 3 … without a gap. */
export const judgeLog = (agentId: string, log: readonly Logged[]): string[] =>
  log.flatMap(({ id }, index) =>
    id === index + 1 ? [] : [`the log of ${agentId} has ${id} where ${index + 1} belongs`],
  )

/** What was acknowledged and is not in the log. */
export const missingFrom = (
  logs: ReadonlyMap<string, readonly Logged[]>,
  acknowledged: readonly Acknowledged[],
): string[] => {
  const known = new Set<string>()
  for (const [agentId, log] of logs) {
    for (const { id, messageId, subject } of log)
      known.add(`${agentId} ${subject}`).add(`${agentId} ${id} ${messageId}`)
  }
  const nameOf = (one: Acknowledged) =>
    'subject' in one ? `${one.agentId} ${one.subject}` : `${one.agentId} ${one.id} ${one.messageId}`
  return acknowledged.map(nameOf).filter((name) => !known.has(name))
}

/** A stream or a subscription that resumes hears every event once, in order. */
export const judgeListener = (name: string, heard: readonly number[], last: number): Verdict => {
  const violations = heard.flatMap((id, index) =>
    id === index + 1 ? [] : [`the ${name} heard ${id} as its number ${index + 1}`],
  )
  const lost = last - new Set(heard).size
  return { violations: violations.slice(0, 3), deliveries: heard.length, duplicates: 0, lost }
}

/** The POSTs in the order in which they began, and where two to one webhook were under way at once. */
const readPosts = (lines: readonly ReceiverLine[]): { posts: Post[]; violations: string[] } => {
  const posts = new Map<string, Post>()
  const open = new Map<string, string>()
  const violations: string[] = []
  for (const line of lines) {
    if (line.kind === 'began') {
      posts.set(line.n, { n: line.n, path: line.path, headers: {}, body: '', status: null })
      const other = open.get(line.path)
      // A receiver that was killed could not say that its POSTs were over.
      if (other && other.split('.')[0] === line.n.split('.')[0])
        violations.push(`two POSTs at a time to ${line.path}: ${other} and ${line.n}`)
      open.set(line.path, line.n)
      continue
    }
    const post = posts.get(line.n)!
    if (line.kind === 'got') Object.assign(post, { headers: line.headers, body: line.body })
    if (line.kind === 'answered') post.status = line.status
    if (line.kind === 'over' && open.get(post.path) === post.n) open.delete(post.path)
  }
  return { posts: [...posts.values()].filter(({ body }) => body !== ''), violations }
}

const opens = (secret: string, { body, headers }: Post): boolean => {
  try {
    return new Webhook(secret).verify(body, headers) !== null
  } catch {
    return false
  }
}

/**
 * One webhook's POSTs: a step forward goes to the very next event, and only when this one was taken; a step
 * back may go anywhere.
 */
const judgeWebhook = ({ path, secret, due }: WebhookListener, posts: readonly Post[]): Verdict => {
  const violations: string[] = []
  const place = new Map(due.map((id, index) => [id, index]))
  const first = new Map<number, Post>()
  const taken = new Set<number>()
  let at = -1
  for (const post of posts) {
    const { cursor, eventId } = JSON.parse(post.body) as { cursor: string; eventId: string }
    const id = Number(cursor)
    const next = place.get(id)
    const before = first.get(id) ?? post
    first.set(id, before)
    if (next === undefined) violations.push(`${path} heard ${id}, which is not for it`)
    else if (next > at + 1) violations.push(`${path}: event ${id} after ${due[at] ?? 'nothing'}`)
    else if (next === at + 1 && at >= 0 && !taken.has(at))
      violations.push(`${path}: event ${id} although ${due[at]} was not taken`)
    if (post.body !== before.body) violations.push(`${path}: event ${id} with another body than before`)
    if (post.headers['webhook-id'] !== eventId)
      violations.push(`${path}: event ${id} with another webhook-id`)
    if (!opens(secret, post)) violations.push(`${path}: event ${id} with a signature that does not verify`)
    at = next ?? at
    if (post.status === 204) taken.add(at)
  }
  const lost = due.filter((_, index) => !taken.has(index)).length
  return {
    violations: violations.slice(0, 3),
    deliveries: posts.length,
    duplicates: posts.length - first.size,
    lost,
  }
}

export const judgeWebhooks = (
  listeners: readonly WebhookListener[],
  lines: readonly ReceiverLine[],
): Verdict => {
  const { posts, violations } = readPosts(lines)
  const verdicts = listeners.map((listener) =>
    judgeWebhook(
      listener,
      posts.filter(({ path }) => path === listener.path),
    ),
  )
  return sum([{ violations, deliveries: 0, duplicates: 0, lost: 0 }, ...verdicts])
}

export const sum = (verdicts: readonly Verdict[]): Verdict => ({
  violations: verdicts.flatMap(({ violations }) => violations),
  deliveries: verdicts.reduce((all, { deliveries }) => all + deliveries, 0),
  duplicates: verdicts.reduce((all, { duplicates }) => all + duplicates, 0),
  lost: verdicts.reduce((all, { lost }) => all + lost, 0),
})
