import { spawn } from 'node:child_process'
import { AppError } from '../core/errors.ts'

/**
 * Runs psql, which is not part of the embedded PostgreSQL, on a database. Resolves with its exit code. The
 * password is in no argument, which other users could see.
 */
export const runPsql = (databaseUrl: string, args: readonly string[]): Promise<number> => {
  const url = new URL(databaseUrl)
  const password = decodeURIComponent(url.password)
  url.password = ''
  // psql itself handles Ctrl-C: it ends the statement, not the session.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  return new Promise<number>((resolve, reject) => {
    const env = { ...process.env, ...(password ? { PGPASSWORD: password } : {}) }
    const child = spawn('psql', ['--dbname', url.href, ...args], { stdio: 'inherit', env })
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new AppError(
              'unavailable',
              'psql is not installed. Install it (Debian: apt-get install postgresql-client; macOS: brew install libpq).',
            )
          : error,
      ),
    )
    child.on('close', (code) => resolve(code ?? 1))
  }).finally(() => process.off('SIGINT', ignore))
}
