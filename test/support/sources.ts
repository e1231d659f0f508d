import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** The source files, as the tests of the architecture read them. */

/** The folders that each map a wire to the operations. */
export const skins = ['rest', 'graphql', 'stream', 'mcp', 'web']

/** `file`s are relative to src/, with slashes. */
export type Sources = ReadonlyMap<string, string>

/** The first folder of a file, or the file itself right below src/. */
export const unitOf = (file: string) => file.split('/')[0] ?? file

export const withoutComments = (source: string) =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

const src = join(import.meta.dirname, '..', '..', 'src')

/** All but what Prisma generates. */
export function readSources(): Sources {
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  const named = files.map((file) => [relative(src, file).split(sep).join('/'), file] as const)
  return new Map(
    named
      .filter(([name]) => !name.startsWith('db/generated/'))
      .map(([name, file]) => [name, readFileSync(file, 'utf8')]),
  )
}

/** A made-up file; of the others only the names count. */
export const one = (file: string, source: string, ...others: string[]): Sources =>
  new Map([[file, source], ...others.map((name) => [name, ''] as const)])
