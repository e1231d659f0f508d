import { pathToFileURL } from 'node:url'
import type { Context } from '../context.ts'
import { type Document, describe } from './documentation/openapi.ts'
import { createRest } from './router.ts'

const URL_OF_NONE = 'http://localhost:4000'

/** The document that a service serves at `/openapi.json`, without a running one: routes are only called later. */
export const printedDocument = (): Document => describe(createRest({} as Context), URL_OF_NONE, URL_OF_NONE)

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(`${JSON.stringify(printedDocument(), null, 2)}\n`)
