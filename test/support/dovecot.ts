import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { ownCertificate } from '../../src/mail/receive/tls.ts'
import { freePort, listens } from './port.ts'
import { until } from './until.ts'

const COMMAND = '/usr/sbin/dovecot'

/** The reason why Dovecot cannot be started here, or null. */
export const missing: string | null = existsSync(COMMAND)
  ? null
  : `${COMMAND} is not installed (apt-get install dovecot-imapd)`

/** An IMAP server with one account, whose mails are files. */
export interface Dovecot {
  /** `imaps://ann@localhost:…` */
  url: string
  password: string
  /** A certificate that Node has to trust (NODE_EXTRA_CA_CERTS). */
  certificate: string
  /** The Maildir of the account. */
  maildir: string
  /** Ends all sessions, as a restart of the server does. */
  disconnect(): void
  stop(): Promise<void>
}

/** Starts a separate Dovecot with its files in a folder of its own. `fill` writes mails before it starts. */
export const startDovecot = async (fill: (maildir: string) => void): Promise<Dovecot> => {
  const dir = mkdtempSync(join(tmpdir(), 'ams-dovecot-'))
  const [maildir, password] = [join(dir, 'mail'), 'a-secret']
  mkdirSync(maildir)
  fill(maildir)
  await ownCertificate(dir, 'localhost', new Date())
  const port = await freePort()
  // Dovecot reads no mail as root.
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? 'nobody' : userInfo().username
  const group = execFileSync('id', ['-gn', user], { encoding: 'utf8' }).trim()
  const config = join(dir, 'dovecot.conf')
  writeFileSync(
    config,
    `base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <${dir}/smtp.crt
ssl_key = <${dir}/smtp.key
mail_location = maildir:${maildir}
mail_uid = ${user}
mail_gid = ${group}
first_valid_uid = 1
first_valid_gid = 1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
mail_max_userip_connections = 50
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${user} gid=${group} home=${maildir}
}
namespace inbox {
  inbox = yes
  mailbox Junk {
    special_use = \\Junk
    auto = create
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${port}
    ssl = yes
  }
}
service anvil {
  chroot =
}
`,
  )
  if (isRoot) {
    execFileSync('chmod', ['755', dir])
    execFileSync('chown', ['-R', user, maildir])
  }
  const child: ChildProcess = spawn(COMMAND, ['-F', '-c', config], { stdio: 'ignore' })
  const log = () => (existsSync(join(dir, 'log')) ? readFileSync(join(dir, 'log'), 'utf8') : '')
  const exited = new Promise<void>((resolve) => child.on('close', () => resolve()))
  try {
    await until(() => listens(port))
  } catch (cause) {
    child.kill('SIGKILL')
    throw new Error(`Dovecot did not start: ${log()}`, { cause })
  }
  return {
    url: `imaps://ann@localhost:${port}`,
    password,
    certificate: join(dir, 'smtp.crt'),
    maildir,
    disconnect: () => execFileSync('/usr/bin/doveadm', ['-c', config, 'kick', 'ann']),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
