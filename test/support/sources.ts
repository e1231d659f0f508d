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

/** The paths of all files of the sources, relative to src/, with slashes, except what Prisma and Python generate. */
export const fileNames = (): string[] =>
  readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(src, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !/^db\/generated\/|\/(?:__pycache__|\.mypy_cache)\//.test(name))

/** Reads all source files. */
export const readSources = (): Sources =>
  new Map(
    fileNames()
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [name, readFileSync(join(src, name), 'utf8')]),
  )

/** Returns sources with one made-up file; the other files are empty. */
export const one = (file: string, source: string, ...others: string[]): Sources =>
  new Map([[file, source], ...others.map((name) => [name, ''] as const)])
