import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { namesHere } from '../../src/db/schema.ts'
import { migrations as folder } from '../support/postgres.ts'

/**
 * In a rolling deployment, processes of the last release go on while and after a migration is applied. What that
 * release reads and writes must stay possible, and no statement may hold up the others for long. `rolling-deployment`
 * shows that a build bears what is allowed here: new tables, and new columns with defaults.
 */

/** The schema of version 1.0.0. */
const RELEASED = '20261122223201_version_1_0_0'

/** What breaks a rule and is right nevertheless, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  '20261123002001_job_settling: forbids values':
    'The same columns were unique before, in another order; what names them after ON CONFLICT finds either index.',
  '20261124010001_signed_content_index: forbids values':
    'Of a column that only this version writes; in all other rows it is null, which the index leaves out.',
  '20261123002500_blobs: allows null where there was none':
    'Only with BLOB_URL: a content is null when it is in the object store, which an operator sets up afterwards.',
}

interface Rule {
  name: string
  /** Returns whether a statement breaks it; `made` are the tables that its migration creates. */
  breaks(statement: string, made: ReadonlySet<string>, outside: boolean): boolean
}

const matches = (pattern: RegExp) => (statement: string) => pattern.test(statement)

/** Whether the statement is about a table that existed before. */
const onExisting =
  (pattern: RegExp): Rule['breaks'] =>
  (statement, made) => {
    const table = pattern.exec(statement)?.groups?.table
    return table !== undefined && !made.has(table)
  }

const RULES: readonly Rule[] = [
  { name: 'removes what is read', breaks: matches(/\bDROP (TABLE|COLUMN|TYPE|VIEW)\b/i) },
  { name: 'renames', breaks: matches(/\bRENAME\b/i) },
  { name: 'changes a type', breaks: matches(/\bALTER COLUMN "?\w+"? (SET DATA )?TYPE\b/i) },
  { name: 'requires a value', breaks: matches(/\bSET NOT NULL\b|\bDROP DEFAULT\b/i) },
  { name: 'allows null where there was none', breaks: matches(/\bDROP NOT NULL\b/i) },
  {
    name: 'adds a column that must be given',
    breaks: matches(/\bADD COLUMN(?![^,;]*\bDEFAULT\b)[^,;]*\bNOT NULL\b/i),
  },
  {
    name: 'forbids values',
    breaks: onExisting(/\bCREATE UNIQUE INDEX\b[^;]*? ON "?(?<table>\w+)"?/i),
  },
  {
    name: 'locks out writers while an index is built',
    breaks: onExisting(/\bCREATE (UNIQUE )?INDEX (?!CONCURRENTLY)[^;]*? ON "?(?<table>\w+)"?/i),
  },
  { name: 'locks out everybody to drop an index', breaks: matches(/\bDROP INDEX (?!CONCURRENTLY)/i) },
  {
    name: 'reads a whole table under a lock',
    breaks: onExisting(
      /\bALTER TABLE "?(?<table>\w+)"?[^;]*\bADD (CONSTRAINT|PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK)\b(?![^;]*(NOT VALID|USING INDEX))/i,
    ),
  },
  {
    name: 'changes many rows in one transaction',
    breaks: (statement, made, outside) =>
      !outside && onExisting(/^(UPDATE|DELETE FROM) "?(?<table>\w+)"?/i)(statement, made, outside),
  },
  { name: 'locks or empties a table', breaks: matches(/^(LOCK|TRUNCATE|CLUSTER|VACUUM FULL)\b/i) },
  { name: 'adds a trigger', breaks: matches(/\bCREATE (OR REPLACE )?(CONSTRAINT )?TRIGGER\b/i) },
]

/** The rules that a migration breaks. */
const brokenBy = (sql: string): string[] => {
  const outside = sql.includes('-- no-transaction')
  const plain = sql.replace(/--.*$/gm, '')
  const blocks = plain.match(/\$\$[\s\S]*?\$\$/g) ?? []
  const statements = [
    ...plain.replace(/\$\$[\s\S]*?\$\$/g, '').split(';'),
    ...blocks.flatMap((each) => each.split(';')),
  ]
    .map((each) => each.replace(/\s+/g, ' ').replace(/^[ $]+/, ''))
    .filter((each) => each !== '')
  const made = new Set(
    [...plain.matchAll(/\bCREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gi)].map(([, name]) => name!),
  )
  return RULES.filter(({ breaks }) => statements.some((each) => breaks(each, made, outside))).map(
    ({ name }) => name,
  )
}

