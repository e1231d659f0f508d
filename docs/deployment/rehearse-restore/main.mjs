#!/usr/bin/env node
/**
 * Rehearses a point-in-time restore of your own PostgreSQL, and says what came back. It needs Node, and PostgreSQL's
 * programs of the same major version as the backup (postgres, pg_ctl, psql, pg_isready). docs/operations.md says how to use it.
 *
 *   node rehearse-restore/main.mjs --base DIR (--archive DIR | --restore-command COMMAND) [--until TIME] [--database NAME]
 *        [--user NAME] [--service COMMAND] [--compare FILE] [--scratch DIR] [--bin DIR] [--keep] [--json]
 *
 * It copies the base backup into a scratch folder, starts PostgreSQL on the copy, without a TCP port and without
 * archiving, lets it replay the archive until TIME (or its end), and counts. With a COMMAND such as
 * /opt/agent-messaging/node_modules/.bin/agent-messaging and MASTER_KEY, the service looks at it too. Neither the backup
 * nor the archive is changed, and nothing of the copy is left without --keep.
 *
 *   node rehearse-restore/main.mjs fingerprint --url postgresql://…
 *
 * prints the same of a running database, as it is at one moment. Writers wait until everything is read: for a drill. In a file,
 * it is what --compare compares with, when --until is its `time`.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { differences, FINGERPRINT, fingerprint, psql, Refusal, SAME_WORDS, tablesOf } from './fingerprint.mjs'
import {
  checkArchive,
  configure,
  copyBase,
  findPrograms,
  findUser,
  forShell,
  giveTo,
  seconds,
  withServer,
} from './scratch-server.mjs'

const text = { type: 'string' }
const flag = { type: 'boolean', default: false }
const read = () => {
  const options = {
    ...{ base: text, archive: text, 'restore-command': text, until: text, database: text, url: text },
    ...{ scratch: text, bin: text, service: text, compare: text, user: { ...text, default: 'postgres' } },
    ...{ keep: flag, json: flag },
  }
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    throw new Refusal(error.message)
  }
}

/** Lets the service look at the restored database: whether it is of its version, and whether MASTER_KEY opens it. */
const askService = (command, url) => {
  const only = { DATABASE_URL: url, DATABASE_DIRECT_URL: '', DATABASE_READ_URL: '' }
  const ran = spawnSync('sh', ['-c', `${command} doctor --json`], {
    encoding: 'utf8',
    env: { ...process.env, ...only },
  })
  try {
    return JSON.parse(ran.stdout).findings.filter(({ area }) => area === 'database')
  } catch {
    throw new Refusal(`${command} doctor --json did not answer: ${(ran.stderr || ran.stdout).trim()}`)
  }
}

/** Where the tables of the service are. */
const SCHEMA = `select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relname = 'event_log'`

/** Finds the database with the tables of the service. */
const findDatabase = (urlOf, given) => {
  const all = 'select datname from pg_database where datallowconn'
  const names = given ? [given] : psql(urlOf('postgres'), all).flat()
  for (const name of names) {
    const [schema] = psql(urlOf(name), SCHEMA).flat()
    if (schema) return `${urlOf(name)}&options=${encodeURIComponent(`-csearch_path=${schema}`)}`
  }
  throw new Refusal(`No tables of the service came back in the databases ${names.join(', ')}.`)
}

const examine = (url, { compare, service }) => {
  const tables = tablesOf(psql(url, `${SAME_WORDS} ${FINGERPRINT} \\gexec`))
  const [[reached, newest]] = psql(
    url,
    `${SAME_WORDS} select pg_last_xact_replay_timestamp(), (select max(created_at) from message)`,
  )
  return {
    ...{ reached, newestMessage: newest, tables },
    differences: compare ? differences(tables, JSON.parse(readFileSync(compare, 'utf8')).tables) : null,
    service: service ? askService(service, url) : [],
  }
}

