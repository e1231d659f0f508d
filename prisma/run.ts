/**
 * `npm run prisma -- <command>`: Prisma's command line with this project's settings. Where DATABASE_URL is not set, a command works on an
 * empty PostgreSQL that is started for it in a temporary folder and thrown away: `migrate dev --create-only --name <what>` writes the next
 * migration, `migrate diff` compares, and nothing has to be set up by hand.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../src/core/logger.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/db/embedded.ts'

const root = join(import.meta.dirname, '..')
const [command = '', ...rest] = process.argv.slice(2)
const needsDatabase = command === 'migrate' || command === 'db'

/** `migrate dev` refuses to run without a terminal, also when it has nothing to ask. What it does have to ask then fails. */
const asTerminal = ['--import', 'data:text/javascript,process.stdin.isTTY??=true']

function prisma(url: string | undefined): Promise<number> {
  const args = [
    ...asTerminal,
    join(root, 'node_modules', 'prisma', 'build', 'index.js'),
    command,
    ...rest,
    '--config',
    'prisma/config.ts',
  ]
  const env = {
    ...process.env,
    ...(url === undefined ? {} : { DATABASE_URL: url }),
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

async function withDatabase(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'ams-prisma-'))
  let server: EmbeddedPostgres | undefined
  try {
    server = await startEmbedded({ dir, log: silentLogger, settings: { fsync: 'off' } })
    process.stderr.write('DATABASE_URL is not set: working on an empty PostgreSQL made for this command.\n')
    return await prisma(server.url)
  } finally {
    await server?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

process.on('SIGINT', () => undefined) // the child ends by it, then the database is taken down here
process.exitCode =
  needsDatabase && process.env.DATABASE_URL === undefined ? await withDatabase() : await prisma(undefined)
