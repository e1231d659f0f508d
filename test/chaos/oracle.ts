import { Webhook } from 'standardwebhooks'

/** A line of the receiver's log, in the order in which things happened. */
export type ReceiverLine =
  | { kind: 'began'; n: string; path: string }
  | { kind: 'got'; n: string; headers: Record<string, string>; body: string }
  | { kind: 'answered'; n: string; status: number }
  | { kind: 'over'; n: string }

/** An event in the log at the end of the run. */
export interface Logged {
  id: number
  messageId: string
  channel: string
  subject: string | null
}

/**
 * What was acknowledged to a writer: the subject of a mail with 250 or 201, or the event of a Message URL
 * message.
 */
export type Acknowledged =
  | { agentId: string; subject: string }
  | { agentId: string; id: number; messageId: string }

/** A webhook with the events that it must have accepted. */
export interface WebhookListener {
  path: string
  secret: string
  /**
   * Ids of the events with a job for it, in order: all except Message URL messages that were sent while it was
   * not listening.
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

/** Checks that the ids of a log are 1, 2, 3 … without a gap. */
export const judgeLog = (agentId: string, log: readonly Logged[]): string[] =>
  log.flatMap(({ id }, index) =>
    id === index + 1 ? [] : [`the log of ${agentId} has ${id} where ${index + 1} belongs`],
  )

/** Returns what was acknowledged but is not in the log. */
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

/** Checks that a stream or subscription that resumes received every event once, in order. */
export const judgeListener = (name: string, received: readonly number[], last: number): Verdict => {
  const violations = received.flatMap((id, index) =>
    id === index + 1 ? [] : [`the ${name} received ${id} as its number ${index + 1}`],
  )
  const lost = last - new Set(received).size
  return { violations: violations.slice(0, 3), deliveries: received.length, duplicates: 0, lost }
}

/** Returns the POSTs in the order in which they began, and violations where two to one webhook overlap. */
const readPosts = (lines: readonly ReceiverLine[]): { posts: Post[]; violations: string[] } => {
  const posts = new Map<string, Post>()
  const open = new Map<string, string>()
  const violations: string[] = []
  for (const line of lines) {
    if (line.kind === 'began') {
      posts.set(line.n, { n: line.n, path: line.path, headers: {}, body: '', status: null })
      const other = open.get(line.path)
      // A receiver that was killed could not record the end of its POSTs.
      if (other && other.split('.')[0] === line.n.split('.')[0])
        violations.push(`concurrent POSTs to ${line.path}: ${other} and ${line.n}`)
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

const verifies = (secret: string, { body, headers }: Post): boolean => {
  try {
    return new Webhook(secret).verify(body, headers) !== null
  } catch {
    return false
  }
}

/**
 * Checks the POSTs to one webhook: a step forward goes to the next event, and only once the current one was
 * accepted; a step back may go anywhere.
 */
const judgeWebhook = ({ path, secret, due }: WebhookListener, posts: readonly Post[]): Verdict => {
  const violations: string[] = []
  const place = new Map(due.map((id, index) => [id, index]))
  const first = new Map<number, Post>()
  const accepted = new Set<number>()
  let at = -1
  for (const post of posts) {
    const { cursor, eventId } = JSON.parse(post.body) as { cursor: string; eventId: string }
    const id = Number(cursor)
    const next = place.get(id)
    const before = first.get(id) ?? post
    first.set(id, before)
    if (next === undefined) violations.push(`${path} received ${id}, which is not for it`)
    else if (next > at + 1) violations.push(`${path}: event ${id} after ${due[at] ?? 'nothing'}`)
    else if (next === at + 1 && at >= 0 && !accepted.has(at))
      violations.push(`${path}: event ${id} although ${due[at]} was not accepted`)
    if (post.body !== before.body) violations.push(`${path}: event ${id} with another body than before`)
    if (post.headers['webhook-id'] !== eventId)
      violations.push(`${path}: event ${id} with another webhook-id`)
    if (!verifies(secret, post)) violations.push(`${path}: event ${id} with a signature that does not verify`)
    at = next ?? at
    if (post.status === 204) accepted.add(at)
  }
  const lost = due.filter((_, index) => !accepted.has(index)).length
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
