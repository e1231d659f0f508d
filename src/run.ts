import { createOperatorLink } from './auth/index.ts'
import { noteDump } from './boot/data-dir.ts'
import { type Foundation, openDatabase, openFoundation } from './boot/foundation.ts'
import { hasMasterKey } from './boot/master-key.ts'
import { rotateDataKeys, rotateMasterKey } from './boot/rotate-keys.ts'
import { type Command, type ImportSource, readCommand, USAGE, UsageError } from './cli/command-line.ts'
import { type Config, ConfigError, readConfig } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import { AppError, messageOf } from './core/errors.ts'
import type { Logger } from './core/logger.ts'
import { COMMIT, VERSION } from './core/version.ts'
import { DataDirInUseError, EmbeddedPostgresError } from './db/embedded.ts'
import { DatabaseTooSlowError } from './db/patience.ts'
import { UnsuitableSchemaError } from './db/schema.ts'
import { dkimKeys, rotateDkimKey } from './email-domain/index.ts'
import { createLogger } from './observability/log.ts'
import { say } from './say.ts'
import { serve } from './serve.ts'
import { followStopRequests } from './stop-requests.ts'
import { createKeyring, createMemberToken, createWorkspace, resolveWorkspace } from './workspace/index.ts'

/** Exit codes: invalid settings or usage; any other failure. */
const EXIT_USAGE = 2
const EXIT_FAILURE = 1

/**
 * Runs a command beside a running service (or alone) on the same database, and prints its result as one JSON
 * line. With `service`, not beside one on the same DATA_DIR.
 */
const command = async (
  config: Config,
  log: Logger,
  run: (foundation: Foundation) => Promise<object>,
  options: Parameters<typeof openFoundation>[2] = { service: false },
): Promise<void> => {
  const requests = followStopRequests()
  const foundation = await openFoundation(config, log, options)
  const interrupted = requests.first.then(() => {
    throw new AppError('unavailable', 'Interrupted.')
  })
  try {
    say(JSON.stringify(await Promise.race([run(foundation), interrupted])))
  } finally {
    await foundation.close()
  }
}

/** Returns the DNS records of the service's own domain, for mail that is signed with its keys. */
const mailRecords = async (
  { mailDomain }: Config,
  { db, masterKey, otherKeys }: Foundation,
  keysOf: typeof dkimKeys,
): Promise<object> => {
  const deps = { ...db, keyring: createKeyring(db, masterKey, otherKeys), clock: systemClock }
  const keys = await keysOf(deps, { domain: mailDomain, workspaceId: null })
  return { domain: mailDomain, records: keys.map(({ record }) => record) }
}

/** Adds a number that is already rented to a workspace's pool. */
const addNumber = async (
  config: Config,
  log: Logger,
  { db }: Foundation,
  { value, workspace: workspaceId }: { value: string; workspace?: string | undefined },
): Promise<object> => {
  if (!config.twilio)
    throw new ConfigError([
      'TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN are not set; set them to the account that has the number.',
    ])
  const { createSmsChannel } = await import('./channel/sms/sms-channel.ts')
  const { PhoneNumbers } = await import('./agent/address/phone-numbers.ts')
  const sms = createSmsChannel({ ...config.twilio, publicUrl: () => config.publicUrl ?? '', log })
  const workspace = await resolveWorkspace(db, workspaceId)
  const { id } = await new PhoneNumbers({ ...db, clock: systemClock, log, sms }).addExisting(workspace, value)
  return { workspace, id, value }
}

const writeDump = async (config: Config, log: Logger, file: string): Promise<void> => {
  const { dump } = await import('./backup/dump.ts')
  return command(config, log, async ({ databaseUrl }) => {
    const dumped = await dump(databaseUrl, file, log)
    await noteDump(config.dataDir, file)
    return dumped
  })
}

const readDump = async (config: Config, log: Logger, file: string): Promise<void> => {
  if (!hasMasterKey(config))
    throw new ConfigError([
      'There is no master key: put the master.key that belongs to the dump into DATA_DIR, or set MASTER_KEY.',
    ])
  const { restore } = await import('./backup/restore.ts')
  const run = ({ databaseUrl: url, masterKey, otherKeys = () => [] }: Foundation) =>
    restore({ url, keys: [masterKey, ...otherKeys()], log }, file)
  return command(config, log, run, { service: true, migrates: 'empty' })
}

