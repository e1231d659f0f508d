import { afterAll } from 'vitest'
import { endFile } from './after-file.ts'

/** Vitest runs this again for each test file, also where files share a process. */
afterAll(endFile, 60_000)
