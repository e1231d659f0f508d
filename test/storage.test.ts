import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { interfaces, one, readSources, type Sources, unitOf, withoutComments } from './support/sources.ts'

/** Who may access the database: not the interfaces, and each table is written by one folder. */

/**
 * How the database is accessed: through Prisma's client, through raw queries of Prisma or pg (`c.req.query` is
 * Hono's), or with SQL.
 */
const prismaClient = /\bprisma\s*[.,}]/
const rawQuery = /\$(?:query|execute)Raw|\bPrisma\.(?:sql|raw)\b|\bpool\.connect\b|(?<!\breq)\.query\s*[<(]/
const statements = [
  String.raw`(?:select|SELECT)\s[^;<]{1,400}?\s(?:from|FROM)`,
  String.raw`(?:insert|INSERT)\s+(?:into|INTO)`,
  String.raw`(?:delete|DELETE)\s+(?:from|FROM)`,
  String.raw`(?:update|UPDATE)\s+"?\w+"?\s+(?:set|SET)`,
]
const sql = new RegExp(String.raw`\b(?:${statements.join('|')})\s`)

/** Pothos' Prisma plugin builds a typed query from a client's selection; the fields in these files run it. */
const typedReads = /^graphql\/(builder\/builder\.ts|types\/)/

/** Lists where interfaces access the database instead of calling the folder that owns the table. */
function storageIn(sources: Sources): string[] {
  const found: string[] = []
  for (const [file, source] of sources) {
    if (![...interfaces, 'http'].includes(unitOf(file))) continue
    const text = withoutComments(source)
    if (sql.test(text)) found.push(`${file}: contains SQL`)
    if (rawQuery.test(text)) found.push(`${file}: runs raw queries`)
    if (prismaClient.test(text) && !typedReads.test(file)) found.push(`${file}: reads through Prisma`)
  }
  return found
}

/**
 * The folders that write a table are those in the heading of its section in prisma/schema.prisma: one, except
 * for these tables.
 */
const writtenByTwo: Readonly<Record<string, string>> = {
  job: 'Deliveries are written by webhook, sends by message: no statement writes both. Both are work that survives a crash.',
}

/** Files that write tables without naming them. */
const writesAll: Readonly<Record<string, string>> = {
  'backup/dump.ts': 'Writes files: its statements are for psql.',
  'move/copy.ts':
    'Copies what belongs to a workspace into a database that does not have it, in one transaction.',
  'move/endpoints.ts': 'Removes rows of a workspace that has moved: they are in the other database.',
  'backup/restore.ts': 'Restores every table of an empty database as it was, before any service uses it.',
}

/** Tables that no code in src/ writes. */
const writtenByNone: Readonly<Record<string, string>> = {
  plan: 'Operators add plans; migrations created the first ones.',
}

const schema = readFileSync(join(import.meta.dirname, '..', 'prisma', 'schema.prisma'), 'utf8')

interface Model {
  table: string
  owners: string[]
  /**
   * Its relations: the field, the related model, and whether the foreign key is in the table of that model.
   */
  relations: { field: string; type: string; foreignKeyThere: boolean }[]
}

function readModels(): Map<string, Model> {
  const blocks = schema.matchAll(/^\/\/ -{9,} (?<section>.+)$|^model (?<name>\w+) \{\n(?<body>[\s\S]*?)^\}/gm)
  const models = new Map<string, Model>()
  let owners: string[] = []
  for (const { groups = {} } of blocks) {
    if (groups.section) owners = [...groups.section.matchAll(/([\w-]+)\//g)].map(([, folder]) => folder!)
    const { name, body } = groups
    if (!name || !body) continue
    const fields = body.matchAll(/^ +(\w+) +([A-Z]\w*)(.*)$/gm)
    const relations = [...fields].map(([, field, type, rest]) => ({
      field: field!,
      type: type!,
      foreignKeyThere: !rest!.includes('fields:'),
    }))
    models.set(name, { table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name, owners, relations })
  }
  return models
}

const models = readModels()
const ownersOf = new Map([...models.values()].map(({ table, owners }) => [table, owners]))

/** The name of a model in Prisma's client. */
const clientName = (model: string) => model.charAt(0).toLowerCase() + model.slice(1)
const byClientName = new Map([...models].map(([name, { table }]) => [clientName(name), table]))
const relations = [...models.values()]
  .flatMap(({ relations }) => relations)
  .filter(({ type }) => models.has(type))
const byRelation = new Map<string, Set<string>>()
for (const { field, type } of relations)
  byRelation.set(field, (byRelation.get(field) ?? new Set()).add(models.get(type)!.table))
const keyedThere = relations.filter(({ foreignKeyThere }) => foreignKeyThere).map(({ field }) => field)

const alternatives = (names: Iterable<string>) => [...names].join('|')
const writes =
  'create|createMany|createManyAndReturn|update|updateMany|updateManyAndReturn|upsert|delete|deleteMany'

/** `tx.webhook.create(…)`, also after `const { webhook } = tx`, and `tx['webhook'].create(…)`. */
const prismaWrite = new RegExp(
  String.raw`\b(?<model>${alternatives(byClientName.keys())})(?:['"]\])?\s*\??\.\s*(?:${writes})\s*\(`,
  'g',
)
/** `data: { eventLog: { create: … } }`; `connect` writes the table that has the key. */
const nestedWrite = new RegExp(
  String.raw`\b(?:(?<field>${alternatives(byRelation.keys())}):\s*\{\s*(?:${writes}|connectOrCreate)` +
    String.raw`|(?<link>${alternatives(keyedThere)}):\s*\{\s*(?:connect|disconnect|set))\b`,
  'g',
)
/** `$` starts a name that is only known at run time, and so does a quote that ends the string. */
const name = String.raw`(?:"?(?:public"?\."?)?(?<table>\w+)"?|(?<unknown>\$\{|['"\x60]\s*\+))`
const sqlWrite = new RegExp(
  String.raw`\b(?:insert\s+into|delete\s+from(?:\s+only)?|merge\s+into|truncate(?:\s+table)?|copy)\s+${name}` +
    String.raw`|\bupdate\s+(?:only\s+)?${name.replaceAll(/<(\w+)>/g, '<$1U>')}[^'"\x60;]{0,40}?\s+set\b`,
  'gi',
)
const anyModel = /\b(?:prisma|tx)\s*\[\s*(?!['"])/

/** Returns the tables that a source writes, with `?` for one whose name is not in the source. */
function writesIn(source: string): Set<string> {
  const text = withoutComments(source)
  const found = new Set<string>()
  for (const { groups = {} } of text.matchAll(sqlWrite)) {
    const table = (groups.table ?? groups.tableU)?.toLowerCase()
    if (groups.unknown ?? groups.unknownU) found.add('?')
    else if (table && ownersOf.has(table)) found.add(table)
  }
  for (const { groups = {} } of text.matchAll(prismaWrite)) found.add(byClientName.get(groups.model!)!)
  for (const { groups = {} } of text.matchAll(nestedWrite)) {
    for (const table of byRelation.get((groups.field ?? groups.link)!)!) found.add(table)
  }
  if (anyModel.test(text)) found.add('?')
  return found
}

/** Lists where a table is written by a folder other than its own. */
function foreignWritesIn(sources: Sources): string[] {
  const found: string[] = []
  for (const [file, source] of sources) {
    for (const table of writesIn(source)) {
      if (table === '?' && writesAll[file]) continue
      if (table === '?') found.push(`${file}: writes a table that it does not name`)
      else if (!ownersOf.get(table)!.includes(unitOf(file)))
        found.push(`${file}: writes ${table}, which ${ownersOf.get(table)} writes`)
    }
  }
  return found
}

/** The web application runs in browsers: it has no database. */
const sources: Sources = new Map([...readSources()].filter(([file]) => unitOf(file) !== 'dashboard'))

test('the interfaces do not access the database', () => {
  expect(storageIn(sources)).toEqual([])
})

test('each table is written by one folder', () => {
  expect(foreignWritesIn(sources)).toEqual([])
})

test('a table that is written by no folder or by two is listed with the reason', () => {
  const written = new Set([...sources.values()].flatMap((source) => [...writesIn(source)]))
  expect([...ownersOf].filter(([, owners]) => owners.length !== 1).map(([table]) => table)).toEqual(
    Object.keys(writtenByTwo),
  )
  expect([...ownersOf.keys()].filter((table) => !written.has(table))).toEqual(Object.keys(writtenByNone))
})

test.each([
  ['graphql/types/a.ts', 'const text = `select id\n  from message where id = $1`'],
  ['rest/a.ts', "const text = 'INSERT INTO message (id) VALUES ($1)'"],
  ['stream/a.ts', "run('delete from event where id = $1')"],
  ['web/a.ts', "run('update token set used_at = now()')"],
  ['graphql/types/a.ts', 'await deps.prisma.$queryRaw(statement)'],
  ['mcp/a.ts', 'await deps.pool.query(statement)'],
  ['graphql/a.ts', 'await client.query<Row>(statement)'],
  ['rest/a.ts', 'await deps.prisma.message.findMany({})'],
  ['http/a.ts', 'const read = ({ prisma }: Deps) => prisma'],
])('in %s, %s accesses the database', (file, source) => {
  expect(storageIn(one(file, source))).toHaveLength(1)
})

test.each([
  ['graphql/types/a.ts', 'deps.prisma.message.findMany({ ...query, select: { id: true } })'],
  ['message/a.ts', "await pool.query('select id from message')"],
  ['rest/a.ts', "const name = c.req.query('name')"],
  [
    'rest/a.ts',
    '// select id from message\nconst description = "Select one from the list; update it as set out there"',
  ],
  ['web/a.ts', '<select id="a"><option>A</option></select> from here'],
])('in %s, %s does not access the database', (file, source) => {
  expect(storageIn(one(file, source))).toEqual([])
})

test.each([
  ['job', "await pool.query('insert into job (id) values ($1)')"],
  ['webhook', 'const text = `\n    update webhook w\n       set position = 1\n     where id = $1`'],
  ['webhook', 'run(\'DELETE FROM "webhook" WHERE id = $1\')'],
  ['message', 'const text = `with gone as (delete from message m using old returning m.id) select 1`'],
  ['event', "run('merge into event e using fresh f on e.id = f.id when matched then do nothing')"],
  ['recipient', "run('truncate recipient')"],
  ['webhook', 'await tx.webhook.updateMany({ where: { id } })'],
  ['event_log', 'await deps.prisma.eventLog\n    .create({ data })'],
  ['audit_entry', 'const { auditEntry } = tx\nawait auditEntry.createMany({ data })'],
  ['opt_out', "await prisma['optOut'].deleteMany({ where })"],
  ['event_log', 'await tx.agent.findMany({ data: { eventLog: { create: {} } } })'],
  ['webhook', 'await tx.token.findMany({ data: { webhooks: { connect: { id } } } })'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source that is tested
  ['?', 'run(`update ${table} set ${column} = $3`)'],
  ['?', "run('delete from ' + table)"],
  ['?', 'await tx[model].update({ data })'],
])('a write to the table %s is found in %s', (table, source) => {
  expect([...writesIn(source)]).toEqual([table])
  expect(foreignWritesIn(one('demo/a.ts', source))).toHaveLength(1)
})

test.each([
  "await pool.query('select id from webhook for update of webhook skip locked')",
  'await tx.webhook.findMany({ where: { agentId }, include: { agent: true } })',
  "// delete from webhook where id = 1\nconst description = 'An update of the webhook is set out below.'",
  "createHash('sha256').update(body)",
  'const where = { agent: { workspaceId } }',
  'const data = { token: { connect: { id } } }',
])('no write is found in %s', (source) => {
  expect([...writesIn(source)]).toEqual([])
})

test('a folder may write only its own tables', () => {
  const source = "run('update webhook set position = 1')"
  expect(foreignWritesIn(one('webhook/a.ts', source))).toEqual([])
  expect(foreignWritesIn(one('message/a.ts', source))).toEqual([
    'message/a.ts: writes webhook, which webhook writes',
  ])
  expect(foreignWritesIn(one('rest/a.ts', "run('insert into job (id) values ($1)')"))).toHaveLength(1)
})