/** Prepares a database that another tool has restored to an earlier moment; `restore` does so itself. */
const afterRestore = async (config: Config, log: Logger, { hold }: { hold: boolean }): Promise<void> => {
  const { prepareRestored } = await import('./backup/after-restore.ts')
  return command(config, log, ({ db }) => prepareRestored(db, { hold }))
}

/** Brings the embedded database to the major version of this release, not beside a service. */
const upgradeDatabase = async (
  { databaseUrl, dataDir }: Config,
  log: Logger,
  binaries: string | undefined,
): Promise<void> => {
  if (databaseUrl)
    throw new ConfigError(['DATABASE_URL is set, so there is no embedded PostgreSQL to upgrade.'])
  const { upgradePostgres } = await import('./backup/upgrade-postgres.ts')
  const interrupted = followStopRequests().first.then(() => {
    throw new AppError('unavailable', 'Interrupted. Nothing is lost: run it again.')
  })
  say(JSON.stringify(await Promise.race([upgradePostgres(dataDir, { binaries, log }), interrupted])))
}

/** Runs psql beside a running service, or alone. Exits with its code. */
const openPsql = async (config: Config, log: Logger, args: readonly string[]): Promise<void> => {
  const { runPsql } = await import('./backup/psql.ts')
  const { url, close } = await openDatabase(config, log)
  const code = await runPsql(url, args).finally(close)
  if (code !== 0) process.exit(code)
}

/** Moves the contents of messages beside a running service, or alone, and tells how far it is. */
const moveBlobs = async (config: Config, log: Logger, to: 'store' | 'database'): Promise<void> => {
  const { moveTo } = await import('./blob-commands.ts')
  return command(config, log, (foundation) => moveTo(to, { config, log, foundation, say }))
}

/** Moves a workspace to another installation, beside a running service or alone. */
const moveWorkspaceTo = async (
  config: Config,
  log: Logger,
  { workspace, to, how }: { workspace: string; to: string | undefined; how: 'move' | 'dry-run' | 'cancel' },
): Promise<void> => {
  const { readMoveTarget } = await import('./config/move-target.ts')
  const { cancelMove, examineMove, moveWorkspace } = await import('./move/move.ts')
  const target = readMoveTarget(process.env, to)
  const run = { move: moveWorkspace, 'dry-run': examineMove, cancel: cancelMove }[how]
  return command(config, log, async ({ db, databaseUrl, masterKey, otherKeys = () => [] }) => {
    await resolveWorkspace(db, workspace)
    const from = { databaseUrl, keys: [masterKey, ...otherKeys()] }
    return run({ workspace, target, config, from, log })
  })
}

/** Prints what happened to something, from a database that may be in use. */
const traceIt = async (
  config: Config,
  log: Logger,
  { what, json, log: file }: { what: string; json: boolean; log: string | undefined },
): Promise<void> => {
  const { bareOf, trace } = await import('./trace/trace.ts')
  const { asText } = await import('./trace/moment.ts')
  const { traceLog } = await import('./trace/log.ts')
  const logged = file === undefined ? [] : await traceLog(file, bareOf(what))
  const foundation = await openFoundation(config, log, { service: false })
  try {
    const now = systemClock.now()
    const traces = [...(await trace(foundation.db, what, { scope: null, now })), ...logged]
    if (traces.length === 0)
      throw new AppError(
        'not_found',
        file === undefined
          ? 'Nothing is stored of it. What was refused before it was stored, and what a request only read or sent for an agent, is in the log: add --log FILE.'
          : 'Nothing is stored of it, and no line of the log names it.',
      )
    say(json ? JSON.stringify(traces) : asText(traces, now))
  } finally {
    await foundation.close()
  }
}

/** Imports mails beside a running service, or alone. */
const importMails = async (
  config: Config,
  log: Logger,
  { agent, from }: { agent: string; from: ImportSource },
): Promise<void> => {
  const { runImportCommand } = await import('./mail-import/command.ts')
  const foundation = await openFoundation(config, log, { service: false })
  try {
    const { blobsOf } = await import('./blob-commands.ts')
    const blobs = blobsOf({ config, log, foundation })
    await runImportCommand({ config, log, db: foundation.db, blobs }, agent, from)
  } finally {
    await foundation.close()
  }
}

