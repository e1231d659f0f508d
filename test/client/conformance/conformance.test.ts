import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPython, python } from '../../support/python.ts'
import { type Case, cases, type Observed } from './case.ts'
import { run } from './run.ts'
import { StandIn } from './stand-in.ts'

/** One table of behaviours for the clients of all languages. */

const runPython = async (mode: string, url: string): Promise<Observed[][]> => {
  const { stdout, stderr } = await python({}, [join(import.meta.dirname, 'run.py'), mode, url])
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

const clients: Record<string, (url: string) => Promise<Observed[][]>> = {
  typescript: (url) => Promise.all(cases.map((one, n) => run(`${url}/${n}`, one))),
  ...(hasPython ? { sync: (url) => runPython('sync', url), async: (url) => runPython('async', url) } : {}),
}

/** Keys that the client chose, numbered as they first appear. */
const numbered = (keys: (string | null)[]): (number | string)[] => {
  const known = keys.filter((key) => key !== null)
  const made = [...new Set(known.filter((key) => /^[0-9a-f]{32}$/.test(key)))]
  return known.map((key) => (made.includes(key) ? made.indexOf(key) + 1 : key))
}

/** However the client encodes and orders it. */
const plain = (request: string): string => {
  const [method = '', target = ''] = request.split(' ')
  const [path = '', query] = target.split('?')
  const segments = path.split('/').map((one) => encodeURIComponent(decodeURIComponent(one)))
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return `${method} ${segments.join('/')}${query === undefined ? '' : `?${parameters}`}`
}

describe.each(Object.keys(clients))('the client %s', (name) => {
  const standIn = new StandIn()
  let observed: Observed[][]
  beforeAll(async () => {
    const url = `${await standIn.start()}/${name}`
    for (const [n, { answers = [] }] of cases.entries()) standIn.script(`/${name}/${n}`, answers)
    observed = await clients[name]!(url)
  })
  afterAll(() => standIn.stop())

  const named = cases.map((one, n): [string, number, Case] => [one.name, n, one])
  test.each(named)('%s', (_, n, one) => {
    expect(observed[n]).toMatchObject(one.steps.map((step) => step.expect))
    const seen = standIn.seen(`/${name}/${n}`)
    for (const { authorization } of seen) expect(authorization).toBe('Bearer t')
    if (one.requests) expect(seen.map(({ request }) => plain(request))).toEqual(one.requests)
    if (one.keys) expect(numbered(seen.map(({ key }) => key))).toEqual(one.keys)
    if (one.body) expect(seen.at(-1)?.body).toMatchObject(one.body)
  })
})
