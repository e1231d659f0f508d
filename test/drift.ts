/**
 * `npm run drift`: generated files must be up to date.
 * 1. prisma/migrations, applied to an empty database, produce prisma/schema.prisma.
 * 2. schema.graphql is the output of src/graphql/print.ts.
 * 3. src/client/api.ts and src/client/python/agent_messaging/api.py, the types of the clients, match the API's description.
 * 4. docs/limits.md is printed from the limits in the code.
 * 5. src/dashboard/live/schema.d.ts matches schema.graphql, and the web application compiles with it.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const fail = (text: string): void => {
  process.stderr.write(`${text}\n`)
  process.exitCode = 1
}

/** Prisma exits with 2 for a difference, and prints it. */
function checkMigrations(): void {
  const diff = [
    'migrate',
    'diff',
    '--from-migrations',
    'prisma/migrations',
    '--to-schema',
    'prisma/schema.prisma',
    '--exit-code',
  ]
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join('prisma', 'run.ts'), ...diff],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  if (status === 2)
    fail(
      `prisma/migrations differ from prisma/schema.prisma (npm run prisma -- migrate dev --create-only):\n${stdout}`,
    )
  else if (status !== 0) fail(`prisma migrate diff failed (${status}):\n${stdout}${stderr}`)
}

async function checkGraphql(): Promise<void> {
  const print = join(root, 'src', 'graphql', 'print.ts')
  if (!existsSync(print)) return fail('src/graphql/print.ts does not exist: schema.graphql cannot be checked')
  const { printedSchema } = (await import(print)) as { printedSchema(): string }
  const file = join(root, 'schema.graphql')
  const stored = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (stored.trim() !== printedSchema().trim()) fail('schema.graphql is out of date (npm run schema)')
}

async function checkClientTypes(): Promise<void> {
  const { clientTypes } = await import('./support/client-types.ts')
  if (readFileSync(join(root, 'src', 'client', 'api.ts'), 'utf8') !== clientTypes())
    fail('src/client/api.ts is out of date (npm run client:types)')
  const { pythonTypes } = await import('./support/client-python.ts')
  const python = join('src', 'client', 'python', 'agent_messaging', 'api.py')
  if (readFileSync(join(root, python), 'utf8') !== pythonTypes())
    fail(`${python} is out of date (npm run client:types)`)
}

async function checkLimits(): Promise<void> {
  const { printedLimits } = await import('./support/limits-table.ts')
  if (readFileSync(join(root, 'docs', 'limits.md'), 'utf8') !== printedLimits())
    fail('docs/limits.md is out of date (npm run limits)')
}

async function checkDashboard(): Promise<void> {
  const { dashboardTypes } = await import('./support/dashboard-types.ts')
  if (readFileSync(join(root, 'src', 'dashboard', 'live', 'schema.d.ts'), 'utf8') !== dashboardTypes())
    return fail('src/dashboard/live/schema.d.ts is out of date (npm run schema)')
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [tsc, '-p', join('src', 'dashboard'), '--pretty', 'false']
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) fail(`The web application does not compile:\n${stdout}`)
}

checkMigrations()
await checkGraphql()
await checkClientTypes()
await checkLimits()
await checkDashboard()
