import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Folders that each map a protocol to the operations. */
export const interfaces = ['rest', 'graphql', 'stream', 'mcp', 'web']

/** Maps paths relative to src/, with slashes, to the text of the source files. */
export type Sources = ReadonlyMap<string, string>

/** Returns the first folder of a path, or the name of a file directly in src/. */
export const unitOf = (file: string) => file.split('/')[0] ?? file

export const withoutComments = (source: string) =>
  source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

const src = join(import.meta.dirname, '..', '..', 'src')

/** Reads all source files except those that Prisma generates. */
export function readSources(): Sources {
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  const named = files.map((file) => [relative(src, file).split(sep).join('/'), file] as const)
  return new Map(
    named
      .filter(([name]) => !name.startsWith('db/generated/'))
      .map(([name, file]) => [name, readFileSync(file, 'utf8')]),
  )
}

/** Returns sources with one made-up file; the other files are empty. */
export const one = (file: string, source: string, ...others: string[]): Sources =>
  new Map([[file, source], ...others.map((name) => [name, ''] as const)])
