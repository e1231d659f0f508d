import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { temporaryDir } from './postgres.ts'

const root = join(import.meta.dirname, '..', '..')
const COPIED = [
  ...['src', 'prisma', 'package.json', 'package-lock.json', 'tsconfig.json'],
  join('test', 'support'),
]

/** A copy of the sources in which a test makes the changes that docs/development.md describes. */
export class ChangedCopy {
  readonly dir = temporaryDir()
  readonly #edited = new Set<string>()

  constructor() {
    for (const name of COPIED)
      cpSync(join(root, name), join(this.dir, name), {
        recursive: true,
        filter: (path) => !path.endsWith(join('db', 'generated')),
      })
    symlinkSync(join(root, 'node_modules'), join(this.dir, 'node_modules'))
  }

  /** Makes a change, and returns how many files a person edits or adds for it. */
  make(change: (copy: ChangedCopy) => void): number {
    this.#edited.clear()
    change(this)
    return this.#edited.size
  }

  /** Replaces each `before`, which the file contains once. */
  edit(file: string, ...changes: readonly (readonly [before: string, after: string])[]): void {
    let source = readFileSync(join(this.dir, file), 'utf8')
    for (const [before, after] of changes) {
      expect({ file, before, parts: source.split(before).length }).toEqual({ file, before, parts: 2 })
      source = source.replace(before, () => after)
    }
    this.#write(file, source)
  }

  add(file: string, content: string): void {
    mkdirSync(dirname(join(this.dir, file)), { recursive: true })
    this.#write(file, content)
  }

  #write(file: string, content: string): void {
    this.#edited.add(file)
    writeFileSync(join(this.dir, file), content)
  }

  /** Runs a TypeScript file of the copy, or Node with these arguments, and returns what it writes. */
  async run(...args: string[]): Promise<string> {
    const options = { cwd: this.dir, maxBuffer: 2 ** 26 }
    return (await promisify(execFile)(process.execPath, ['--import', 'tsx', ...args], options)).stdout
  }

  /** Compiles the service, which also generates its code for the database. */
  async build(): Promise<void> {
    await this.run(join('src', 'build.mjs'))
  }

  /** Prints what is generated from the descriptions, and checks the types of everything: no other file misses the change. */
  async compile(): Promise<void> {
    const print = async (script: string, file: string) =>
      writeFileSync(join(this.dir, file), await this.run(script))
    await print(join('src', 'graphql', 'print.ts'), 'schema.graphql')
    const live = join('src', 'dashboard', 'live', 'schema.d.ts')
    await print(join('test', 'support', 'dashboard-types.ts'), live)
    await print(join('test', 'support', 'client-types.ts'), join('src', 'client', 'api.ts'))
    for (const project of ['.', join('src', 'dashboard')])
      await this.run(join('node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '-p', project)
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}
