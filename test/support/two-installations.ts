import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { dkimKeys } from '../../src/email-domain/index.ts'
import { type MoveOptions, moveWorkspace, type Step } from '../../src/move/move.ts'
import { fakeResolver } from './dns.ts'
import { execute } from './postgres.ts'
import { NORTHWIND } from './seed.ts'
import { startService, type TestService } from './service.ts'

/** Two installations of one operator, behind one URL, of which the second signs mail of the first one's domain. */

export const MAIL_DOMAIN = 'agents.localhost'

export interface Installations {
  source: TestService
  target: TestService
}

export const twoInstallations = async (
  here: Record<string, string> = {},
  there: Record<string, string> = {},
): Promise<Installations> => {
  const start = (environment: Record<string, string>) =>
    startService({
      environment: { PUBLIC_URL: 'https://ams.example', RATE_LIMIT: '100000', ...environment },
      world: { resolver: fakeResolver(NORTHWIND) },
    })
  const [source, target] = [await start(here), await start(there)]
  await target.workspace('Resident')
  return { source, target }
}

/** What the command `domain` does, with the settings of an installation and this domain as MAIL_DOMAIN. */
export const signAs = ({ db, keyring }: TestService, domain: string): Promise<unknown> =>
  dkimKeys({ ...db, keyring, clock: systemClock }, { domain, workspaceId: null })

export const signAsSource = ({ target }: Installations): Promise<unknown> => signAs(target, MAIL_DOMAIN)

export const moveOptions = (
  { source, target }: Installations,
  workspace: string,
  mailDomain = MAIL_DOMAIN,
): MoveOptions => ({
  workspace,
  target: { databaseUrl: target.databaseUrl, masterKeys: [target.masterKey], objectStore: undefined },
  config: { mailDomain, objectStore: undefined },
  from: { databaseUrl: source.databaseUrl, keys: [source.masterKey] },
  log: silentLogger,
})

const KILL = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'ams-move'`

/** Begins a move, which is killed at a step: nothing runs afterwards, and both databases have ended its sessions. */
export const moveKilledAt = async (
  installations: Installations,
  workspace: string,
  at: Step,
): Promise<void> => {
  await new Promise<void>((resolve, reject) => {
    const never = new Promise<void>(() => undefined)
    const hang = (step: Step) => {
      if (step !== at) return
      resolve()
      return never
    }
    moveWorkspace({ ...moveOptions(installations, workspace), reached: hang }).catch(reject)
  })
  for (const { databaseUrl } of [installations.source, installations.target]) await execute(databaseUrl, KILL)
}
