import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { email, matching, type Parse } from '../config/parse.ts'
import { messageOf } from '../core/errors.ts'
import { COMMAND } from '../core/root.ts'
import { workspaceName } from '../core/rules.ts'

const CHECKOUT = `Usage:
  npm start                                             start the service
  npm start -- migrate [--fence]                        migrate the database to this release, which a start does too
  npm start -- upgrade-postgres [--binaries FOLDER]     bring the embedded database to the major version of this release's PostgreSQL
  npm start -- workspace --name NAME --owner EMAIL      create a workspace and print its owner's token
  npm start -- token --member EMAIL [--workspace ID]    create a token for a member and print it
  npm start -- sign-in [--member EMAIL] [--workspace ID]
                                                        print a link to sign in in a browser, by default as the first owner
  npm start -- export [--workspace ID] FILE             export everything of a workspace into a tar archive
  npm start -- delete-workspace [--workspace ID] [--yes]
                                                        delete a workspace with all that it has, after asking
  npm start -- move-workspace --workspace ID [--to DATABASE_URL] [--dry-run | --cancel]
                                                        move a workspace to another installation, or print what would move and what is in the way;
                                                        its settings are in TO_DATABASE_URL, TO_MASTER_KEY and, with an object store, TO_BLOB_URL
  npm start -- rotate-key                               change the master key and print how many keys were encrypted again
  npm start -- rotate-key --data-keys                   change the workspaces' data keys and print how many values were encrypted again
  npm start -- number --value NUMBER [--workspace ID]   add a phone number of the Twilio account to the pool
  npm start -- import --agent ID PATH                   import mails: an .eml file, an mbox, a Maildir, or a folder of them
  npm start -- import --agent ID --imap imaps://USER@HOST [--folder NAME]
                                                        import an IMAP account or one folder of it; the password comes from standard input
  npm start -- dump FILE                                write everything that is stored to FILE (compressed if it ends with .gz)
  npm start -- restore FILE                             read a dump into an empty database
  npm start -- after-restore [--hold]                   prepare a database that another tool has restored to an earlier moment
  npm start -- move-blobs [--to store|database]         move the contents of messages into the object store of BLOB_URL, or back
  npm start -- psql [OPTIONS]                           open the database with psql, which must be installed
  npm start -- trace [--json] [--log FILE] WHAT         print what happened: a Message-ID, an address, or the id of a message, agent, token or
                                                        request; --log adds the lines of a log (- for standard input) that name it
  npm start -- doctor [--json]                          check settings, database, DNS, ports, TLS, clock and providers
  npm start -- domain                                   print the DKIM records to publish for MAIL_DOMAIN
  npm start -- rotate-dkim                              create another DKIM key for MAIL_DOMAIN and print its records
  npm run demo                                          run the demo
  npm start -- --help                                   print this help
  npm start -- --version                                print the version, and the commit that was built

Settings are environment variables; docs/configuration.md lists them.`

/** The commands as this build has them, in the same columns. */
export const USAGE =
  COMMAND === 'agent-messaging'
    ? CHECKOUT.replaceAll('npm start --', COMMAND)
        .replace('npm start   ', COMMAND)
        .replace('npm run demo     ', `${COMMAND} demo`)
        .replace(/^ {20,}/gm, '   $&')
    : CHECKOUT

const HELP = `All commands: ${COMMAND} --help`

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {}

/** Where mails are imported from. */
export type ImportSource = { path: string } | { imap: URL; folder: string | undefined }

/** A command and its options. */
export type Command =
  | { name: 'help' | 'version' | 'start' | 'demo' | 'domain' | 'rotate-dkim' }
  | { name: 'rotate-key'; dataKeys: boolean }
  | { name: 'doctor'; json: boolean }
  | { name: 'migrate'; fence: boolean }
  | { name: 'after-restore'; hold: boolean }
  | { name: 'trace'; what: string; json: boolean; log: string | undefined }
  | { name: 'upgrade-postgres'; binaries: string | undefined }
  | { name: 'move-blobs'; to: 'store' | 'database' }
  | { name: 'dump' | 'restore'; file: string }
  | { name: 'psql'; args: string[] }
  | { name: 'workspace'; workspaceName: string; owner: string }
  | { name: 'token'; member: string; workspace: string | undefined }
  | { name: 'sign-in'; member: string | undefined; workspace: string | undefined }
  | { name: 'import'; agent: string; from: ImportSource }
  | { name: 'export'; file: string; workspace: string | undefined }
  | { name: 'delete-workspace'; workspace: string | undefined; yes: boolean }
  | { name: 'move-workspace'; workspace: string; to: string | undefined; how: 'move' | 'dry-run' | 'cancel' }
  | { name: 'number'; value: string; workspace: string | undefined }

const PLAIN = ['help', 'version', 'start', 'demo', 'domain', 'rotate-dkim'] as const

