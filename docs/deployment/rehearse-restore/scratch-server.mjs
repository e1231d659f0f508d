import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { Refusal } from './fingerprint.mjs'

/** The folder of PostgreSQL's programs: given, or where PATH or Debian has them, of the version that is asked for. */
export const findPrograms = (given, major) => {
  const debian = `/usr/lib/postgresql/${major}/bin`
  const folders = given ? [resolve(given)] : [debian, ...(process.env.PATH ?? '').split(delimiter)]
  const found = folders.filter(
    (folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'pg_ctl')),
  )
  const versions = found.map((folder) =>
    execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' }),
  )
  const index = versions.findIndex(
    (version) => version.includes(` ${major}.`) || version.trim().endsWith(` ${major}`),
  )
  if (index >= 0) return found[index]
  const there =
    versions.length > 0 ? `there is ${versions.map((version) => version.trim()).join(', ')}` : 'there is none'
  throw new Refusal(
    `The base backup is of PostgreSQL ${major}, and its programs are needed: ${there}. Name their folder with --bin.`,
  )
}

/** PostgreSQL refuses to run as root. */
export const findUser = () => {
  if (process.getuid() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) =>
      Number(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout),
    )
    if (uid > 0) return { uid, gid }
  }
  throw new Refusal(
    'PostgreSQL does not run as root, and there is no user postgres or nobody: run this as another user.',
  )
}

export const giveTo = ({ uid, gid }, path) => {
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path])
}

/** Copies a base backup: a folder as of `pg_basebackup --format=plain`, or with its base.tar, base.tar.gz and pg_wal.tar. */
export const copyBase = (base, data, until) => {
  const tar = ['base.tar', 'base.tar.gz'].map((name) => join(base, name)).find((file) => existsSync(file))
  mkdirSync(data, { mode: 0o700 })
  if (tar) {
    execFileSync('tar', ['-xf', tar, '-C', data])
    const wal = ['pg_wal.tar', 'pg_wal.tar.gz']
      .map((name) => join(base, name))
      .find((file) => existsSync(file))
    if (wal) execFileSync('tar', ['-xf', wal, '-C', join(data, 'pg_wal')])
  } else if (existsSync(join(base, 'PG_VERSION')))
    cpSync(base, data, { recursive: true, preserveTimestamps: true })
  else throw new Refusal(`${base} is no base backup: it has neither PG_VERSION nor base.tar.`)
  if (!existsSync(join(data, 'backup_label')))
    throw new Refusal(
      `${base} is no base backup: it has no backup_label, so it is a copy that cannot be relied on.`,
    )
  const [, began] = /^START TIME: (.*)$/m.exec(readFileSync(join(data, 'backup_label'), 'utf8')) ?? []
  if (until && began && until < new Date(began))
    throw new Refusal(`The base backup was begun at ${began}, after --until: take an earlier one.`)
  // They lead to the folders of production.
  if (readdirSync(join(data, 'pg_tblspc')).length > 0)
    throw new Refusal(
      'The backup has tablespaces, which this does not rehearse: restore it by hand, on another machine.',
    )
  for (const name of ['postmaster.pid', 'standby.signal']) rmSync(join(data, name), { force: true })
}

const quoted = (value) => `'${value.replaceAll("'", "''")}'`
export const forShell = (value) => `'${value.replaceAll("'", "'\\''")}'`

/** Only what is in this file holds: no archiving, no TCP, nothing of production's settings. */
export const configure = (scratch, { restoreCommand, until }) => {
  const data = join(scratch, 'data')
  const settings = {
    data_directory: data,
    hba_file: join(scratch, 'pg_hba.conf'),
    ident_file: join(scratch, 'pg_ident.conf'),
    listen_addresses: '',
    unix_socket_directories: scratch,
    logging_collector: 'off',
    archive_mode: 'off',
    hot_standby: 'off',
    restore_command: restoreCommand,
    recovery_target_timeline: 'latest',
    recovery_target_action: 'promote',
    ...(until ? { recovery_target_time: until } : {}),
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}\n`)
  writeFileSync(join(scratch, 'postgresql.conf'), lines.join(''))
  writeFileSync(settings.hba_file, 'local all all trust\n')
  writeFileSync(settings.ident_file, '')
  writeFileSync(join(data, 'postgresql.auto.conf'), '')
  writeFileSync(join(data, 'recovery.signal'), '')
}

/** Throws when PostgreSQL could not read the archive: it would take that for the archive's end. */
export const checkArchive = (user, archive) => {
  const [first] = readdirSync(archive)
  if (first === undefined) throw new Refusal(`${archive} is empty.`)
  const ran = spawnSync('cp', [join(archive, first), '/dev/null'], { ...user, cwd: '/', encoding: 'utf8' })
  if (ran.status !== 0)
    throw new Refusal(`The user that runs PostgreSQL cannot read the archive: ${ran.stderr.trim()}`)
}

/** Why PostgreSQL ended, as its log or, before that begins, its messages say; not that it refused a look whether it is ready. */
const reasonIn = (log) => {
  const lines = (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []).filter(
    (line) => !line.includes('the database system is'),
  )
  const fatal = lines.filter((line) => /FATAL|PANIC/.test(line))
  const reason = (fatal.length > 0 ? fatal : lines.filter(Boolean)).at(-1) ?? 'it wrote no log'
  return reason.replace(/^.*?(?:FATAL|PANIC|LOG): +/, '')
}

export const seconds = (since) => Number(((performance.now() - since) / 1000).toFixed(2))

const LOOK_MS = 100

/** Starts PostgreSQL on the copy, and runs `work` when it has replayed the archive. */
export const withServer = ({ scratch, programs, user }, work) => {
  const log = join(scratch, 'log')
  const pgCtl = (...args) => {
    const options = { ...user, cwd: '/', encoding: 'utf8', stdio: 'ignore' }
    return spawnSync(join(programs, 'pg_ctl'), ['-D', join(scratch, 'data'), ...args], options)
  }
  const began = performance.now()
  const config = `-c config_file=${forShell(join(scratch, 'postgresql.conf'))}`
  const started = pgCtl('-w', '-t', '604800', '-l', log, '-o', config, 'start')
  const isReady = () => {
    const asked = spawnSync('pg_isready', ['-q', '-h', scratch], { stdio: 'ignore' })
    if (asked.error) throw new Refusal(`pg_isready cannot be run: ${asked.error.message}`)
    return asked.status === 0
  }
  try {
    // It accepts connections when it has replayed everything, which may take hours.
    while (!isReady()) {
      if (started.status !== 0 || pgCtl('status').status !== 0)
        throw new Refusal(`PostgreSQL could not restore this: ${reasonIn(log)}`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
    }
    return work({
      urlOf: (name) => `postgresql:///${name}?host=${scratch}&user=${user.name}`,
      replayed: seconds(began),
    })
  } finally {
    pgCtl('-w', '-m', 'fast', 'stop')
  }
}
