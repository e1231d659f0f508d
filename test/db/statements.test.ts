import { expect, test } from 'vitest'
import { AGENT_TABLES } from '../support/agent-tables.ts'
import { readSources, withoutComments } from '../support/sources.ts'

/**
 * Statements on tables of an agent's data name the agent in each query that uses one: so none reads or changes what
 * belongs to another agent. Those of Prisma's client are not seen here; their keys have the agent (keys.test.ts).
 */

const SWEEPER = 'A worker that looks for what is due of all agents; an index contains only that.'
const OF_WORKSPACE = 'Of all agents of a workspace.'
const KEY = 'The agent is in the key or the columns that are inserted into this text.'

/** What does not name the agent itself, by file and table, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'agent/access/access-list.ts access': KEY,
  'agent/listening/current-listeners.ts connection':
    'By the ids of streams that are open here, each of which was found with its agent before.',
  'agent/telegram-albums.ts album_part': `${SWEEPER} The rest has the agent in its key.`,
  'move/closing.ts webhook': OF_WORKSPACE,
  'move/obstacles.ts blob': OF_WORKSPACE,
  'event/after-restore.ts event_log': 'Goes through the logs of all agents, once, after a restore.',
  'message/receiving/refused.ts message': OF_WORKSPACE,
  'message/move-contents.ts message_raw': KEY,
  'message/move-contents.ts attachment': `${KEY} The search for what to move goes through all, once.`,
  'message/move-contents.ts attachment_text': `${KEY} The search for what to move goes through all, once.`,
  'message/approval/recipient-facts.ts message': KEY,
  'message/stored/send-job.ts job': SWEEPER,
  'message/reading/page.ts message': 'By the ids alone, as what it checks is read.',
  'message/stored/row.ts message': KEY,
  'webhook/incident.ts webhook': SWEEPER,
  'webhook/sealed-texts.ts job': 'The rotation of keys goes through all, once.',
  'webhook/secret.ts webhook': 'The rotation of keys goes through all, once.',
  'webhook/secret.ts webhook_farewell': 'The rotation of keys goes through all, once.',
  'webhook/termination-notice.ts webhook_farewell': SWEEPER,
  'workspace/usage/day-counts.ts usage_change': OF_WORKSPACE,
  'workspace/usage/usage.ts usage_change': OF_WORKSPACE,
}

/** The innermost query around a place in a statement: what stands between the same parentheses. */
const queryAround = (text: string, at: number): string => {
  let [start, end] = [at, at]
  for (let depth = 0; start > 0; start--) {
    const before = text[start - 1]
    if (before === ')') depth++
    else if (before === '(' && depth-- === 0) break
  }
  for (let depth = 0; end < text.length; end++) {
    if (text[end] === '(') depth++
    else if (text[end] === ')' && depth-- === 0) break
  }
  return text.slice(start, end)
}

const uses = new RegExp(
  String.raw`\b(?:from|join|update|into|using)\s+(?:only\s+)?"?(${AGENT_TABLES.join('|')})"?(?![\w.])`,
  'gi',
)

/** The tables that a statement uses in a query that does not name the agent. */
const withoutAgent = (text: string): string[] =>
  [...text.matchAll(uses)]
    .filter(({ index }) => !/agent_id/.test(queryAround(text, index)))
    .map(([, table]) => table!)

const LITERAL = /`([^`]*)`|'([^'\n]*)'/g
const SQL = /\b(select|update|delete from|insert into)\b/

/** The texts in a file that are statements, or parts of one. */
const statementsIn = (source: string): string[] =>
  [...withoutComments(source).matchAll(LITERAL)]
    .map(([, template, quoted]) => template ?? quoted!)
    .filter((text) => SQL.test(text))

test('every statement on the tables of an agent names the agent, or a reason is given', () => {
  const sources = [...readSources()].filter(([file]) => !file.startsWith('dashboard/'))
  const statements = sources.flatMap(([file, source]) => statementsIn(source).map((text) => ({ file, text })))
  expect(statements.filter(({ text }) => text.search(uses) >= 0).length).toBeGreaterThan(150)
  const found = statements.flatMap(({ file, text }) => withoutAgent(text).map((table) => `${file} ${table}`))
  expect([...new Set(found)].sort()).toEqual(Object.keys(OTHERWISE).sort())
})

test('a statement that forgets the agent is found, also when another query of it does not', () => {
  expect(withoutAgent('select * from message where id = $1')).toEqual(['message'])
  expect(withoutAgent('update "job" set state = $1 where id = $2')).toEqual(['job'])
  expect(withoutAgent('with x as (delete from event where id = $1) select agent_id from event')).toEqual([
    'event',
  ])
  expect(withoutAgent('select * from message m join event e using (agent_id)')).toEqual([])
  expect(withoutAgent('insert into job (id, agent_id) values ($1, $2)')).toEqual([])
})