const since = readdirSync(folder)
  .filter((name) => /^\d{14}_/.test(name) && name > RELEASED)
  .map((name) => ({ name, sql: readFileSync(join(folder, name, 'migration.sql'), 'utf8') }))

test('the last release bears every migration since, or a reason is given', () => {
  expect(readdirSync(folder)).toContain(RELEASED)
  expect(since.length).toBeGreaterThan(0)
  const broken = since.flatMap(({ name, sql }) => brokenBy(sql).map((rule) => `${name}: ${rule}`))
  expect(broken.filter((each) => !(each in EXCEPTIONS))).toEqual([])
  expect(Object.keys(EXCEPTIONS).filter((each) => !broken.includes(each))).toEqual([])
})

test.each([
  ['removes what is read', 'ALTER TABLE "message" DROP COLUMN "text"'],
  ['removes what is read', 'DROP TABLE "job"'],
  ['renames', 'ALTER TABLE "message" RENAME COLUMN "text" TO "body"'],
  ['changes a type', 'ALTER TABLE "message" ALTER COLUMN "text" SET DATA TYPE bytea'],
  ['requires a value', 'ALTER TABLE "message" ALTER COLUMN "subject" SET NOT NULL'],
  [
    'adds a column that must be given',
    'ALTER TABLE "job" ADD COLUMN "a" INT DEFAULT 1, ADD COLUMN "b" INT NOT NULL',
  ],
  ['allows null where there was none', 'ALTER TABLE "message" ALTER COLUMN "text" DROP NOT NULL'],
  ['forbids values', '-- no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY "x" ON "job"("lane")'],
  ['locks out writers while an index is built', 'CREATE INDEX "x" ON "job"("lane")'],
  ['locks out everybody to drop an index', 'DROP INDEX "x"'],
  ['reads a whole table under a lock', 'ALTER TABLE "job" ADD CONSTRAINT "c" CHECK ("attempts" >= 0)'],
  ['changes many rows in one transaction', 'UPDATE "job" SET "state" = \'failed\''],
  ['locks or empties a table', 'LOCK TABLE "job"'],
  ['adds a trigger', 'CREATE TRIGGER t AFTER INSERT ON "job" EXECUTE FUNCTION f()'],
])('a migration that %s is found', (rule, sql) => {
  expect(brokenBy(sql)).toEqual([rule])
})

test('new tables, columns with defaults, and checks and indexes in steps are no matter', () => {
  expect(
    brokenBy(`
      CREATE TABLE "new" ("id" UUID NOT NULL, CONSTRAINT "new_pkey" PRIMARY KEY ("id"));
      CREATE UNIQUE INDEX "new_key" ON "new"("id");
      ALTER TABLE "new" ADD CONSTRAINT "f" FOREIGN KEY ("id") REFERENCES "agent"("id");
      ALTER TABLE "job" ADD COLUMN "a" INT NOT NULL DEFAULT 0, ADD COLUMN "b" TEXT;
      ALTER TABLE "job" ADD CONSTRAINT "c" CHECK ("a" >= 0) NOT VALID;
      ALTER TABLE "job" VALIDATE CONSTRAINT "c"; -- DROP TABLE in a comment is none`),
  ).toEqual([])
  expect(brokenBy('-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "x" ON "job"("lane")')).toEqual(
    [],
  )
})

test('a database or dump of 1.0.0 has what the first migration does', () => {
  const sql = readFileSync(join(folder, RELEASED, 'migration.sql'), 'utf8')
  const replaced = [...sql.matchAll(/^-- replaces (\S+) [0-9a-f]{64}$/gm)].map(([, name]) => name!)
  expect(replaced).toHaveLength(58)
  expect(namesHere([...replaced, 'later'])).toEqual([RELEASED, 'later'])
  expect(namesHere([...replaced, RELEASED, 'later'])).toEqual([RELEASED, 'later'])
  expect(namesHere(replaced.slice(1))).toEqual([])
})
