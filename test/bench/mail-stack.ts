import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { missing as missingPostfix, startPostfix } from '../mta/postfix.ts'
import { freePort, listens } from '../support/port.ts'
import { until } from '../support/until.ts'
import { atEnd } from './cleanup.ts'
import { atRest } from './cpu.ts'

/** What it needs besides Postfix, and Debian's packages that have it. */
const NEEDED = {
  '/usr/bin/rspamd': 'rspamd',
  '/usr/sbin/dovecot': 'dovecot-core',
  '/usr/lib/dovecot/lmtp': 'dovecot-lmtpd',
  '/usr/lib/dovecot/modules/lib21_fts_xapian_plugin.so': 'dovecot-fts-xapian',
}

/** Returns why the stack cannot be started here, or null. Only root can start Postfix; all three give up its rights. */
const missing = (): string | null => {
  const packages = Object.entries(NEEDED).flatMap(([file, name]) => (existsSync(file) ? [] : [name]))
  if (packages.length > 0) return `not installed: ${packages.join(', ')} (apt-get install)`
  return missingPostfix
}

/** A mail server that authenticates, stores and indexes what it receives. */
export interface MailStack {
  port: number
  /** Postfix, rspamd and Dovecot, whose other processes are children of these. */
  pids: number[]
  /** Returns the number of mails in all mailboxes. */
  delivered(): number
}

/** Returns a new folder that is removed at the end; `owner` can write in these folders in it. */
const folderWith = (folders: readonly string[], owner: string): string => {
  const dir = mkdtempSync(join(tmpdir(), 'ams-stack-'))
  atEnd(() => rmSync(dir, { recursive: true, force: true }))
  chmodSync(dir, 0o755)
  for (const name of folders) {
    mkdirSync(join(dir, name))
    execFileSync('chown', [owner, join(dir, name)])
  }
  return dir
}

/** rspamd takes eight seconds of CPU to compile its rules before it listens. */
const START_MS = 180_000

/** Starts a server that stays in the foreground, and ends it at the end. Returns its process id. */
const startDaemon = async (command: string, args: readonly string[], port: number): Promise<number> => {
  const child = spawn(command, args, { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  atEnd(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await Promise.race([
    until(() => listens(port), START_MS),
    exited.then(() => Promise.reject(new Error(`${command} ended: ${child.exitCode}`))),
  ])
  return child.pid!
}

/** Modules of rspamd that ask servers on the internet. */
const REMOTE = ['rbl', 'surbl', 'fuzzy_check', 'asn', 'phishing', 'rspamd_update']

/**
 * What differs from Debian's settings, by file: mail from this machine is checked like all other, the results are written into
 * a header, and the processes that speak to Postfix check themselves, without handing mails to others.
 */
const rspamdFiles = (port: number, dns: string): Record<string, string> => ({
  'options.inc': `dns { nameserver = ["${dns}:1"]; }`,
  'worker-normal.inc': 'enabled = false;',
  'worker-controller.inc': 'enabled = false;',
  'worker-proxy.inc': `bind_socket = "127.0.0.1:${port}";
count = ${availableParallelism()};
upstream "local" { default = yes; self_scan = yes; }`,
  'milter_headers.conf': 'use = ["authentication-results"]; skip_local = false;',
  ...Object.fromEntries(['spf', 'dkim', 'dmarc'].map((name) => [`${name}.conf`, 'check_local = true;'])),
  ...Object.fromEntries(REMOTE.map((name) => [`${name}.conf`, 'enabled = false;'])),
})

/**
 * Starts rspamd as a milter with Debian's rules, and resolves when it has compiled them. Without Redis, as Debian installs it, it
 * neither learns nor delays mail of strangers.
 */
const startRspamd = async (dns: string): Promise<{ port: number; pid: number }> => {
  const user = '_rspamd'
  const dir = folderWith(['override.d', 'db', 'log', 'run'], user)
  const port = await freePort()
  for (const [file, text] of Object.entries(rspamdFiles(port, dns)))
    writeFileSync(join(dir, 'override.d', file), `${text}\n`)
  const folders = { LOCAL_CONFDIR: '', DBDIR: 'db', LOGDIR: 'log', RUNDIR: 'run' }
  const variables = Object.entries(folders).flatMap(([name, folder]) => [
    '--var',
    `${name}=${join(dir, folder)}`,
  ])
  const args = ['-f', '-u', user, '-g', user, '-c', '/etc/rspamd/rspamd.conf', ...variables]
  const pid = await startDaemon('/usr/bin/rspamd', args, port)
  await atRest([pid])
  return { port, pid }
}

/** As Debian and the search plug-in recommend; mails are written with fsync, which is Dovecot's default. */
const dovecotSettings = (dir: string, port: number): string => `base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
protocols = lmtp
listen = 127.0.0.1
ssl = no
mail_location = maildir:~/Maildir
mail_plugins = fts fts_xapian
passdb {
  driver = static
  args = nopassword=yes
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${dir}/mail/%n allow_all_users=yes
}
plugin {
  fts = xapian
  fts_xapian = partial=3 full=20
  fts_autoindex = yes
  fts_enforced = yes
}
service lmtp {
  inet_listener lmtp {
    port = ${port}
  }
}
service indexer-worker {
  vsz_limit = 2G
}
`

/** Starts Dovecot, which takes mails over LMTP into a Maildir for each recipient and indexes their words. */
const startDovecot = async (): Promise<{ port: number; pid: number; mail: string }> => {
  const dir = folderWith(['mail'], 'nobody')
  const port = await freePort()
  writeFileSync(join(dir, 'dovecot.conf'), dovecotSettings(dir, port))
  const pid = await startDaemon('/usr/sbin/dovecot', ['-F', '-c', join(dir, 'dovecot.conf')], port)
  return { port, pid, mail: join(dir, 'mail') }
}

const filesIn = (folder: string): number => (existsSync(folder) ? readdirSync(folder).length : 0)

/**
 * Starts Postfix as the MX of `recipients`, with rspamd as its milter and Dovecot behind it, or returns why it cannot. They
 * resolve names with the server `dns`.
 */
export const startMailStack = async (
  recipients: readonly string[],
  dns: string,
): Promise<MailStack | { missing: string }> => {
  const reason = missing()
  if (reason !== null) return { missing: reason }
  const rspamd = await startRspamd(dns)
  const dovecot = await startDovecot()
  const domain = recipients[0]!.split('@')[1]!
  const settings = {
    transport_maps: '',
    virtual_mailbox_domains: domain,
    virtual_mailbox_maps: `inline:{${recipients.map((address) => `${address}=exists`).join(', ')}}`,
    virtual_transport: `lmtp:inet:127.0.0.1:${dovecot.port}`,
    smtpd_relay_restrictions: 'reject_unauth_destination',
    smtpd_recipient_restrictions: '',
    smtpd_milters: `inet:127.0.0.1:${rspamd.port}`,
    milter_default_action: 'tempfail',
  }
  const postfix = await startPostfix({ routes: {}, settings })
  atEnd(() => postfix.stop())
  const delivered = () =>
    readdirSync(dovecot.mail).reduce((sum, home) => {
      const maildir = join(dovecot.mail, home, 'Maildir')
      return sum + filesIn(join(maildir, 'new')) + filesIn(join(maildir, 'cur'))
    }, 0)
  return { port: postfix.port, pids: [postfix.pid, rspamd.pid, dovecot.pid], delivered }
}
