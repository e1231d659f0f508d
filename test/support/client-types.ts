import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CHANNEL_KINDS } from '../../src/core/channels.ts'
import { printedDocument } from '../../src/rest/print.ts'

const root = join(import.meta.dirname, '..', '..')

/** src/client/api.ts as the API's description has it now. */
export const clientTypes = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'client-types-'))
  try {
    const document = join(dir, 'openapi.json')
    const output = join(dir, 'api.ts')
    writeFileSync(document, JSON.stringify(printedDocument()))
    const older = pathToFileURL(join(import.meta.dirname, 'older-typescript.mjs')).href
    const generator = join(root, 'node_modules', 'openapi-typescript', 'bin', 'cli.js')
    const args = ['--import', older, generator, document, '-o', output]
    execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' })
    return `${readFileSync(output, 'utf8')}
/** The channels by which messages are sent. */
export const CHANNELS = ${JSON.stringify(CHANNEL_KINDS)} as const
`
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(clientTypes())
