import { Agent, AmsError, memoryStore, verifyWebhook } from '../../../src/client/index.ts'
import type { Case, Observed, Step } from './case.ts'

/** Runs the cases with the TypeScript client. */

type Callable = (...args: unknown[]) => unknown

const errorOf = (error: unknown): Observed => {
  if (!(error instanceof AmsError)) throw error
  const { code, message, status, field, retryAfter, requestId, reason, messageId } = error
  return { error: { code, message, status, field, retryAfter, requestId, reason, messageId } }
}

const methodOf = (agent: Agent, path: string): Callable => {
  const names = path.split('.')
  const last = names.pop()!
  const owner = names.reduce<unknown>((one, name) => (one as Record<string, unknown>)[name], agent)
  return ((owner as Record<string, Callable>)[last] as Callable).bind(owner)
}

const loop = async (agent: Agent, step: Step): Promise<Observed> => {
  const { position: at = null, from, take = 1, open = [], reply } = step.loop!
  const store = memoryStore(at)
  const truncated: number[] = []
  const subjects: unknown[] = []
  let error = {}
  try {
    const onTruncated = (nextId: number) => void truncated.push(nextId)
    for await (const { message, done } of agent.messages({ store, from, onTruncated })) {
      subjects.push(message.subject)
      if (reply !== undefined) await message.reply(reply)
      if (!open.includes(subjects.length)) await done()
      if (subjects.length === take) break
    }
  } catch (thrown) {
    error = errorOf(thrown)
  }
  return { result: subjects, position: await store.load(), truncated, ...error }
}

/** Where this client takes a time, and not a text. */
const typed = ({ since, ...fields }: Record<string, unknown>) =>
  since === undefined ? fields : { ...fields, since: new Date(String(since)) }

const stepOf = async (agent: Agent, step: Step): Promise<Observed> => {
  if (step.loop) return loop(agent, step)
  if (step.verify) {
    const { secrets, toleranceSeconds, ...request } = step.verify
    return { result: await verifyWebhook(request, secrets, { toleranceSeconds }) }
  }
  if (step.file) return { result: await (await agent.message(step.file)).attachment(0).text() }
  const [path, fields] = [step.call ?? step.list ?? '', step.fields ? [typed(step.fields)] : []]
  const key = step.key === undefined ? [] : [{ key: step.key }]
  const called = methodOf(agent, path)(...(step.args ?? []), ...fields, ...key)
  if (!step.list) return { result: await called }
  const items: unknown[] = []
  for await (const item of called as AsyncIterable<unknown>) items.push(item)
  return { result: items }
}

export const run = async (url: string, { options = {}, steps }: Case): Promise<Observed[]> => {
  const waiting: string[] = []
  const { timeout, id = 'A', ...rest } = options
  const agent = new Agent({
    ...{ url, token: 't', id: id ?? undefined, onWaiting: ({ code }) => waiting.push(code), ...rest },
    ...(timeout === undefined ? {} : { timeoutMs: timeout * 1000 }),
  })
  const observed: Observed[] = []
  for (const step of steps) {
    const before = waiting.length
    const one = await stepOf(agent, step).catch(errorOf)
    observed.push({ ...one, waiting: waiting.slice(before) })
  }
  return JSON.parse(JSON.stringify(observed, (_, value) => value ?? null))
}