/** Creates a link to sign in, for the URL at which the running service is reached. */
const createLink = (
  { publicUrl, port }: Config,
  { db }: Foundation,
  { member, workspace }: { member: string | undefined; workspace: string | undefined },
): Promise<object> => {
  if (!publicUrl && port === 0)
    throw new ConfigError(['PORT is 0: set PUBLIC_URL to the URL at which the service is reached.'])
  const deps = { ...db, clock: systemClock, publicUrl: () => publicUrl ?? `http://localhost:${port}` }
  return createOperatorLink(deps, { email: member, workspaceId: workspace })
}

/** Checks the set-up and prints the report. Exits with 1 when there is a problem. */
const examine = async (options: { json: boolean }): Promise<void> => {
  const { runDoctor } = await import('./doctor/doctor.ts')
  const { text, ok } = await runDoctor(process.env, options)
  say(text)
  if (!ok) process.exit(EXIT_FAILURE)
}

const dispatch = async (requested: Command): Promise<void> => {
  if (requested.name === 'help') return say(USAGE)
  if (requested.name === 'version') return say(COMMIT ? `${VERSION} (${COMMIT})` : VERSION)
  if (requested.name === 'doctor') return examine(requested)
  const config = readConfig(process.env)
  const log = createLogger(config.logLevel, { sample: config.logSample })
  switch (requested.name) {
    case 'start':
      return serve(config, log)
    case 'migrate':
      return command(config, log, async ({ migrated = [] }) => ({ migrated }), {
        ...{ service: false, migrates: 'always', fence: requested.fence },
      })
    case 'upgrade-postgres':
      return upgradeDatabase(config, log, requested.binaries)
    case 'demo':
      return (await import('./demo/demo.ts')).demo()
    case 'workspace': {
      const input = { name: requested.workspaceName, ownerEmail: requested.owner, plan: config.plan }
      return command(config, log, ({ db, masterKey }) => createWorkspace({ ...db, masterKey }, input))
    }
    case 'token':
      return command(config, log, ({ db }) =>
        createMemberToken({ ...db, clock: systemClock }, requested.member, requested.workspace),
      )
    case 'sign-in':
      return command(config, log, (foundation) => createLink(config, foundation, requested))
    case 'export':
      return command(config, log, async (foundation) =>
        (await import('./workspace-commands.ts')).exportToFile(config, log, foundation, requested),
      )
    case 'delete-workspace':
      return command(config, log, async (foundation) =>
        (await import('./workspace-commands.ts')).deleteWorkspace(config, log, foundation, requested),
      )
    case 'move-workspace':
      return moveWorkspaceTo(config, log, requested)
    case 'import':
      return importMails(config, log, requested)
    case 'dump':
      return writeDump(config, log, requested.file)
    case 'restore':
      return readDump(config, log, requested.file)
    case 'after-restore':
      return afterRestore(config, log, requested)
    case 'move-blobs':
      return moveBlobs(config, log, requested.to)
    case 'trace':
      return traceIt(config, log, requested)
    case 'psql':
      return openPsql(config, log, requested.args)
    case 'number':
      return command(config, log, (foundation) => addNumber(config, log, foundation, requested))
    case 'domain':
      return command(config, log, (foundation) => mailRecords(config, foundation, dkimKeys))
    case 'rotate-key':
      return command(config, log, (foundation) =>
        requested.dataKeys ? rotateDataKeys(foundation, log) : rotateMasterKey(config, foundation),
      )
    case 'rotate-dkim':
      return command(config, log, (foundation) => mailRecords(config, foundation, rotateDkimKey))
  }
}

/** Prints the error for the person at the terminal, and exits with the code for scripts. */
const fail = (error: unknown): never => {
  const expected = [
    ConfigError,
    DataDirInUseError,
    DatabaseTooSlowError,
    EmbeddedPostgresError,
    UnsuitableSchemaError,
    UsageError,
    AppError,
  ].some((kind) => error instanceof kind)
  const stack = !expected && error instanceof Error && !('syscall' in error) ? error.stack : undefined
  process.stderr.write(`${stack ?? messageOf(error)}\n`)
  const usage = [ConfigError, DataDirInUseError, UsageError].some((kind) => error instanceof kind)
  process.exit(usage ? EXIT_USAGE : EXIT_FAILURE)
}

try {
  await dispatch(readCommand(process.argv.slice(2)))
  process.exit(0)
} catch (error) {
  fail(error)
}
