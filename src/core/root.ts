import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

const above = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : above(dirname(folder))

/** The folder of the package, for code that runs from src/ as well as for the bundle of it in dist/. */
export const ROOT = above(import.meta.dirname)

/** What the commands of this build begin with: those of a checkout, or of an installed package. */
export const COMMAND = existsSync(join(ROOT, 'src', 'main.ts')) ? 'npm start --' : 'agent-messaging'