const text = { type: 'string' } as const
const OPTIONS = {
  name: text,
  owner: text,
  member: text,
  workspace: text,
  value: text,
  to: text,
  agent: text,
  imap: text,
  folder: text,
  log: text,
  binaries: text,
  'data-keys': { type: 'boolean' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  fence: { type: 'boolean' },
  hold: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  cancel: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

const parse = (args: string[]) => {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(`${messageOf(error)} ${HELP}`)
  }
}

const read = <Value>(name: string, value: string, rule: Parse<Value>): Value => {
  try {
    return rule(value)
  } catch (error) {
    throw new UsageError(`--${name} is ${JSON.stringify(value)}; it takes ${messageOf(error)}.`)
  }
}

const required = (name: string, value: string | undefined, rule: Parse<string>): string => {
  if (!value) throw new UsageError(`--${name} is missing. ${HELP}`)
  return read(name, value, rule)
}

const nameOfWorkspace: Parse<string> = (value) => {
  if (!workspaceName.safeParse(value).success) throw new Error('1 to 100 characters, not all of them spaces')
  return value
}
const place = matching(/^(?:store|database)$/, 'store or database')
const phoneNumber = matching(/^\+\d{3,15}$/, 'a phone number in international form, such as +15551234567')
const id = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'an id')

const imapUrl = (value: string): URL => {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url?.protocol !== 'imaps:' || url.hostname === '' || url.username === '' || url.password !== '')
    throw new UsageError(
      `--imap is ${JSON.stringify(url?.password ? '…' : value)}; it takes imaps://USER@HOST, without the password.`,
    )
  return url
}

const importSource = (
  path: string | undefined,
  { imap, folder }: { imap?: string | undefined; folder?: string | undefined },
): ImportSource => {
  if (imap && path === undefined) return { imap: imapUrl(imap), folder }
  if (path === undefined || imap || folder)
    throw new UsageError(`import takes either a PATH, or --imap with or without --folder. ${HELP}`)
  return { path }
}

/** The password would be visible to other users of the machine. */
const isPasswordless = (url: string): boolean =>
  URL.canParse(url) && new URL(url).password === '' && !/[?&]password=/i.test(url)

const moveCommand = (values: ReturnType<typeof parse>['values']): Command => {
  if (values['dry-run'] && values.cancel)
    throw new UsageError(`move-workspace takes --dry-run or --cancel, not both. ${HELP}`)
  const { to } = values
  if (to !== undefined && !isPasswordless(to))
    throw new UsageError('--to is a URL without a password; set TO_DATABASE_URL for one that has a password.')
  return {
    name: 'move-workspace',
    workspace: required('workspace', values.workspace, id),
    to,
    how: values.cancel ? 'cancel' : values['dry-run'] ? 'dry-run' : 'move',
  }
}

/** Parses the command line. Throws `UsageError` with the reason. */
export const readCommand = (args: string[]): Command => {
  if (args[0] === 'psql') return { name: 'psql', args: args.slice(1) }
  const { values, positionals } = parse(args)
  const [name = 'start', ...extra] = positionals
  if (values.help) return { name: 'help' }
  if (values.version) return { name: 'version' }
  if (name === 'import' && extra.length < 2)
    return { name, agent: required('agent', values.agent, id), from: importSource(extra[0], values) }
  if (name === 'dump' || name === 'restore') {
    if (extra.length !== 1) throw new UsageError(`${name} takes a FILE. ${HELP}`)
    return { name, file: resolve(extra[0]!) }
  }
  if (name === 'trace') {
    if (extra.length !== 1)
      throw new UsageError(
        `trace takes a Message-ID, an address, or the id of a message, agent, token or request. ${HELP}`,
      )
    return { name, what: extra[0]!, json: values.json === true, log: values.log }
  }
  const workspace = values.workspace && read('workspace', values.workspace, id)
  if (name === 'export') {
    if (extra.length !== 1) throw new UsageError(`export takes a FILE. ${HELP}`)
    return { name, file: resolve(extra[0]!), workspace }
  }
  if (extra.length > 0) throw new UsageError(`Unknown argument ${extra[0]}. ${HELP}`)
  if (name === 'workspace')
    return {
      name,
      workspaceName: required('name', values.name, nameOfWorkspace),
      owner: required('owner', values.owner, email),
    }
  if (name === 'move-workspace') return moveCommand(values)
  if (name === 'delete-workspace') return { name, workspace, yes: values.yes === true }
  if (name === 'token') return { name, member: required('member', values.member, email), workspace }
  if (name === 'sign-in')
    return { name, member: values.member && read('member', values.member, email), workspace }
  if (name === 'number') return { name, value: required('value', values.value, phoneNumber), workspace }
  if (name === 'rotate-key') return { name, dataKeys: values['data-keys'] === true }
  if (name === 'move-blobs')
    return { name, to: read('to', values.to ?? 'store', place) as 'store' | 'database' }
  if (name === 'doctor') return { name, json: values.json === true }
  if (name === 'after-restore') return { name, hold: values.hold === true }
  if (name === 'upgrade-postgres') return { name, binaries: values.binaries && resolve(values.binaries) }
  if (name === 'migrate') return { name, fence: values.fence === true }
  const plain = PLAIN.find((one) => one === name)
  if (!plain) throw new UsageError(`Unknown command ${name}. ${HELP}`)
  return { name: plain }
}
