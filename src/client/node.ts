import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AmsError } from './errors.ts'
import type { PositionStore } from './position.ts'

/** Keeps the position in a file that only this user can read. A crash leaves the old or the new position. */
export const fileStore = (path: string): PositionStore => ({
  load: async () => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    if (text === null) return null
    const position = Number(text)
    if (/^\d{1,16}\s*$/.test(text) && Number.isSafeInteger(position)) return position
    throw new AmsError('invalid_input', `${path}: does not contain a position; remove it to start over`)
  },
  save: async (position) => {
    const draft = `${path}.${randomUUID()}`
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(`${position}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  },
})
