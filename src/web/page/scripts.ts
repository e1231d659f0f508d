import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { ROOT } from '../../core/root.ts'

const FOLDER = join(ROOT, 'dist', 'web', 'page', 'scripts')

/** Scripts of the pages, by name. */
const SCRIPTS = ['sign-in', 'passkey', 'copy'] as const
export type ScriptName = (typeof SCRIPTS)[number]

const PATH = /^\/app\/scripts\/([a-z-]+)\.js$/

export const scriptPath = (name: ScriptName): string => `/app/scripts/${name}.js`

const known = new Map<ScriptName, Buffer>()

const read = (name: ScriptName): Buffer => {
  const script = known.get(name) ?? readFileSync(join(FOLDER, `${name}.js`))
  known.set(name, script)
  return script
}

/** Returns the script that a path names; null if there is none. */
export const scriptAt = (path: string): Buffer | null => {
  const name = SCRIPTS.find((one) => one === PATH.exec(path)?.[1])
  return name ? read(name) : null
}

export const sendScript = (response: ServerResponse, script: Buffer): void =>
  void response
    .writeHead(200, {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Length': script.length,
      'Cache-Control': 'no-cache',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(script)
