import { afterAll } from 'vitest'
import { endFile } from './after-file.ts'

/** Vitest runs this for each test file, even when files share a process. */
afterAll(endFile)
