import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { brief, type Moment, settled, type Trace } from './moment.ts'

/** How many lines are shown: the newest. */
const MOST = 200
/** What each line has. */
const COMMON = new Set(['time', 'level', 'pid', 'version', 'msg'])
/** Lines with the same value belong to one request, or one session over SMTP. */
const LINKS = ['requestId', 'session'] as const

type Line = Record<string, unknown>

/** Whether a value, or one in it, is what is looked for. Message-IDs have brackets in some lines. */
const names = (value: unknown, wanted: string): boolean => {
  if (typeof value === 'string') return value.toLowerCase().replace(/^<(.*)>$/, '$1') === wanted
  return typeof value === 'object' && value !== null && Object.values(value).some((one) => names(one, wanted))
}

const parsed = (text: string): Line | null => {
  try {
    const line: unknown = JSON.parse(text.slice(text.indexOf('{')))
    return typeof line === 'object' ? (line as Line) : null
  } catch {
    return null // what others have written
  }
}

/** In quotes if it could be taken for more than one value: strangers choose some of them. */
const told = (value: unknown): string => {
  const text = brief(typeof value === 'object' ? JSON.stringify(value) : String(value))
  return typeof value === 'string' && /[\s"=]/.test(text) ? JSON.stringify(text) : text
}

const momentOf = (line: Line): Moment => ({
  at: new Date(String(line.time)),
  kind: 'log',
  subject: String(line.msg),
  detail: Object.entries(line)
    .filter(([name, value]) => !COMMON.has(name) && value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${told(value)}`)
    .join(' '),
})

/** Returns the lines of a log of the service that name something, and those after them about the same request or session. */
export const traceLog = async (file: string, what: string): Promise<Trace[]> => {
  const input = file === '-' ? process.stdin : createReadStream(file)
  const wanted = what.toLowerCase()
  const linked = new Set<unknown>()
  let found: Moment[] = []
  // The lines alone do not tell that the file cannot be read.
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  const read = async () => {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = parsed(text)
      if (!line || Number.isNaN(Date.parse(String(line.time)))) continue
      if (!names(line, wanted) && !LINKS.some((name) => linked.has(line[name]))) continue
      for (const name of LINKS) if (line[name] !== undefined) linked.add(line[name])
      found.push(momentOf(line))
      if (found.length > 2 * MOST) found = found.slice(-MOST)
    }
  }
  await Promise.race([read(), failed])
  if (found.length === 0) return []
  return [
    settled({
      kind: 'log',
      ...{ subject: what, owner: null, agentId: null, threadId: null },
      about: `Lines of the log that name ${brief(what)}`,
      moments: found.slice(-MOST),
    }),
  ]
}