/** Reads a time as PostgreSQL writes it. Without a zone it would be taken for that of either program. */
const readMoment = (until) => {
  if (until === undefined) return undefined
  const moment = new Date(until.replace(/([+-]\d\d)$/, '$1:00'))
  if (/\d(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(until) && !Number.isNaN(moment.getTime())) return moment
  throw new Refusal(`--until is ${until}; it takes a time with its zone, such as 2026-11-26 12:00:00+00.`)
}

/** A path to a socket has at most 107 bytes, with the name of the socket. */
const LONGEST_PATH = 85

const rehearse = (given) => {
  const { base, archive, until, 'restore-command': command } = given
  if (!base || (!archive && !command))
    throw new Refusal('Name the base backup with --base, and the archive with --archive.')
  const moment = readMoment(until)
  for (const path of [base, archive, given.compare])
    if (path && !existsSync(path)) throw new Refusal(`There is no ${path}.`)
  const scratch = given.scratch ? resolve(given.scratch) : mkdtempSync(join(tmpdir(), 'rehearse-'))
  if (existsSync(scratch) && readdirSync(scratch).length > 0) throw new Refusal(`${scratch} is not empty.`)
  mkdirSync(scratch, { recursive: true })
  if (Buffer.byteLength(scratch) > LONGEST_PATH)
    throw new Refusal(`${scratch} is too long for a socket: shorten it with --scratch.`)
  try {
    const user = findUser()
    if (archive) checkArchive(user, resolve(archive))
    const began = performance.now()
    copyBase(resolve(base), join(scratch, 'data'), moment)
    const copied = seconds(began)
    const programs = findPrograms(given.bin, readFileSync(join(scratch, 'data', 'PG_VERSION'), 'utf8').trim())
    const restoreCommand = command ?? `cp ${forShell(resolve(archive).replaceAll('%', '%%'))}/%f "%p"`
    // Its settings know no T and no Z.
    configure(scratch, { restoreCommand, until: until?.replace('T', ' ').replace('Z', '+00') })
    giveTo(user, scratch)
    const place = { scratch, programs, user: { ...user, name: given.user } }
    return withServer(place, ({ urlOf, replayed }) => ({
      ...examine(findDatabase(urlOf, given.database), given),
      seconds: { copied, replayed },
      ...(given.keep ? { scratch } : {}),
    }))
  } finally {
    if (!given.keep) rmSync(scratch, { recursive: true })
  }
}

const said = ({ reached, newestMessage, tables, seconds, differences, service, scratch }) => [
  `Restored until ${reached || 'the end of the base backup'}: copied in ${seconds.copied} s, replayed in ${seconds.replayed} s.`,
  `The newest message is of ${newestMessage || 'no time: there is none'}.`,
  ...Object.entries(tables).map(([name, { rows }]) => `${String(rows).padStart(12)}  ${name}`),
  ...(differences ?? []).map((line) => `DIFFERENT ${line}`),
  ...(differences?.length === 0 ? ['All tables are the same as expected.'] : []),
  ...service.map(({ status, message }) => `${status}: ${message}`),
  ...(scratch
    ? [
        `Kept: pg_ctl -D ${scratch}/data -o "-c config_file=${scratch}/postgresql.conf" start, socket in ${scratch}.`,
      ]
    : []),
]

const say = (text) => process.stdout.write(`${text}\n`)

const main = () => {
  const { values, positionals } = read()
  if (positionals.length === 1 && positionals[0] === 'fingerprint') {
    if (!values.url) throw new Refusal('Name the database with --url.')
    return say(JSON.stringify(fingerprint(values.url)))
  }
  if (positionals.length > 0) throw new Refusal(`Unknown argument ${positionals[0]}.`)
  const found = rehearse(values)
  say(values.json ? JSON.stringify(found) : said(found).join('\n'))
  const isWrong = found.differences?.length > 0 || found.service.some(({ status }) => status === 'problem')
  process.exitCode = isWrong ? 1 : 0
}

try {
  main()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
